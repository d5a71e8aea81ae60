"""Another process swaps files, links and directories while we work: nothing outside changes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
from collections import Counter
from typing import TYPE_CHECKING

from fault_drives import Strength, record, run_child
from openprogram.errors import OpenProgramError, RecordingFileError
from openprogram.providers import file_safety, management
from openprogram.providers.inspection import inspect_recording

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_DRIVE_SECONDS = 25
_TEN_DAYS_SECONDS = 864_000


def _identity(path: Path) -> tuple[object, ...]:
    found = path.lstat()
    return (found.st_ino, stat.S_IMODE(found.st_mode), found.st_mtime_ns, path.read_bytes())


def _read(path: Path) -> None:
    os.close(file_safety.open_recording_for_reading(path, require_private=True, tighten=True))


def _append(path: Path) -> None:
    opened = file_safety.open_recording_for_append(path, create=True)
    os.write(opened.fd, b"a row\n")
    os.close(opened.fd)


def _record(path: Path) -> None:
    asyncio.run(record(path, "hi"))


def _delete(path: Path) -> None:
    management.delete_recording(path.name)


def _prune(path: Path) -> None:
    del path
    management.prune_recordings(older_than_days=7)


def _lock(path: Path) -> None:
    os.close(file_safety.open_lock_file(path))


@contextlib.contextmanager
def _swapper(path: Path, outside: Path, swapped: Counter[str]) -> Generator[None]:
    with run_child("fault_swapper", path, outside) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            printed, _ = child.communicate()
            assert child.returncode == 0
            swapped["swaps"] = int(printed)


def test_nothing_outside_changes_while_files_and_directories_are_swapped(
    state_dir: Path, tmp_path: Path, strength: Strength
) -> None:
    path = state_dir / "recordings" / "x.jsonl"
    path.parent.mkdir(mode=0o700, parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    victim, lock_victim = outside / "x.jsonl", outside / "lock"
    # A sound recording: whoever takes it for his own can append to it, and old enough to prune.
    _record(victim)
    victim.with_name("x.jsonl.lock").unlink()
    lock_victim.touch()
    for file in (victim, lock_victim):
        file.chmod(0o644)
        os.utime(file, (_TEN_DAYS_SECONDS, _TEN_DAYS_SECONDS))
    before = [_identity(victim), _identity(lock_victim), sorted(outside.iterdir())]

    actions = [_append, _record, _read, _lock, _append, _record, _delete, _prune]
    counts: Counter[str] = Counter()
    deadline = time.monotonic() + _DRIVE_SECONDS
    with _swapper(path, outside, counts):
        while counts["rounds"] < 60 or (strength.is_full and time.monotonic() < deadline):
            counts["rounds"] += 1
            for action in actions:
                try:
                    action(path)
                except RecordingFileError as error:
                    counts[f"refused as {error.code}"] += 1
                except OpenProgramError as error:
                    counts[f"refused by {type(error).__name__}"] += 1
                else:
                    counts[f"done {action.__name__[1:]}"] += 1
                assert [_identity(victim), _identity(lock_victim)] == before[:2], action
    assert sorted(outside.iterdir()) == before[2]
    assert inspect_recording(victim).valid
    assert counts["done append"] > 0
    assert counts["refused as symlink"] > 0
    strength.tell(**counts)
