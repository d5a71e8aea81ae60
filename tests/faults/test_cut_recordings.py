"""A recording is cut at every byte: it is never silently taken for a whole one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

import scripted
from fault_drives import Strength, expected_fault, find_calls, found_fault
from openprogram.errors import RecordingFileError
from openprogram.providers.inspection import RecordingInspection, inspect_recording
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.replay import ReplayProvider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WIDE = "é 漢字 🎉 \u2028"


def _record(path: Path, text: str, events: list[object]) -> None:
    drain = scripted.drain(
        RecordingProvider(scripted.Scripted(events), path).stream(*scripted.request(text))
    )
    assert drain == events


def _record_two_calls(path: Path, *, delta_count: int) -> bytes:
    """Record a text and a tool call, with characters of every width and a lone surrogate."""
    deltas = [f"{_WIDE} {number}\n" for number in range(delta_count)]
    arguments = ['{"path": "', _WIDE, *("x" * 40 for _ in range(delta_count)), '"}']
    _record(path, _WIDE, scripted.text_events("\ud83d\n", *deltas))
    _record(path, "and then?", scripted.tool_events(*arguments))
    return path.read_bytes()


def _row_count(inspection: RecordingInspection) -> int:
    ends = sum(call.outcome is not None for call in inspection.calls)
    header = inspection.header is not None
    return header + len(inspection.calls) + inspection.event_count + ends


def _sound_lengths(whole: bytes) -> Iterator[int]:
    """Where a first part is sound by itself: behind the header, and behind each call."""
    length = 0
    for row in whole.splitlines(keepends=True):
        length += len(row)
        if row.startswith((b'{"type":"header"', b'{"type":"call_end"')):
            yield length


def test_no_cut_recording_is_taken_for_a_whole_one(tmp_path: Path, strength: Strength) -> None:
    path = tmp_path / "x.jsonl"
    whole = _record_two_calls(path, delta_count=strength.of(1, 36))
    assert whole.count(b"\n") > 10
    accepted: list[int] = []
    codes: dict[str, int] = {}
    for length in range(len(whole), -1, -1):
        os.truncate(path, length)
        inspection = inspect_recording(path)
        fault = found_fault(inspection)
        assert fault == expected_fault(whole[:length]), length
        # All that came before the cut is still there to look at.
        assert _row_count(inspection) == whole.count(b"\n", 0, length), length
        if fault is None:
            accepted.append(length)
            continue
        codes[fault[0]] = codes.get(fault[0], 0) + 1
        if length % strength.of(16, 1):
            continue
        with pytest.raises(RecordingFileError) as caught:
            ReplayProvider(path)
        assert caught.value.code == fault[0]
    assert accepted[::-1] == list(_sound_lengths(whole))
    assert len(accepted) == 3
    strength.tell(bytes=len(whole), cuts=len(whole) + 1, sound_first_parts=len(accepted), **codes)


def test_whatever_was_cut_off_the_next_recording_works(tmp_path: Path, strength: Strength) -> None:
    whole = _record_two_calls(tmp_path / "whole.jsonl", delta_count=1)
    torn_count = 0
    folder = tmp_path / "cut"
    folder.mkdir()
    lengths = range(0, len(whole) + 1, strength.of(len(whole) // 40, 1))
    for length in lengths:
        path = folder / "x.jsonl"
        path.write_bytes(whole[:length])
        _record(path, "again", scripted.text_events("yes\n"))
        inspection, calls = find_calls(path)
        assert inspection.valid, (length, inspection.error)
        assert len(calls["again"].events) == 5
        kept, _, torn = whole[:length].rpartition(b"\n")
        assert path.read_bytes().startswith(kept)
        beside = [one.read_bytes() for one in folder.glob("x.jsonl.torn-*")]
        assert beside == ([torn] if torn else []), length
        for file in folder.iterdir():
            file.unlink()
        torn_count += bool(torn)
    strength.tell(cuts=len(lengths), torn_rows_set_aside=torn_count)
