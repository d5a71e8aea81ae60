"""A line of the ignore list names a field of a request, never all there is to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.providers.comparison import join_path
from openprogram.providers.ignored_paths import ANY_INDEX, can_be_ignored, parse_ignored_path

if TYPE_CHECKING:
    from openprogram.providers.comparison import Step


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("options.session_id", ("options", "session_id")),
        ("options.reasoning", ("options", "reasoning")),
        ("model.cost", ("model", "cost")),
        ("model.cost.input", ("model", "cost", "input")),
        ("context.system_prompt", ("context", "system_prompt")),
        ("context.messages[*].details", ("context", "messages", ANY_INDEX, "details")),
        ("context.messages[12].content", ("context", "messages", 12, "content")),
        ("context.messages[0].content[*].text", ("context", "messages", 0, "content", -1, "text")),
        ("context.tools[*].parameters.properties.a", None),
        ('options.headers["x-request-id"]', ("options", "headers", "x-request-id")),
        ('options.metadata["a\\"b\\u00e9"]', ("options", "metadata", 'a"bé')),
        ("options.metadata.anything.at[3].all", None),
    ],
)
def test_a_field_of_a_request_is_taken(text: str, steps: tuple[Step, ...] | None):
    path = parse_ignored_path(text)
    assert path.text == text
    assert can_be_ignored(text)
    if steps is not None:
        assert path.steps == steps


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "not a field path"),
        (".", "not a field path"),
        (".options", "not a field path"),
        ("options.", "not a field path"),
        ("options..session_id", "not a field path"),
        ("options session_id", "not a field path"),
        ("options.session_id ", "not a field path"),
        ("options[session_id]", "not a field path"),
        ("options.headers['a']", "not a field path"),
        ('options.headers["a]', "not a field path"),
        ('options.headers["\\x"]', "not a field path"),
        ("context.messages[-1].content", "not a field path"),
        ("context.messages[1234567890].content", "not a field path"),
        ("context.messages[*", "not a field path"),
        ("modell.id", "no such field"),
        ("[0]", "no such field"),
        ("options.sesion_id", "no such field"),
        ("options[0]", "no such field"),
        ("model.id.x", "no such field"),
        ("model.cost[0]", "no such field"),
        ("context.messages.role", "no such field"),
        ("context.messages[*].timestamp", "no such field"),
        ("context.messages[*].contents", "no such field"),
        ("options.signal", "no such field"),
        ("model", "too wide"),
        ("context", "too wide"),
        ("options", "too wide"),
        ("context.messages", "too wide"),
        ("context.messages[*]", "too wide"),
        ("context.messages[3]", "too wide"),
        ("context.tools", "too wide"),
        ("context.tools[0]", "too wide"),
        ('["context"]', "too wide"),
        ('context["messages"]', "too wide"),
        ('context["messages"][*]', "too wide"),
    ],
)
def test_anything_else_is_refused_with_its_rule(text: str, rule: str):
    with pytest.raises(ValueError, match=rule) as caught:
        parse_ignored_path(text)
    assert str(caught.value).isprintable()
    assert not can_be_ignored(text)


@pytest.mark.parametrize(
    ("text", "steps", "is_covered"),
    [
        ("model.cost", ("model", "cost"), True),
        ("model.cost", ("model", "cost", "input"), True),
        ("model.cost", ("model",), False),
        ("model.cost", ("model", "cos"), False),
        ("model.cost.input", ("model", "cost"), False),
        ("context.messages[*].details", ("context", "messages", 7, "details", "a"), True),
        ("context.messages[*].details", ("context", "messages", 7, "content"), False),
        ("context.messages[*].details", ("context", "messages", 7), False),
        ("context.messages[3].details", ("context", "messages", 3, "details"), True),
        ("context.messages[3].details", ("context", "messages", 30, "details"), False),
        ('options.metadata["3"]', ("options", "metadata", "3"), True),
        ('options.metadata["3"]', ("options", "metadata", 3), False),
        ("options.metadata[*]", ("options", "metadata", "a"), False),
        ("options.metadata[*]", ("options", "metadata", 0), True),
    ],
)
def test_a_path_covers_what_is_at_it_and_inside_it(
    text: str, steps: tuple[Step, ...], is_covered: bool
):
    assert parse_ignored_path(text).covers(steps) == is_covered


STEPS = st.lists(
    st.integers(0, 99) | st.text(st.characters(codec=None, exclude_categories=()), max_size=5),
    max_size=4,
)


@settings(max_examples=150)
@given(steps=STEPS)
def test_what_a_mismatch_names_in_user_data_can_be_ignored_as_it_is_written(steps: list[Step]):
    whole = ("options", "metadata", *steps)
    path = parse_ignored_path(join_path("", *whole))
    assert path.steps == whole
    assert path.covers(whole)


@settings(max_examples=150)
@given(text=st.text(max_size=30) | st.from_regex(r"(model|context|options)[.\[\]\w\"*]{0,20}"))
def test_any_text_is_a_path_or_refused(text: str):
    if can_be_ignored(text):
        assert len(parse_ignored_path(text).steps) > 1
