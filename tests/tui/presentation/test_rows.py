"""Calls, events and physical rows as lines."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram_recordings_tui.presentation.lines import Line, cells_of
from openprogram_recordings_tui.presentation.marks import outcome_mark
from openprogram_recordings_tui.presentation.rows import (
    EVENT_ROLES,
    CallRow,
    call_heading,
    call_line,
    event_heading,
    event_line,
    event_text,
    raw_line,
    raw_part_line,
)

odd: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


def words(line: Line) -> str:
    return "".join(span.text for span in line)


def test_a_call_has_its_figures_in_the_columns_of_the_heading():
    row = CallRow(
        call_index=3,
        model="claude",
        event_count=12_345,
        token_count=None,
        cost_usd=0.02,
        about="→ ls",
        mark=outcome_mark("error"),
    )

    line, heading = words(call_line(row, 120)), words(call_heading(120))

    assert line.startswith(" ✗       3  → ls")
    assert heading.index("EVENTS") + 6 == line.index("12.3k") + 5
    assert line.rstrip().endswith("error")
    assert "–" in line


def test_a_call_of_which_nothing_is_read_yet_has_a_line():
    assert words(call_line(CallRow(call_index=0), 60)).split() == ["·", "0", "–", "–"]


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({"type": "text_delta", "delta": "so"}, "so"),
        ({"type": "text_end", "content": "so it is"}, "so it is"),
        ({"type": "toolcall_end", "tool_call": {"name": "ls", "id": "c1"}}, "ls  c1"),
        ({"type": "done", "reason": "stop", "message": {}}, "stop"),
        ({"type": "error", "reason": "aborted", "error": {"error_message": "x"}}, "aborted  x"),
        ({"type": "start"}, ""),
    ],
)
def test_an_event_shows_what_it_brought(event: dict[str, Any], shown: str):
    assert event_text(event) == shown


@given(
    st.dictionaries(
        st.sampled_from(["type", "delta", "content", "content_index", "tool_call", "error"]), odd
    ),
    st.integers(min_value=40, max_value=120),
)
def test_whatever_stands_in_an_event_its_line_is_as_wide_as_the_screen(
    event: dict[str, Any], width: int
):
    line = event_line(7, event, 100, width)

    assert cells_of(line) == width - 1 == cells_of(event_heading(width))


def test_an_event_that_is_too_large_for_a_line_says_how_large_it_is():
    line = words(event_line(7, None, 3_400_000, 100))

    assert "not taken apart" in line
    assert "a row of 3.4 MB; enter goes to it" in line


def test_every_event_of_the_wire_has_a_look():
    stem = ("start", "done", "error")
    blocks = ("text", "thinking", "toolcall")
    assert set(EVENT_ROLES) == {
        *stem,
        *(f"{block}_{step}" for block in blocks for step in ("start", "delta", "end")),
    }


def test_a_faulty_row_has_a_mark_besides_its_colour():
    lines = [
        words(raw_line(7, "{}", digits=3, size_bytes=5, is_faulty=is_faulty, is_open=False))
        for is_faulty in (False, True)
    ]

    assert lines == ["   7   {}", "▌  7   {}"]


def test_a_large_row_says_its_size_first():
    line = raw_line(7, "{...", digits=3, size_bytes=104_857_600, is_faulty=False, is_open=True)

    assert words(line) == "   7 ▾ 105 MB  {..."
    assert words(raw_part_line("part", digits=3)) == "   │   part"


def test_the_index_of_a_call_is_never_cut():
    assert " 99999  " in words(call_line(CallRow(call_index=99_999), 44))
