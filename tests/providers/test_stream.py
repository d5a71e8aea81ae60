from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from fresh_interpreter import output_of
from openprogram.errors import (
    CredentialMissingError,
    ProviderError,
    ProviderNotRegisteredError,
)
from openprogram.providers import types as t
from openprogram.providers.stream import complete, complete_simple, stream, stream_simple
from scripted import Scripted, collect, drain, message, request, text_events

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    Serve = Callable[[Any], None]

_MODULE = import_module("openprogram.providers.stream")


class NeedsKey(Scripted):
    """A provider as the built-in ones are."""

    requires_credentials = True


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """A function that makes a provider the one of the API `scripted`."""

    def register(provider: Any) -> None:
        def get_api_provider(api: str) -> Any:
            if api != "scripted":
                raise ProviderNotRegisteredError(api)
            return provider

        monkeypatch.setattr(_MODULE, "get_api_provider", get_api_provider)

    return register


def _store_key(state_dir: Path, **keys: str) -> None:
    state_dir.mkdir(mode=0o700)
    path = state_dir / "credentials.json"
    path.write_text(json.dumps({name: {"api_key": key} for name, key in keys.items()}))
    path.chmod(0o600)


def _request(provider: str = "anthropic", **options: Any) -> tuple[Any, Any, Any]:
    model, context, _ = request()
    model.provider = provider
    return model, context, t.SimpleStreamOptions(**options)


def _key_sent(provider: Scripted) -> str | None:
    (_, _, options) = provider.requests[-1]
    return options.api_key


@pytest.mark.parametrize("call", [stream, stream_simple])
def test_events_come_as_the_provider_yields_them(serve: Serve, call: Any) -> None:
    provider = Scripted(text_events("hello"))
    serve(provider)
    assert drain(call(*request())) == provider.events


@pytest.mark.parametrize(
    ("call", "options_type"), [(stream, t.StreamOptions), (stream_simple, t.SimpleStreamOptions)]
)
def test_no_options_are_default_options(serve: Serve, call: Any, options_type: type) -> None:
    provider = Scripted(text_events("hello"))
    serve(provider)
    model, context, _ = request()
    drain(call(model, context))
    (_, _, options) = provider.requests[0]
    assert type(options) is options_type
    assert options == options_type()


def test_each_method_reaches_its_own(serve: Serve) -> None:
    class Both:
        requires_credentials = False

        async def stream(self, *_: Any) -> AsyncIterator[Any]:
            yield "stream"

        async def stream_simple(self, *_: Any) -> AsyncIterator[Any]:
            yield "stream_simple"

    serve(Both())
    assert drain(stream(*request())) == ["stream"]
    assert drain(stream_simple(*request())) == ["stream_simple"]


def test_an_unknown_api_is_said_at_once(serve: Serve) -> None:
    serve(Scripted([]))
    model, context, options = request()
    model.api = "unknown"
    with pytest.raises(ProviderNotRegisteredError):
        stream(model, context, options)


