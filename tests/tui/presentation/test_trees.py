"""The request as a tree: only open branches exist, and paths lead to their lines."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.demo_state import flaky_test
from openprogram.providers.comparison import join_path
from openprogram_recordings_tui.presentation.trees import PAGE_SIZE, TreeLines, value_spans
from openprogram_recordings_tui.presentation.values import is_branch, is_object

REQUEST = next(row for row in flaky_test().rows if row["type"] == "request")
PARTS = {name: REQUEST[name] for name in ("model", "context", "options")}

trees: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.text(max_size=4),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=4,
)


def paths(tree: TreeLines) -> list[str]:
    return [tree.node(i).path for i in range(tree.line_count)]


def words(tree: TreeLines, index: int) -> str:
    return "".join(span.text for span in tree.line(index, 80))


def all_paths(value: Any, path: str = "") -> list[str]:
    items: Any = value.items() if is_object(value) else enumerate(value)
    found: list[str] = []
    for step, child in items:
        inner = join_path(path, step)
        found.append(inner)
        if is_branch(child):
            found += all_paths(child, inner)
    return found


@given(trees)
@settings(max_examples=200)
def test_every_path_leads_to_its_line(value: dict[str, Any]):
    for path in all_paths(value):
        tree = TreeLines(value)
        line = tree.reveal(path)

        assert line is not None
        assert tree.node(line).path == path


@given(trees)
def test_closing_and_opening_again_changes_nothing(value: dict[str, Any]):
    tree = TreeLines(value)
    for index in range(tree.line_count):
        before = paths(tree)
        if tree.toggle(index) is not None:
            tree.toggle(index)
        assert paths(tree) == before


def test_a_path_that_is_not_there_leads_to_the_nearest_above():
    tree = TreeLines(PARTS)
    line = tree.reveal("context.messages[7].content")

    assert line is not None
    assert tree.node(line).path == "context.messages"
    assert tree.reveal("nothing") is None


def test_a_closed_branch_says_what_is_in_it():
    tree = TreeLines(PARTS)
    line = tree.reveal("context.messages[0]")
    assert line is not None

    assert words(tree, line).strip() == "▸ [0]  { role, content, timestamp }"
    tree.toggle(line)
    assert words(tree, line).strip() == "▾ [0]  3 fields"


def test_going_out_closes_a_branch_and_then_goes_up():
    tree = TreeLines(PARTS)
    line = tree.reveal("model.cost.input")
    assert line is not None

    above = tree.close_branch(line)
    assert above is not None
    assert tree.node(above).path == "model.cost"
    assert tree.close_branch(above) == above
    assert "model.cost.input" not in paths(tree)
    assert tree.close_branch(tree.close_branch(above) or 0) is not None


def test_more_children_than_a_page_are_counted():
    tree = TreeLines({"part": {"many": list(range(PAGE_SIZE + 250))}})

    assert tree.line_count == 2
    tree.toggle(1)
    assert tree.line_count == PAGE_SIZE + 3
    assert words(tree, tree.line_count - 1).strip() == "… 250 more"
    assert tree.toggle(tree.line_count - 1) is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (1.0, "1.0"),
        ("short", '"short"'),
        ("x" * 300, '"' + "x" * 300 + '"  300 characters'),
        ("x" * 1000, '"' + "x" * 400 + "… +600 characters"),
        ({}, "{}"),
        ([], "[]"),
        ([1, 2], "[ 2 items ]"),
        pytest.param(10**5000, "a number of 16,610 bits", id="huge"),
    ],
)
def test_values_are_written_in_a_bounded_way(value: Any, shown: str):
    assert "".join(span.text for span in value_spans(value)) == shown


def test_what_was_redacted_is_drawn_as_redacted():
    spans = value_spans("[secret removed]")

    assert [span.role for span in spans if "secret" in span.text] == ["redacted"]
