"""Two requests side by side: every difference has a line, and every change is lit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from examples.demo_state import mismatch_requests
from openprogram.providers.comparison import (
    iterate_differences,
    iterate_request_differences,
)
from openprogram_recordings_tui.presentation.differences import (
    DifferenceRow,
    SideLines,
    difference_rows,
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
