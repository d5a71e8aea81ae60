"""Any conversation becomes turns that the vendor takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._anthropic_messages_body import convert_messages
from openprogram.providers.vendors._anthropic_payload import build_payload
from openprogram.testing.anthropic_messages import AnthropicMessages
from openprogram.testing.protocol import ReceivedRequest

MODEL = t.Model(
    id="m", name="M", api="anthropic-messages", provider="anthropic", base_url="", reasoning=True
)


def user(content: Any = "hi") -> t.UserMessage:
    return t.UserMessage(content=content, timestamp=0)


def answer(*content: Any, **fields: Any) -> t.AssistantMessage:
    origin: dict[str, Any] = {"api": MODEL.api, "provider": MODEL.provider, "model": "m"}
    return t.AssistantMessage(content=list(content), timestamp=0, **{**origin, **fields})


def call(id_: str = "c1") -> t.ToolCall:
    return t.ToolCall(id=id_, name="tool", arguments={"a": 1})


def result(id_: str = "c1", *content: Any, **fields: Any) -> t.ToolResultMessage:
    said = list(content) or [t.TextContent(text=f"result of {id_}")]
    return t.ToolResultMessage(
        tool_call_id=id_, tool_name="tool", content=said, timestamp=0, **fields
    )


def text(value: str) -> t.TextContent:
    return t.TextContent(text=value)


def turns(*messages: t.Message, mark: Any = None) -> list[dict[str, Any]]:
    return convert_messages(messages, MODEL, mark)


def ids(turn: dict[str, Any]) -> list[str]:
    return [block.get("tool_use_id", block["type"]) for block in turn["content"]]


def refusal_of(*messages: t.Message) -> str | None:
    payload = build_payload(MODEL, t.Context(messages=list(messages)), t.StreamOptions(), None)
    request = ReceivedRequest(
        number=0,
        method="POST",
        path="/v1/messages",
        headers={"x-api-key": "k", "anthropic-version": "1"},
        raw_body=json.dumps(payload).encode(),
        body=payload,
    )
    refusal = AnthropicMessages().refuse(request)
    return None if refusal is None else refusal.message


def test_text_images_and_results_are_said_in_the_vendors_words():
    image = t.ImageContent(data="AAAA", mime_type="image/png")
    sent = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
    }
    messages = [user([text("look"), image]), answer(call()), result("c1", image, is_error=True)]
    assert turns(*messages) == [
        {"role": "user", "content": [{"type": "text", "text": "look"}, sent]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "tool", "input": {"a": 1}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [sent], "is_error": True}
            ],
        },
    ]
    assert refusal_of(*messages) is None


def test_results_stand_in_one_turn_in_the_order_of_the_calls_before_all_else():
    messages = [user(), answer(call("a"), call("b")), user("wait"), result("b"), result("a")]
    converted = turns(*messages)
    assert [turn["role"] for turn in converted] == ["user", "assistant", "user"]
    assert ids(converted[-1]) == ["a", "b", "text"]
    assert refusal_of(*messages) is None


def test_a_call_without_a_result_gets_one_that_says_so():
    for messages in ([user(), answer(call()), user("again")], [user(), answer(call())]):
        last = turns(*messages)[-1]["content"][0]
        assert (last["tool_use_id"], last["is_error"]) == ("c1", True)
        assert "no result" in last["content"]
        assert refusal_of(*messages) is None


def test_a_result_without_a_call_and_a_second_result_are_left_out():
    messages = [user(), answer(call()), result(), result("c1", text("again")), result("other")]
    assert ids(turns(*messages)[-1]) == ["c1"]
    assert refusal_of(*messages) is None


def test_signed_thinking_goes_back_byte_for_byte_also_when_it_is_empty_or_redacted():
    signature = "Eo+/=\u00e9 "
    content = [
        t.ThinkingContent(thinking="why ", thinking_signature=signature),
        t.ThinkingContent(thinking="", thinking_signature="s"),
        t.ThinkingContent(thinking="", thinking_signature="opaque", redacted=True),
    ]
    assert turns(user(), answer(*content, text("x")), user())[1]["content"][:3] == [
        {"type": "thinking", "thinking": "why ", "signature": signature},
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "redacted_thinking", "data": "opaque"},
    ]


@pytest.mark.parametrize("origin", [{"api": "openai-responses"}, {"provider": "other"}, {}])
def test_thinking_that_is_unsigned_or_anothers_is_left_out(origin: dict[str, str]):
    signature = "s" if origin else None
    thinking = t.ThinkingContent(thinking="why", thinking_signature=signature)
    messages = [user(), answer(thinking, text("x"), **origin), user()]
    assert turns(*messages)[1]["content"] == [{"type": "text", "text": "x"}]


@pytest.mark.parametrize("stop_reason", ["error", "aborted"])
def test_of_a_failed_answer_the_text_is_kept_and_nothing_that_wants_more(stop_reason: Any):
    thinking = t.ThinkingContent(thinking="why", thinking_signature="half")
    failed = answer(thinking, text("half"), call(), stop_reason=stop_reason)
    messages = [user(), failed, result(), user("go on")]
    assert turns(*messages) == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "half"}]},
        {"role": "user", "content": [{"type": "text", "text": "go on"}]},
    ]
    assert [turn["role"] for turn in turns(user(), failed)] == ["user"]


def test_an_answer_that_leaves_nothing_joins_its_neighbours():
    converted = turns(user("a"), answer(text(" ")), user("b"))
    assert [block["text"] for block in converted[0]["content"]] == ["a", "b"]


def test_ids_of_other_vendors_are_spelt_alike_on_both_sides():
    messages = [user(), answer(call("call|é.1")), result("call|é.1")]
    assert ids(turns(*messages)[-1]) == ["call___1"]
    assert refusal_of(*messages) is None


def test_blank_text_is_left_out_everywhere():
    messages = [
        user([text(""), text("x")]),
        answer(text(""), text("y"), call()),
        result("c1", text("\n")),
    ]
    converted = turns(*messages)
    assert [len(turn["content"]) for turn in converted] == [1, 2, 1]
    assert converted[-1]["content"][0]["content"] == []
    assert refusal_of(*messages) is None


def test_the_mark_goes_to_the_end_of_the_last_user_turn_only():
    mark = {"type": "ephemeral"}
    converted = turns(user("a"), answer(text("b")), user([text("c"), text("d")]), mark=mark)
    marked = [
        block["text"] for turn in converted for block in turn["content"] if "cache_control" in block
    ]
    assert marked == ["d"]


@pytest.mark.parametrize(
    "content",
    [
        t.VideoContent(data="A", mime_type="video/mp4"),
        t.AudioContent(data="A", mime_type="audio/wav"),
    ],
)
def test_what_the_protocol_cannot_carry_is_refused_by_name(content: Any):
    with pytest.raises(ModelRequestError, match=f"takes no {content.type}"):
        turns(user([content]))


def answer_of(blocks: list[Any], stop_reason: str) -> t.AssistantMessage:
    return answer(*blocks, stop_reason=stop_reason)


TEXTS = st.sampled_from(["x", "", " ", "é"]).map(text)
BLOCKS = st.one_of(
    TEXTS,
    st.sampled_from(["a", "b", "c|1"]).map(call),
    st.sampled_from([None, "s"]).map(
        lambda s: t.ThinkingContent(thinking="t", thinking_signature=s)
    ),
)
MESSAGES = st.one_of(
    st.lists(TEXTS, max_size=2).map(user),
    st.sampled_from(["a", "b", "c|1", "d"]).map(result),
    st.builds(
        answer_of,
        st.lists(BLOCKS, max_size=3, unique_by=lambda b: getattr(b, "id", id(b))),
        st.sampled_from(["stop", "toolUse", "error", "aborted"]),
    ),
)


@given(messages=st.lists(MESSAGES, max_size=8))
def test_any_conversation_that_begins_with_the_user_is_taken(messages: list[t.Message]):
    seen: set[str] = set()
    for message in messages:
        # Within one turn the vendor wants each id once; two answers in a row make one turn.
        if isinstance(message, t.AssistantMessage):
            calls = {block.id for block in message.content if isinstance(block, t.ToolCall)}
            message.content = [b for b in message.content if getattr(b, "id", None) not in seen]
            seen |= calls
        else:
            seen.clear()
    assert refusal_of(user("first"), *messages) is None
