"""Only a plain, idle, managed file goes, and pruning goes on after a failure."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from openprogram import config
from openprogram.errors import (
    ConfigError,
    FileLockedError,
    InvalidSelectorError,
    OpenProgramError,
    RecordingActiveError,
    RecordingError,
    RecordingNotFoundError,
    UnsafeFileError,
)
from openprogram.providers import management

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from providers.management.conftest import WriteRecording

_HOLD_SHARED = """
import os, sys
from pathlib import Path
from openprogram import _compat
from openprogram.providers import file_safety
opened = file_safety.open_recording_for_append(Path(sys.argv[1]), create=False)
_compat.lock_shared(opened.fd, timeout_seconds=None)
print("held", flush=True)
sys.stdin.read()
"""


_PREPARE_AGAIN_AND_AGAIN = """
import shutil, sys
from openprogram.errors import OpenProgramError
from openprogram.providers import management
template, path = sys.argv[1:]
prepared = 0
while prepared < 40:
    shutil.copyfile(template, path)
    try:
        management.prepare_replay("x")
    except OpenProgramError:
        continue
    prepared += 1
    status = management.read_status()
    assert status.valid and status.file_exists, status
    management.turn_off()
"""


@pytest.fixture
def hold_as_a_sink_does() -> Iterator[Callable[[Path], None]]:
    children: list[subprocess.Popen[bytes]] = []

    def hold(path: Path) -> None:
        command = [sys.executable, "-c", _HOLD_SHARED, str(path)]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        children.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"

    yield hold
    for child in children:
        with child:
            child.kill()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestDeleting:
    def test_the_recording_and_its_lock_file_go_and_nothing_else(
        self, write_recording: WriteRecording, root: Path
    ):
        path = write_recording("x")
        write_recording("y")
        size_bytes = path.stat().st_size
        (root / "x.jsonl.lock").touch()
        (root / "y.jsonl.lock").touch()
        deleted = management.delete_recording("x.jsonl")
        assert (deleted.recording_id, deleted.path, deleted.size_bytes) == ("x", path, size_bytes)
        assert names_in(root) == ["y.jsonl", "y.jsonl.lock"]

    def test_a_broken_recording_goes_too(self, root: Path):
        (root / "x.jsonl").write_bytes(b"\xff")
        management.delete_recording("x")
        assert names_in(root) == []

    @pytest.mark.parametrize("selector", ["../x", "./x.jsonl", "", "CON", "a/b"])
    def test_a_path_is_no_id(self, write_recording: WriteRecording, selector: str):
        path = write_recording("x")
        for text in (selector, str(path)):
            with pytest.raises(InvalidSelectorError):
                management.delete_recording(text)
        assert path.exists()

    def test_what_is_not_there_is_not_found(self, root: Path):
        with pytest.raises(RecordingNotFoundError):
            management.delete_recording("x")
        root.rmdir()
        with pytest.raises(RecordingNotFoundError):
            management.delete_recording("x")

    @pytest.mark.parametrize("kind", ["link", "hard link", "fifo", "directory"])
    def test_what_is_no_plain_file_is_refused(
        self, write_recording: WriteRecording, root: Path, tmp_path: Path, kind: str
    ):
        victim = write_recording("victim", folder=tmp_path)
        path = root / "x.jsonl"
        if kind == "link":
            path.symlink_to(victim)
        elif kind == "hard link":
            path.hardlink_to(victim)
        elif kind == "fifo":
            os.mkfifo(path)
        else:
            path.mkdir()
        with pytest.raises(UnsafeFileError):
            management.delete_recording("x")
        assert names_in(root) == ["x.jsonl"]
        assert victim.exists()

    @pytest.mark.parametrize("by_path", [False, True])
    def test_the_active_recording_is_refused_however_it_is_spelled(
        self, write_recording: WriteRecording, tmp_path: Path, *, by_path: bool
    ):
        path = write_recording("x")
        (tmp_path / "alias").symlink_to(path.parent)
        spelled = str(tmp_path / "alias" / "x.jsonl") if by_path else "x"
        config.update_settings({"record_replay.mode": "replay", "record_replay.file": spelled})
        with pytest.raises(RecordingActiveError):
            management.delete_recording("x")
        management.turn_off()
        management.delete_recording("x")
        assert not path.exists()

    def test_a_recording_just_chosen_by_another_process_is_never_deleted(
        self, write_recording: WriteRecording, root: Path, tmp_path: Path
    ):
        template = write_recording("template", folder=tmp_path)
        arguments = [str(template), str(root / "x.jsonl")]
        outcomes: list[str] = []
        with subprocess.Popen(
            [sys.executable, "-c", _PREPARE_AGAIN_AND_AGAIN, *arguments]
        ) as child:
            while child.poll() is None:
                try:
                    management.delete_recording("x")
                    outcomes.append("deleted")
                except OpenProgramError as error:
                    outcomes.append(type(error).__name__)
        assert child.returncode == 0
        assert "deleted" in outcomes

    @pytest.mark.parametrize("text", ["{bad", '{"record_replay": {"mode": "on"}}'])
    def test_with_broken_settings_nothing_goes(
        self, write_recording: WriteRecording, state_dir: Path, text: str
    ):
        path = write_recording("x", days_old=9)
        (state_dir / "config.json").write_text(text)
        with pytest.raises(ConfigError):
            management.delete_recording("x")
        with pytest.raises(ConfigError):
            management.prune_recordings(older_than_days=1)
        assert path.exists()

    def test_under_a_live_writer_it_is_refused_and_after_it_goes(
        self,
        write_recording: WriteRecording,
        hold_as_a_sink_does: Callable[[Path], None],
    ):
        path = write_recording("x")
        hold_as_a_sink_does(path)
        with pytest.raises(FileLockedError):
            management.delete_recording("x")
        assert path.exists()

    def test_under_a_held_row_lock_it_is_refused(self, write_recording: WriteRecording, root: Path):
        path = write_recording("x")
        with (root / "x.jsonl.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with pytest.raises(FileLockedError):
                management.delete_recording("x")
        assert path.exists()
        management.delete_recording("x")
        assert names_in(root) == []

    def test_a_file_that_took_the_name_just_now_stays(
        self, write_recording: WriteRecording, monkeypatch: pytest.MonkeyPatch
    ):
        path = write_recording("x")
        flock = fcntl.flock

        def replace_just_before_the_lock(fd: int, operation: int) -> None:
            write_recording("newcomer").replace(path)
            flock(fd, operation)

        monkeypatch.setattr(fcntl, "flock", replace_just_before_the_lock)
        with pytest.raises(FileLockedError, match="replaced"):
            management.delete_recording("x")
        assert "newcomer" in path.read_text()

    def test_a_refusal_keeps_no_lock(self, write_recording: WriteRecording, root: Path):
        path = write_recording("x")
        (root / "x.jsonl.lock").touch()
        config.update_settings({"record_replay.mode": "replay", "record_replay.file": "x"})
        with pytest.raises(RecordingActiveError):
            management.delete_recording("x")
        for held in (path, root / "x.jsonl.lock"):
            with held.open() as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_a_system_that_does_not_let_it_go_is_named(
        self, write_recording: WriteRecording, monkeypatch: pytest.MonkeyPatch
    ):
        path = write_recording("x")

        def fail(_name: str, **_options: object) -> None:
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr(os, "unlink", fail)
        with pytest.raises(RecordingError, match="Read-only") as caught:
            management.delete_recording("x")
        assert caught.value.path == path

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
    def test_another_users_file_is_refused(self, write_recording: WriteRecording):
        path = write_recording("x")
        os.chown(path, 12345, -1)
        with pytest.raises(UnsafeFileError):
            management.delete_recording("x")
        assert path.exists()


class TestPruning:
    def test_old_recordings_go_sound_or_not_and_new_ones_stay(
        self, write_recording: WriteRecording, root: Path
    ):
        old = write_recording("old", header={"created_at": "2099-01-01T00:00:00Z"}, days_old=8)
        broken = write_recording("broken", tail="{", days_old=8)
        write_recording("new", header={"created_at": "1999-01-01T00:00:00Z"}, days_old=6)
        freed = old.stat().st_size + broken.stat().st_size
        report = management.prune_recordings(older_than_days=7)
        assert report.to_json() | {"recordings": []} == {
            "matched": 2,
            "deleted": 2,
            "failed": 0,
            "skipped": 0,
            "bytes": freed,
            "recordings": [],
        }
        assert [row["recording_id"] for row in report.to_json()["recordings"]] == ["broken", "old"]
        assert names_in(root) == ["new.jsonl"]

    def test_a_dry_run_says_the_same_and_deletes_nothing(
        self, write_recording: WriteRecording, root: Path
    ):
        size_bytes = write_recording("old", days_old=8).stat().st_size
        report = management.prune_recordings(older_than_days=7, dry_run=True)
        assert report.to_json() == {
            "matched": 1,
            "deleted": 0,
            "failed": 0,
            "skipped": 0,
            "bytes": size_bytes,
            "recordings": [
                {
                    "recording_id": "old",
                    "action": "would_delete",
                    "reason": None,
                    "size_bytes": size_bytes,
                }
            ],
        }
        assert names_in(root) == ["old.jsonl"]

    @pytest.mark.parametrize("dry_run", [False, True])
    def test_active_locked_and_linked_ones_are_skipped_with_the_reason(
        self,
        write_recording: WriteRecording,
        hold_as_a_sink_does: Callable[[Path], None],
        root: Path,
        *,
        dry_run: bool,
    ):
        write_recording("active", days_old=8)
        locked = write_recording("locked", days_old=8)
        write_recording("two-names", days_old=8)
        (root / "second.txt").hardlink_to(root / "two-names.jsonl")
        (root / "link.jsonl").symlink_to(root / "active.jsonl")
        old = time.time() - 8 * 86_400
        os.utime(root / "link.jsonl", (old, old), follow_symlinks=False)
        (root / "folder.jsonl").mkdir()
        os.utime(root / "folder.jsonl", (old, old))
        config.update_settings({"record_replay.mode": "record", "record_replay.file": "active"})
        hold_as_a_sink_does(locked)
        report = management.prune_recordings(older_than_days=7, dry_run=dry_run)
        assert (report.matched_count, report.skipped_count, report.freed_bytes) == (0, 5, 0)
        reasons = {row.recording_id: row.reason for row in report.recordings}
        assert all(reasons.values())
        assert sorted(reasons) == ["active", "folder", "link", "locked", "two-names"]
        assert all((root / f"{name}.jsonl").exists() for name in reasons)

    def test_a_failure_is_told_and_the_others_still_go(
        self, write_recording: WriteRecording, root: Path, monkeypatch: pytest.MonkeyPatch
    ):
        for name in ("a", "b", "c"):
            write_recording(name, days_old=8)
        rename = os.rename

        def fail_for_b(name: str, to: str, **options: Any) -> None:
            if name == "b.jsonl":
                raise OSError(30, "Read-only file system")
            rename(name, to, **options)

        monkeypatch.setattr(os, "rename", fail_for_b)
        report = management.prune_recordings(older_than_days=7)
        assert (report.matched_count, report.deleted_count, report.failed_count) == (3, 2, 1)
        assert names_in(root) == ["b.jsonl"]
        assert "Read-only" in str(report.recordings[1].reason)

    def test_a_recording_written_to_since_the_list_was_taken_stays(
        self, write_recording: WriteRecording, monkeypatch: pytest.MonkeyPatch
    ):
        path = write_recording("x", days_old=8)
        flock = fcntl.flock

        def write_just_before_the_lock(fd: int, operation: int) -> None:
            os.utime(path)
            flock(fd, operation)

        monkeypatch.setattr(fcntl, "flock", write_just_before_the_lock)
        report = management.prune_recordings(older_than_days=7)
        assert report.recordings == ()
        assert path.exists()

    @pytest.mark.parametrize("days", [0, -1, True])
    def test_the_age_is_a_positive_number(self, days: int):
        with pytest.raises(ValueError, match="at least 1"):
            management.prune_recordings(older_than_days=days)

    def test_an_age_beyond_all_time_matches_nothing(self, write_recording: WriteRecording):
        write_recording("x", days_old=8)
        assert management.prune_recordings(older_than_days=10**400).recordings == ()

    def test_without_a_root_there_is_nothing_to_do_and_none_is_made(self, state_dir: Path):
        assert management.prune_recordings(older_than_days=1).recordings == ()
        assert not state_dir.exists()

    def test_a_linked_root_is_refused(self, state_dir: Path, tmp_path: Path):
        state_dir.mkdir(mode=0o700)
        (tmp_path / "elsewhere").mkdir()
        (state_dir / "recordings").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(UnsafeFileError):
            management.prune_recordings(older_than_days=1)
        with pytest.raises(OpenProgramError):
            management.delete_recording("x")
