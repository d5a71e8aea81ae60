"""Many threads of many processes record into one file: nothing is lost, torn or mixed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from fault_drives import Strength, find_calls, run_child, wire_events
from openprogram.providers.recording.reader import validate_recording
from scripted import rows_of

if TYPE_CHECKING:
    from pathlib import Path


def test_every_call_of_many_writers_is_whole_and_has_only_its_own_events(
    tmp_path: Path, strength: Strength
) -> None:
    path = tmp_path / "x.jsonl"
    process_count, thread_count = (strength.of(4, 8),) * 2
    per_thread = strength.of(13, 157)
    writers = [
        run_child("fault_crowd", path, name, thread_count, per_thread)
        for name in range(process_count)
    ]
    # They open it at once; the first of them makes the header.
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        with writer:
            pass
        assert writer.returncode == 0
    validate_recording(path)
    inspection, calls = find_calls(path)
    assert calls.keys() == {
        f"process {process} thread {thread} call {call}"
        for process in range(process_count)
        for thread in range(thread_count)
        for call in range(per_thread)
    }
    for label, call in calls.items():
        assert (call.outcome, call.events) == ("complete", wire_events(label))
    rows = rows_of(path)
    indexes = [row["call_index"] for row in rows if row["type"] == "request"]
    assert indexes == list(range(len(calls)))
    assert sum(row["type"] == "header" for row in rows) == 1
    assert not list(tmp_path.glob("*.torn-*"))
    changes = sum(
        one["call_index"] != other["call_index"] for one, other in itertools.pairwise(rows[1:])
    )
    # Otherwise the writers came one after the other, and nothing was shown.
    assert changes > len(calls)
    strength.tell(
        processes=process_count,
        threads_each=thread_count,
        calls=len(calls),
        events=inspection.event_count,
        rows_that_follow_one_of_another_call=changes,
        megabytes=inspection.size_bytes // 10**6,
    )
