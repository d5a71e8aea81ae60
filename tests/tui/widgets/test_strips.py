"""Strips: exactly as wide as the screen, whatever is in them."""

from __future__ import annotations

from typing import get_args

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from examples.demo_state import HOSTILE_TEXT
from openprogram_recordings_tui.presentation.lines import Role, Span
from openprogram_recordings_tui.widgets.palette import DARK_THEME_NAME, palette_of
from openprogram_recordings_tui.widgets.strips import strip_of

PALETTE = palette_of(DARK_THEME_NAME)
BASE = Style(bgcolor="#000000")

roles = st.sampled_from(get_args(Role))
odd_text = st.text(
    st.one_of(st.sampled_from("ab 日\u0301\x1b\t\u202e\U0001f468\u200d\ufe0f…"), st.characters()),
    max_size=30,
)
lines = st.lists(st.builds(Span, odd_text, roles), max_size=6).map(tuple)


@given(lines, st.integers(min_value=0, max_value=50))
@example((Span(HOSTILE_TEXT, "text"),), 40)
@settings(max_examples=300)
def test_a_strip_is_exactly_as_wide_as_it_says(line: tuple[Span, ...], width: int):
    strip = strip_of(line, width, PALETTE, BASE)

    assert strip.cell_length == width
    assert sum(cell_len(segment.text) for segment in strip) == width
    assert not any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in strip.text)


def test_what_is_left_out_ends_with_an_ellipsis():
    assert strip_of((Span("recording"),), 6, PALETTE, BASE).text == "recor…"
    assert strip_of((Span("reco"), Span("rding")), 4, PALETTE, BASE).text == "rec…"
    assert strip_of((Span("日本語"),), 4, PALETTE, BASE).text == "日 …"
    assert strip_of((Span("日本語"),), 5, PALETTE, BASE).text == "日本…"
    assert strip_of((Span("x" * 1_000_000),), 3, PALETTE, BASE).text == "xx…"


def test_what_fits_or_is_only_space_has_no_ellipsis():
    assert strip_of((Span("record"),), 6, PALETTE, BASE).text == "record"
    assert strip_of((Span("record"), Span(" " * 99)), 6, PALETTE, BASE).text == "record"
    assert strip_of((Span("reco"), Span("   ")), 6, PALETTE, BASE).text == "reco  "


def test_marks_look_unlike_text_that_spells_the_same():
    strip = strip_of((Span("\x1b␛"),), 2, PALETTE, BASE)

    mark, text = strip
    assert (mark.text, text.text) == ("␛", "␛")
    assert mark.style != text.style


def test_the_cursor_lies_over_the_whole_line_but_not_over_a_field_of_its_own():
    over = Style(bgcolor="#112233")

    strip = strip_of((Span("a"), Span("b", "lit_word_incoming")), 9, PALETTE, BASE, over)

    backgrounds = [s.style.bgcolor.name for s in strip if s.style and s.style.bgcolor]
    lit = PALETTE.styles["lit_word_incoming"].bgcolor
    assert lit is not None
    assert backgrounds == ["#112233", lit.name, "#112233"]
