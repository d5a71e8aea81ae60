"""Recordings are opened without following links, without waiting, and owner-only."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram import paths
from openprogram.errors import (
    InvalidSelectorError,
    RecordingExistsError,
    RecordingFileError,
    RecordingNotFoundError,
)
from openprogram.providers import file_safety

if TYPE_CHECKING:
    from collections.abc import Callable

_APPEND_UNDER_UMASK = """
import os, sys
os.umask(int(sys.argv[1], 8))
from openprogram.providers import file_safety
path = file_safety.managed_path("x")
os.close(file_safety.open_recording_for_append(path, create=True).fd)
os.close(file_safety.open_lock_file(path))
"""

_SWAP = """
import os, sys, time
name, victim = sys.argv[1:]
print("ready", flush=True)
deadline = time.monotonic() + 90
while time.monotonic() < deadline:
    for make in (lambda: os.symlink(victim, name + ".x"), lambda: open(name + ".x", "w").close()):
        make()
        os.rename(name + ".x", name)
"""


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def root(state_dir: Path) -> Path:
    folder = state_dir / "recordings"
    folder.mkdir(mode=0o700, parents=True)
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user's own that nobody asked for."""
    path = tmp_path / "victim.jsonl"
    path.write_text("untouched")
    path.chmod(0o644)
    return path


def read_only(path: Path) -> None:
    os.close(file_safety.open_recording_for_reading(path, require_private=False))


def read_privately(path: Path) -> None:
    os.close(file_safety.open_recording_for_reading(path, require_private=True, tighten=True))


def append(path: Path) -> None:
    os.close(file_safety.open_recording_for_append(path, create=True).fd)


OPENERS = [read_only, read_privately, append]


class TestIds:
    @pytest.mark.parametrize(
        "text", ["a", "0", "first-run", "A.b_C-9", "x" * 64, "20260811T134502Z-0a1b2c3d", "con1"]
    )
    def test_a_plain_name_is_an_id_with_or_without_its_suffix(self, text: str):
        assert file_safety.validate_recording_id(text) == text
        assert file_safety.validate_recording_id(f"{text}.jsonl") == text

    @pytest.mark.parametrize(
        "text",
        [
            "",
            ".",
            "..",
            ".jsonl",
            ".hidden",
            "-rf",
            "_x",
            "a/b",
            "../../x",
            "a\\b",
            "x:y",
            "x y",
            "x\n",
            "x\0",
            "é",
            "ａ",  # noqa: RUF001 - a full-width letter, which some systems fold to a plain one
            "x" * 65,
            "x" * 300,
            "x.",
            "x.jsonl.jsonl",
            "x.JSONL",
            "CON",
            "con.jsonl",
            "nul.txt",
            "Com1",
            "lpt9.a.b",
            "COM0",
            "PRN",
            "aux",
            "\x1b[2J",
            "\ud800",
        ],
    )
    def test_a_name_that_is_not_safe_everywhere_is_refused_printably(self, text: str):
        with pytest.raises(InvalidSelectorError) as caught:
            file_safety.validate_recording_id(text)
        assert str(caught.value).isprintable()
        assert caught.value.selector == text

    @given(st.text())
    def test_no_name_leaves_the_managed_root(self, text: str):
        try:
            path = file_safety.managed_path(text)
        except InvalidSelectorError:
            return
        assert Path(os.path.normpath(path)).parent == paths.recordings_dir()
        assert len(path.name) <= 64 + len(".jsonl")


