"""Chunks of many servers, read without a network."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._assembly import MessageAssembler
from openprogram.providers.vendors._openai_completions_events import EventReader

MODEL = t.Model(id="m", name="m", api="openai-completions", provider="p", base_url="")


def chunk(finish: str | None = None, *, index: int = 0, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def read(*chunks: Any, has_end_mark: bool = True) -> tuple[t.AssistantMessage, list[str]]:
    assembler = MessageAssembler(MODEL)
    reader = EventReader(assembler)
    events = [event for each in chunks for event in reader.read(each)]
    events += reader.end_blocks(has_end_mark=has_end_mark)
    return reader.finish().message, [event.type for event in events]


def test_blocks_end_when_others_begin_and_empty_pieces_begin_none():
    call = [{"index": 0, "id": "x", "function": {"name": "f", "arguments": "{}"}}]
    message, kinds = read(
        chunk(role="assistant", content="", reasoning_content="", reasoning_details=[]),
        chunk(reasoning_content="why", content=""),
        chunk(content="so", reasoning_content=None),
        chunk(tool_calls=call),
        chunk(content="more"),
        chunk("stop"),
    )
    assert [block.type for block in message.content] == ["thinking", "text", "toolCall", "text"]
    assert kinds == [
        *("thinking_start", "thinking_delta", "thinking_end"),
        *("text_start", "text_delta", "text_end"),
        *("toolcall_start", "toolcall_delta"),
        *("text_start", "text_delta", "text_end"),
        "toolcall_end",
    ]
    assert message.stop_reason == "toolUse"


def test_reasoning_that_stands_in_several_fields_is_read_once():
    twice: dict[str, Any] = {"reasoning": "a", "reasoning_content": "a"}
    details = [{"type": "reasoning.text", "text": "b", "index": 0}]
    message, _ = read(chunk(**twice), chunk("stop", reasoning_details=details))
    (block,) = message.content
    assert isinstance(block, t.ThinkingContent)
    assert block.thinking == "ab"
    assert json.loads(block.thinking_signature or "") == details


def test_reasoning_that_nobody_can_read_is_kept():
    hidden = [{"type": "reasoning.encrypted", "data": "b3Bh", "index": 0}]
    message, _ = read(chunk(reasoning_details=hidden), chunk("stop", content="x"))
    block = message.content[0]
    assert isinstance(block, t.ThinkingContent)
    assert (block.thinking, block.redacted) == ("", True)
    assert json.loads(block.thinking_signature or "") == hidden


def test_content_in_parts_and_the_older_function_call_are_read():
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "why"}]},
        {"type": "text", "text": "so"},
        {"type": "new", "text": "?"},
        "loose",
    ]
    call = {"name": "f", "arguments": '{"a": 1}'}
    message, _ = read(chunk(content=parts), chunk("function_call", function_call=call))
    thinking, text, tool_call = message.content
    assert isinstance(thinking, t.ThinkingContent)
    assert thinking.thinking == "why"
    assert text == t.TextContent(text="so")
    assert isinstance(tool_call, t.ToolCall)
    assert (tool_call.name, tool_call.arguments) == ("f", {"a": 1})
    assert message.stop_reason == "toolUse"


def test_a_second_choice_is_not_mixed_in():
    first = {"choices": [{"delta": {"content": "a"}}]}
    message, _ = read(first, chunk(index=1, content="b"), chunk("stop", content="c"))
    assert message.content == [t.TextContent(text="ac")]


def test_the_newest_usage_counts_and_an_empty_one_does_not():
    def told(completion: int) -> dict[str, int]:
        return {"prompt_tokens": 5 if completion else 0, "completion_tokens": completion}

    message, _ = read(
        {**chunk(content="x"), "usage": told(0)},
        {**chunk(), "usage": told(1)},
        {"choices": [{"delta": {}, "finish_reason": "stop", "usage": told(2)}], "usage": None},
        {"choices": [], "x_groq": {"usage": told(3)}, "usage": told(0)},
    )
    assert (message.usage.input, message.usage.output) == (5, 3)


@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        ([chunk(content="x"), {"error": {"message": "m", "code": 502}}], "server"),
        ([{"object": "error", "message": "m", "code": 400}], "bad_request"),
        ([{"choices": [{"delta": {}, "error": {"message": "m", "code": 429}}]}], "rate_limit"),
        ([chunk(refusal="I "), chunk("stop", refusal="won't")], "refusal"),
        ([chunk("insufficient_system_resource", content="x")], "overloaded"),
        ([{"choices": [{"index": "0"}]}], "bad_response"),
        (["text"], "bad_response"),
        ([], "bad_response"),
    ],
)
def test_bad_ends(chunks: list[Any], reason: str):
    with pytest.raises(ModelRequestError) as caught:
        read(*chunks)
    assert caught.value.reason == reason


def test_only_a_reason_or_an_end_mark_makes_an_answer_whole():
    assert read(chunk("stop", content="x"), has_end_mark=False)[0].stop_reason == "stop"
    assert read(chunk(content="x"), has_end_mark=True)[0].stop_reason == "stop"
    with pytest.raises(ModelRequestError) as caught:
        read(chunk(content="x"), has_end_mark=False)
    assert (caught.value.reason, caught.value.is_retryable) == ("network", True)
