"""The one way a model is called: find the provider, then its key, then stream."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from openprogram.auth.adapters import KEYLESS_PROVIDERS
from openprogram.auth.resolver import environment_variable_for, remedy_for, resolve_api_key
from openprogram.errors import CredentialMissingError, ProviderError, quoted
from openprogram.providers import types as t
from openprogram.providers.api_registry import get_api_provider
from openprogram.providers.events import final_message, is_terminal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable

    from openprogram.providers._registry import ApiProvider

    Events = AsyncGenerator[t.AssistantMessageEvent, None]

_Options = TypeVar("_Options", bound=t.StreamOptions)

_CREDENTIAL_HEADERS = frozenset({"api-key", "authorization", "x-api-key", "x-goog-api-key"})


def stream(
    model: t.Model, context: t.Context, options: t.StreamOptions | None = None
) -> AsyncGenerator[t.AssistantMessageEvent, None]:
    """Stream an answer.

    The provider is found by `model.api`; the first call of a process initializes the runtime. A key
    is looked for only when the provider needs one, and only after the provider was found: first
    `options.api_key`, then the credential store, then the vendor's usual environment variable.

    Args:
        model: Who answers.
        context: What is asked.
        options: How; defaults when None.

    Returns:
        The events; the last one is `done` or `error`. Whoever stops early closes the iterator with
        `aclose()`, which ends the request.

    Raises:
        ProviderNotRegisteredError: Nobody serves `model.api`.
        ProviderRuntimeInitializationError: The runtime could not start.
        ProviderBlockedError: The settings of recording and replay cannot be honoured.
        CredentialMissingError: The provider needs a key, and there is none.
    """
    provider = get_api_provider(model.api)
    filled = _fill_key(provider, model, options or t.StreamOptions())
    return _iterate(provider.stream(model, context, filled))


def stream_simple(
    model: t.Model, context: t.Context, options: t.SimpleStreamOptions | None = None
) -> AsyncGenerator[t.AssistantMessageEvent, None]:
    """Stream an answer, with reasoning in words that hold for every vendor; see `stream`.

    Args:
        model: Who answers.
        context: What is asked.
        options: How, and how hard to think; defaults when None.

    Returns:
        The events.
    """
    provider = get_api_provider(model.api)
    filled = _fill_key(provider, model, options or t.SimpleStreamOptions())
    return _iterate(provider.stream_simple(model, context, filled))


async def complete(
    model: t.Model, context: t.Context, options: t.StreamOptions | None = None
) -> t.AssistantMessage:
    """Wait for a whole answer; see `stream`.

    Args:
        model: Who answers.
        context: What is asked.
        options: How; defaults when None.

    Returns:
        The message as it stood at the end. A failed answer is a message too: its `stop_reason` is
        `error` or `aborted`, and `error_message` says why.

    Raises:
        ProviderError: The stream ended without its last event; and whatever `stream` raises.
    """
    return await _last_message(stream(model, context, options), model)


async def complete_simple(
    model: t.Model, context: t.Context, options: t.SimpleStreamOptions | None = None
) -> t.AssistantMessage:
    """Wait for a whole answer, with reasoning in words that hold for every vendor.

    Args:
        model: Who answers.
        context: What is asked.
        options: How, and how hard to think; defaults when None.

    Returns:
        The message as it stood at the end; see `complete`.
    """
    return await _last_message(stream_simple(model, context, options), model)


def _fill_key(provider: ApiProvider, model: t.Model, options: _Options) -> _Options:
    if not getattr(provider, "requires_credentials", True):
        return options
    key = resolve_api_key(model.provider, options.api_key)
    if key is None:
        is_open = model.provider in KEYLESS_PROVIDERS
        if is_open or _carries_credential(model.headers) or _carries_credential(options.headers):
            return options
        variable = environment_variable_for(model.provider)
        raise CredentialMissingError(
            model.provider, environment_variable=variable, remedy=remedy_for(model.provider)
        )
    return msgspec.structs.replace(options, api_key=key)


def _carries_credential(headers: dict[str, str] | None) -> bool:
    return any(name.lower() in _CREDENTIAL_HEADERS for name in headers or ())


async def _iterate(source: Any) -> Events:
    """Pass a provider's events on; its method may be a coroutine function too."""
    events = cast("AsyncIterator[t.AssistantMessageEvent]", source)
    if inspect.isawaitable(source):
        events = await cast("Awaitable[AsyncIterator[t.AssistantMessageEvent]]", source)
    try:
        async for event in events:
            yield event
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


async def _last_message(events: Events, model: t.Model) -> t.AssistantMessage:
    message: t.AssistantMessage | None = None
    async for event in events:
        if is_terminal(event):
            message = final_message(event)
    if message is None:
        raise ProviderError(f"{quoted(model.api)}: the stream ended without 'done' or 'error'")
    return message
