"""Lists of an open recording: lines read when they are asked for, rows that open in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from openprogram_recordings_tui.sources.call_views import CallViews
from openprogram_recordings_tui.sources.lists import CallLines, EventLines, RawLines
from openprogram_recordings_tui.sources.open_recording import OpenRecording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from openprogram_recordings_tui.presentation.lines import LineSource


@pytest.fixture
def flaky(demo: Path) -> Iterator[OpenRecording]:
    """Give the demo's flaky test, its rows found."""
    recording = OpenRecording(demo / "fix-flaky-test.jsonl")
    recording.scan(lambda: None, lambda: False)
    yield recording
    recording.close()


def words(source: LineSource, index: int, width: int = 90) -> str:
    return "".join(span.text for span in source.line(index, width))


def test_calls_and_events_have_a_line_each(flaky: OpenRecording):
    calls, events = CallLines(flaky), EventLines(flaky, 0)

    assert calls.line_count == 6
    assert "→ run_tests tests/test_cart.py" in words(calls, 2, 120)
    assert events.line_count == 21
    assert "thinking_delta" in words(events, 2)
    assert events.physical_row(20) == 22


def test_a_list_reads_only_the_lines_it_is_asked_for(
    flaky: OpenRecording, monkeypatch: pytest.MonkeyPatch
):
    read: list[int] = []
    read_row = flaky.index.read_row

    def counted(row: int, *, limit_bytes: int) -> bytes:
        read.append(row)
        return read_row(row, limit_bytes=limit_bytes)

    monkeypatch.setattr(flaky.index, "read_row", counted)
    raw = RawLines(flaky)
    raw.reflow(90)
    assert raw.line_count == flaky.row_count
    assert read == []

    words(raw, 100)
    assert read == [100]


@pytest.mark.parametrize("row", [0, 1, 139])
def test_an_open_row_shows_all_of_itself_and_moves_the_rest_down(flaky: OpenRecording, row: int):
    raw = RawLines(flaky)
    raw.reflow(60)
    before = [words(raw, i, 60) for i in range(raw.line_count)]

    assert raw.toggle(row) == row
    inner = raw.line_count - len(before)
    assert inner > 0
    shown = "".join(words(raw, row + 1 + i, 60).split("│   ")[1] for i in range(inner))
    stored = flaky.index.read_row(row, limit_bytes=10**6).decode()
    assert shown.replace(" ", "") == stored.replace(" ", "")

    after = [words(raw, i, 60) for i in range(raw.line_count)]
    assert after[:row] == before[:row]
    assert after[row + 1 + inner :] == before[row + 1 :]
    assert raw.line_of(min(row + 1, 139)) == (row + 1 + inner if row < 139 else row)

    assert raw.toggle(row + inner) == row
    assert [words(raw, i, 60) for i in range(raw.line_count)] == before


def test_opening_another_row_closes_the_first(flaky: OpenRecording):
    raw = RawLines(flaky)
    raw.reflow(60)
    raw.toggle(1)
    first = raw.line_count

    line = raw.toggle(raw.line_of(2))

    assert line == 2
    assert raw.line_count != first
    assert "▾" in words(raw, 2)
    assert "▾" not in words(raw, 1)


def test_a_row_beyond_all_bounds_is_a_bounded_preview(tmp_path: Path):
    path = tmp_path / "large.jsonl"
    path.write_bytes(b'{"type":"header"}\n{"x":"' + b"y" * 30_000_000 + b'"}\n')
    recording = OpenRecording(path)
    recording.scan(lambda: None, lambda: False)
    raw = RawLines(recording)
    raw.reflow(100)

    assert words(raw, 1, 100).startswith(" 2   30 MB  {")
    assert len(words(raw, 1, 100)) < 2000

    raw.toggle(1)
    assert raw.line_count < 800
    assert "… 30 MB more are not shown" in words(raw, raw.line_count - 1)
    assert recording.row(1) is None
    recording.close()


def test_bytes_that_are_no_text_are_shown_as_escapes(tmp_path: Path):
    path = tmp_path / "odd.jsonl"
    path.write_bytes(b"\xff\xfe\x00\n")
    recording = OpenRecording(path)
    recording.scan(lambda: None, lambda: False)

    assert words(RawLines(recording), 0) == " 1   \\xff\\xfe\x00"
    recording.close()


def test_a_view_is_made_once_and_keeps_what_was_opened(flaky: OpenRecording):
    views = CallViews(flaky, 2)

    for view in ("conversation", "request", "events", "raw"):
        assert views.source(view) is views.source(view)
    assert views.first_cursor("raw") == flaky.request_row(2)
    assert views.first_cursor("events") == 0


def test_a_request_too_large_to_take_apart_says_so(
    flaky: OpenRecording, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        "openprogram_recordings_tui.sources.open_recording.LARGEST_PARSED_ROW_BYTES", 10
    )
    source = CallViews(flaky, 0).source("conversation")

    assert "is not taken apart here" in words(source, 1)
    assert "View 4" in words(source, 2)
