"""Each event of the vendor means what its documentation says, and no odd one breaks the rest."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._anthropic_events import EventReader
from openprogram.providers.vendors._assembly import MessageAssembler

MODEL = t.Model(
    id="m",
    name="M",
    api="anthropic-messages",
    provider="anthropic",
    base_url="",
    cost=t.ModelCost(input=1.0, output=2.0, cache_read=3.0, cache_write=4.0),
)


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def end(reason: str | None = "end_turn", **fields: Any) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason, **fields}},
        {"type": "message_stop"},
    ]


def read(*data: Any) -> list[Any]:
    """Read the events and end the message."""
    reader = EventReader(MessageAssembler(MODEL))
    events = [event for one in data for event in reader.read(one)]
    return [*events, reader.finish()]


def kinds(events: list[Any]) -> list[str]:
    return [event.type for event in events]


def test_text_thinking_and_calls_become_our_events():
    events = read(
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="why"),
        delta(0, "signature_delta", signature="si"),
        delta(0, "signature_delta", signature="gn=="),
        stop(0),
        start(1, type="text", text=""),
        delta(1, "text_delta", text="hi"),
        stop(1),
        start(2, type="tool_use", id="c", name="tool", input={}),
        delta(2, "input_json_delta", partial_json=""),
        delta(2, "input_json_delta", partial_json='{"a": [1'),
        delta(2, "input_json_delta", partial_json=', "é"]}'),
        stop(2),
        *end("tool_use"),
    )
    block = ["start", "delta", "end"]
    assert kinds(events) == [
        *[f"thinking_{word}" for word in block],
        *[f"text_{word}" for word in block],
        *[f"toolcall_{word}" for word in ["start", "delta", "delta", "end"]],
        "done",
    ]
    assert events[-1].reason == "toolUse"
    assert events[-1].message.content == [
        t.ThinkingContent(thinking="why", thinking_signature="sign=="),
        t.TextContent(text="hi"),
        t.ToolCall(id="c", name="tool", arguments={"a": [1, "é"]}),
    ]


def test_redacted_thinking_keeps_its_payload():
    events = read(start(0, type="redacted_thinking", data="opaque+/="), stop(0), *end())
    assert kinds(events) == ["thinking_start", "thinking_end", "done"]
    assert events[1].content == ""
    assert events[-1].message.content == [
        t.ThinkingContent(thinking="", thinking_signature="opaque+/=", redacted=True)
    ]


def test_a_signature_without_shown_thinking_survives():
    events = read(
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "signature_delta", signature="s"),
        stop(0),
        *end(),
    )
    assert events[-1].message.content[0].thinking_signature == "s"


def test_what_a_block_starts_with_is_not_lost():
    events = read(
        start(0, type="text", text="Once"),
        stop(0),
        start(1, type="thinking", thinking="hm", signature="s"),
        stop(1),
        start(2, type="tool_use", id="c", name="tool", input={"a": 1}),
        stop(2),
        *end(),
    )
    assert [event.delta for event in events if event.type.endswith("delta")] == [
        "Once",
        "hm",
        '{"a": 1}',
    ]
    text, thinking, call = events[-1].message.content
    assert (text.text, thinking.thinking, thinking.thinking_signature) == ("Once", "hm", "s")
    assert call.arguments == {"a": 1}


def test_unknown_events_blocks_and_deltas_are_skipped_and_our_places_stay_whole():
    events = read(
        {"type": "ping"},
        {"type": "weather", "index": "x", "delta": None},
        {},
        start(0, type="server_tool_use", id=7, input="odd"),
        delta(0, "input_json_delta", partial_json="{}"),
        stop(0),
        start(1, type="web_search_tool_result", content=[], text=None),
        stop(1),
        start(2, type="text", text="", citations=None),
        delta(2, "citations_delta", citation={"text": 5}),
        delta(2, "text_delta", text="found"),
        stop(2),
        *end(),
    )
    assert kinds(events) == ["text_start", "text_delta", "text_end", "done"]
    assert {event.content_index for event in events[:-1]} == {0}


def test_interleaved_blocks_keep_their_places():
    events = read(
        start(1, type="text", text=""),
        start(0, type="text", text=""),
        delta(0, "text_delta", text="b"),
        delta(1, "text_delta", text="a"),
        stop(1),
        stop(0),
        *end(),
    )
    assert [block.text for block in events[-1].message.content] == ["a", "b"]


@pytest.mark.parametrize(
    ("vendor", "ours"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("a_later_word", "stop"),
        (None, "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "toolUse"),
    ],
)
def test_stop_reasons(vendor: str | None, ours: str):
    done = read(*end(vendor))[-1]
    assert (done.reason, done.message.stop_reason) == (ours, ours)


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ({"explanation": "not that"}, "the model refused: not that"),
        ({"explanation": None}, "the model refused to answer"),
        (None, "the model refused to answer"),
    ],
)
def test_a_refusal_is_an_error(details: Any, message: str):
    with pytest.raises(ModelRequestError) as caught:
        read(*end("refusal", stop_details=details))
    assert (caught.value.reason, str(caught.value)) == ("refusal", message)
    assert not caught.value.is_retryable


def test_usage_counts_are_totals_so_far_and_the_last_word_wins():
    usage = {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 5}
    events = read(
        {"type": "message_start", "message": {"usage": {**usage, "service_tier": "standard"}}},
        start(0, type="text", text=""),
        stop(0),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {
                "output_tokens": 7,
                "cache_creation_input_tokens": 3,
                "input_tokens": None,
            },
        },
        {"type": "message_stop"},
    )
    assert events[0].partial.usage.output == 1
    usage = events[-1].message.usage
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (10, 7, 5, 3)
    assert usage.total_tokens == 25
    assert round(usage.cost.total * 1_000_000) == 10 + 14 + 15 + 12


def test_a_message_may_end_with_its_stop_reason_alone():
    assert read(end()[0])[-1].reason == "stop"


@pytest.mark.parametrize("data", [[], [start(0, type="text", text="")]])
def test_a_stream_that_just_ends_is_a_lost_connection(data: list[Any]):
    with pytest.raises(ModelRequestError) as caught:
        read(*data)
    assert caught.value.reason == "network"
    assert caught.value.is_retryable


def test_arguments_cut_by_max_tokens_say_so_and_are_not_tried_again():
    call = start(0, type="tool_use", id="c", name="tool", input={})
    cut = delta(0, "input_json_delta", partial_json='{"a": ')
    with pytest.raises(ModelRequestError, match="max_tokens was reached") as caught:
        read(call, cut, stop(0), *end("max_tokens"))
    assert (caught.value.reason, caught.value.is_retryable) == ("output_limit", False)
    with pytest.raises(ModelRequestError, match="not valid JSON") as caught:
        read(call, cut, stop(0), *end("tool_use"))
    assert caught.value.reason == "bad_response"


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "text",
        {"type": 5},
        {"type": "message_start"},
        {"type": "message_start", "message": {"usage": {"input_tokens": "5"}}},
        start(0),
        {"type": "content_block_start", "index": 0, "content_block": None},
        start(0, type="tool_use", name="tool"),
        start(0, type="redacted_thinking"),
        {"type": "content_block_delta", "index": "0", "delta": {}},
        {"type": "message_delta", "delta": {"stop_reason": 5}},
        {"type": "content_block_stop"},
    ],
)
def test_an_event_of_the_wrong_shape_is_a_bad_response_or_skipped_never_a_crash(data: Any):
    try:
        events = read(data, *end())
    except ModelRequestError as error:
        assert error.reason == "bad_response"  # noqa: PT017 - either outcome is right, a crash is not
    else:
        assert kinds(events) == ["done"]


@pytest.mark.parametrize(
    "data",
    [
        [start(0, type="text"), delta(0, "text_delta", text=None)],
        [start(0, type="text"), delta(0, "text_delta")],
        [start(0, type="text"), delta(0, "signature_delta", signature="s")],
        [start(0, type="text"), start(0, type="text")],
        [start(0, type="text"), *end()],
    ],
)
def test_a_broken_block_is_a_bad_response(data: list[Any]):
    with pytest.raises(ModelRequestError) as caught:
        read(*data, *end())
    assert caught.value.reason == "bad_response"


def test_what_is_said_of_a_broken_event_quotes_no_value_of_it():
    with pytest.raises(ModelRequestError) as caught:
        read({"type": "content_block_stop", "index": "private"})
    assert "private" not in str(caught.value)
    assert "$.index" in str(caught.value)
