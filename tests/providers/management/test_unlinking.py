"""A name is removed only while it means the file that is open; any other file keeps it."""

from __future__ import annotations

import errno
import os
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest

from fresh_interpreter import run_fresh
from openprogram.errors import RecordingError
from openprogram.providers import management
from openprogram.providers.management import modes
from openprogram.providers.management.unlinking import unlink_open_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from providers.management.conftest import WriteRecording


@pytest.fixture
def directory_fd(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "work").mkdir()
    fd = os.open(tmp_path / "work", os.O_RDONLY)
    yield fd
    os.close(fd)


def test_the_open_file_loses_its_name(tmp_path: Path, directory_fd: int):
    path = tmp_path / "work" / "x"
    with path.open("w") as file:
        assert unlink_open_file(directory_fd, path, file.fileno())
        assert os.listdir(directory_fd) == []
        assert not unlink_open_file(directory_fd, path, file.fileno())


@pytest.mark.parametrize("kind", ["file", "link", "directory"])
def test_whoever_took_the_name_keeps_it(tmp_path: Path, directory_fd: int, kind: str):
    path = tmp_path / "work" / "x"
    with path.open("w") as file:
        path.unlink()
        if kind == "file":
            path.write_text("precious")
        elif kind == "link":
            path.symlink_to("nowhere")
        else:
            path.mkdir()
        before = path.lstat()
        assert not unlink_open_file(directory_fd, path, file.fileno())
    assert os.listdir(directory_fd) == ["x"]
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)


def test_a_file_that_cannot_get_its_name_back_is_named(
    tmp_path: Path, directory_fd: int, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "work" / "x"
    rename = os.rename

    def rename_and_take_the_name(*words: Any, **places: Any) -> None:
        rename(*words, **places)
        path.write_text("third")

    with path.open("w") as file:
        path.unlink()
        path.write_text("second")
        monkeypatch.setattr(os, "rename", rename_and_take_the_name)
        with pytest.raises(
            RecordingError,
            match=r"could not get its name back: File exists; it is '.*/x\.gone-[0-9a-f]{8}' now",
        ):
            unlink_open_file(directory_fd, path, file.fileno())
    kept = sorted(each.read_text() for each in path.parent.iterdir())
    assert kept == ["second", "third"]


def test_a_file_that_cannot_be_removed_has_its_name_again(
    tmp_path: Path, directory_fd: int, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "work" / "x"
    unlink, refusals = os.unlink, iter([True])

    def refuse_once(*words: Any, **places: Any) -> None:
        if next(refusals, False):
            raise OSError(30, "Read-only file system")
        unlink(*words, **places)

    with path.open("w") as file:
        monkeypatch.setattr(os, "unlink", refuse_once)
        with pytest.raises(OSError, match="Read-only"):
            unlink_open_file(directory_fd, path, file.fileno())
    assert os.listdir(directory_fd) == ["x"]


@pytest.mark.parametrize("call", ["rename", "stat", "unlink"])
def test_ctrl_c_leaves_the_name_or_none(
    tmp_path: Path, directory_fd: int, monkeypatch: pytest.MonkeyPatch, call: str
):
    done, interrupts = getattr(os, call), iter([True])

    def do_and_be_interrupted(*words: Any, **places: Any) -> Any:
        result = done(*words, **places)
        if next(interrupts, False):
            raise KeyboardInterrupt
        return result

    path = tmp_path / "work" / "x"
    with path.open("w") as file:
        monkeypatch.setattr(os, call, do_and_be_interrupted)
        with pytest.raises(KeyboardInterrupt):
            unlink_open_file(directory_fd, path, file.fileno())
    assert os.listdir(directory_fd) == ([] if call == "unlink" else ["x"])


def test_a_file_system_without_hard_links_keeps_both_files(
    tmp_path: Path, directory_fd: int, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_words: Any, **_places: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    path = tmp_path / "work" / "x.jsonl"
    with path.open("w") as file:
        path.unlink()
        path.write_text("second")
        monkeypatch.setattr(os, "link", refuse)
        with pytest.raises(
            RecordingError, match=r"not permitted; it is '.*/x\.gone-.*\.jsonl' now"
        ):
            unlink_open_file(directory_fd, path, file.fileno())
    (kept,) = path.parent.iterdir()
    assert kept.read_text() == "second"


def test_a_recording_whose_deletion_was_killed_is_shown_whole(
    root: Path, write_recording: WriteRecording
):
    write_recording("x")
    before = (root / "x.jsonl").read_bytes()
    code = """
        import os, signal
        from openprogram.providers import management
        os.unlink = lambda *words, **places: os.kill(os.getpid(), signal.SIGKILL)
        management.delete_recording("x")
    """
    assert run_fresh(code).returncode == -signal.SIGKILL
    (left,) = management.list_recordings()
    assert left.recording_id is not None
    assert re.fullmatch(r"x\.gone-[0-9a-f]{8}", left.recording_id)
    assert left.valid
    assert left.path.read_bytes() == before

    management.delete_recording(left.recording_id)
    assert management.list_recordings() == []


def test_a_recording_that_could_not_be_prepared_takes_no_other_file_with_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    def replace_and_fail(*_words: object) -> None:
        (root / "x.jsonl").unlink()
        (root / "x.jsonl").write_text("somebody else's")
        raise KeyboardInterrupt

    monkeypatch.setattr(modes, "_set_mode", replace_and_fail)
    with pytest.raises(KeyboardInterrupt):
        management.prepare_record("x")
    assert (root / "x.jsonl").read_text() == "somebody else's"
    assert [path.name for path in root.iterdir()] == ["x.jsonl"]
