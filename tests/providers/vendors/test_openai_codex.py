"""The subscription's dialect against its backend on the loopback interface."""

from __future__ import annotations

import base64
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fresh_interpreter import run_fresh
from openprogram import __version__
from openprogram.auth._codex_login import codex_auth_path
from openprogram.errors import ProviderError
from openprogram.providers import types as t
from openprogram.providers.recording import RecordingProvider
from openprogram.providers.vendors.openai_codex import PROVIDER, OpenAICodexProvider
from openprogram.testing import HttpError, LoopbackVendor, Text, Thinking, ToolCall
from openprogram.testing.openai_codex import OpenAICodex

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.testing import Script

AUTH = "https://api.openai.com/auth"


def token_of(**claims: Any) -> str:
    said = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{said}.c2ln"


KEY = token_of(exp=4_000_000_000, **{AUTH: {"chatgpt_account_id": "acc-1"}})


def vendor_of(script: Script) -> LoopbackVendor:
    return LoopbackVendor(script, protocol=OpenAICodex())


async def ask(
    base_url: str, *, system_prompt: str | None = "be", model_headers: Any = None, **options: Any
) -> list[t.AssistantMessageEvent]:
    model = t.Model(
        id="some-model",
        name="Some Model",
        api="openai-codex",
        provider="openai-codex",
        base_url=base_url,
        reasoning=True,
        headers=model_headers,
    )
    asked = t.UserMessage(content="hi", timestamp=0)
    context = t.Context(system_prompt=system_prompt, messages=[asked])
    given: dict[str, Any] = {"api_key": KEY, **options}
    stream = PROVIDER.stream_simple(model, context, t.SimpleStreamOptions(**given))
    return [event async for event in stream]


def failed(events: list[t.AssistantMessageEvent]) -> t.AssistantMessage:
    last = events[-1]
    assert (events[0].type, len(events)) == ("start", 2)
    assert isinstance(last, t.EventError)
    return last.error


async def test_an_answer_under_our_own_name_and_without_what_is_not_taken():
    with vendor_of([[Thinking("why", "e"), Text("hi"), ToolCall("t")]]) as vendor:
        options: dict[str, Any] = {
            "max_tokens": 100,
            "temperature": 0.5,
            "metadata": {"user_id": "u"},
            "session_id": "s",
            "cache_retention": "long",
            "reasoning": "low",
        }
        events = await ask(vendor.base_url, **options)
        (request,) = vendor.requests
    last = events[-1]
    assert isinstance(last, t.EventDone)
    assert [block.type for block in last.message.content] == ["thinking", "text", "toolCall"]
    assert (last.message.api, last.message.provider) == ("openai-codex", "openai-codex")
    assert request.path == "/backend-api/codex/responses"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["chatgpt-account-id"] == "acc-1"
    assert request.headers["originator"] == "openprogram"
    assert request.headers["user-agent"] == f"openprogram/{__version__}"
    assert request.body.keys() == {
        *("model", "input", "stream", "store", "instructions", "include", "reasoning"),
        "prompt_cache_key",
    }


async def test_headers_of_the_model_win():
    with vendor_of([[Text("x")]]) as vendor:
        mine = {"Originator": "mine", "ChatGPT-Account-ID": "acc-2"}
        events = await ask(vendor.base_url, model_headers=mine, api_key="an-opaque-token")
        assert events[-1].type == "done"
        received = vendor.requests[0].headers
    assert (received["originator"], received["chatgpt-account-id"]) == ("mine", "acc-2")


