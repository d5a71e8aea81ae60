"""Text in cells: what fits, fits exactly, and what is left out is said."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from openprogram_recordings_tui.cells import crop, cut, fit, pad, width_of, wrap
from openprogram_recordings_tui.text import clean

pieces_of_text = st.sampled_from(
    [
        *("word", " ", "  ", "日本", "e\u0301", "\t", "\x1b", "\u202e", "\r", ".", "x" * 30),
        *("\U0001f1e9\U0001f1ea", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f"),
        "\ud83d",
    ]
)
one_line = st.lists(pieces_of_text, max_size=20).map("".join)
lines_of_text = st.lists(one_line, max_size=6).map("\n".join)
widths = st.integers(min_value=1, max_value=40)


@given(one_line, widths)
@settings(max_examples=300)
def test_fit_never_exceeds_its_width_and_says_what_it_leaves_out(text: str, cells: int):
    shown = fit(text, cells)

    assert width_of(shown) <= cells
    if clean(shown) != clean(text):
        assert shown.endswith("…")
        assert clean(text).startswith(clean(shown[:-1]))
        assert width_of(text) > cells


@given(one_line, widths)
@settings(max_examples=300)
def test_crop_takes_whole_clusters_and_as_many_as_fit(text: str, cells: int):
    cleaned = clean(text)

    kept = crop(cleaned, cells)

    assert cleaned.startswith(kept)
    assert cell_len(kept) <= cells
    assert clean(kept) == kept
    if kept != cleaned:
        assert cell_len(kept) >= cells - 1


@given(one_line, widths)
@settings(max_examples=300)
def test_pad_reaches_exactly_the_width(text: str, cells: int):
    shown = fit(text, cells)

    assert width_of(pad(shown, cells)) == cells
    assert pad(shown, cells).startswith(shown)
    assert pad(shown, cells, align="right").endswith(shown)


@given(lines_of_text, st.integers(min_value=8, max_value=40))
@settings(max_examples=300)
def test_no_wrapped_line_is_wider_than_the_screen(text: str, cells: int):
    for line in wrap(text, cells, limit_lines=1000):
        assert cell_len(clean(line)) <= cells
        assert "\n" not in line


@given(lines_of_text, widths)
@settings(max_examples=300)
def test_wrapping_drops_nothing_but_white_space(text: str, cells: int):
    wrapped = wrap(text, cells, limit_lines=10_000)

    assert "".join("".join(wrapped).split()) == "".join(text.split())


@given(lines_of_text, widths, st.integers(min_value=1, max_value=5))
def test_wrapping_makes_one_line_more_than_its_limit_at_most(text: str, cells: int, limit: int):
    bounded = wrap(text, cells, limit_lines=limit)

    assert bounded == wrap(text, cells, limit_lines=10_000)[: limit + 1]


def test_a_width_of_nothing_shows_nothing():
    assert fit("text", 0) == ""
    assert fit("text", -3) == ""
    assert crop("日本", 0) == ""


def test_an_ellipsis_stands_even_where_the_cut_hides_the_overflow():
    assert fit("e" + "\u0301" * 4 + "e" * 500, 2) == "e" + "\u0301" * 4 + "…"


def test_a_wide_character_is_never_halved():
    assert fit("日本語", 5) == "日本…"
    assert fit("日本語", 4) == "日…"
    assert crop("a日", 2) == "a"


def test_flags_and_families_are_never_torn():
    flag, family = "\U0001f1e9\U0001f1ea", "\U0001f468\u200d\U0001f469\u200d\U0001f467"

    assert crop(flag, 1) == ""
    assert crop(family + "x", 2) == family


def test_cut_bounds_a_text_of_any_length():
    assert len(cut("x" * 10_000_000, 80)) == 800
    assert cut("short", 80) == "short"


def test_words_break_at_spaces_and_paragraphs_at_line_feeds():
    assert wrap("one two three\nfour\n\nfive", 8, limit_lines=9) == [
        "one two",
        "three",
        "four",
        "",
        "five",
    ]


def test_a_long_word_breaks_where_the_line_ends():
    assert wrap("x" * 20, 8, limit_lines=9) == ["x" * 8, "x" * 8, "x" * 4]


def test_indents_stay():
    assert wrap("def f():\n    return 1\n\tx", 40, limit_lines=9) == [
        "def f():",
        "    return 1",
        "    x",
    ]


def test_an_empty_text_is_one_empty_line():
    assert wrap("", 10, limit_lines=5) == [""]
