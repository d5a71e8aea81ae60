"""Two requests side by side: every difference has a line, and every change is lit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.demo_state import mismatch_requests
from openprogram.providers.comparison import (
    MISSING,
    iterate_differences,
    iterate_request_differences,
)
from openprogram_recordings_tui.cells import width_of
from openprogram_recordings_tui.presentation.differences import (
    DifferenceRow,
    SideLines,
    changed_spans,
    difference_rows,
    short_text,
    value_lines,
)

if TYPE_CHECKING:
    from openprogram_recordings_tui.presentation.lines import Line

RECORDED, INCOMING = mismatch_requests()
DIFFERENCES = list(iterate_request_differences(RECORDED, INCOMING))

leaves = st.none() | st.booleans() | st.integers(0, 3) | st.text(st.sampled_from("ab "), max_size=6)
objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["a", "b", "c d", "e.f"]),
    st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["x", "y"]), inner, max_size=2)
        ),
        max_leaves=8,
    ),
    max_size=4,
)


def words(line: Line) -> str:
    return "".join(span.text for span in line)


def lit(own: str, other: str) -> list[str]:
    return [s.text for s in changed_spans(own, other, "recorded") if "word" in s.role]


@given(objects, objects, st.booleans())
@settings(max_examples=300)
def test_every_difference_has_exactly_one_line(
    one: dict[str, Any], other: dict[str, Any], include_equal: bool
):
    differences = list(iterate_differences(one, other))
    rows = difference_rows(one, other, differences, include_equal=include_equal)

    numbers = [row.difference_index for row in rows if row.difference_index is not None]
    if differences and differences[0].path:
        assert sorted(numbers) == list(range(len(differences)))
    assert {row.path for row in rows if row.difference_index is not None} <= {
        d.path for d in differences
    }


@given(objects, objects, st.integers(min_value=1, max_value=80))
@settings(max_examples=200)
def test_both_sides_have_as_many_lines_and_each_can_be_drawn(
    one: dict[str, Any], other: dict[str, Any], width: int
):
    rows = difference_rows(one, other, list(iterate_differences(one, other)), include_equal=True)
    sides = SideLines(rows, "recorded"), SideLines(rows, "incoming")

    assert sides[0].line_count == sides[1].line_count == len(rows)
    for side in sides:
        for index in range(side.line_count):
            assert words(side.line(index, width))


def test_only_branches_that_differ_are_open():
    rows = difference_rows(RECORDED, INCOMING, DIFFERENCES)

    by_path = {row.path: row for row in rows}
    assert not by_path["model"].is_open
    assert by_path["context.messages[6]"].is_open
    assert not by_path["context.messages[5]"].is_open
    assert words(SideLines(rows, "recorded").line(0, 80)).strip() == "▸ model  10 fields, equal"


def test_with_all_fields_asked_for_the_equal_ones_are_open_too():
    rows = difference_rows(RECORDED, INCOMING, DIFFERENCES, include_equal=True)

    assert next(row for row in rows if row.path == "model").is_open
    assert "model.base_url" in {row.path for row in rows}


def test_what_is_missing_on_a_side_is_said_on_that_side():
    rows = difference_rows(RECORDED, INCOMING, DIFFERENCES)
    index = next(i for i, row in enumerate(rows) if row.path == "context.tools[1]")

    assert "object, 3 fields" in words(SideLines(rows, "recorded").line(index, 80))
    assert "not there" in words(SideLines(rows, "incoming").line(index, 80))


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


def test_the_first_change_of_a_long_text_is_brought_into_view():
    rows = [
        DifferenceRow(
            path="t",
            key="t",
            depth=0,
            recorded="x " * 400 + "one",
            incoming="x " * 400 + "two",
            is_open=False,
            difference_index=0,
        )
    ]

    line = words(SideLines(rows, "recorded").line(0, 60))

    assert "…" in line[:20]
    assert "one" in line[:60]
