"""The vendor's side of `openai-completions` refuses what the vendor refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openprogram.testing import Answer, Drop, HttpError, MidStreamError, Ping, Text, ToolCall
from openprogram.testing.openai_completions import OpenAICompletions
from openprogram.testing.protocol import ReceivedRequest

Json = dict[str, Any]

USER: Json = {"role": "user", "content": "hi"}
CALL: Json = {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}
ASKS: Json = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT: Json = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
TOOL: Json = {
    "type": "function",
    "function": {"name": "t", "parameters": {"type": "object", "properties": {}}},
}
IMAGE: Json = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}


def received(body: Any, **changes: Any) -> ReceivedRequest:
    fields: Json = {
        "number": 0,
        "method": "POST",
        "path": "/v1/chat/completions",
        "headers": {"authorization": "Bearer k"},
        "raw_body": json.dumps(body).encode(),
        "body": body,
    }
    return ReceivedRequest(**{**fields, **changes})


def body(*messages: Any, **fields: Any) -> Json:
    return {"model": "m", "stream": True, "messages": list(messages) or [USER], **fields}


def refusal(request: ReceivedRequest) -> HttpError | None:
    return OpenAICompletions().refuse(request)


def test_sound_requests_are_taken():
    sound = [
        body(),
        body({"role": "developer", "content": "brief"}, USER, ASKS, RESULT, tools=[TOOL]),
        body({"role": "user", "content": [{"type": "text", "text": "see"}, IMAGE]}),
        body(tools=[TOOL], tool_choice="required", parallel_tool_calls=False),
    ]
    assert [refusal(received(each)) for each in sound] == [None] * len(sound)
    bare = received(body(), headers={})
    assert OpenAICompletions(needs_key=False).refuse(bare) is None


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (body(stream=False), "only streams"),
        ({"model": "m", "stream": True, "messages": []}, "invalid request"),
        (body(surprise=1), "unknown field"),
        (body({"role": "user", "content": ""}), "invalid request"),
        (body({"role": "user", "content": [{"type": "text", "text": ""}]}), "invalid request"),
        (body({"role": "assistant", "content": None}), "expected content or tool_calls"),
        (body(ASKS), "must be followed by tool messages"),
        (body(ASKS, USER, RESULT), "must be followed by tool messages"),
        (body(RESULT), "must be a response to a preceding message"),
        (body(ASKS, RESULT, RESULT), "must be a response to a preceding message"),
        (body({**ASKS, "tool_calls": [CALL, CALL]}, RESULT), "Duplicate value"),
        (
            body({**ASKS, "tool_calls": [{**CALL, "id": "x" * 41}]}),
            "length <= 40",
        ),
        (
            body(
                {**ASKS, "tool_calls": [{**CALL, "function": {"name": "t", "arguments": "["}}]},
                RESULT,
            ),
            "arguments must be a JSON object",
        ),
        (
            body({"role": "user", "content": [{**IMAGE, "image_url": {"url": "data:x"}}]}),
            "invalid image",
        ),
        (body(max_tokens=1, max_completion_tokens=1), "at the same time"),
        (body(tools=[]), "invalid request"),
        (body(tools=[TOOL, TOOL]), "must be unique"),
        (body(tool_choice="auto"), "'tool_choice' is only allowed"),
        (body(parallel_tool_calls=True), "'parallel_tool_calls' is only allowed"),
        (
            body(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "u"}}),
            "not found in 'tools'",
        ),
    ],
)
def test_others_are_refused_with_a_sentence(asked: Json, sentence: str):
    refused = refusal(received(asked))
    assert refused is not None
    assert refused.status == 400
    assert sentence in refused.message


def test_the_place_the_key_and_the_bytes_are_looked_at():
    lost = refusal(received(body(), path="/v1/completions"))
    keyless = refusal(received(body(), headers={"authorization": "Bearer "}))
    broken = refusal(received({}, raw_body=b'{"model": NaN}'))
    assert lost is not None
    assert keyless is not None
    assert broken is not None
    assert [lost.status, keyless.status, broken.status] == [404, 401, 400]


def test_a_refusal_is_said_in_the_vendors_words():
    error = HttpError(status=429, message="slow")
    told = json.loads(OpenAICompletions().error_body(error, received(body())))
    assert told == {
        "error": {
            "message": "slow",
            "type": "requests",
            "param": None,
            "code": "rate_limit_exceeded",
        }
    }


def test_an_answer_is_chunks_and_an_end_mark():
    request = received(body(stream_options={"include_usage": True}))
    answer = Answer(parts=[Text(("a", Ping())), ToolCall("t", {"x": 1})])
    steps = list(OpenAICompletions().render(answer, request))
    assert steps[-1] == b"data: [DONE]\n\n"
    assert b": loopback processing\n\n" in steps
    chunks = [json.loads(s[6:]) for s in steps if isinstance(s, bytes) and s.startswith(b"data: {")]
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["prompt_tokens"] == 25
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"
    silent = list(OpenAICompletions().render(answer, received(body())))
    assert len(silent) == len(steps) - 1


@pytest.mark.parametrize("end", [Drop(), MidStreamError(message="broke")])
def test_nothing_follows_what_ends_an_answer(end: Any):
    answer = Answer(parts=[Text(("a", end, "b")), Text("c")])
    *_, before, last = OpenAICompletions().render(answer, received(body()))
    if isinstance(end, Drop):
        assert last is end
    else:
        assert last == b"data: [DONE]\n\n"
        assert isinstance(before, bytes)
        assert json.loads(before[6:])["error"]["message"] == "broke"
