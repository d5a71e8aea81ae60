"""The gate: whatever comes in, nothing that acts, hides or has no width comes out."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from examples.demo_state import HOSTILE_TEXT
from openprogram_recordings_tui.text import clean, clusters, pieces

FORBIDDEN_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}
BIDI_AND_HIDDEN = frozenset(
    "\u061c\u200b\u200c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
    "\u034f\u115f\u1160\u3164\uffa0\u00ad"
)
JOINER, EMOJI_SELECTOR = "\u200d", "\ufe0f"

odd_characters = st.sampled_from(
    "\x00\x07\x08\t\n\r\x1b\x7f\x9b\x9d\u0301\u0903\u20e3\u200b\u200d\ufe0f\ufe0e\u202e\u2066"
    "\u2028\u3164\U000e0041\U0001f3fb\U0001f468\U0001f469\u2764\U0001f1e9\U0001f1ea\ud83d\udc00"
    "1#a [é日한\u0939"
)
any_text = st.text(st.one_of(odd_characters, st.characters()), max_size=60)


@given(any_text)
@example(HOSTILE_TEXT)
@settings(max_examples=400)
def test_nothing_that_acts_on_a_terminal_comes_out(text: str):
    cleaned = clean(text)

    assert not {unicodedata.category(c) for c in cleaned} & FORBIDDEN_CATEGORIES
    assert not BIDI_AND_HIDDEN & set(cleaned)
    assert not any(0xE0000 <= ord(c) < 0xE0080 for c in cleaned)
    cleaned.encode("utf-8")


@given(any_text)
@settings(max_examples=400)
def test_every_part_has_a_width_of_its_own_and_widths_add_up(text: str):
    parts = [(shown, cell_len(shown)) for raw, shown, _ in clusters(text) if raw != "\t"]

    assert all(width > 0 for _, width in parts)
    assert cell_len("".join(shown for shown, _ in parts)) == sum(width for _, width in parts)
    assert cell_len(clean(text)) == sum(cell_len(piece) for piece, _ in pieces(text))


@given(any_text)
@settings(max_examples=300)
def test_the_parts_are_the_text_and_nothing_is_dropped(text: str):
    assert "".join(raw for raw, _, _ in clusters(text)) == text


@given(any_text)
@settings(max_examples=300)
def test_cleaning_twice_changes_nothing(text: str):
    once = clean(text)

    assert clean(once) == once


@given(any_text)
@settings(max_examples=300)
def test_joiners_and_selectors_stay_inside_emoji_only(text: str):
    cleaned = clean(text)

    for place, character in enumerate(cleaned):
        if character in (JOINER, EMOJI_SELECTOR):
            assert place > 0
            assert cleaned[place - 1] != JOINER
        if character == JOINER:
            assert place + 1 < len(cleaned)
            assert unicodedata.category(cleaned[place + 1]) in ("So", "Sm", "Cn")


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_plain_text_stays_as_it_is(text: str):
    assert clean(text) == text
    assert "".join(piece for piece, _ in pieces(text)) == text
    assert not any(is_mark for _, is_mark in pieces(text))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]52;c;AAAA\x07", "␛]52;c;AAAA␇"),
        ("\x1bc", "␛c"),
        ("\x1b[?1049l", "␛[?1049l"),
        ("\x9b31m", "<9B>31m"),
        ("\x9d0;title\x9c", "<9D>0;title<9C>"),
        ("\x00\x7f", "␀␡"),
        ("a\r\nb", "a␍⏎b"),
        ("\u202egnp.exe\u202c", "<U+202E>gnp.exe<U+202C>"),
        ("a\u200bb\ufeff", "a<U+200B>b<U+FEFF>"),
        ("\U000e0041", "<U+E0041>"),
        ("line\u2028end", "line<U+2028>end"),
        ("half \ud83d", "half <U+D83D>"),
        ("[/x] [@click=app.quit]y[/]", "[/x] [@click=app.quit]y[/]"),
        ("\u3164", "<U+3164>"),
        ("\ufe0f", "<U+FE0F>"),
        ("a\u200db", "a<U+200D>b"),
    ],
)
def test_what_acts_or_hides_becomes_a_visible_mark(raw: str, shown: str):
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("é", 1),
        ("e\u0301", 1),
        ("日本語", 6),
        ("한국어", 6),
        ("\u0928\u092e\u0938\u094d\u0924\u0947", 4),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", 2),
        ("\u2764\ufe0f", 2),
        ("1\ufe0f\u20e3", 2),
        ("\U0001f44d\U0001f3fd", 2),
        ("\U0001f1e9\U0001f1ea", 2),
        (
            "\U0001f469\U0001f3fb\u200d\u2764\ufe0f\u200d\U0001f48b\u200d\U0001f468\U0001f3ff",
            2,
        ),
    ],
)
def test_what_people_write_is_one_cluster_and_stays_readable(text: str, width: int):
    assert clean(text) == text
    assert cell_len(text) == width


def test_marks_can_be_told_from_the_real_thing():
    assert list(pieces("<U+202E> \u202e ␛\x1b")) == [
        ("<U+202E> ", False),
        ("<U+202E>", True),
        (" ␛", False),
        ("␛", True),
    ]


def test_a_pile_of_combining_marks_cannot_climb_over_other_lines():
    assert clean("a" + "\u0301" * 6) == "a" + "\u0301" * 4 + "<U+0301>" * 2


def test_a_combining_mark_cannot_change_what_stands_before_a_text():
    assert clean("\u0301x") == "<U+0301>x"
    assert clean("\u20e3") == "<U+20E3>"


def test_a_chain_of_joined_emoji_longer_than_any_in_use_is_taken_apart():
    man = "\U0001f468"

    cleaned = clean(JOINER.join([man] * 5))

    assert cleaned == JOINER.join([man] * 4) + "<U+200D>" + man


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\tb", "a   b"), ("\t", "    "), ("日\tx", "日  x"), ("\x1b\tx", "␛   x")],
)
def test_tabs_reach_the_next_stop_in_cells(text: str, shown: str):
    assert clean(text) == shown
