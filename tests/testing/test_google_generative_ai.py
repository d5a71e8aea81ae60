"""The vendor's side of the protocol refuses what the vendor refuses, each with its sentence."""

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
    RedactedThinking,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
)
from openprogram.testing.google_generative_ai import GoogleGenerativeAi
from openprogram.testing.protocol import ReceivedRequest

PATH = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
LATER = "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"
USER = {"role": "user", "parts": [{"text": "hi"}]}
CALL: dict[str, Any] = {"functionCall": {"id": "1", "name": "t", "args": {}}}
RESPONSE: dict[str, Any] = {"functionResponse": {"id": "1", "name": "t", "response": {}}}
TOOL = {"name": "t", "description": "d", "parametersJsonSchema": {"type": "object"}}
TOOLS = [{"functionDeclarations": [TOOL]}]
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}


def received(body: Any, **changes: Any) -> ReceivedRequest:
    fields: dict[str, Any] = {
        "number": 0,
        "method": "POST",
        "path": PATH,
        "headers": {"x-goog-api-key": "k"},
        "raw_body": json.dumps(body).encode(),
        "body": body,
    }
    return ReceivedRequest(**{**fields, **changes})


def body(*contents: Any, **fields: Any) -> dict[str, Any]:
    return {"contents": list(contents) or [USER], **fields}


