"""Each chunk of the vendor means what its documentation says, and no odd one breaks the rest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._assembly import MessageAssembler
from openprogram.providers.vendors._google_events import EventReader

MODEL = t.Model(
    id="m",
    name="M",
    api="google-generative-ai",
    provider="google",
    base_url="",
    cost=t.ModelCost(input=1.0, output=2.0, cache_read=3.0),
)
STOP = {"candidates": [{"finishReason": "STOP"}]}


def chunk(*parts: Any, **candidate: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts), "role": "model"}, **candidate}]}


def call(name: str, args: Any = None, signature: str | None = None, **more: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, "args": args, **more}}
    return {**part, "thoughtSignature": signature} if signature else part


def text(text_: str, **fields: Any) -> dict[str, Any]:
    return {"text": text_, **fields}


def read(*data: Any, taken_ids: tuple[str, ...] = ()) -> list[Any]:
    """Read the chunks and end the message."""
    reader = EventReader(MessageAssembler(MODEL), taken_ids)
    events = [event for one in data for event in reader.read(one)]
    return [*events, *reader.close(), reader.finish()]


def kinds(events: list[Any]) -> list[str]:
    return [event.type for event in events]


def fault(*data: Any) -> ModelRequestError:
    with pytest.raises(ModelRequestError) as caught:
        read(*data)
    return caught.value


def test_thoughts_text_and_calls_become_our_events() -> None:
    events = read(
        chunk(text("wh", thought=True)),
        chunk(text("y", thought=True), text("h")),
        chunk(text("i")),
        chunk(call("one", {"a": [1, "é"]}, "c2ln"), call("two")),
        chunk(text(""), finishReason="STOP"),
    )
    assert kinds(events) == [
        *["thinking_start", "thinking_delta", "thinking_delta", "thinking_end"],
        *["text_start", "text_delta", "text_delta", "text_end"],
        *["toolcall_start", "toolcall_delta", "toolcall_end"] * 2,
        "done",
    ]
    done = events[-1]
    assert done.reason == "toolUse"
    assert done.message.content == [
        t.ThinkingContent(thinking="why"),
        t.TextContent(text="hi"),
        t.ToolCall(id="call_0", name="one", arguments={"a": [1, "é"]}, thought_signature="c2ln"),
        t.ToolCall(id="call_1", name="two", arguments={}),
    ]
    assert [e.delta for e in events if e.type == "toolcall_delta"] == ['{"a": [1, "é"]}', "{}"]


def test_a_signed_part_is_a_block_of_its_own_and_stays_byte_for_byte() -> None:
    odd = "not+/base64==\ud83d"
    events = read(
        chunk(text("a")),
        chunk(text("b", thoughtSignature="c2ln")),
        chunk(text("c")),
        chunk({"thoughtSignature": odd}),
        chunk(text("d", thought=True)),
        chunk(text("e", thought=True, thoughtSignature="ZQ==")),
        chunk({"thought": True, "thoughtSignature": "Zg=="}),
        chunk(text("", thoughtSignature="Zw=="), finishReason="STOP"),
    )
    assert events[-1].message.content == [
        t.TextContent(text="a"),
        t.TextContent(text="b", text_signature="c2ln"),
        t.TextContent(text="c"),
        t.TextContent(text="", text_signature=odd),
        t.ThinkingContent(thinking="d"),
        t.ThinkingContent(thinking="e", thinking_signature="ZQ=="),
        t.ThinkingContent(thinking="", thinking_signature="Zg=="),
        t.TextContent(text="", text_signature="Zw=="),
    ]
    starts = [event for event in events if event.type.endswith("_start")]
    assert [event.content_index for event in starts] == list(range(8))
    assert len([event for event in events if event.type.endswith("_end")]) == 8


def test_ids_are_the_vendors_or_follow_from_the_conversation() -> None:
    data = chunk(
        call("t"), call("t", id="own"), call("t", id="own"), call("t", id="old"), call("t")
    )
    events = read(data, STOP, taken_ids=("call_2", "old"))
    ids = [block.id for block in events[-1].message.content]
    assert ids == ["call_3", "own", "call_4", "call_5", "call_6"]
    again = read(data, STOP, taken_ids=("old", "call_2"))
    assert [block.id for block in again[-1].message.content] == ids


def test_unknown_parts_and_fields_and_other_candidates_are_skipped() -> None:
    events = read(
        {"modelVersion": "m", "responseId": 5, "usageMetadata": None, "candidates": None},
        chunk({"inlineData": {"mimeType": "image/png", "data": "AAAA"}, "thoughtSignature": "s"}),
        chunk(text("a", videoMetadata=5), {"executableCode": {"code": "1"}}, {}, text("b")),
        {
            "candidates": [
                {"index": 1, "content": {"parts": [text("other")]}, "finishReason": "SAFETY"},
                {"index": 0, "content": {"role": "model"}, "safetyRatings": [1]},
                {"content": None, "groundingMetadata": {}},
            ]
        },
        {"candidates": []},
        STOP,
    )
    assert kinds(events) == ["text_start", "text_delta", "text_delta", "text_end", "done"]
    assert events[-1].message.content == [t.TextContent(text="ab")]


@pytest.mark.parametrize(
    ("vendor", "ours"),
    [
        ("STOP", "stop"),
        ("A_LATER_WORD", "stop"),
        ("FINISH_REASON_UNSPECIFIED", "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
    ],
)
def test_stop_reasons(vendor: str, ours: str) -> None:
    done = read(chunk(text("x"), finishReason=vendor))[-1]
    assert (done.reason, done.message.stop_reason) == (ours, ours)


def test_older_models_say_stop_in_every_chunk() -> None:
    done = read(chunk(text("a"), finishReason="STOP"), chunk(text("b"), finishReason="MAX_TOKENS"))[
        -1
    ]
    assert (done.message.content, done.reason) == ([t.TextContent(text="ab")], "length")


@pytest.mark.parametrize(
    ("vendor", "reason", "is_retryable"),
    [
        ("SAFETY", "refusal", False),
        ("RECITATION", "refusal", False),
        ("PROHIBITED_CONTENT", "refusal", False),
        ("MALFORMED_FUNCTION_CALL", "bad_response", True),
        ("UNEXPECTED_TOOL_CALL", "bad_response", True),
        ("MISSING_THOUGHT_SIGNATURE", "bad_request", False),
        ("OTHER", "unknown", False),
    ],
)
def test_an_answer_that_is_none_is_an_error(vendor: str, reason: str, is_retryable: bool) -> None:
    error = fault(chunk(text("x"), finishReason=vendor, finishMessage="why"))
    assert (error.reason, error.is_retryable) == (reason, is_retryable)
    assert str(error) == f"the model's answer ended with {vendor}: why"


def test_a_blocked_prompt_is_a_refusal() -> None:
    error = fault({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}})
    assert (error.reason, str(error)) == ("refusal", "the prompt was blocked: SAFETY")
    told: dict[str, Any] = {"blockReason": "OTHER", "blockReasonMessage": "no", "safetyRatings": []}
    assert str(fault({"promptFeedback": told})) == "the prompt was blocked: OTHER: no"
    assert read({"promptFeedback": {"safetyRatings": []}}, STOP)[-1].reason == "stop"


def test_a_stream_that_just_ends_is_a_lost_connection_or_an_empty_answer() -> None:
    assert fault().reason == "network"
    assert fault(chunk(text("x"))).reason == "network"
    empty = fault({"usageMetadata": {"promptTokenCount": 5}}, {"candidates": []})
    assert (empty.reason, empty.is_retryable) == ("bad_response", True)


def test_usage_counts_are_totals_so_far_and_the_last_word_wins() -> None:
    events = read(
        {**chunk(text("a")), "usageMetadata": {"promptTokenCount": 15, "totalTokenCount": 15}},
        {
            **STOP,
            "usageMetadata": {
                "promptTokenCount": 13,
                "toolUsePromptTokenCount": 2,
                "cachedContentTokenCount": 5,
                "candidatesTokenCount": 8,
                "thoughtsTokenCount": 4,
                "totalTokenCount": 27,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 13}],
            },
        },
        {"usageMetadata": {"candidatesTokenCount": 9, "thoughtsTokenCount": None}},
    )
    assert events[0].partial.usage.input == 15
    usage = events[-1].message.usage
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (10, 13, 5, 0)
    assert usage.total_tokens == 28
    assert round(usage.cost.total * 1_000_000) == 10 + 26 + 15


def test_usage_of_a_blocked_prompt_is_kept() -> None:
    assembler = MessageAssembler(MODEL)
    reader = EventReader(assembler)
    feedback = {"blockReason": "SAFETY"}
    list(reader.read({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 7}}))
    with pytest.raises(ModelRequestError) as caught:
        reader.finish()
    assert assembler.fail(caught.value).error.usage.input == 7


def test_an_error_in_the_stream_is_of_its_class() -> None:
    error = fault(chunk(text("x")), {"error": {"code": 503, "message": "busy"}})
    assert (error.reason, str(error)) == ("overloaded", "busy")


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "text",
        {"candidates": 5},
        {"candidates": [{"content": {"parts": ["text"]}}]},
        chunk(text("x", thought="yes")),
        chunk({"text": {"a": 1}}),
        chunk({"functionCall": {"args": {}}}),
        chunk(call("t", [1])),
        chunk(call("t", {"a": float("nan")})),
        {"usageMetadata": {"promptTokenCount": "private"}},
    ],
)
def test_a_chunk_of_the_wrong_shape_is_a_bad_response(data: Any) -> None:
    error = fault(data, STOP)
    assert error.reason == "bad_response"
    assert "private" not in str(error)


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "x", "STOP", "SAFETY"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *["candidates", "content", "parts", "text", "thought", "thoughtSignature"],
                    *["functionCall", "name", "args", "id", "index", "finishReason"],
                    *[
                        "promptFeedback",
                        "blockReason",
                        "usageMetadata",
                        "promptTokenCount",
                        "error",
                    ],
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100)
@given(
    chunks=st.lists(
        _values | st.builds(chunk, _values, _values, finishReason=st.just("STOP")), max_size=3
    )
)
def test_no_chunk_is_a_crash_and_each_block_begins_and_ends_once(chunks: list[Any]) -> None:
    try:
        events = read(*chunks, STOP)
    except ModelRequestError:
        return
    starts = [event.content_index for event in events if event.type.endswith("_start")]
    ends = [event.content_index for event in events if event.type.endswith("_end")]
    assert starts == ends == list(range(len(events[-1].message.content)))
