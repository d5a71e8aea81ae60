"""Writers die by SIGKILL at random points; whatever they had handed out can be read afterwards."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fault_drives import (
    HELD_CHARACTERS,
    Child,
    FoundCall,
    Nursery,
    Strength,
    expected_fault,
    find_calls,
    found_fault,
    labels_of,
    record,
    wire_events,
)

if TYPE_CHECKING:
    from pathlib import Path

_ROUNDS_PER_FILE = 12
_LONGEST_START_SECONDS = 0.004
_LONGEST_STEP_SECONDS = 0.0004


@dataclass
class _Counts:
    killed: int = 0
    killed_before_the_first_event: int = 0
    killed_while_an_earlier_one_was_set_right: int = 0
    acknowledged_events_found: int = 0
    torn_rows: int = 0
    open_calls: int = 0
    recordings_afterwards: int = 0


def _spin(seconds: float) -> None:
    """Let a time pass that is too short to sleep."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def _kill_somewhere(child: Child, dice: random.Random) -> dict[str, int]:
    """Kill a child after a random number of events, and say how many each call handed out."""
    target = dice.choice((0, 1, 2, dice.randrange(60)))
    heard = b""
    with os.fdopen(child.acknowledgements, "rb", buffering=0) as fifo:
        while heard.count(b"\n") <= target:
            piece = fifo.read(1 << 16)
            assert piece, "the child ended by itself"
            heard += piece
        _spin(dice.random() * (_LONGEST_STEP_SECONDS if target else _LONGEST_START_SECONDS))
        os.kill(child.process_id, signal.SIGKILL)
        heard += fifo.read()
    ready, *words = heard.decode().splitlines()
    assert ready == "ready"
    return labels_of(words)


def _require_found(calls: dict[str, FoundCall], handed_out: dict[str, int]) -> None:
    """See that each event that was handed out is there, and is what it was."""
    for label, count in handed_out.items():
        expected = wire_events(label)
        found = calls[label].events
        assert found == expected[: len(found)]
        assert len(found) >= count - _held_count(expected[:count]), (label, count, len(found))


def _held_count(events: list[dict[str, Any]]) -> int:
    """Count the deltas that may still be held back: those at the end of an open tool call."""
    count = 0
    characters = 0
    for event in reversed(events):
        if event["type"] != "toolcall_delta" or characters >= HELD_CHARACTERS:
            break
        characters += len(event["delta"])
        count += 1
    return count


class _Drive:
    """One recording, into which one writer after the other dies."""

    def __init__(self, path: Path, counts: _Counts) -> None:
        self._path = path
        self._counts = counts
        self._handed_out: dict[str, int] = {}
        self._whole_rows = b""
        self._torn: list[bytes] = []
        self._is_left_over = False

    def kill_one(self, nursery: Nursery, name: str, dice: random.Random) -> None:
        child = nursery.fork(self._path, name, piece_count=dice.choice((1, 12)))
        handed_out = _kill_somewhere(child, dice)
        assert nursery.wait() == -signal.SIGKILL
        self._counts.killed += 1
        self._counts.killed_before_the_first_event += not handed_out
        self._counts.killed_while_an_earlier_one_was_set_right += (
            self._is_left_over and not handed_out
        )
        self._handed_out |= handed_out
        self._judge()

    def _judge(self) -> None:
        """Find the rows and the fault, whatever the last process left."""
        data = self._path.read_bytes() if self._path.exists() else None
        if data is None:
            assert not self._handed_out
            return
        # What was whole before is where it was.
        assert data.startswith(self._whole_rows)
        whole_rows, _, torn = data.rpartition(b"\n")
        self._whole_rows = whole_rows + b"\n" if whole_rows else b""
        if torn:
            self._torn.append(torn)
            self._counts.torn_rows += 1
        inspection, calls = find_calls(self._path)
        assert found_fault(inspection) == expected_fault(data)
        self._is_left_over = inspection.error is not None
        _require_found(calls, self._handed_out)

    def record_one(self, label: str) -> None:
        """Record as the next process would; then the whole file is sound."""
        asyncio.run(record(self._path, label))
        inspection, calls = find_calls(self._path)
        assert inspection.valid, inspection.error
        assert self._path.read_bytes().startswith(self._whole_rows)
        _require_found(calls, self._handed_out)
        assert calls[label].events == wire_events(label)
        for name, call in calls.items():
            is_whole = len(call.events) == len(wire_events(name))
            assert call.outcome == "complete" or (call.outcome == "abandoned" and name != label)
            assert is_whole or call.outcome == "abandoned"
        kept = [one.read_bytes() for one in self._path.parent.glob(f"{self._path.name}.torn-*")]
        # A writer may have died between the copy and the cut, and then there are two of it.
        assert set(self._torn) <= set(kept)
        self._whole_rows = self._path.read_bytes()
        self._handed_out[label] = len(wire_events(label))
        self._is_left_over = False
        self._counts.recordings_afterwards += 1

    def finish(self) -> None:
        _, calls = find_calls(self._path)
        self._counts.open_calls += sum(one.outcome == "abandoned" for one in calls.values())
        self._counts.acknowledged_events_found += sum(self._handed_out.values())


def test_what_killed_writers_had_handed_out_is_readable_and_the_next_recording_works(
    tmp_path: Path, nursery: Nursery, strength: Strength
) -> None:
    counts = _Counts()
    for file_number in range(strength.of(1, 30)):
        dice = random.Random(file_number if not strength.is_full else None)
        folder = tmp_path / str(file_number)
        folder.mkdir()
        drive = _Drive(folder / "x.jsonl", counts)
        for number in range(_ROUNDS_PER_FILE):
            drive.kill_one(nursery, f"round {number}", dice)
            # Otherwise the next one to be killed meets what this one left.
            if dice.random() < 0.5 or number == _ROUNDS_PER_FILE - 1:
                drive.record_one(f"after round {number}")
        drive.finish()
    assert counts.killed == strength.of(12, 360)
    strength.tell(**vars(counts))
