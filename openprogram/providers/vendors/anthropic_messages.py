"""The `anthropic-messages` protocol, through the official `anthropic` SDK.

A stream always begins with `start` and ends with one `done` or `error`: a refused request, a lost
connection or a malformed answer is an `error` event too, never an exception. Exceptions are left to
what is no answer of a vendor: cancellation, a missing SDK, and what the caller's own `on_payload`
raises, which runs before the stream starts. Nothing is retried here, so that a recording shows each
attempt.

The key is sent as given and nothing is looked up in the environment or in the SDK's own profiles.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from openprogram.errors import ModelRequestError, ProviderError
from openprogram.providers import types as t
from openprogram.providers.vendors._anthropic_events import EventReader
from openprogram.providers.vendors._anthropic_payload import build_payload
from openprogram.providers.vendors._assembly import MessageAssembler
from openprogram.providers.vendors._cancellation import until_signal
from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator

    import anthropic

API: Final = "anthropic-messages"

_CONNECT_SECONDS = 10.0
_SILENCE_SECONDS = 300.0
"""The vendor sends pings while the model thinks; longer silence is a dead connection."""

_AUTHENTICATION_HEADERS = frozenset({"authorization", "x-api-key"})


class AnthropicMessagesProvider:
    """Streams answers of models that speak `anthropic-messages`."""

    requires_credentials: Final = True
    """The registry's entry point finds a key before it calls."""

    def stream(
        self, model: t.Model, context: t.Context, options: t.StreamOptions | None = None
    ) -> AsyncGenerator[t.AssistantMessageEvent, None]:
        """Stream an answer without reasoning.

        Closing the generator, cancelling the task that reads it, or setting `options.signal`
        closes the connection at once.

        Args:
            model: Who answers.
            context: What is asked.
            options: How; defaults when None.

        Returns:
            The events.
        """
        return _stream(model, context, options or t.StreamOptions(), None)

    def stream_simple(
        self, model: t.Model, context: t.Context, options: t.SimpleStreamOptions | None = None
    ) -> AsyncGenerator[t.AssistantMessageEvent, None]:
        """Stream an answer, with reasoning as the options say; see `stream`.

        Args:
            model: Who answers.
            context: What is asked.
            options: How, and how hard to think; defaults when None.

        Returns:
            The events.
        """
        options = options or t.SimpleStreamOptions()
        return _stream(model, context, options, options.reasoning)


PROVIDER: Final = AnthropicMessagesProvider()
"""What the registry gets."""


async def _stream(
    model: t.Model,
    context: t.Context,
    options: t.StreamOptions,
    reasoning: t.ThinkingLevel | None,
) -> AsyncGenerator[t.AssistantMessageEvent, None]:
    await _load_sdk()
    assembler = MessageAssembler(model)
    reader = EventReader(assembler)
    payload: dict[str, Any] | ModelRequestError
    try:
        payload = build_payload(model, context, options, reasoning)
    except ModelRequestError as error:
        payload = error
    else:
        if options.on_payload is not None:
            options.on_payload(payload)
    yield assembler.start()
    end: t.EventDone | t.EventError
    try:
        if isinstance(payload, ModelRequestError):
            raise payload
        async with _open_stream(model, options, payload) as answer:
            while not reader.is_ended:
                data = await until_signal(_next_event(answer), options.signal)
                if data is _END:
                    break
                for event in reader.read(data):
                    yield event
        end = reader.finish()
    except ModelRequestError as error:
        end = assembler.fail(error)
    # Only now: who stops reading at the last event must not leave a connection open.
    yield end


_END: Final = object()


async def _load_sdk() -> None:
    """Import the SDK, which takes seconds, without holding up the event loop."""
    if "anthropic" in sys.modules:
        return
    try:
        await asyncio.to_thread(__import__, "anthropic")
    except ModuleNotFoundError as error:
        if error.name != "anthropic":
            raise
        raise ProviderError(
            "anthropic-messages: the SDK is not installed; run pip install 'openprogram[anthropic]'"
        ) from error


@asynccontextmanager
async def _open_stream(
    model: t.Model, options: t.StreamOptions, payload: dict[str, Any]
) -> AsyncGenerator[anthropic.AsyncStream[object]]:
    """Send the request, hand out its answer's events as JSON values, and close everything."""
    async with _new_client(model, options) as client:
        stream = await until_signal(_send(client, payload), options.signal)
        async with stream:
            yield stream


def _new_client(model: t.Model, options: t.StreamOptions) -> anthropic.AsyncAnthropic:
    import anthropic

    headers: dict[str, Any] = {**(model.headers or {}), **(options.headers or {})}
    key = (options.api_key or "").strip()
    if not key:
        if _AUTHENTICATION_HEADERS.isdisjoint(name.lower() for name in headers):
            raise failure("auth", f"anthropic-messages: no API key for {model.provider}")
        headers = {"Authorization": anthropic.Omit(), **headers}
    if not (key.isascii() and (key.isprintable())):
        raise failure("auth", "anthropic-messages: the API key holds what no header can carry")
    return anthropic.AsyncAnthropic(
        # Even an empty key keeps the SDK from looking for one in the environment or in files.
        api_key=key,
        base_url=model.base_url,
        max_retries=0,
        default_headers=headers,
        open_telemetry=False,
        http_client=anthropic.DefaultAsyncHttpxClient(
            verify=_ssl_context(),
            timeout=anthropic.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
        ),
    )


@cache
def _ssl_context() -> ssl.SSLContext:
    """Load the trusted certificates once: it takes longer than all else about a client."""
    import httpx2

    return httpx2.create_ssl_context()


async def _send(
    client: anthropic.AsyncAnthropic, payload: dict[str, Any]
) -> anthropic.AsyncStream[object]:
    import anthropic

    from openprogram.providers.vendors import _anthropic_errors as errors

    with errors.translated():
        # `messages.create` would build a model object for each delta, and warn on the console
        # about models that are to retire; this is the same request with plain JSON values.
        return await client.post(
            "/v1/messages",
            body=payload,
            cast_to=object,
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )


async def _next_event(stream: anthropic.AsyncStream[object]) -> object:
    from openprogram.providers.vendors import _anthropic_errors as errors

    with errors.translated():
        try:
            return await stream.__anext__()
        except StopAsyncIteration:
            return _END
