"""Two texts that differ: every part is shown or counted, and the change is in view."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.providers.comparison import MISSING
from openprogram_recordings_tui.cells import width_of
from openprogram_recordings_tui.presentation.changed_texts import (
    changed_spans,
    parting_text,
    short_text,
    value_lines,
)


def lit(own: str, other: str) -> list[str]:
    return [s.text for s in changed_spans(own, other, "recorded") if "word" in s.role]


@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=300)
def test_lit_and_unlit_parts_together_are_the_text(own: str, other: str):
    spans = changed_spans(own, other, "recorded")

    if own.strip() and other.strip() and own.isprintable():
        assert "".join(span.text for span in spans).replace("·", " ") == own.replace("·", " ")


@pytest.mark.parametrize(
    ("own", "other", "changed"),
    [
        ("exit 1: 13 failed", "exit 1: 11 failed", ["13"]),
        ("same", "same", []),
        ("a b c", "a x c", ["b"]),
        ("abc", "", ["abc"]),
        ("", "abc", []),
        ("a  b", "a b", ["·"]),
        ("a\u00a0b", "a b", ["<U+00A0>"]),
        ("1.50", "1.5", ["50"]),
    ],
)
def test_whole_words_are_lit_and_white_space_is_made_visible(
    own: str, other: str, changed: list[str]
):
    assert lit(own, other) == changed


def test_texts_of_megabytes_are_compared_in_bounded_steps():
    one = "x" * 3_000_000 + " end one"
    other = "x" * 3_000_000 + " end two"

    assert lit(one, other) == ["one"]
    many, others = (" ".join(f"{n}{c}" for n in range(3000)) for c in "ab")
    assert len("".join(lit(many, others))) <= 6000


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (MISSING, "not there"),
        (None, "null"),
        ("x", '"x"'),
        ({"a": 1}, "object, 1 field"),
        ([1, 2], "array, 2 items"),
        ([], "[]"),
        (0.7, "0.7"),
    ],
)
def test_values_are_said_in_a_few_words(value: Any, shown: str):
    assert short_text(value) == shown


@given(st.text(max_size=200), st.text(max_size=200), st.integers(min_value=12, max_value=60))
def test_a_value_in_full_stays_within_the_screen(own: str, other: str, width: int):
    lines = value_lines(own, other, "recorded", width, 5)

    assert 1 < len(lines) <= 5
    for line in lines:
        assert sum(width_of(span.text) for span in line) <= width


@pytest.mark.parametrize("limit_lines", [2, 3, 4, 5, 7, 12])
@pytest.mark.parametrize(
    "start", ["", "x " * 300, "a line\n" * 40, "a longer line of text\n\n" * 9]
)
def test_the_change_is_among_the_lines_however_few(start: str, limit_lines: int):
    lines = value_lines(start + "Friday", start + "Monday", "recorded", 38, limit_lines)

    assert "Friday" in "".join(span.text.lstrip("▌ ") for line in lines for span in line)


@pytest.mark.parametrize(
    ("own", "other", "shown"),
    [
        ("short a", "short b", '"short a"'),
        ("0123456789 then a", "0123456789 then b", '"…789 then a"'),
        ("0123456789 the end", "0123456789 the end, more", '"…9 the end"'),
        ("0123456789 the end, more", "0123456789 the end", '"…9 the end, more"'),
        (["a"], "0123456789", "array, 1 item"),
        (MISSING, "text", "not there"),
    ],
)
def test_a_value_begins_a_little_before_the_difference(own: object, other: object, shown: str):
    text = parting_text(own, other)
    assert text == shown