async def test_a_token_that_is_over_or_names_nobody_is_an_error_before_anything_is_sent():
    path = codex_auth_path()
    with vendor_of([[Text("x")]]) as vendor:
        expired = token_of(exp=1_600_000_000, **{AUTH: {"chatgpt_account_id": "a"}})
        for key, word in ((expired, "2020-09-13T12:26:40"), ("opaque", "no account")):
            message = failed(await ask(vendor.base_url, api_key=key))
            assert (message.error_reason, message.error_retryable) == ("auth", False)
            assert word in (message.error_message or "")
            assert "codex login" in (message.error_message or "")
            assert key not in (message.error_message or "")
        path.parent.mkdir()
        path.write_text("{")
        message = failed(await ask(vendor.base_url, api_key="opaque"))
        assert "not a login" in (message.error_message or "")
        assert vendor.requests == []
        path.write_text('{"tokens": {"access_token": "opaque", "account_id": "acc-3"}}')
        assert (await ask(vendor.base_url, api_key="opaque"))[-1].type == "done"
        assert vendor.requests[0].headers["chatgpt-account-id"] == "acc-3"


async def test_a_request_without_instructions_is_refused_by_us():
    with vendor_of([]) as vendor:
        message = failed(await ask(vendor.base_url, system_prompt=None))
        assert vendor.requests == []
    assert message.error_reason == "bad_request"
    assert "system_prompt" in (message.error_message or "")


async def test_a_used_up_subscription_is_a_rate_limit():
    body = b'{"error": {"type": "usage_limit_reached", "message": "The usage limit is reached"}}'
    with vendor_of([HttpError(status=429, body=body)]) as vendor:
        message = failed(await ask(vendor.base_url))
    assert (message.error_reason, message.error_retryable) == ("rate_limit", True)
    assert message.error_message == "The usage limit is reached"


async def test_a_missing_sdk_names_this_protocol(monkeypatch: pytest.MonkeyPatch):
    module = "openprogram.providers.vendors._openai_connection"
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "openai", None)
    model = t.Model(id="m", name="m", api="openai-codex", provider="openai-codex", base_url="")
    with pytest.raises(ProviderError, match="openai-codex: the SDK is not installed"):
        await anext(OpenAICodexProvider().stream(model, t.Context(messages=[])))


ASK = """
import asyncio, os, sys

def watch(event, words):
    if event == "open" and "auth.json" in str(words[0]):
        os._exit(70)

sys.addaudithook(watch)
from openprogram.errors import ProviderBlockedError
from openprogram.providers import complete_simple, create_runtime, types as t

context = t.Context(system_prompt="be", messages=[t.UserMessage(content="hi", timestamp=7)])
try:
    runtime = create_runtime("openai-codex", "some-model")
    answer = asyncio.run(complete_simple(runtime.model, context, runtime.options))
    print([block.type for block in answer.content])
except ProviderBlockedError:
    print("blocked")
assert not {"openai", "httpx2", "pydantic"} & set(sys.modules)
"""


async def test_neither_a_replay_nor_a_blocked_run_reads_the_login_or_loads_the_sdk(
    state_dir: Path,
):
    path = state_dir / "recordings" / "run.jsonl"
    path.parent.mkdir(parents=True)
    with vendor_of([[Thinking("why", "e"), Text("hi")]]) as vendor:
        base_url = vendor.base_url
        model = t.Model(
            id="some-model",
            name="some-model",
            api="openai-codex",
            provider="openai-codex",
            base_url=base_url,
            input=["text", "image"],
        )
        asked = t.UserMessage(content="hi", timestamp=0)
        context = t.Context(system_prompt="be", messages=[asked])
        recorder = RecordingProvider(PROVIDER, path)
        options = t.SimpleStreamOptions(api_key=KEY)
        async for _ in recorder.stream_simple(model, context, options):
            pass
    assert KEY not in path.read_text()
    codex_auth_path().parent.mkdir()
    codex_auth_path().write_text(json.dumps({"tokens": {"access_token": KEY}}))
    for mode, printed in (("replay", "['thinking', 'text']\n"), ("odd", "blocked\n")):
        chosen = {"record_replay": {"mode": mode, "file": "run"}}
        (state_dir / "config.json").write_text(json.dumps(chosen))
        done = run_fresh(ASK, OPENPROGRAM_CODEX_BASE_URL=base_url)
        assert (done.returncode, done.stdout) == (0, printed), done.stderr
    (state_dir / "config.json").unlink()
    assert run_fresh(ASK, OPENPROGRAM_CODEX_BASE_URL=base_url).returncode == 70
