"""An open recording: found row by row, read only where someone looks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from examples.demo_state import flaky_test
from openprogram.errors import RecordingFileError
from openprogram.providers.inspection import inspect_recording
from openprogram_recordings_tui.sources import open_recording
from openprogram_recordings_tui.sources.open_recording import OpenRecording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def scanned(path: Path) -> OpenRecording:
    recording = OpenRecording(path)
    recording.scan(lambda: None, lambda: False)
    return recording


@pytest.fixture
def flaky(demo: Path) -> Iterator[OpenRecording]:
    """Give the demo's flaky test, its rows found."""
    recording = scanned(demo / "fix-flaky-test.jsonl")
    yield recording
    recording.close()


def test_rows_are_given_to_their_calls(flaky: OpenRecording):
    rows = flaky_test().rows

    assert flaky.row_count == len(rows)
    assert flaky.call_count == 6
    for call in range(6):
        wanted = [i for i, r in enumerate(rows) if r["type"] == "event" and r["call_index"] == call]
        assert list(flaky.event_rows(call)) == wanted
        assert rows[flaky.request_row(call) or 0]["type"] == "request"


def test_rows_of_several_calls_may_interleave(tmp_path: Path):
    path = tmp_path / "mixed.jsonl"
    rows: list[dict[str, Any]] = [
        {"type": "header"},
        {"type": "request", "call_index": 0},
        {"type": "request", "call_index": 1},
        {"type": "event", "call_index": 1, "event": {}},
        {"type": "event", "call_index": 0, "event": {}},
        {"type": "call_end", "call_index": 1, "outcome": "cancelled"},
        {"type": "event", "call_index": 0, "event": {}},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    recording = scanned(path)

    assert [list(recording.event_rows(call)) for call in (0, 1, 2)] == [[4, 6], [3], []]
    assert [recording.outcome(call) for call in (0, 1)] == [None, "cancelled"]
    recording.close()


def test_the_strict_reader_and_the_rows_agree_about_a_call(flaky: OpenRecording):
    before = [flaky.call_row(call) for call in range(6)]

    flaky.inspection = inspect_recording(flaky.path)

    for call, row in enumerate(before):
        after = flaky.call_row(call)
        assert (row.model, row.event_count, row.about, row.mark) == (
            after.model,
            after.event_count,
            after.about,
            after.mark,
        )
        assert after.token_count


def test_answers_come_from_the_last_event_or_from_deltas(flaky: OpenRecording):
    message = flaky.answer(5).message
    assert message is not None
    assert message["stop_reason"] == "stop"
    assert flaky.answer(6).message is None


def test_a_row_too_large_to_be_parsed_is_not(flaky: OpenRecording, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(open_recording, "LARGEST_PARSED_ROW_BYTES", 500)
    monkeypatch.setattr(open_recording, "LARGEST_LISTED_ROW_BYTES", 100)

    assert flaky.request(5) is None
    assert flaky.event(flaky.event_rows(5)[-1]) is None
    assert flaky.call_row(5).about is None
    assert flaky.call_row(5).event_count == 28


def test_the_rows_kept_are_bounded_in_bytes(flaky: OpenRecording, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(open_recording, "_KEPT_BYTES", 2000)

    for row in range(flaky.row_count):
        assert flaky.row(row) is not None

    assert flaky._cache._used_bytes <= 4000
    assert len(flaky._cache._rows) < flaky.row_count


def test_a_row_is_decoded_once_while_it_is_kept(flaky: OpenRecording):
    assert flaky.row(3) is flaky.row(3)


def test_a_scan_ends_when_nobody_waits_for_it(demo: Path):
    recording = OpenRecording(demo / "port-to-python-3.13.jsonl")

    recording.scan(lambda: None, lambda: True)

    assert recording.row_count == 0
    recording.close()


def test_news_come_after_each_batch_and_at_the_end(demo: Path):
    recording = OpenRecording(demo / "port-to-python-3.13.jsonl")
    counts: list[int] = []

    recording.scan(lambda: counts.append(recording.row_count), lambda: False)

    assert counts == sorted(counts)
    assert len(counts) > 2
    assert counts[-1] == recording.row_count
    recording.close()


@pytest.mark.parametrize("kind", ["missing", "link", "folder"])
def test_what_may_not_be_opened_is_not(tmp_path: Path, demo: Path, kind: str):
    path = tmp_path / "odd.jsonl"
    if kind == "link":
        path.symlink_to(demo / "hostile.jsonl")
    elif kind == "folder":
        path.mkdir()

    with pytest.raises(RecordingFileError):
        OpenRecording(path)


def test_a_faulty_row_is_counted_from_nought(demo: Path):
    recording = scanned(demo / "broken-by-an-editor.jsonl")
    assert recording.faulty_row() is None

    recording.inspection = inspect_recording(recording.path)

    assert recording.faulty_row() == 27
    recording.close()


def test_rows_that_are_no_rows_break_nothing(tmp_path: Path):
    path = tmp_path / "odd.jsonl"
    path.write_bytes(b'\n[]\n{"type":"request"}\n{"type":"event","call_index":9}\n\xff')

    recording = scanned(path)

    assert recording.row_count == 5
    assert recording.call_count == 0
    assert [recording.row(i) for i in (0, 1, 4)] == [None, None, None]
    recording.close()
