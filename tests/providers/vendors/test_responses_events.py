"""Each event of the vendor means what its documentation says, and no odd one breaks the rest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._assembly import MessageAssembler
from openprogram.providers.vendors._responses_events import EventReader

MODEL = t.Model(
    id="m",
    name="M",
    api="openai-responses",
    provider="openai",
    base_url="",
    cost=t.ModelCost(input=1.0, output=2.0, cache_read=3.0, cache_write=4.0),
)
MESSAGE: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}


def event(kind: str, number: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "output_index": number, **fields}


def end(kind: str = "completed", *output: Any, **fields: Any) -> dict[str, Any]:
    response = {"status": kind, "output": list(output), **fields}
    return {"type": f"response.{kind}", "response": response}


def read(*data: Any) -> list[Any]:
    """Read the events and end the message."""
    reader = EventReader(MessageAssembler(MODEL))
    events = [event for one in data for event in reader.read(one)]
    return [*events, reader.finish()]


def kinds(events: list[Any]) -> list[str]:
    return [event.type for event in events]


def test_usage_is_told_apart_and_priced():
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 40},
        "total_tokens": 150,
    }
    told = read(end(usage=usage))[-1].message.usage
    assert (told.input, told.output, told.cache_read, told.cache_write) == (10, 50, 60, 30)
    assert told.total_tokens == 150
    assert round(told.cost.total * 1_000_000) == 10 + 100 + 180 + 120
    for odd in (None, {}, {"input_tokens": 5, "input_tokens_details": None}):
        assert read(end(usage=odd))[-1].message.usage.total_tokens in {0, 5}
    more_cached = {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 9}}
    assert read(end(usage=more_cached))[-1].message.usage.input == 0


def test_a_failed_answer_keeps_its_usage():
    assembler = MessageAssembler(MODEL)
    with pytest.raises(ModelRequestError) as caught:
        list(EventReader(assembler).read(end("failed", usage={"output_tokens": 7}, error={})))
    assert assembler.fail(caught.value).error.usage.output == 7


def test_what_is_not_known_is_skipped():
    odd = [
        {},
        {"type": "keepalive"},
        {"type": 'response.web_search_call.searching"', "output_index": "no number"},
        event("output_text.annotation.added", annotation={}),
        event("output_item.added", 0, item={"type": "web_search_call", "id": "ws_1"}),
        event("output_item.done", 0, item={"type": "web_search_call", "id": "ws_1"}),
        event("output_item.added", 1, item={}),
        event("output_item.done", 2, item={"type": "custom_tool_call", "input": "x"}),
        event("content_part.added", 3, part={"type": "hologram"}),
    ]
    text = event("output_text.delta", 4, delta="hi")
    assert kinds(read(*odd, text, end())) == ["text_start", "text_delta", "text_end", "done"]


def test_the_response_alone_is_an_answer_too():
    message = {**MESSAGE, "content": [{"type": "output_text", "text": "hi"}]}
    whole = {"object": "response", "status": "completed", "output": [message]}
    (block,) = read(whole)[-1].message.content
    assert block.text == "hi"
    with pytest.raises(ModelRequestError) as caught:
        read({"error": {"message": "no", "code": "invalid_api_key"}})
    assert caught.value.reason == "auth"


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (end(), "stop"),
        (end("done"), "stop"),
        ({"type": "response.completed", "response": {}}, "stop"),
        (end("incomplete", incomplete_details={"reason": "max_output_tokens"}), "length"),
        (end("incomplete", incomplete_details={"reason": "some new reason"}), "length"),
        (end("incomplete"), "length"),
        ({"type": "response.done", "response": {"status": "incomplete"}}, "length"),
    ],
)
def test_how_an_answer_ends(last: Any, reason: str):
    assert read(event("output_text.delta", delta="x"), last)[-1].reason == reason


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (event("output_text.delta", delta="x"), "network"),
        (end("failed", error={"code": "rate_limit_exceeded", "message": "m"}), "rate_limit"),
        (end("failed", error=None), "unknown"),
        (end("cancelled"), "server"),
        (end("incomplete", incomplete_details={"reason": "content_filter"}), "refusal"),
        ({"type": "response.done", "response": {"status": "failed"}}, "unknown"),
        ({"type": "error", "code": "server_error", "message": "m", "param": None}, "server"),
        ({"type": "error", "error": {"type": "invalid_request_error"}}, "bad_request"),
        ({"type": "response.completed"}, "bad_response"),
        (event("output_item.added", item=[]), "bad_response"),
        ({"type": "response.output_item.done", "item": {}}, "bad_response"),
        ([], "bad_response"),
        ("text", "bad_response"),
        (None, "bad_response"),
    ],
)
def test_how_an_answer_fails(last: Any, reason: str):
    with pytest.raises(ModelRequestError) as caught:
        read(last)
    assert caught.value.reason == reason


_TYPES: st.SearchStrategy[str] = st.sampled_from(
    [
        "output_item.added",
        "output_item.done",
        "content_part.added",
        "content_part.done",
        "output_text.delta",
        "output_text.done",
        "refusal.delta",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_text.done",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "completed",
    ]
)
_PARTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"type": st.sampled_from(["output_text", "refusal", "summary_text", "reasoning_text", "x"])},
    optional={"text": st.just("t") | st.none(), "refusal": st.just("r")},
)
_ITEMS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "reasoning", "function_call", "x"])},
    optional={
        "id": st.sampled_from(["a", "b"]) | st.none(),
        "call_id": st.just("c") | st.none(),
        "name": st.just("n") | st.none(),
        "arguments": st.sampled_from(["{}", "{", ""]) | st.none(),
        "content": st.lists(_PARTS | st.none(), max_size=2) | st.none(),
        "summary": st.lists(_PARTS, max_size=2) | st.just("x"),
    },
)


def _event_of(kind: str, fields: dict[str, Any], output: list[Any]) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields, "response": {"output": output}}


_EVENTS = st.builds(
    _event_of,
    _TYPES,
    st.fixed_dictionaries(
        {"output_index": st.integers(0, 2), "item": _ITEMS, "part": _PARTS},
        optional={
            "delta": st.sampled_from(["{", "}", "x"]),
            "text": st.sampled_from(["x", "xy"]),
            "summary_index": st.integers(0, 1),
            "content_index": st.integers(0, 1),
        },
    ),
    st.lists(_ITEMS, max_size=2),
)


_ENDED = _event_of(
    "output_item.done", {"output_index": 0, "item": {"type": "reasoning"}, "part": {}}, []
)


@settings(max_examples=60)
@given(st.lists(_EVENTS, max_size=8))
@example(
    [_ENDED, {**_ENDED, "type": "response.content_part.added", "part": {"type": "reasoning_text"}}]
)
@example([_ENDED, {**_ENDED, "type": "response.reasoning_text.delta", "delta": "x"}])
def test_no_order_of_events_breaks_the_rules_of_our_own(data: list[Any]):
    reader = EventReader(MessageAssembler(MODEL))
    begun: dict[int, str] = {}
    ended: set[int] = set()
    try:
        for one in data:
            for told in reader.read(one):
                kind, _, step = told.type.partition("_")
                index: int = getattr(told, "content_index")  # noqa: B009 - not of every event
                if step == "start":
                    assert index == len(begun)
                    begun[index] = kind
                else:
                    assert begun[index] == kind
                    assert index not in ended
                    ended |= {index} if step == "end" else set()
            if reader.is_ended:
                break
        reader.finish()
    except ModelRequestError:
        return
    assert ended == set(begun)
