"""Whatever the umask and the name: owner-only, in the managed root, and one file for one name."""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING

import pytest

from fault_drives import find_calls, record
from fresh_interpreter import output_of
from openprogram.errors import (
    InvalidSelectorError,
    OpenProgramError,
    RecordingFileError,
    UnsafeFileError,
)
from openprogram.providers import file_safety, management
from openprogram.providers.recording.sink import RecordingSink

if TYPE_CHECKING:
    from pathlib import Path

# Makes every kind of file that a recording brings: with it a lock file, a torn row, the settings,
# a deleted one, and a report of a replay that parted.
_MAKE_EVERYTHING = """
import asyncio, os, sys
os.umask(int(sys.argv[1], 8))
from fault_drives import record
from openprogram.errors import ReplayMismatch
from openprogram.providers import management
from openprogram.providers.replay import ReplayProvider
path = management.prepare_record("x").path
asyncio.run(record(path, "one"))
with path.open("ab") as file:
    file.write(b"torn")
asyncio.run(record(path, "two"))
management.prepare_replay("x")
replay = ReplayProvider(path, report_mismatches=True)
from scripted import drain, request
try:
    drain(replay.stream(*request("three")))
except ReplayMismatch:
    print("parted")
"""


def _modes_below(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode)
        for path in [folder, *folder.rglob("*")]
    }


@pytest.mark.parametrize("umask", ["000", "022", "077", "177"])
def test_every_file_and_directory_is_owner_only_whatever_the_umask(
    state_dir: Path, umask: str
) -> None:
    assert output_of(_MAKE_EVERYTHING, umask) == "parted\n"
    modes = _modes_below(state_dir)
    for name, mode in modes.items():
        assert mode == (0o700 if (state_dir / name).is_dir() else 0o600), (name, oct(mode))
    names = " ".join(modes)
    assert all(word in names for word in ("config", ".torn-", ".lock", "mismatches/", "x.jsonl"))


def test_a_recording_with_a_second_name_is_neither_recorded_into_nor_deleted(
    state_dir: Path, tmp_path: Path
) -> None:
    path = state_dir / "recordings" / "x.jsonl"
    asyncio.run(record(path, "one"))
    other = tmp_path / "other"
    other.hardlink_to(path)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    with pytest.raises(RecordingFileError) as caught:
        RecordingSink(path)
    assert caught.value.code == "unsafe_permissions"
    with pytest.raises(UnsafeFileError):
        management.delete_recording("x")
    assert (path.read_bytes(), other.stat().st_mtime_ns) == before


def test_a_lock_file_with_a_second_name_is_refused_and_keeps_its_mode(
    state_dir: Path, tmp_path: Path
) -> None:
    path = state_dir / "recordings" / "x.jsonl"
    asyncio.run(record(path, "one"))
    mine = tmp_path / "mine"
    mine.touch(mode=0o644)
    mine.chmod(0o644)
    lock_path = file_safety.lock_path_of(path)
    lock_path.unlink()
    lock_path.hardlink_to(mine)
    with pytest.raises(RecordingFileError, match="second name"):
        RecordingSink(path)
    assert stat.S_IMODE(mine.stat().st_mode) == 0o644


@pytest.mark.parametrize("letter", ["n", "é", "漢"])
def test_the_longest_name_is_recorded_into_and_set_right(tmp_path: Path, letter: str) -> None:
    room = 255 - len(".jsonl")
    stem = letter * (room // len(letter.encode()))
    path = tmp_path / f"{stem}{'n' * (room - len(stem.encode()))}.jsonl"
    assert len(os.fsencode(path.name)) == 255
    asyncio.run(record(path, "one"))
    with path.open("ab") as file:
        file.write(b"torn")
    asyncio.run(record(path, "two"))
    inspection, calls = find_calls(path)
    assert inspection.valid
    assert calls.keys() == {"one", "two"}
    (torn,) = tmp_path.glob("*.torn-*")
    assert torn.read_bytes() == b"torn"


@pytest.mark.parametrize(
    "name",
    [
        *("../x", "a/../../x", "/tmp/x", "..", ".", "", ".x", "x\0", "x:y", "a\\b", "x" * 65),
        *("CON", "con.jsonl", "Aux.x", "cOM1", "LPT9.a.b", "x.", "x.JSONL", "x.jsonl.jsonl"),
    ],
)
def test_no_name_leads_out_of_the_managed_root_or_to_a_device(state_dir: Path, name: str) -> None:
    for act in (management.prepare_record, management.delete_recording):
        with pytest.raises(InvalidSelectorError):
            act(name)
    with pytest.raises(OpenProgramError):
        management.prepare_replay(name)
    assert not (state_dir / "recordings").exists() or not list((state_dir / "recordings").iterdir())


def test_another_spelling_of_the_root_is_the_root_and_other_letters_another_file(
    state_dir: Path,
) -> None:
    path = state_dir / "recordings" / "x.jsonl"
    asyncio.run(record(path, "one"))
    # As a file system that ignores case would have it.
    alias = state_dir / "RECORDINGS"
    if not alias.exists():
        alias.symlink_to(path.parent)
    found = management.resolve_selector(str(alias / "x.jsonl"))
    assert (found.managed, found.recording_id, found.path) == (True, "x", path)
    management.prepare_replay(str(alias / "x.jsonl"))
    with pytest.raises(OpenProgramError, match="the settings use it"):
        management.delete_recording("x")
    assert path.exists()
