"""One request through the `openai` SDK; imported on the first call, as the SDK takes seconds.

Keys, places, organizations and headers are never taken from the environment. What stays are the
certificates that it names, and its proxies, but none between this machine and itself.
"""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx2
import openai

from openprogram.auth.adapters import KEYLESS_PROVIDERS
from openprogram.providers.vendors._cancellation import until_signal
from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._network import is_loopback
from openprogram.providers.vendors._openai_errors import translated

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, AsyncIterator

    from openai._streaming import ServerSentEvent  # only for the type of what is overridden

    from openprogram.providers import types as t
    from openprogram.providers.vendors._cancellation import Signal

_CONNECT_SECONDS = 10.0
_SILENCE_SECONDS = 600.0
"""Most servers send nothing while the model thinks, and local ones nothing while it loads."""

_AUTHENTICATION_HEADERS = frozenset({"api-key", "authorization", "x-api-key"})
_AMBIENT_HEADERS = "OPENAI_CUSTOM_HEADERS"
_END_MARK = "[DONE]"
_END = object()


class _JsonStream(openai.AsyncStream[object]):
    """The SDK's stream, which also tells an end from a cut, and skips events without data."""

    has_end_mark = False

    async def _iter_events(self) -> AsyncIterator[ServerSentEvent]:
        async for event in super()._iter_events():
            if event.data.startswith(_END_MARK):
                self.has_end_mark = True
            if event.data:
                yield event


class Answer:
    """The JSON values behind the events of one answer, each as soon as it is there.

    A server that does not stream answers with one value, the whole body.

    Args:
        stream: The SDK's stream.
        signal: The caller's signal.
    """

    def __init__(self, stream: _JsonStream, signal: Signal | None) -> None:
        self._stream = stream
        self._signal = signal
        kind = stream.response.headers.get("content-type", "")
        self._is_one_value = kind.partition(";")[0].strip().lower() == "application/json"
        self._is_read = False

    @property
    def has_end_mark(self) -> bool:
        """Whether the server said that the answer is whole, not only stopped sending."""
        return self._stream.has_end_mark or self._is_read

    def __aiter__(self) -> Answer:
        return self

    async def __anext__(self) -> object:
        value = await until_signal(self._next(), self._signal)
        if value is _END:
            raise StopAsyncIteration
        return value

    async def _next(self) -> object:
        with translated("answer"):
            if not self._is_one_value:
                return await anext(self._stream, _END)
            if self._is_read:
                return _END
            value: object = json.loads(await self._stream.response.aread())
            self._is_read = True
            return value


@asynccontextmanager
async def open_answer(
    model: t.Model, options: t.StreamOptions, payload: dict[str, Any], *, path: str
) -> AsyncGenerator[Answer]:
    """Send a request and hand out its answer; leaving the context closes the connection.

    Args:
        model: Where to send it.
        options: The key, the headers and the signal.
        payload: The body.
        path: The endpoint below `model.base_url`, such as `/chat/completions`.

    Yields:
        The answer. Error objects in its stream are values like all others.

    Raises:
        ModelRequestError: Anything that goes wrong, also while the values are read.
    """
    key, headers = _authentication(model, options)
    async with _new_client(model, key) as client:
        stream = await until_signal(_send(client, path, payload, headers), options.signal)
        async with stream:
            yield Answer(stream, options.signal)


def _authentication(
    model: t.Model, options: t.StreamOptions
) -> tuple[str, dict[str, str | openai.Omit]]:
    """Find the key, and the headers that are to be sent or to be left out."""
    given = {**(model.headers or {}), **(options.headers or {})}
    own = {name.lower(): str(value) for name, value in given.items()}
    key = (options.api_key or "").strip()
    if not key:
        is_open = model.provider in KEYLESS_PROVIDERS or is_loopback(model.base_url)
        if not is_open and _AUTHENTICATION_HEADERS.isdisjoint(own):
            raise failure("auth", f"{model.api}: no API key for {model.provider}")
    if not (key.isascii() and key.isprintable()):
        raise failure("auth", f"{model.api}: the API key holds what no header can carry")
    return key, {
        **{name: openai.Omit() for name in _ambient_header_names()},
        "authorization": f"Bearer {key}" if key else openai.Omit(),
        **own,
    }


def _ambient_header_names() -> list[str]:
    """Name the headers that the SDK adds by itself or because the environment says so."""
    lines = os.environ.get(_AMBIENT_HEADERS, "").split("\n")
    names = [line.partition(":")[0].strip().lower() for line in lines if ":" in line]
    return ["openai-organization", "openai-project", *names]


def _new_client(model: t.Model, key: str) -> openai.AsyncOpenAI:
    with translated("request"):
        return openai.AsyncOpenAI(
            # Whatever is None here, the SDK looks for in the environment.
            api_key=key,
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=model.base_url,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                verify=_ssl_context(),
                timeout=openai.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
                # A redirect would carry the conversation to a place that nobody chose.
                follow_redirects=False,
                trust_env=not is_loopback(model.base_url),
            ),
        )


@cache
def _ssl_context() -> ssl.SSLContext:
    """Load the trusted certificates once: it takes longer than all else about a client."""
    return httpx2.create_ssl_context()


async def _send(
    client: openai.AsyncOpenAI,
    path: str,
    payload: dict[str, Any],
    headers: dict[str, str | openai.Omit],
) -> _JsonStream:
    with translated("request"):
        # The resources' `create` would build a model object for each delta; this is the same
        # request with plain JSON values.
        return await client.post(
            path,
            body=payload,
            cast_to=object,
            stream=True,
            stream_cls=_JsonStream,
            options={
                "headers": headers,
                # Else the SDK raises at an error object, and what stands beside it is lost.
                "stream_mode": "events",
                "security": {"bearer_auth": True},
            },
        )
