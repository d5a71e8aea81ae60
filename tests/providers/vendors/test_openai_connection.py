"""What goes over the wire is what the caller said, whatever the environment says."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.providers import stream_simple
from openprogram.providers import types as t
from openprogram.providers.vendors.openai_completions import PROVIDER
from openprogram.testing import HttpError, LoopbackVendor, Text
from openprogram.testing.openai_completions import OpenAICompletions

KEY = "test-key"
CONTEXT = t.Context(messages=[t.UserMessage(content="hi", timestamp=0)])


def model_at(base_url: str, **fields: Any) -> t.Model:
    described: dict[str, Any] = {"provider": "openrouter", "api": "openai-completions", **fields}
    return t.Model(id="m", name="m", base_url=base_url, **described)


async def ask(model: t.Model, **options: Any) -> t.EventDone | t.AssistantMessage:
    given: dict[str, Any] = {"api_key": KEY, **options}
    events = [e async for e in PROVIDER.stream(model, CONTEXT, t.StreamOptions(**given))]
    last = events[-1]
    if isinstance(last, t.EventError):
        return last.error
    assert isinstance(last, t.EventDone)
    return last


def failed(message: t.EventDone | t.AssistantMessage) -> t.AssistantMessage:
    assert isinstance(message, t.AssistantMessage), message
    return message


def vendor_of(answer_count: int = 1, *, needs_key: bool = True) -> LoopbackVendor:
    protocol = OpenAICompletions(needs_key=needs_key)
    return LoopbackVendor([[Text("x")]] * answer_count, protocol=protocol)


async def test_nothing_of_the_sdks_environment_changes_a_request(monkeypatch: pytest.MonkeyPatch):
    with vendor_of(2) as vendor:
        await ask(model_at(vendor.base_url))
        ambient = {
            "OPENAI_API_KEY": "environment-key",
            "OPENAI_ADMIN_KEY": "environment-key",
            "OPENAI_BASE_URL": "http://127.0.0.1:9",
            "OPENAI_ORG_ID": "org-environment",
            "OPENAI_PROJECT_ID": "proj-environment",
            "OPENAI_WEBHOOK_SECRET": "environment-secret",
            "OPENAI_CUSTOM_HEADERS": "x-ambient: 1\nauthorization: Bearer environment-key",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "ALL_PROXY": "http://127.0.0.1:9",
        }
        for name, value in ambient.items():
            monkeypatch.setenv(name, value)
        assert isinstance(await ask(model_at(vendor.base_url)), t.EventDone)
        plain, guarded = vendor.requests
    assert guarded.headers == plain.headers
    assert guarded.body == plain.body
    assert not {"openai-organization", "openai-project", "x-ambient"} & guarded.headers.keys()


async def test_the_headers_of_the_model_and_of_the_call_are_sent():
    with vendor_of() as vendor:
        headers = {"x-one": "model", "x-two": "model", "OpenAI-Organization": "org-own"}
        await ask(model_at(vendor.base_url, headers=headers), headers={"x-two": "call"})
        sent = vendor.requests[0].headers
    assert (sent["x-one"], sent["x-two"]) == ("model", "call")
    assert sent["openai-organization"] == "org-own"


async def test_no_key_is_asked_only_where_none_is_needed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "environment-key")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "environment-key")
    far = failed(await ask(model_at("https://models.invalid/v1"), api_key=None))
    assert (far.error_reason, far.error_message) == (
        "auth",
        "openai-completions: no API key for openrouter",
    )
    with vendor_of(3, needs_key=False) as vendor:
        assert isinstance(await ask(model_at(vendor.base_url), api_key=None), t.EventDone)
        headers = {"Authorization": "Own credential"}
        await ask(model_at(vendor.base_url, headers=headers), api_key=" ")
        # The registry's entry point knows the providers that need no key.
        local = model_at(vendor.base_url, provider="ollama")
        assert [e.type async for e in stream_simple(local, CONTEXT)][-1] == "done"
        sent = [request.headers.get("authorization") for request in vendor.requests]
    assert sent == [None, "Own credential", None]


async def test_a_key_or_header_that_cannot_be_sent_is_an_error_that_hides_it():
    with vendor_of() as vendor:
        model = model_at(vendor.base_url)
        for key in ("two\nlines", "schlüssel", "nul\0"):
            message = failed(await ask(model, api_key=key))
            assert message.error_reason == "auth"
            assert key[:3] not in (message.error_message or "")
        for value in ("secret\nvalue", "secret\0"):
            message = failed(await ask(model, headers={"x-own": value}))
            assert message.error_reason == "bad_request"
            assert "secret" not in (message.error_message or "")
        assert vendor.requests == []
        assert isinstance(await ask(model, api_key=f" {KEY}\n"), t.EventDone)
        assert vendor.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_redirect_is_not_followed():
    protocol = OpenAICompletions()
    with vendor_of() as elsewhere:
        moved = HttpError(status=307, headers={"location": elsewhere.base_url}, body=b"")
        with LoopbackVendor([moved], protocol=protocol) as vendor:
            message = failed(await ask(model_at(vendor.base_url)))
        assert elsewhere.requests == []
    assert message.error_reason == "bad_request"
    assert "set model.base_url" in (message.error_message or "")


@pytest.mark.parametrize(
    "base_url", ["", "ftp://127.0.0.1", "http://[", "127.0.0.1:9", "http://\ud83d"]
)
async def test_a_base_url_that_is_none_is_an_error(base_url: str):
    message = failed(await ask(model_at(base_url)))
    assert message.error_reason in {"bad_request", "network"}
