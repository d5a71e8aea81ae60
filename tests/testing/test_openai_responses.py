"""The vendor's side of the Responses dialect refuses what the vendor refuses, with its sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openprogram.testing import (
    Answer,
    Drop,
    HttpError,
    MidStreamError,
    Pause,
    Ping,
    RawBytes,
    RedactedThinking,
    Text,
    Thinking,
    ToolCall,
)
from openprogram.testing.openai_responses import OpenAIResponses
from openprogram.testing.protocol import ReceivedRequest

Json = dict[str, Any]

USER: Json = {"type": "message", "role": "user", "content": "hi"}
CALL: Json = {"type": "function_call", "call_id": "c1", "name": "t", "arguments": "{}"}
RESULT: Json = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
REASONING: Json = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
SAID: Json = {"type": "message", "role": "assistant", "content": "so"}
TOOL: Json = {
    "type": "function",
    "name": "t",
    "description": "d",
    "parameters": {"type": "object"},
    "strict": False,
}


def received(body: Any, **changes: Any) -> ReceivedRequest:
    fields: Json = {
        "number": 0,
        "method": "POST",
        "path": "/v1/responses",
        "headers": {"authorization": "Bearer k"},
        "raw_body": json.dumps(body).encode(),
        "body": body,
    }
    return ReceivedRequest(**{**fields, **changes})


def body(*items: Any, **fields: Any) -> Json:
    return {
        "model": "m",
        "stream": True,
        "store": False,
        "input": list(items) or [USER],
        **fields,
    }


def image(url: str) -> Json:
    return {"type": "input_image", "detail": "auto", "image_url": url}


def user(*parts: Any) -> Json:
    return {**USER, "content": list(parts)}


def whole_message(**fields: Any) -> Json:
    part: Json = {"type": "output_text", "text": "so", "annotations": []}
    return {**SAID, "id": "msg_1", "status": "completed", "content": [part], **fields}


SOUND = {
    "plain": body(),
    "tools": body(USER, CALL, RESULT, tools=[TOOL], tool_choice={"type": "function", "name": "t"}),
    "reasoning": body(USER, REASONING, whole_message(phase="commentary"), USER),
    "options": body(
        include=["reasoning.encrypted_content"],
        reasoning={"effort": "max", "summary": "auto"},
        max_output_tokens=16,
        prompt_cache_key="k" * 64,
        instructions="be",
    ),
    "image": body(
        user(image("data:image/png;base64,AAAA")),
        CALL,
        {**RESULT, "output": [image("data:image/png;base64,AAAA")]},
    ),
}

FAULTY = {
    "no input": (body(input=[]), "length >= 1"),
    "unknown field": (body(color="red"), "unknown field `color`"),
    "unknown item": (body({"type": "sound"}), "Invalid value 'sound'"),
    "status of reasoning": (body({**REASONING, "status": None}, SAID), "unknown field `status`"),
    "not streamed": (body(stream=False), "only streams"),
    "stored": (body(store=True), "keeps nothing"),
    "empty text": (body({**USER, "content": ""}), "length >= 1"),
    "no call id": (body({**CALL, "call_id": ""}, RESULT), "length >= 1"),
    "long call id": (body({**CALL, "call_id": "c" * 65}, RESULT), "length <= 64"),
    "odd name": (body({**CALL, "name": "a.b"}, RESULT), "regex"),
    "id of a call": (body({**CALL, "id": "call_1"}, RESULT), "begins with 'fc'"),
    "id of a message": (body(whole_message(id="x_1")), "begins with 'msg'"),
    "id of reasoning": (body({**REASONING, "id": "x"}, SAID), "begins with 'rs'"),
    "id twice": (body(whole_message(), whole_message()), "Duplicate item found with id msg_1"),
    "call without result": (body(USER, CALL, USER, RESULT), "No tool output found"),
    "call at the end": (body(USER, CALL), "No tool output found for function call c1"),
    "result without call": (body(RESULT), "No tool call found"),
    "result twice": (body(CALL, RESULT, RESULT), "No tool call found"),
    "reasoning at the end": (body(USER, REASONING), "without its required following item"),
    "reasoning before the user": (body(REASONING, USER), "without its required following item"),
    "reasoning that is gone": (body({**REASONING, "encrypted_content": None}, SAID), "not found"),
    "odd arguments": (body({**CALL, "arguments": "[]"}, RESULT), "not a JSON object"),
    "broken arguments": (body({**CALL, "arguments": "{"}, RESULT), "not a JSON object"),
    "phase of the user": (body({**USER, "phase": "commentary"}), "only for messages of the"),
    "parts without an id": (body({**whole_message(), "id": None}), "needs an id"),
    "id without parts": (body(whole_message(content="so")), "has parts"),
    "parts of the other side": (
        body(user({"type": "output_text", "text": "x", "annotations": []})),
        "Invalid value for the role user",
    ),
    "image of no data": (body(user(image("data:image/png;base64,A"))), "base64-encoded"),
    "image elsewhere": (body(user(image("https://a.test/x.png"))), "base64-encoded"),
    "tool twice": (body(tools=[TOOL, TOOL]), "unique"),
    "tool without strict": (body(tools=[{**TOOL, "strict": None}]), "Expected `bool`"),
    "schema of no object": (body(tools=[{**TOOL, "parameters": {}}]), "`type`"),
    "choice without tools": (body(tool_choice="auto"), "only allowed when 'tools'"),
    "unknown choice": (
        body(tools=[TOOL], tool_choice={"type": "function", "name": "other"}),
        "'other' not found",
    ),
    "warm reasoning": (body(reasoning={"effort": "low"}, temperature=1), "'temperature'"),
    "too few tokens": (body(max_output_tokens=15), ">= 16"),
    "long cache key": (body(prompt_cache_key="k" * 65), "length <= 64"),
}


def refusal_of(vendor: OpenAIResponses, request: Any, **changes: Any) -> HttpError:
    refusal = vendor.refuse(received(request, **changes))
    assert refusal is not None
    return refusal


def test_sound_requests_are_taken():
    for name, request in SOUND.items():
        assert OpenAIResponses().refuse(received(request)) is None, name


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_request_is_refused(name: str):
    request, sentence = FAULTY[name]
    refusal = refusal_of(OpenAIResponses(), request)
    assert refusal.status == 400
    assert sentence in refusal.message


def test_the_wrong_place_or_key_and_what_is_no_json_is_refused():
    vendor = OpenAIResponses()
    changes: list[tuple[Json, int]] = [
        ({"path": "/v1/other"}, 404),
        ({"method": "GET"}, 404),
        ({"headers": {}}, 401),
        ({"headers": {"authorization": "Bearer "}}, 401),
        *[({"raw_body": raw}, 400) for raw in (b"", b"[]", b"\xff", b'{"a": NaN}', b"[" * 5000)],
    ]
    for change, status in changes:
        assert refusal_of(vendor, body(), **change).status == status
    told = json.loads(vendor.error_body(HttpError(status=429, message="m"), received(body())))
    assert told["error"] == {
        "message": "m",
        "type": "requests",
        "param": None,
        "code": "rate_limit_exceeded",
    }


def test_what_it_gave_out_must_come_back_as_it_was():
    vendor = OpenAIResponses()
    list(vendor.render(Answer(parts=[Thinking("why", "e"), ToolCall("t")]), received(body())))
    summary = {"type": "summary_text", "text": "why"}
    item = {**REASONING, "id": "rs_loopback_0_0"}
    call = {**CALL, "id": "fc_loopback_0_1"}
    assert vendor.refuse(received(body({**item, "summary": [summary]}, call, RESULT))) is None
    assert "verified" in refusal_of(vendor, body(item, call, RESULT)).message
    assert "required 'reasoning' item" in refusal_of(vendor, body(call, RESULT)).message


def events(answer: Answer, **protocol: Any) -> list[Json]:
    steps = list(OpenAIResponses(**protocol).render(answer, received(body())))
    raw = b"".join(step for step in steps if isinstance(step, bytes))
    lines = [line.removeprefix(b"data: ") for line in raw.split(b"\n") if line.startswith(b"data")]
    return [json.loads(line) for line in lines]


def test_an_answer_is_told_up_to_four_times():
    answer = Answer(parts=[Thinking("why"), RedactedThinking("x"), Text("hi"), ToolCall("t")])
    told = {
        detail: [event["type"].removeprefix("response.") for event in events(answer, detail=detail)]
        for detail in ("deltas", "items", "response")
    }
    frame = ["created", "in_progress"]
    assert told["response"] == [*frame, "completed"]
    assert told["items"] == [*frame, *["output_item.done"] * 4, "completed"]
    added, done = "output_item.added", "output_item.done"
    part, text = "reasoning_summary_part", "reasoning_summary_text"
    call = "function_call_arguments"
    assert told["deltas"] == [
        *frame,
        *[added, f"{part}.added", f"{text}.delta", f"{text}.done", f"{part}.done", done],
        *[added, done],
        *[added, "content_part.added", "output_text.delta", "output_text.done"],
        *["content_part.done", done],
        *[added, f"{call}.delta", f"{call}.done", done],
        "completed",
    ]
    numbers = [event["sequence_number"] for event in events(answer)]
    assert numbers == list(range(len(numbers)))


def test_answers_end_in_every_way():
    ends = {
        None: ("response.completed", None),
        "max_output_tokens": ("response.incomplete", "max_output_tokens"),
        "content_filter": ("response.incomplete", "content_filter"),
        "cancelled": ("response.cancelled", None),
        "refusal": ("response.completed", None),
    }
    for stop_reason, (kind, reason) in ends.items():
        last = events(Answer(parts=[Text("x")], stop_reason=stop_reason))[-1]
        details = last["response"]["incomplete_details"]
        assert (last["type"], details and details["reason"]) == (kind, reason)
        is_refusal = "refusal" in last["response"]["output"][0]["content"][0]
        assert is_refusal == (stop_reason == "refusal")


def test_interludes_stand_where_they_were_put():
    pause = Pause()
    vendor, request = OpenAIResponses(), received(body())
    steps = list(vendor.render(Answer(parts=[RawBytes(b"raw"), pause, Ping(), Drop()]), request))
    assert steps[2:4] == [b"raw", pause]
    assert isinstance(steps[4], bytes)
    assert b'"keepalive"' in steps[4]
    assert steps[5:] == [Drop()]
    failed = events(Answer(parts=[Text(("a", MidStreamError("server_error", "m"), "b"))]))
    assert [event["type"] for event in failed][-3:] == [
        "response.output_text.delta",
        "error",
        "response.failed",
    ]


def test_interleaved_calls_take_turns_the_last_one_first():
    calls = [ToolCall("a", ("{", "}")), ToolCall("b", ("{", "}"))]
    told = events(Answer(parts=calls), is_interleaved=True)
    deltas = [event["output_index"] for event in told if event["type"].endswith("delta")]
    assert deltas == [1, 0, 1, 0]


def test_a_lone_surrogate_is_sent_as_an_escape():
    steps = list(OpenAIResponses().render(Answer(parts=[Text("\ud83d")]), received(body())))
    assert b'"\\ud83d"' in b"".join(step for step in steps if isinstance(step, bytes))
