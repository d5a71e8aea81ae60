"""Two digests are equal exactly when comparing finds no difference."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recording_files as files
from openprogram.providers import content_digests
from openprogram.providers import types as t
from openprogram.providers.comparison import (
    find_first_request_difference,
    iterate_event_differences,
)
from openprogram.providers.content_digests import (
    digest_content,
    digest_last_message,
    digest_message,
    digest_request,
)
from openprogram.providers.recording.redaction import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

NUMBERS = (0, 0.0, 1, 1.0, True, 2**53, float(2**53), 2**53 + 1, 10**30, 1e30)
VALUES = st.recursive(
    st.sampled_from([*NUMBERS, None, "", "1", "é\ud83d", "text"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b", "timestamp"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def _request(*messages: Json) -> Json:
    row = files.request_row(0)
    row["context"]["messages"] += messages
    return row


def _assistant(*content: t.AssistantContent) -> Json:
    return t.to_wire(files.message(*content))


PLACES: tuple[tuple[str, ...], ...] = (
    ("model",),
    ("model", "cost"),
    ("context",),
    ("context", "messages"),
    ("options",),
    ("options", "thinking_budgets"),
    ("options", "metadata"),
)
NAMES = (
    *("id", "cost", "input", "context_window", "reasoning", "headers", "source", "output"),
    *("system_prompt", "messages", "tools", "temperature", "session_id", "cache_retention"),
    *("timestamp", "signal", "max_retry_delay_ms", "low", "metadata", "x_new", "thinking_budgets"),
)


def _put(holder: Any, name: str, value: Any, *, is_removed: bool) -> None:
    if isinstance(holder, list):
        cast("list[Any]", holder).append(value)
    elif isinstance(holder, dict) and is_removed:
        cast("Json", holder).pop(name, None)
    elif isinstance(holder, dict):
        cast("Json", holder)[name] = value


@st.composite
def _edits(draw: st.DrawFn) -> Callable[[Json], None]:
    """Draw a change of one field: to another value, or away."""
    place, name = draw(st.sampled_from(PLACES)), draw(st.sampled_from(NAMES))
    is_removed, value = draw(st.booleans()), draw(VALUES)

    def edit(request: Json) -> None:
        holder: Any = request
        for step in place:
            if type(holder) is not dict:
                return
            holder = cast("Json", holder).get(step)
        _put(holder, name, copy.deepcopy(value), is_removed=is_removed)

    return edit


@given(st.lists(_edits(), max_size=3), st.lists(_edits(), max_size=3))
def test_requests_have_one_digest_exactly_when_they_compare_as_equal(
    edits: list[Callable[[Json], None]], other_edits: list[Callable[[Json], None]]
):
    request, other = _request(), _request()
    for edit in edits:
        edit(request)
    for edit in other_edits:
        edit(other)
    difference = find_first_request_difference(request, other)
    assert (digest_request(request) == digest_request(other)) == (difference is None), difference


BLOCKS = st.sampled_from(
    [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "a", "text_signature": None},
        {"type": "text", "text": "a", "x_new": 1},
        {"type": "thinking", "thinking": "a", "redacted": None},
        {"type": "toolCall", "id": "c", "name": "f", "arguments": {"n": 1}},
        {"type": "toolCall", "id": "c", "name": "f", "arguments": {"n": 1.0}},
        {"type": "toolCall", "id": "c", "name": "f", "arguments": {"timestamp": 1}},
        {"type": "text"},
        {"type": "thinking"},
        {"type": "x_new", "text": "a"},
        {"type": "x_new", "text": "a", "text_signature": None},
    ]
)
USAGES: list[Json] = [{}, {"input": 0}, {"input": 0.0, "cost": {}}, {"input": 1}]
MESSAGES: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": st.lists(BLOCKS, max_size=2)},
    optional={
        "timestamp": st.sampled_from([1, 2]),
        "usage": st.sampled_from(USAGES),
        "stop_reason": st.sampled_from(["stop", "length"]),
        "error_message": st.sampled_from([None, "busy"]),
    },
)


@given(MESSAGES, MESSAGES)
def test_messages_have_one_digest_exactly_when_they_compare_as_equal(one: Json, other: Json):
    events = [{"type": "done", "reason": "stop", "message": each} for each in (one, other)]
    is_equal = next(iterate_event_differences(*events), None) is None
    assert (digest_message(one) == digest_message(other)) == is_equal


@pytest.mark.parametrize("value", [0, 0.0, "", None, []])
def test_what_looks_like_a_default_is_none(value: object):
    request, other = _request(), _request()
    request["model"]["reasoning"] = value
    assert find_first_request_difference(request, other) is not None
    assert digest_request(request) != digest_request(other)


def test_the_order_of_keys_does_not_count():
    request = _request(_assistant(t.ToolCall(id="c", name="f", arguments={"a": 1, "b": {"c": 2}})))
    keys = list(request)
    random.Random(1).shuffle(keys)
    shuffled = {key: request[key] for key in keys}
    shuffled["model"] = dict(reversed(request["model"].items()))
    assert digest_request(shuffled) == digest_request(request)


@pytest.mark.parametrize("name", ["api_key", "x_new_token"])
def test_a_removed_secret_is_null(name: str):
    request, other = _request(), _request()
    request["options"][name] = PLACEHOLDER
    other["options"][name] = None
    request["options"]["metadata"] = {"token": PLACEHOLDER, "note": "x", "\u2028token": PLACEHOLDER}
    other["options"]["metadata"] = {"token": None, "note": "x", "\u2028token": None}
    assert digest_request(request) == digest_request(other)
    del other["options"][name]
    assert find_first_request_difference(request, other) is None
    assert digest_request(request) == digest_request(other)


@pytest.mark.parametrize(
    "text", [f'"token":"{PLACEHOLDER}"', f'\\"token":"{PLACEHOLDER}"', PLACEHOLDER]
)
def test_text_that_looks_like_a_removed_secret_is_text(text: str):
    request, other = _request(), _request()
    request["options"]["metadata"] = {"note": text}
    other["options"]["metadata"] = {"note": text.replace(f'"{PLACEHOLDER}"', "null")}
    is_same = request["options"] == other["options"]
    assert (digest_request(request) == digest_request(other)) == is_same


def test_content_alone_decides_the_looser_keys():
    one, other = _assistant(t.TextContent(text="a")), _assistant(t.TextContent(text="a"))
    other["usage"]["input"] = 7
    assert digest_message(one) != digest_message(other)
    assert digest_content(one) == digest_content(other) != digest_content(_assistant())
    assert digest_last_message(_request(one)) == digest_last_message(
        _request({"role": "user", "content": "x", "timestamp": 1}, one)
    )


def test_nothing_has_no_looser_key():
    assert digest_content(None) is None
    assert digest_content(_assistant()) is None
    contexts: list[Any] = [{}, {"messages": []}, {"messages": None}, None, {"messages": "x"}]
    for context in contexts:
        assert digest_last_message({"context": context}) is None
    assert len(digest_message(None)) == content_digests.DIGEST_BYTES


def test_what_is_nested_deep_has_a_digest():
    deep: Any = None
    for _ in range(400):
        deep = [{"token": deep}]
    request = _request()
    request["options"]["metadata"] = {"deep": deep, "token": PLACEHOLDER}
    assert len(digest_request(request)) == content_digests.DIGEST_BYTES
