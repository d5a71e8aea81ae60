"""A stranger changes the file amid a call: the next row notices, and nothing is written to his."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

import scripted
from fault_drives import ByLabel, Strength, events_for, find_calls, record
from openprogram.errors import RecordingWriteError
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.reader import validate_recording

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_TORN = b'{"type":"requ'


def _unlink(path: Path) -> None:
    path.unlink()


def _replace_by_a_copy(path: Path) -> None:
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)


def _link(path: Path) -> None:
    moved = path.with_name("moved")
    path.rename(moved)
    path.symlink_to(moved)


def _move_the_directory(path: Path) -> None:
    path.parent.rename(path.parent.with_name("moved"))


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _append_junk(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"type":"junk"}\n')


def _append_a_second_header(path: Path) -> None:
    with path.open("ab") as file:
        file.write(path.read_bytes().splitlines(keepends=True)[0])


def _link_the_directory_and_tear(path: Path) -> None:
    # The file is the same, but a copy of the torn row can be put nowhere safe.
    moved = path.parent.with_name("moved")
    path.parent.rename(moved)
    path.parent.symlink_to(moved)
    with path.open("ab") as file:
        file.write(_TORN)


@dataclass
class _Change:
    make: Callable[[Path], None]
    reason: str


_CHANGES = [
    _Change(_unlink, "removed or moved"),
    _Change(_replace_by_a_copy, "was replaced"),
    _Change(_link, "was replaced"),
    _Change(_move_the_directory, "removed or moved"),
    _Change(_truncate, "was truncated"),
    _Change(_empty, "was truncated"),
    _Change(_append_junk, "changed by something else"),
    _Change(_append_a_second_header, "changed by something else"),
    _Change(_link_the_directory_and_tear, "cannot set its torn last row aside"),
]


def _bytes_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(".lock")
    }


async def _change_amid_a_call(
    provider: RecordingProvider, label: str, count: int, change: Callable[[Path], None]
) -> int:
    """Change the file after so many events, and say how many came in all."""
    got = 0
    async for _ in provider.stream(*scripted.request(label)):
        got += 1
        if got == count:
            change(provider.recording_path)
    return got


def _labels_and_positions(strength: Strength) -> list[tuple[str, int]]:
    labels = [f"call {number}" for number in range(strength.of(1, 6))]
    return [
        (label, position)
        for label in labels
        # Behind the last event but one there is still a row to come.
        for position in range(1, len(events_for(label)) - 1, strength.of(3, 1))
    ]


def test_whatever_a_stranger_does_the_next_row_notices(state_dir: Path, strength: Strength) -> None:
    noticed = 0
    for label, position in _labels_and_positions(strength):
        for number, change in enumerate(_CHANGES):
            folder = state_dir / f"{label} {position} {number}"
            path = folder / "recordings" / "x.jsonl"
            asyncio.run(record(path, "before"))
            provider = RecordingProvider(ByLabel(), path)
            seen: list[dict[str, bytes]] = []

            def make(
                path: Path, change: _Change = change, seen: list[dict[str, bytes]] = seen
            ) -> None:
                change.make(path)
                seen.append(_bytes_below(path.parents[1]))

            with pytest.raises(RecordingWriteError, match=change.reason):
                asyncio.run(_change_amid_a_call(provider, label, position, make))
            assert [_bytes_below(folder)] == seen
            # And so does every call after it.
            with pytest.raises(RecordingWriteError, match=change.reason):
                asyncio.run(record(provider, "after"))
            assert [_bytes_below(folder)] == seen
            noticed += 1
    strength.tell(changes_noticed=noticed, kinds=len(_CHANGES))


def test_a_strangers_torn_row_is_set_aside_amid_a_call(state_dir: Path) -> None:
    path = state_dir / "recordings" / "x.jsonl"
    provider = RecordingProvider(ByLabel(), path)

    def tear(path: Path) -> None:
        with path.open("ab") as file:
            file.write(_TORN)

    asyncio.run(_change_amid_a_call(provider, "call 0", 2, tear))
    validate_recording(path)
    assert find_calls(path)[1]["call 0"].outcome == "complete"
    assert [one.read_bytes() for one in path.parent.glob("*.torn-*")] == [_TORN]