class TestAppending:
    @pytest.mark.parametrize("umask", ["000", "022", "077"])
    def test_what_is_made_is_owner_only_whatever_the_umask(self, state_dir: Path, umask: str):
        subprocess.run([sys.executable, "-c", _APPEND_UNDER_UMASK, umask], check=True)
        folder = state_dir / "recordings"
        assert [mode_of(path) for path in (state_dir, folder)] == [0o700, 0o700]
        modes = {path.name: mode_of(path) for path in folder.iterdir()}
        assert modes == {"x.jsonl": 0o600, "x.jsonl.lock": 0o600}

    def test_a_new_file_says_so_and_an_old_one_keeps_its_data(self, root: Path):
        path = root / "x.jsonl"
        first = file_safety.open_recording_for_append(path, create=True)
        os.write(first.fd, b"row\n")
        second = file_safety.open_recording_for_append(path, create=True)
        os.write(second.fd, b"row\n")
        assert (first.is_new, second.is_new) == (True, False)
        assert (first.device, first.inode) == (second.device, second.inode)
        assert os.pread(second.fd, 100, 0) == b"row\nrow\n"
        assert not os.get_inheritable(first.fd)
        os.close(first.fd)
        os.close(second.fd)

    def test_a_taken_name_is_a_conflict_when_it_must_be_new(self, root: Path):
        append(root / "x.jsonl")
        (root / "link.jsonl").symlink_to(root / "missing")
        for name in ("x.jsonl", "link.jsonl"):
            with pytest.raises(RecordingExistsError):
                file_safety.open_recording_for_append(root / name, create=True, exclusive=True)
        assert not (root / "missing").exists()

    def test_nothing_is_made_unless_asked(self, state_dir: Path):
        for path in (state_dir / "recordings" / "x.jsonl", state_dir.parent / "x.jsonl"):
            with pytest.raises(RecordingNotFoundError):
                file_safety.open_recording_for_append(path, create=False)
        assert not state_dir.exists()

    def test_a_loose_mode_is_repaired(self, root: Path, victim: Path):
        loose = root / "x.jsonl"
        loose.touch()
        loose.chmod(0o666)
        append(loose)
        append(victim)
        assert (mode_of(loose), mode_of(victim)) == (0o600, 0o600)

    def test_a_mode_that_does_not_stick_is_refused(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ):
        (root / "x.jsonl").touch(mode=0o644)

        def ignored(_fd: int, _mode: int) -> None:
            return None

        monkeypatch.setattr(os, "fchmod", ignored)
        with pytest.raises(RecordingFileError) as caught:
            append(root / "x.jsonl")
        assert caught.value.code == "unsafe_permissions"

    def test_a_managed_file_with_a_second_name_is_refused(self, root: Path, victim: Path):
        os.link(victim, root / "x.jsonl")
        for open_it in (append, read_privately):
            with pytest.raises(RecordingFileError, match="second name") as caught:
                open_it(root / "x.jsonl")
            assert caught.value.code == "unsafe_permissions"
        assert mode_of(victim) == 0o644

    def test_outside_the_state_the_directory_must_be_there(self, tmp_path: Path):
        with pytest.raises(RecordingFileError) as caught:
            append(tmp_path / "missing" / "x.jsonl")
        assert caught.value.code == "unreadable"
        assert not (tmp_path / "missing").exists()

    def test_the_longest_name_has_a_lock_file_too(self, tmp_path: Path):
        path = tmp_path / ("n" * 249 + ".jsonl")
        append(path)
        os.close(file_safety.open_lock_file(path))
        assert len(file_safety.lock_path_of(path).name) <= 255
        other = path.with_name("m" * 249 + ".jsonl")
        assert file_safety.lock_path_of(other) != file_safety.lock_path_of(path)


