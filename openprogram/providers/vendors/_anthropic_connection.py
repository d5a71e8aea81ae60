"""One request through the `anthropic` SDK; imported on the first call, as the SDK takes seconds.

Keys, headers, a base URL and the SDK's own profiles are never taken from the environment: what is
sent, and where to, is what the caller said and what is recorded. What stays are the certificates
that it names, and its proxies, but none between this machine and itself.
"""

from __future__ import annotations

import os
from contextlib import aclosing, asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2

from openprogram.providers.vendors._anthropic_errors import translated
from openprogram.providers.vendors._cancellation import until_signal
from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._network import is_loopback

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, AsyncIterator

    from openprogram.providers import types as t

_CONNECT_SECONDS = 10.0
_SILENCE_SECONDS = 300.0
"""The vendor sends pings while the model thinks; longer silence is a dead connection."""

_AUTHENTICATION_HEADERS = frozenset({"authorization", "x-api-key"})
_PROTOCOL_VERSION = "2023-06-01"
"""The version of the vendor's protocol that events are read by."""
_AMBIENT_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
_END = object()


@asynccontextmanager
async def open_answer(
    model: t.Model, options: t.StreamOptions, payload: dict[str, Any]
) -> AsyncGenerator[AsyncIterator[object]]:
    """Send a request and hand out its answer; leaving the context closes the connection.

    Args:
        model: Where to send it.
        options: The key, the headers and the signal.
        payload: The body.

    Yields:
        The JSON values behind the answer's events, each as soon as it is there; pings are left
        out.

    Raises:
        ModelRequestError: Anything that goes wrong, also while the values are read.
    """
    async with _new_client(model, options) as client:
        headers = _headers_of(client, model, options)
        answer = await until_signal(_send(client, payload, headers), options.signal)
        async with answer, aclosing(_iterate_events(answer, options)) as events:
            yield events


def _new_client(model: t.Model, options: t.StreamOptions) -> anthropic.AsyncAnthropic:
    given = {**(model.headers or {}), **(options.headers or {})}
    key = (options.api_key or "").strip()
    if not key and _AUTHENTICATION_HEADERS.isdisjoint(name.lower() for name in given):
        raise failure("auth", f"anthropic-messages: no API key for {model.provider}")
    if not (key.isascii() and key.isprintable()):
        raise failure("auth", "anthropic-messages: the API key holds what no header can carry")
    with translated("request"):
        return anthropic.AsyncAnthropic(
            # Even an empty key keeps the SDK from looking for one in the environment or in files.
            api_key=key,
            base_url=model.base_url,
            max_retries=0,
            open_telemetry=False,
            http_client=anthropic.DefaultAsyncHttpxClient(
                verify=_ssl_context(),
                timeout=anthropic.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
                # A redirect would carry the conversation to a place that nobody chose.
                follow_redirects=False,
                trust_env=not is_loopback(model.base_url),
            ),
        )


def _headers_of(
    client: anthropic.AsyncAnthropic, model: t.Model, options: t.StreamOptions
) -> dict[str, str | anthropic.Omit]:
    """Give the headers of a request: the caller's, and none that only the environment has."""
    lines = os.environ.get(_AMBIENT_HEADERS, "").split("\n")
    ambient = [line.partition(":")[0].strip().lower() for line in lines if ":" in line]
    given = {**(model.headers or {}), **(options.headers or {})}
    authentication = client.auth_headers if client.api_key else {"authorization": anthropic.Omit()}
    return {
        **{name: anthropic.Omit() for name in ambient},
        "anthropic-version": _PROTOCOL_VERSION,
        **{name.lower(): value for name, value in authentication.items()},
        **{name.lower(): str(value) for name, value in given.items()},
    }


@cache
def _ssl_context() -> ssl.SSLContext:
    """Load the trusted certificates once: it takes longer than all else about a client."""
    return httpx2.create_ssl_context()


async def _send(
    client: anthropic.AsyncAnthropic,
    payload: dict[str, Any],
    headers: dict[str, str | anthropic.Omit],
) -> anthropic.AsyncStream[object]:
    with translated("request"):
        # `messages.create` would build a model object for each delta, and warn on the console
        # about models that are to retire; this is the same request with plain JSON values.
        return await client.post(
            "/v1/messages",
            body=payload,
            cast_to=object,
            options={"headers": headers},
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )


async def _iterate_events(
    answer: anthropic.AsyncStream[object], options: t.StreamOptions
) -> AsyncGenerator[object]:
    while (event := await until_signal(_next_event(answer), options.signal)) is not _END:
        yield event


async def _next_event(answer: anthropic.AsyncStream[object]) -> object:
    with translated("answer"):
        return await anext(answer, _END)
