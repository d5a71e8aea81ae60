"""One request through the `anthropic` SDK; imported on the first call, as the SDK takes seconds.

Keys, a base URL and the SDK's own profiles are never looked up in the environment. What the SDK
always honours there stays: proxies, certificates, and `ANTHROPIC_CUSTOM_HEADERS`.
"""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2

from openprogram.providers.vendors._anthropic_errors import translated
from openprogram.providers.vendors._cancellation import until_signal
from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, AsyncIterator

    from openprogram.providers import types as t

_CONNECT_SECONDS = 10.0
_SILENCE_SECONDS = 300.0
"""The vendor sends pings while the model thinks; longer silence is a dead connection."""

_AUTHENTICATION_HEADERS = frozenset({"authorization", "x-api-key"})
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
        answer = await until_signal(_send(client, payload), options.signal)
        async with answer, aclosing(_iterate_events(answer, options)) as events:
            yield events


def _new_client(model: t.Model, options: t.StreamOptions) -> anthropic.AsyncAnthropic:
    given = {**(model.headers or {}), **(options.headers or {})}
    headers: dict[str, Any] = {name: str(value) for name, value in given.items()}
    key = (options.api_key or "").strip()
    if not key:
        if _AUTHENTICATION_HEADERS.isdisjoint(name.lower() for name in headers):
            raise failure("auth", f"anthropic-messages: no API key for {model.provider}")
        headers = {"Authorization": anthropic.Omit(), **headers}
    if not (key.isascii() and key.isprintable()):
        raise failure("auth", "anthropic-messages: the API key holds what no header can carry")
    with translated("request"):
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
    return httpx2.create_ssl_context()


async def _send(
    client: anthropic.AsyncAnthropic, payload: dict[str, Any]
) -> anthropic.AsyncStream[object]:
    with translated("request"):
        # `messages.create` would build a model object for each delta, and warn on the console
        # about models that are to retire; this is the same request with plain JSON values.
        return await client.post(
            "/v1/messages",
            body=payload,
            cast_to=object,
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