class TestWhatIsRefused:
    @pytest.mark.parametrize("open_it", OPENERS)
    @pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "directory"])
    def test_links_and_odd_files_are_refused_by_code_without_waiting(
        self, root: Path, victim: Path, open_it: Callable[[Path], None], kind: str
    ):
        for folder in (root, victim.parent):
            self.refuse(folder / "x.jsonl", victim, open_it, kind)

    @staticmethod
    def refuse(path: Path, victim: Path, open_it: Callable[[Path], None], kind: str) -> None:
        nowhere = victim.with_name("nowhere")
        if kind == "link":
            path.symlink_to(victim)
        elif kind == "dangling":
            path.symlink_to(nowhere)
        elif kind == "fifo":
            os.mkfifo(path)
        else:
            path.mkdir()
        with pytest.raises(RecordingFileError) as caught:
            open_it(path)
        is_link = kind in {"link", "dangling"}
        assert caught.value.code == ("symlink" if is_link else "not_a_regular_file")
        assert caught.value.path == path
        assert (victim.read_text(), mode_of(victim)) == ("untouched", 0o644)
        assert not nowhere.exists()

    @pytest.mark.parametrize("open_it", OPENERS)
    def test_a_linked_directory_below_the_state_is_refused(
        self, state_dir: Path, tmp_path: Path, open_it: Callable[[Path], None]
    ):
        state_dir.mkdir(mode=0o700)
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "x.jsonl").write_text("untouched")
        (state_dir / "recordings").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(RecordingFileError, match="recordings") as caught:
            open_it(state_dir / "recordings" / "x.jsonl")
        assert caught.value.code == "symlink"
        assert (tmp_path / "elsewhere" / "x.jsonl").read_text() == "untouched"

    @pytest.mark.parametrize("open_it", OPENERS)
    @pytest.mark.parametrize("name", ["a\0b", "\ud800", "n" * 300])
    def test_a_name_that_no_file_can_have_is_unreadable(
        self, root: Path, open_it: Callable[[Path], None], name: str
    ):
        with pytest.raises(RecordingFileError) as caught:
            open_it(root / name)
        assert caught.value.code == "unreadable"
        assert str(caught.value).isprintable()

    @pytest.mark.parametrize("open_it", [read_only, read_privately])
    def test_a_missing_file_is_unreadable(self, state_dir: Path, open_it: Callable[[Path], None]):
        for path in (state_dir / "recordings" / "x.jsonl", state_dir.parent / "x.jsonl"):
            with pytest.raises(RecordingFileError) as caught:
                open_it(path)
            assert caught.value.code == "unreadable"
        assert not state_dir.exists()

    @pytest.mark.parametrize("open_it", OPENERS)
    def test_what_the_system_refuses_is_unreadable(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, open_it: Callable[[Path], None]
    ):
        # Modes do not stop root, so the system's answer is given here.
        system_open = os.open

        def refuse(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            if path == "x.jsonl":
                raise PermissionError(13, "Permission denied")
            return system_open(path, flags, mode, dir_fd=dir_fd)

        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(RecordingFileError, match="Permission denied") as caught:
            open_it(root / "x.jsonl")
        assert caught.value.code == "unreadable"

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
    def test_another_users_file_is_for_looking_only_and_outside_only(
        self, root: Path, victim: Path
    ):
        (root / "x.jsonl").touch(mode=0o600)
        os.chown(root / "x.jsonl", 12345, -1)
        os.chown(victim, 12345, -1)
        read_only(victim)
        refused = [(read_only, root / "x.jsonl")]
        refused += [
            (open_it, path)
            for open_it in (read_privately, append)
            for path in (root / "x.jsonl", victim)
        ]
        for open_it, path in refused:
            with pytest.raises(RecordingFileError, match="another user") as caught:
                open_it(path)
            assert caught.value.code == "unsafe_permissions"
        assert mode_of(victim) == 0o644


class TestReading:
    def test_looking_changes_no_mode(self, root: Path, victim: Path):
        (root / "x.jsonl").touch()
        (root / "x.jsonl").chmod(0o644)
        root.chmod(0o755)
        for path in (root / "x.jsonl", victim):
            read_only(path)
            assert mode_of(path) == 0o644
        assert mode_of(root) == 0o755

    def test_replaying_tightens_a_managed_file_only_when_asked(self, root: Path):
        path = root / "x.jsonl"
        path.touch()
        path.chmod(0o644)
        with pytest.raises(RecordingFileError):
            file_safety.open_recording_for_reading(path, require_private=True)
        assert mode_of(path) == 0o644
        read_privately(path)
        assert mode_of(path) == 0o600

    @pytest.mark.parametrize("mode", [0o644, 0o640, 0o602, 0o700, 0o4600])
    def test_a_loose_file_elsewhere_is_refused_with_the_command_to_run_and_kept(
        self, victim: Path, mode: int
    ):
        victim.chmod(mode)
        with pytest.raises(RecordingFileError) as caught:
            read_privately(victim)
        assert caught.value.code == "unsafe_permissions"
        assert f"chmod 600 {victim}" in caught.value.reason
        assert mode_of(victim) == mode

    @pytest.mark.parametrize("mode", [0o600, 0o400])
    def test_a_tight_file_elsewhere_is_read(self, victim: Path, mode: int):
        victim.chmod(mode)
        read_privately(victim)

    @pytest.mark.parametrize(
        "name", ["my run.jsonl", "it's.jsonl", "a\nb.jsonl", "\x1b[2J\\.jsonl", "ü\udcff.jsonl"]
    )
    def test_the_command_works_in_a_shell_and_is_harmless_on_a_terminal(
        self, tmp_path: Path, name: str
    ):
        path = tmp_path / name
        path.touch()
        path.chmod(0o644)
        problem = file_safety.permission_problem(path.stat(), path)
        assert problem is not None
        assert problem.isprintable()
        command = problem.partition("run: ")[2]
        subprocess.run(["bash", "-c", command], check=True)
        assert mode_of(path) == 0o600
        assert file_safety.permission_problem(path.stat(), path) is None
        assert name != "my run.jsonl" or command == f"chmod 600 {shlex.quote(str(path))}"


def test_a_path_is_the_same_file_until_it_is_replaced_linked_or_gone(root: Path):
    path = root / "x.jsonl"
    opened = file_safety.open_recording_for_append(path, create=True)
    status = os.fstat(opened.fd)
    assert file_safety.is_same_file(opened.fd, path)
    assert file_safety.is_same_file(status, path)
    path.rename(root / "moved")
    assert not file_safety.is_same_file(opened.fd, path)
    path.symlink_to(root / "moved")
    assert not file_safety.is_same_file(opened.fd, path)
    path.unlink()
    path.touch()
    assert not file_safety.is_same_file(status, path)
    os.close(opened.fd)


def test_a_file_swapped_for_a_link_while_we_open_never_leads_outside(root: Path, victim: Path):
    path = root / "x.jsonl"
    path.touch()
    command = [sys.executable, "-c", _SWAP, str(path), str(victim)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        outcomes = {"opened": 0, "symlink": 0, "unreadable": 0}
        deadline = time.monotonic() + 60
        try:
            while min(outcomes["opened"], outcomes["symlink"]) < 200:
                assert time.monotonic() < deadline, outcomes
                try:
                    opened = file_safety.open_recording_for_append(path, create=True)
                except RecordingFileError as error:
                    outcomes[error.code] += 1
                    continue
                outcomes["opened"] += 1
                os.write(opened.fd, b"row\n")
                os.close(opened.fd)
        finally:
            swapper.kill()
    assert (victim.read_text(), mode_of(victim)) == ("untouched", 0o644)


def test_only_names_that_end_in_the_suffix_may_be_recordings(root: Path):
    for name in ("b.jsonl", "a.jsonl", "a.jsonl.lock", "a.JSONL", "jsonl"):
        (root / name).touch()
    fd = os.open(root, os.O_RDONLY)
    assert file_safety.recording_names(fd) == ["a.jsonl", "b.jsonl"]
    os.close(fd)
