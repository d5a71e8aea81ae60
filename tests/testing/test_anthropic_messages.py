"""The vendor's side of the protocol refuses what the vendor refuses, each with its sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openprogram.testing import Answer, RedactedThinking, Text, Thinking
from openprogram.testing.anthropic_messages import AnthropicMessages
from openprogram.testing.protocol import ReceivedRequest

USER = {"role": "user", "content": "hi"}
CALL: dict[str, Any] = {"type": "tool_use", "id": "c1", "name": "t", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
TOOL = {"name": "t", "description": "d", "input_schema": {"type": "object"}}
MARK = {"type": "ephemeral"}
THINKING = {"type": "enabled", "budget_tokens": 1024}


def received(body: Any, **changes: Any) -> ReceivedRequest:
    fields: dict[str, Any] = {
        "number": 0,
        "method": "POST",
        "path": "/v1/messages",
        "headers": {"x-api-key": "k", "anthropic-version": "1"},
        "raw_body": json.dumps(body).encode(),
        "body": body,
    }
    return ReceivedRequest(**{**fields, **changes})


def body(*messages: Any, **fields: Any) -> dict[str, Any]:
    asked = list(messages) or [USER]
    return {"model": "m", "max_tokens": 2000, "stream": True, "messages": asked, **fields}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text(value: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **fields}


SOUND = {
    "plain": body(),
    "tools": body(USER, assistant(CALL), user(RESULT, text("go on")), tools=[TOOL]),
    "cached": body(system=[text("s", cache_control={**MARK, "ttl": "1h"})]),
    "thinking": body(thinking=THINKING),
    "adaptive": body(thinking={"type": "adaptive"}, output_config={"effort": "max"}),
    "choice": body(tools=[TOOL], tool_choice={"type": "tool", "name": "t"}),
    "image result": body(
        USER,
        assistant(CALL),
        user(
            {
                **RESULT,
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
                    }
                ],
                "is_error": True,
            }
        ),
    ),
}

FAULTY = {
    "no max_tokens": (
        {k: v for k, v in body().items() if k != "max_tokens"},
        "missing required field `max_tokens`",
    ),
    "no messages": (body(messages=[]), "length >= 1"),
    "unknown field": (body(color="red"), "unknown field `color`"),
    "unknown block": (body(user({"type": "sound"})), "Invalid value 'sound'"),
    "not streamed": (body(stream=False), "only streams"),
    "assistant first": (body(assistant(text("x"))), "first message"),
    "same role twice": (body(USER, USER), "messages.1: roles must alternate"),
    "blank text": (body(user(text(" \n"))), "non-whitespace"),
    "empty text": (body(user(text(""))), "length >= 1"),
    "call without result": (body(USER, assistant(CALL), USER), "without `tool_result`"),
    "call at the end": (body(USER, assistant(CALL)), "no result follows"),
    "result without call": (body(user(RESULT)), "unexpected `tool_use_id`"),
    "result twice": (body(USER, assistant(CALL), user(RESULT, RESULT)), "single result"),
    "result after text": (
        body(USER, assistant(CALL), user(text("x"), RESULT)),
        "must come first",
    ),
    "odd call id": (body(USER, assistant({**CALL, "id": "a|b"}), USER), "regex"),
    "unsigned thinking": (
        body(USER, assistant({"type": "thinking", "thinking": "x", "signature": ""}), USER),
        "length >= 1",
    ),
    "too many marks": (body(user(*[text("x", cache_control=MARK)] * 5)), "maximum of 4"),
    "odd base64": (
        body(
            user(
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "A"},
                }
            )
        ),
        "invalid base64",
    ),
    "tool twice": (body(tools=[TOOL, TOOL]), "unique"),
    "schema of no object": (body(tools=[{**TOOL, "input_schema": {}}]), "`type`"),
    "choice without tools": (body(tool_choice={"type": "auto"}), "while providing tools"),
    "unknown choice": (
        body(tools=[TOOL], tool_choice={"type": "tool", "name": "other"}),
        "not found",
    ),
    "budget too small": (body(thinking={**THINKING, "budget_tokens": 1023}), ">= 1024"),
    "budget too large": (body(thinking={**THINKING, "budget_tokens": 2000}), "greater than"),
    "warm thinking": (body(thinking=THINKING, temperature=0.5), "`temperature`"),
    "forced thinking": (
        body(thinking=THINKING, tools=[TOOL], tool_choice={"type": "any"}),
        "forces tool use",
    ),
    "temperature too high": (body(temperature=1.5), "<= 1"),
    "metadata": (body(metadata={"name": "x"}), "unknown field `name`"),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_request_is_taken(name: str):
    assert AnthropicMessages().refuse(received(SOUND[name])) is None


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_request_is_refused(name: str):
    request, sentence = FAULTY[name]
    refusal = AnthropicMessages().refuse(received(request))
    assert refusal is not None
    assert refusal.status == 400
    assert sentence in refusal.message


@pytest.mark.parametrize("raw", [b"", b"[]", b"\xff", b'{"a": NaN}', b"[" * 5000])
def test_what_is_no_json_object_is_refused(raw: bytes):
    refusal = AnthropicMessages().refuse(received({}, raw_body=raw))
    assert refusal is not None
    assert refusal.status == 400


def test_the_wrong_place_key_and_version_are_refused():
    vendor = AnthropicMessages()
    for changes, status in (
        ({"path": "/v1/other"}, 404),
        ({"method": "GET"}, 404),
        ({"headers": {"anthropic-version": "1"}}, 401),
        ({"headers": {"authorization": "Bearer k"}}, 400),
    ):
        refusal = vendor.refuse(received(body(), **changes))
        assert refusal is not None
        assert refusal.status == status


def test_a_signature_must_come_back_with_its_own_thinking():
    vendor = AnthropicMessages()
    answer = Answer(parts=[Thinking("why", ("si", "gn")), RedactedThinking("opaque"), Text("x")])
    list(vendor.render(answer, received(body())))
    for thinking, is_refused in (("why", False), ("why not", True)):
        block = {"type": "thinking", "thinking": thinking, "signature": "sign"}
        refusal = vendor.refuse(received(body(USER, assistant(block), USER)))
        assert (refusal is not None) is is_refused


def test_a_lone_surrogate_is_sent_as_an_escape():
    steps = list(AnthropicMessages().render(Answer(parts=[Text("\ud83d")]), received(body())))
    assert b'"\\ud83d"' in b"".join(step for step in steps if isinstance(step, bytes))
