"""Blocks: wrapped to the screen, bounded, opened on demand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram_recordings_tui.presentation.blocks import Block, ConversationLines
from openprogram_recordings_tui.presentation.lines import Line, Span, cells_of


def lines_of(source: ConversationLines, width: int = 40) -> list[str]:
    source.reflow(width)
    lines = [source.line(i, width) for i in range(source.line_count)]
    return ["".join(span.text for span in line) for line in lines]


def block(text: str, **options: object) -> Block:
    heading: Line = (Span("USER"),)
    return Block(heading=heading, gutter="user", text=text, **options)  # pyright: ignore[reportArgumentType] - what a test gives


def test_a_block_has_a_heading_a_bar_and_an_empty_line_after_it():
    assert lines_of(ConversationLines([block("one two three four")]), 16) == [
        " ▌ USER",
        " ▌ one two",
        " ▌ three four",
        "",
    ]


@given(st.text(max_size=300), st.integers(min_value=14, max_value=60))
def test_no_line_is_wider_than_the_screen(text: str, width: int):
    source = ConversationLines([block(text)])
    source.reflow(width)

    assert all(cells_of(source.line(i, width)) <= width for i in range(1, source.line_count))


def test_a_long_text_says_how_much_there_is_and_opens():
    source = ConversationLines([block("x\n" * 50, folded_lines=5), block("after")])
    folded = lines_of(source)
    assert len(folded) == 11
    assert folded[6] == " ▌ … 100 characters · enter shows more"

    assert source.toggle(3) == 3
    assert len(lines_of(source)) == 56

    assert source.toggle(20) == 0
    assert lines_of(source) == folded


def test_a_text_beyond_all_bounds_is_never_walked_whole():
    source = ConversationLines([block("word " * 2_000_000)])
    source.reflow(80)
    source.toggle(0)

    assert source.line_count <= 4004
    assert "the rest is in view 4" in lines_of(source, 80)[-2]


def test_going_into_a_short_block_changes_nothing():
    source = ConversationLines([block("short")])
    source.reflow(40)

    assert source.toggle(1) is None
    assert source.line_count == 3


def test_an_inner_block_is_shown_only_when_opened():
    source = ConversationLines([block("", inner=[block("inside")])])
    assert lines_of(source) == [" ▌ USER", ""]

    source.toggle(0)
    assert lines_of(source) == [" ▌ USER", " ▌  ▌ USER", " ▌  ▌ inside", " ▌ ", ""]


def test_a_summary_stands_in_for_the_text_until_it_is_opened():
    source = ConversationLines([block("path: a\nb\nc", summary=[(Span("path  a⏎b⏎c"),)])])
    assert lines_of(source)[1:-1] == [" ▌ path  a⏎b⏎c"]

    source.toggle(0)
    assert lines_of(source)[1:-1] == [" ▌ path: a", " ▌ b", " ▌ c"]


@pytest.mark.parametrize("index", [0, 5])
def test_a_conversation_without_blocks_has_nothing_to_open(index: int):
    assert ConversationLines([]).toggle(index) is None