def said(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def asked(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def thinking(**config: Any) -> dict[str, Any]:
    return body(generationConfig={"thinkingConfig": config})


def calling(**config: Any) -> dict[str, Any]:
    return body(tools=TOOLS, toolConfig={"functionCallingConfig": config})


SOUND = {
    "plain": body(),
    "tools": body(USER, said(CALL), asked(RESPONSE), USER, tools=TOOLS),
    "thinking": thinking(includeThoughts=True, thinkingBudget=128),
    "choice": calling(mode="ANY", allowedFunctionNames=["t"]),
    "instruction": body(systemInstruction={"parts": [{"text": "be"}]}, serviceTier="flex"),
    "image": body(asked(IMAGE)),
    "signed": body(USER, said({"text": "", "thoughtSignature": "c2ln"}), USER),
}

FAULTY: dict[str, tuple[dict[str, Any], str]] = {
    "no contents": ({"contents": []}, "length >= 1"),
    "unknown field": (body(model="m"), "unknown field `model`"),
    "unknown role": (body({"role": "system", "parts": [{"text": "x"}]}), "Invalid enum value"),
    "no parts": (body(asked()), "length >= 1"),
    "two kinds in a part": (body(asked({"text": "x", **IMAGE})), "one initialized field"),
    "none in a part": (body(asked({})), "one initialized field"),
    "empty text": (body(asked({"text": ""})), "says nothing"),
    "model first": (body(said({"text": "x"}), USER), "first content must be"),
    "user calls": (body(asked(CALL)), "only the model calls"),
    "user signs": (body(asked({"text": "x", "thoughtSignature": "YQ=="})), "only the model"),
    "model responds": (body(USER, said(RESPONSE)), "only the user responds"),
    "response without call": (body(USER, asked(RESPONSE)), "immediately after"),
    "call without response": (body(USER, said(CALL), USER), "number of function response"),
    "call at the end": (body(USER, said(CALL)), "no response follows"),
    "call after an answer": (
        body(USER, said({"text": "x"}), said(CALL), asked(RESPONSE)),
        "call turn comes immediately after a user turn",
    ),
    "response beside text": (
        body(USER, said(CALL), asked(RESPONSE, {"text": "x"})),
        "stand alone",
    ),
    "response to another": (
        body(
            USER,
            said(CALL),
            asked({"functionResponse": {**RESPONSE["functionResponse"], "id": "2"}}),
        ),
        "none of call",
    ),
    "odd base64": (
        body(asked({"inlineData": {"mimeType": "image/png", "data": "A"}})),
        "Base64",
    ),
    "odd signature": (body(USER, said({"text": "x", "thoughtSignature": "ä"})), "Base64"),
    "odd name": (
        body(USER, said({"functionCall": {"name": "a b"}}), asked(RESPONSE)),
        "regex",
    ),
    "tool twice": (body(tools=[{"functionDeclarations": [TOOL, TOOL]}]), "Duplicate"),
    "schema of no object": (
        body(tools=[{"functionDeclarations": [{**TOOL, "parametersJsonSchema": {}}]}]),
        "`type`",
    ),
    "choice without tools": (
        body(toolConfig={"functionCallingConfig": {"mode": "AUTO"}}),
        "without function_declarations",
    ),
    "unknown choice": (calling(mode="ANY", allowedFunctionNames=["x"]), "not declared"),
    "names without any": (calling(mode="AUTO", allowedFunctionNames=["t"]), "neither ANY nor"),
    "budget and level": (thinking(thinkingBudget=128, thinkingLevel="LOW"), "only set one"),
    "level of an earlier model": (thinking(thinkingLevel="LOW"), "not supported"),
    "no thinking at all": (thinking(thinkingBudget=0), "thinking mode"),
    "temperature": (body(generationConfig={"temperature": 2.5}), "<= 2"),
    "tier": (body(serviceTier="fast"), "Invalid enum value"),
}


def test_sound_requests_are_taken() -> None:
    for name, request in SOUND.items():
        assert GoogleGenerativeAi().refuse(received(request)) is None, name


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_request_is_refused(name: str) -> None:
    request, sentence = FAULTY[name]
    refusal = GoogleGenerativeAi().refuse(received(request))
    assert refusal is not None
    assert refusal.status == 400
    assert sentence in refusal.message


def test_later_models_want_their_calls_signed() -> None:
    vendor = GoogleGenerativeAi()
    unsigned = body(USER, said(CALL), asked(RESPONSE))
    refusal = vendor.refuse(received(unsigned, path=LATER))
    assert refusal is not None
    assert "missing a thought_signature" in refusal.message
    signed = body(USER, said({**CALL, "thoughtSignature": "c2ln"}), asked(RESPONSE))
    assert vendor.refuse(received(signed, path=LATER)) is None


@pytest.mark.parametrize("raw", [b"", b"[]", b"\xff", b'{"a": NaN}', b"[" * 5000])
def test_what_is_no_json_object_is_refused(raw: bytes) -> None:
    refusal = GoogleGenerativeAi().refuse(received({}, raw_body=raw))
    assert refusal is not None
    assert refusal.status == 400


def test_the_wrong_place_and_a_missing_key_are_refused() -> None:
    vendor = GoogleGenerativeAi()
    cases: list[tuple[dict[str, Any], int]] = [
        ({"path": PATH.replace("v1beta", "v1")}, 404),
        ({"path": PATH.partition("?")[0]}, 404),
        ({"path": PATH.replace("models/gemini", "models/a/gemini")}, 404),
        ({"method": "GET"}, 404),
        ({"headers": {}}, 403),
    ]
    for changes, status in cases:
        refusal = vendor.refuse(received(body(), **changes))
        assert refusal is not None
        assert refusal.status == status


def test_a_signature_must_come_back_on_its_own_part() -> None:
    vendor = GoogleGenerativeAi()
    parts = [
        Thinking("why", ("c2", "ln")),
        RedactedThinking("b3Bh"),
        Text("x", "dGV4"),
        ToolCall("t", {"a": 1}, signature="Y2Fs"),
    ]
    list(vendor.render(Answer(parts=parts), received(body())))
    own = [
        {"text": "why", "thought": True, "thoughtSignature": "c2ln"},
        {"text": "", "thought": True, "thoughtSignature": "b3Bh"},
        {"text": "x", "thoughtSignature": "dGV4"},
        {"functionCall": {"id": "1", "name": "t", "args": {"a": 1}}, "thoughtSignature": "Y2Fs"},
    ]
    assert vendor.refuse(received(body(USER, said(*own), asked(RESPONSE)))) is None
    for index, part in enumerate(own):
        other = {**part, "thoughtSignature": own[index - 1]["thoughtSignature"]}
        moved = [*own[:index], other, *own[index + 1 :]]
        refusal = vendor.refuse(received(body(USER, said(*moved), asked(RESPONSE))))
        assert refusal is not None
        assert "Corrupted thought signature" in refusal.message


def events(*parts: Any, **answer: Any) -> list[dict[str, Any]]:
    steps = GoogleGenerativeAi().render(Answer(parts=parts, **answer), received(body()))
    raw = b"".join(step for step in steps if isinstance(step, bytes))
    return [json.loads(line[6:]) for line in raw.split(b"\r\n") if line.startswith(b"data: ")]


def test_answers_are_said_in_the_vendors_words() -> None:
    counts = TokenCounts(input=10, output=20, cache_read=5)
    first, second, third, last = events(
        Thinking("why"), Text("ä"), ToolCall("t", id="1"), usage=counts
    )
    assert first["modelVersion"] == "gemini-2.5-pro"
    parts = [chunk["candidates"][0]["content"]["parts"][0] for chunk in (first, second, third)]
    assert parts == [
        {"text": "why", "thought": True, "thoughtSignature": "c2lnbmVk"},
        {"text": "ä"},
        {"functionCall": {"id": "1", "name": "t", "args": {}}},
    ]
    assert first["usageMetadata"] == {
        "promptTokenCount": 15,
        "totalTokenCount": 15,
        "cachedContentTokenCount": 5,
    }
    assert last["candidates"][0]["finishReason"] == "STOP"
    assert last["usageMetadata"] == {
        "promptTokenCount": 15,
        "cachedContentTokenCount": 5,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 10,
        "totalTokenCount": 35,
    }


def test_an_end_in_mid_answer_ends_it_and_others_stand_between() -> None:
    vendor = GoogleGenerativeAi()
    pause = Pause()
    steps = list(
        vendor.render(
            Answer(parts=[Text(("a", Ping(), pause, "b", Drop(), "c"), "cw==")]), received(body())
        )
    )
    kinds = [b"ping" in step if isinstance(step, bytes) else step for step in steps]
    assert kinds == [False, True, pause, False, Drop()]
    error = events(ToolCall("t", ("{", MidStreamError(message="busy"))), Text("never"))
    assert error == [{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}]
    (error,) = events(MidStreamError("INTERNAL", "broken"))
    assert error["error"]["code"] == 500


def test_a_refusal_is_said_in_the_vendors_words() -> None:
    raw = GoogleGenerativeAi().error_body(HttpError(status=429, message="m"), received(body()))
    assert json.loads(raw) == {
        "error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}
    }


def test_arguments_stand_on_the_wire_as_they_are_given_and_surrogates_as_escapes() -> None:
    vendor = GoogleGenerativeAi()
    answer = Answer(parts=[ToolCall("t", ('{"a": ', '"ä" ')), Text("\ud83d")])
    raw = b"".join(s for s in vendor.render(answer, received(body())) if isinstance(s, bytes))
    assert '"args": {"a": "ä" }'.encode() in raw
    assert b'"\\ud83d"' in raw