def test_the_key_that_was_given_wins(
    serve: Serve, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = NeedsKey(text_events("hello"))
    serve(provider)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-environment")
    drain(stream_simple(*_request()))
    assert _key_sent(provider) == "from-environment"
    _store_key(state_dir, anthropic="from-store")
    drain(stream_simple(*_request()))
    assert _key_sent(provider) == "from-store"
    drain(stream_simple(*_request(api_key="given")))
    assert _key_sent(provider) == "given"


def test_the_callers_options_are_not_changed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = NeedsKey(text_events("hello"))
    serve(provider)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    signal = object()
    model, context, options = _request(max_tokens=5, signal=signal)
    drain(stream_simple(model, context, options))
    assert options.api_key is None
    (_, _, sent) = provider.requests[0]
    assert (sent.api_key, sent.max_tokens, sent.signal) == ("k", 5, signal)


def test_a_missing_key_is_said_with_its_variable(serve: Serve) -> None:
    provider = NeedsKey([])
    serve(provider)
    with pytest.raises(CredentialMissingError, match="set ANTHROPIC_API_KEY"):
        stream_simple(*_request())
    with pytest.raises(CredentialMissingError, match=r"provider 'elsewhere'$"):
        stream(*_request("elsewhere"))
    assert provider.requests == []


@pytest.mark.parametrize("name", ["Authorization", "x-api-key", "X-Goog-Api-Key"])
def test_a_header_may_be_the_credential(serve: Serve, name: str) -> None:
    provider = NeedsKey(text_events("hello"))
    serve(provider)
    drain(stream_simple(*_request(headers={name: "x"})))
    model, context, options = _request()
    model.headers = {name: "x"}
    drain(stream_simple(model, context, options))
    assert _key_sent(provider) is None
    with pytest.raises(CredentialMissingError):
        stream_simple(*_request(headers={"x-trace": "x"}))


def test_no_key_is_looked_for_when_none_is_needed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a key was looked for")

    monkeypatch.setattr(_MODULE, "resolve_api_key", fail)
    provider = Scripted(text_events("hello"))
    serve(provider)
    assert drain(stream_simple(*_request())) == provider.events


def test_a_provider_that_says_nothing_about_keys_needs_one(serve: Serve) -> None:
    class Silent:
        stream = stream_simple = Scripted([]).stream

    serve(Silent())
    with pytest.raises(CredentialMissingError):
        stream_simple(*_request())


def test_closing_early_closes_the_source(serve: Serve) -> None:
    provider = Scripted(text_events("hello"))
    serve(provider)

    async def stop_early() -> None:
        events = stream_simple(*request())
        await anext(events)
        await events.aclose()

    asyncio.run(stop_early())
    assert provider.is_closed


def test_cancelling_closes_the_source(serve: Serve) -> None:
    reached = asyncio.Event()

    async def hang() -> None:
        reached.set()
        await asyncio.Event().wait()

    provider = Scripted([hang])
    serve(provider)

    async def cancel() -> None:
        task = asyncio.create_task(collect(stream_simple(*request())))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert provider.is_closed


def test_a_coroutine_function_that_returns_a_stream_is_served(serve: Serve) -> None:
    inner = Scripted(text_events("hello"))

    class Awaited:
        requires_credentials = False

        async def stream_simple(self, *words: Any) -> AsyncIterator[Any]:
            return inner.stream(*words)

    serve(Awaited())
    assert drain(stream_simple(*request())) == inner.events
    assert inner.is_closed


def test_a_plain_iterator_without_aclose_is_served(serve: Serve) -> None:
    class Plain:
        requires_credentials = False

        def stream(self, *_: Any) -> AsyncIterator[Any]:
            return PlainIterator(text_events("hello"))

    class PlainIterator:
        def __init__(self, events: list[Any]) -> None:
            self._events = iter(events)

        def __aiter__(self) -> PlainIterator:
            return self

        async def __anext__(self) -> Any:
            for event in self._events:
                return event
            raise StopAsyncIteration

    serve(Plain())
    assert drain(stream(*request())) == text_events("hello")


@pytest.mark.parametrize("call", [complete, complete_simple])
async def test_complete_returns_the_whole_message(serve: Serve, call: Any) -> None:
    serve(Scripted(text_events("hel", "lo")))
    answer = await call(*request())
    assert answer == text_events("hel", "lo")[-1].message


async def test_complete_returns_a_failed_message_too(serve: Serve) -> None:
    failed = message(stop_reason="error", error_message="busy")
    serve(Scripted([t.EventStart(partial=message()), t.EventError(reason="error", error=failed)]))
    assert await complete(*request()) is failed


async def test_complete_refuses_a_stream_without_an_end(serve: Serve) -> None:
    serve(Scripted(text_events("hello")[:-1]))
    with pytest.raises(ProviderError, match="ended without 'done' or 'error'"):
        await complete(*request())


async def test_what_a_provider_raises_reaches_the_caller(serve: Serve) -> None:
    error = ValueError("mine")
    serve(Scripted([*text_events("hello")[:2], error]))
    with pytest.raises(ValueError, match="mine") as caught:
        await complete_simple(*request())
    assert caught.value is error


def test_a_replay_needs_no_key_and_matches_a_call_that_had_one(state_dir: Path) -> None:
    code = """
        import sys
        from openprogram.__main__ import main
        from openprogram.providers import complete, register_api_provider, types as t
        from scripted import Scripted, request, text_events
        import asyncio

        class NeedsKey(Scripted):
            requires_credentials = True

        register_api_provider("scripted", NeedsKey(text_events("hello")))
        model, context, _ = request()
        print(asyncio.run(complete(model, context)).content[0].text)
    """
    prepare = "import sys; from openprogram.__main__ import main; sys.exit(main(sys.argv[1:]))"
    output_of(prepare, "recordings", "record", "--name", "run")
    _write_key(state_dir)
    assert output_of(code) == "hello\n"
    (state_dir / "credentials.json").unlink()
    output_of(prepare, "recordings", "replay", "run")
    assert output_of(code) == "hello\n"
    assert "a-key-of-pretend" not in (state_dir / "recordings" / "run.jsonl").read_text()


def _write_key(state_dir: Path) -> None:
    path = state_dir / "credentials.json"
    path.write_text(json.dumps({"pretend": {"api_key": "a-key-of-pretend"}}))
    path.chmod(0o600)
