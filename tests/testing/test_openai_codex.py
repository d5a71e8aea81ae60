"""The backend of subscriptions refuses what it refuses, beside the dialect's own rules."""

from __future__ import annotations

import json
from typing import Any

from openprogram.testing.openai_codex import OpenAICodex
from openprogram.testing.protocol import ReceivedRequest

HEADERS = {
    "authorization": "Bearer k",
    "chatgpt-account-id": "acc",
    "originator": "us",
    "user-agent": "us/1",
}
BODY: dict[str, Any] = {
    "model": "m",
    "stream": True,
    "store": False,
    "instructions": "be",
    "input": [{"type": "message", "role": "user", "content": "hi"}],
}


def refusal_of(body: dict[str, Any], **changes: Any) -> str | None:
    fields: dict[str, Any] = {
        "number": 0,
        "method": "POST",
        "path": "/backend-api/codex/responses",
        "headers": HEADERS,
        "raw_body": json.dumps(body).encode(),
        "body": body,
    }
    refusal = OpenAICodex().refuse(ReceivedRequest(**{**fields, **changes}))
    return None if refusal is None else refusal.message


def test_a_request_is_refused_for_what_it_lacks_and_for_what_it_has_too_much():
    assert refusal_of(BODY) is None
    assert "Invalid URL" in (refusal_of(BODY, path="/v1/responses") or "")
    for name in HEADERS:
        fewer = {key: value for key, value in HEADERS.items() if key != name}
        assert refusal_of(BODY, headers=fewer)
    assert refusal_of({**BODY, "instructions": ""}) == "Instructions are required"
    too_much = {"max_output_tokens": 100, "temperature": 0.5, "prompt_cache_retention": "24h"}
    for name, value in too_much.items():
        assert refusal_of({**BODY, name: value}) == f"Unsupported parameter: {name}"
    assert "keeps nothing" in (refusal_of({**BODY, "store": True}) or "")
