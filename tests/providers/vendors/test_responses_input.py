"""Any conversation becomes items that the vendor takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._responses_input import convert_messages
from openprogram.providers.vendors._responses_payload import build_payload
from openprogram.testing.openai_responses import OpenAIResponses
from openprogram.testing.protocol import ReceivedRequest

MODEL = t.Model(
    id="m", name="M", api="openai-responses", provider="openai", base_url="", reasoning=True
)
ITEM: dict[str, Any] = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "why"}],
    "encrypted_content": "Eo+/=é ",
    "status": None,
}
SENT_ITEM = {name: value for name, value in ITEM.items() if name != "status"}


def user(content: Any = "hi") -> t.UserMessage:
    return t.UserMessage(content=content, timestamp=0)


def answer(*content: Any, **fields: Any) -> t.AssistantMessage:
    origin: dict[str, Any] = {"api": MODEL.api, "provider": MODEL.provider, "model": "m"}
    return t.AssistantMessage(content=list(content), timestamp=0, **{**origin, **fields})


def call(id_: str = "call_1", signature: str | None = None) -> t.ToolCall:
    return t.ToolCall(id=id_, name="tool", arguments={"a": 1}, thought_signature=signature)


def result(id_: str = "call_1", *content: Any, **fields: Any) -> t.ToolResultMessage:
    said = list(content) or [t.TextContent(text=f"result of {id_}")]
    return t.ToolResultMessage(
        tool_call_id=id_, tool_name="tool", content=said, timestamp=0, **fields
    )


def text(value: str, **signature: Any) -> t.TextContent:
    return t.TextContent(text=value, text_signature=json.dumps(signature) if signature else None)


def thinking(item: Any = ITEM) -> t.ThinkingContent:
    signature = item if isinstance(item, str) or item is None else json.dumps(item)
    return t.ThinkingContent(thinking="why", thinking_signature=signature)


def items(*messages: t.Message) -> list[dict[str, Any]]:
    return convert_messages(messages, MODEL)


def kinds(converted: list[dict[str, Any]]) -> list[str]:
    return [item.get("role") or item["type"] for item in converted]


def refusal_of(*messages: t.Message) -> str | None:
    payload = build_payload(MODEL, t.Context(messages=list(messages)), t.StreamOptions(), None)
    request = ReceivedRequest(
        number=0,
        method="POST",
        path="/v1/responses",
        headers={"authorization": "Bearer k"},
        raw_body=json.dumps(payload).encode(),
        body=payload,
    )
    refusal = OpenAIResponses().refuse(request)
    return None if refusal is None else refusal.message


def test_text_images_calls_and_results_are_said_in_the_vendors_words():
    image = t.ImageContent(data="AAAA", mime_type="image/png")
    sent = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAAA"}
    messages = [
        user([text("look"), image]),
        answer(text("so"), call()),
        result("call_1", text("a"), image),
        answer(call("call_2")),
        result("call_2", text("a"), text("b")),
    ]
    output = {"type": "function_call_output"}
    asked = {"type": "function_call", "name": "tool", "arguments": '{"a":1}'}
    said_a = {"type": "input_text", "text": "a"}
    assert items(*messages) == [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "look"}, sent],
        },
        {"type": "message", "role": "assistant", "content": "so"},
        {**asked, "call_id": "call_1"},
        {**output, "call_id": "call_1", "output": [said_a, sent]},
        {**asked, "call_id": "call_2"},
        {**output, "call_id": "call_2", "output": "a\nb"},
    ]
    assert refusal_of(*messages) is None


def test_results_come_first_in_the_order_of_the_calls():
    messages = [user(), answer(call("a"), call("b")), user("wait"), result("b"), result("a")]
    converted = items(*messages)
    assert [item.get("call_id") for item in converted] == [None, "a", "b", "a", "b", None]
    assert refusal_of(*messages) is None


def test_calls_and_results_are_paired():
    for messages in ([user(), answer(call()), user("again")], [user(), answer(call())]):
        assert "no result" in items(*messages)[2]["output"]
        assert refusal_of(*messages) is None
    messages = [user(), answer(call()), result(), result("call_1", text("again")), result("other")]
    assert kinds(items(*messages)) == ["user", "function_call", "function_call_output"]
    assert refusal_of(*messages) is None


def test_reasoning_goes_back_whole_with_the_ids_that_belong_to_it():
    told = answer(
        thinking(),
        text("one ", id="msg_1", phase="final_answer"),
        text("two", id="msg_1", phase="final_answer"),
        call(signature='{"id": "fc_1"}'),
    )
    converted = items(user(), told, result())[1:4]
    parts: list[dict[str, Any]] = [
        {"type": "output_text", "text": value, "annotations": []} for value in ("one ", "two")
    ]
    message: dict[str, Any] = {
        "id": "msg_1",
        "status": "completed",
        "phase": "final_answer",
        "content": parts,
    }
    assert converted == [
        SENT_ITEM,
        {"type": "message", "role": "assistant", **message},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "tool",
            "arguments": '{"a":1}',
        },
    ]
    assert refusal_of(user(), told, result()) is None


def test_raw_reasoning_goes_back_too():
    content = [{"type": "reasoning_text", "text": "raw"}]
    item = {"type": "reasoning", "id": "rs_1", "content": content}
    messages = [user(), answer(thinking(item), text("x")), user()]
    assert items(*messages)[1] == {**item, "summary": []}
    assert refusal_of(*messages) is None


@pytest.mark.parametrize(
    ("block", "origin"),
    [
        (thinking(), {"api": "anthropic-messages"}),
        (thinking(), {"provider": "other"}),
        (thinking(), {"model": "other"}),
        (thinking(None), {}),
        (thinking("c2lnbmVk"), {}),
        (thinking("[1]"), {}),
        (thinking("[" * 100_000), {}),
        (thinking({**ITEM, "type": "message"}), {}),
        (thinking({**ITEM, "encrypted_content": None}), {}),
    ],
)
def test_other_thinking_is_left_out_and_takes_the_ids_along(
    block: t.ThinkingContent, origin: dict[str, str]
):
    told = answer(block, text("x", id="msg_1"), call(signature='{"id": "fc_1"}'), **origin)
    converted = items(user(), told, result())
    assert kinds(converted) == ["user", "assistant", "function_call", "function_call_output"]
    assert all("id" not in item for item in converted)
    assert refusal_of(user(), told, result()) is None


def test_reasoning_that_nothing_follows_is_left_out():
    messages = [user(), answer(thinking(), stop_reason="length"), user("go on")]
    assert kinds(items(*messages)) == ["user", "user"]
    messages = [user(), answer(thinking(), text("x"), thinking({**ITEM, "id": "rs_2"})), user()]
    assert kinds(items(*messages)) == ["user", "reasoning", "assistant", "user"]
    assert refusal_of(*messages) is None


def test_phases_stay_and_odd_signatures_are_left_out():
    told = answer(
        text("a", phase="commentary"),
        text("b", phase="odd"),
        t.TextContent(text="c", text_signature="{"),
        thinking(),
        text("d", id="x" * 70),
        call(signature='{"id": "call_1"}'),
    )
    converted = items(user(), told, result())
    assert [item.get("phase") for item in converted[1:4]] == ["commentary", None, None]
    assert [item.get("id") for item in converted[4:7]] == ["rs_1", None, None]


@pytest.mark.parametrize("stop_reason", ["error", "aborted"])
def test_of_a_failed_answer_the_text_is_kept_and_nothing_that_wants_more(stop_reason: Any):
    failed = answer(thinking(), text("half", id="msg_1"), call(), stop_reason=stop_reason)
    messages = [user(), failed, result(), user("go on")]
    assert items(*messages)[1] == {"type": "message", "role": "assistant", "content": "half"}
    assert kinds(items(*messages)) == ["user", "assistant", "user"]
    assert kinds(items(user(), failed)) == ["user"]


def test_ids_of_other_vendors_are_spelt_alike_on_both_sides_and_never_alike_for_two():
    odd = ["call|fc_1", "call_fc_1|", "x" * 65, "x" * 66, "é", "", "\ud83d"]
    messages = [user(), answer(*map(call, odd)), *map(result, odd)]
    converted = items(*messages)[1:]
    spelt = [item["call_id"] for item in converted]
    assert spelt[: len(odd)] == spelt[len(odd) :]
    assert len(set(spelt)) == len(odd)
    assert refusal_of(*messages) is None
    assert items(user(), answer(call("toolu_01-A")))[1]["call_id"] == "toolu_01-A"


def test_empty_text_is_left_out_and_odd_arguments_are_mended():
    odd = t.ToolCall(id="c", name="tool", arguments={"a": float("nan"), "b": "\ud83d"})
    messages = [user([text(""), text("x")]), user(""), answer(text(""), odd), result("c", text(""))]
    converted = items(*messages)
    assert kinds(converted) == ["user", "function_call", "function_call_output"]
    assert converted[1]["arguments"] == '{"a":null,"b":"�"}'
    assert converted[2]["output"] == ""
    assert refusal_of(*messages) is None


def test_what_the_protocol_cannot_carry_is_refused_by_name():
    for content in (
        t.VideoContent(data="A", mime_type="video/mp4"),
        t.AudioContent(data="A", mime_type="audio/wav"),
    ):
        with pytest.raises(ModelRequestError, match=f"takes no {content.type}"):
            items(user([content]))


def answer_of(blocks: list[Any], stop_reason: str, model: str) -> t.AssistantMessage:
    return answer(*blocks, stop_reason=stop_reason, model=model)


def reasoning_of(number: int) -> t.ThinkingContent:
    return thinking({**ITEM, "id": f"rs_{number}"})


TEXTS = st.sampled_from(["x", "", " ", "é"]).map(text)
BLOCKS = st.one_of(
    TEXTS,
    st.integers(1, 10**9).map(lambda number: text("y", id=f"msg_{number}")),
    st.sampled_from(["a", "b", "c|1"]).map(call),
    st.integers(1, 10**9).map(lambda number: call("d", json.dumps({"id": f"fc_{number}"}))),
    st.sampled_from([None, "s"]).map(thinking),
    st.integers(1, 10**9).map(reasoning_of),
)
MESSAGES = st.one_of(
    st.lists(TEXTS, max_size=2).map(user),
    st.sampled_from(["a", "b", "c|1", "d"]).map(result),
    st.builds(
        answer_of,
        st.lists(BLOCKS, max_size=4),
        st.sampled_from(["stop", "toolUse", "error", "aborted"]),
        st.sampled_from(["m", "m", "other"]),
    ),
)


def ids_of(message: t.AssistantMessage) -> list[str]:
    signatures = [
        getattr(block, name, None)
        for block in message.content
        for name in ("text_signature", "thought_signature", "thinking_signature")
    ]
    return [s for s in signatures if s and "_" in s]


@given(messages=st.lists(MESSAGES, max_size=8))
def test_any_conversation_that_begins_with_the_user_is_taken(messages: list[t.Message]):
    seen = [id_ for m in messages if isinstance(m, t.AssistantMessage) for id_ in ids_of(m)]
    if len(set(seen)) == len(seen):
        # The vendor gives out no id twice.
        assert refusal_of(user("first"), *messages) is None
