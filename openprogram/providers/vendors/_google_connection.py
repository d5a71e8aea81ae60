"""One request through the `google-genai` SDK; imported on the first call, as the SDK takes seconds.

The SDK makes the address, the headers and the body, sends them, and reads refusals. It looks for
keys, another place, another product and a recorder of its own in the environment: all of these are
given, so that it finds none. What stays are the certificates that the environment names, and its
proxies, but none between this machine and itself.
"""

from __future__ import annotations

import logging
from contextlib import aclosing, asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, cast
from urllib.parse import quote

import httpx2
from google import genai
from google.genai import client as genai_client
from google.genai import errors as genai_errors
from google.genai import types as genai_types

from openprogram.providers.vendors._cancellation import until_signal
from openprogram.providers.vendors._failures import failure, reason_for_status
from openprogram.providers.vendors._google_failures import error_of
from openprogram.providers.vendors._google_stream import AnswerDecoder
from openprogram.providers.vendors._network import is_loopback, of_network

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator

    from openprogram.errors import ModelRequestError
    from openprogram.providers import types as t

_CONNECT_SECONDS: Final = 10.0
_SILENCE_SECONDS: Final = 600.0
"""The vendor sends nothing at all while the model thinks."""

_KEY_HEADER: Final = "x-goog-api-key"
_AUTHENTICATION_HEADERS: Final = frozenset({"authorization", _KEY_HEADER})
_NO_KEY: Final = "none"
"""Given to the SDK where a header of the caller's authenticates; it never leaves."""
_FIRST_ERROR_STATUS: Final = 300
_MALFORMED = (TypeError, ValueError, RecursionError)
"""What building a request and reading an answer raise."""
_END = object()

_is_ours: ContextVar[bool] = ContextVar("_is_ours", default=False)
# The SDK says on the console which of two keys in the environment it takes, though it takes
# neither. The filter drops what it says inside our calls, and leaves the caller's own use of it.
for _name in ("google_genai._api_client", "google_genai._common", "google_genai.types"):
    logging.getLogger(_name).addFilter(lambda _: not _is_ours.get())


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
        The JSON values of the answer, each as soon as it is there. Error objects in its stream are
        values like all others.

    Raises:
        ModelRequestError: Anything that goes wrong, also while the values are read.
    """
    key, headers = _authentication(model, options)
    exchange = _Exchange(headers, has_key=bool(key))
    async with _http_client(model, exchange) as http:
        sending = _send(http, exchange, model, key or _NO_KEY, payload)
        response = await until_signal(sending, options.signal)
        async with aclosing(response), aclosing(_iterate_values(response, options)) as values:
            yield values


class _Exchange:
    """Watches the SDK's one request on its way out, and its answer on the way in.

    Args:
        headers: What the caller wants sent.
        has_key: Whether the SDK's own key header is meant.
    """

    def __init__(self, headers: dict[str, str], *, has_key: bool) -> None:
        self._headers = headers
        self._has_key = has_key
        self.response: httpx2.Response | None = None

    async def on_request(self, request: httpx2.Request) -> None:
        """Set what the SDK does not let one say."""
        if not self._has_key:
            del request.headers[_KEY_HEADER]
        # Last, and by name in any case: the SDK would send both spellings of one header.
        request.headers.update(self._headers)
        # The SDK knows one time limit for the whole answer, which it also tells the vendor.
        timeout = httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
        request.extensions["timeout"] = timeout.as_dict()

    async def on_response(self, response: httpx2.Response) -> None:
        """Keep the answer."""
        self.response = response


def _authentication(model: t.Model, options: t.StreamOptions) -> tuple[str, dict[str, str]]:
    """Find the key and the headers of the caller."""
    if not model.base_url.strip():
        # The SDK would take another place.
        raise failure("bad_request", "model.base_url is not usable: it is empty")
    given = {**(model.headers or {}), **(options.headers or {})}
    headers = {name: str(value) for name, value in given.items()}
    key = (options.api_key or "").strip()
    if not key and _AUTHENTICATION_HEADERS.isdisjoint(name.lower() for name in headers):
        raise failure("auth", f"google-generative-ai: no API key for {model.provider}")
    if not (key.isascii() and key.isprintable()):
        raise failure("auth", "google-generative-ai: the API key holds what no header can carry")
    return key, headers


def _http_client(model: t.Model, exchange: _Exchange) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        verify=_ssl_context(),
        trust_env=not is_loopback(model.base_url),
        # A redirect would carry the conversation, and the key, to a place that nobody chose.
        follow_redirects=False,
        event_hooks={"request": [exchange.on_request], "response": [exchange.on_response]},
    )


@cache
def _ssl_context() -> ssl.SSLContext:
    """Load the trusted certificates once: it takes longer than all else about a client."""
    return httpx2.create_ssl_context()


@contextmanager
def _sdk_client(model: t.Model, key: str, http: httpx2.AsyncClient) -> Generator[genai.Client]:
    """Make the SDK's client, and close what it opened besides; the HTTP client stays ours."""
    context = _ssl_context()
    token = _is_ours.set(True)
    try:
        client = genai.Client(
            # Whatever is None here, the SDK looks for in the environment.
            vertexai=False,
            api_key=key,
            debug_config=genai_client.DebugConfig(
                client_mode="", replays_directory="", replay_id=""
            ),
            http_options=genai_types.HttpOptions(
                base_url=model.base_url,
                api_version="",
                httpx_async_client=http,
                # Else it loads the certificates anew, for clients that are never used.
                client_args={"verify": context, "trust_env": False},
                async_client_args={"ssl": context},
            ),
        )
    finally:
        _is_ours.reset(token)
    with client:
        yield client


async def _send(
    http: httpx2.AsyncClient,
    exchange: _Exchange,
    model: t.Model,
    key: str,
    payload: dict[str, Any],
) -> httpx2.Response:
    path = _path_of(model)
    with _translated("request", exchange), _sdk_client(model, key, http) as client:
        # `generate_content_stream` would lose every field and kind of part that this SDK does not
        # know, warn on the console about its words, and decode signatures, which must come back
        # byte for byte. This is the method that it stands on. Its stream is not read: see
        # `_google_stream`.
        api = client._api_client  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - see above
        await api.async_request_streamed("post", path, payload)
    if exchange.response is None:
        raise failure("bad_request", "the SDK sent no request")
    return exchange.response


def _path_of(model: t.Model) -> str:
    """Say where the model is, below the base URL; its name cannot lead anywhere else."""
    name = model.id if "/" in model.id else f"models/{model.id}"
    if any(segment in {"", ".", ".."} for segment in name.split("/")):
        raise failure("bad_request", "google-generative-ai: model.id is no name of a model")
    try:
        return f"{quote(name, safe='/:@')}:streamGenerateContent?alt=sse"
    except UnicodeEncodeError as error:
        raise failure(
            "bad_request", "google-generative-ai: model.id is no name of a model"
        ) from error


async def _iterate_values(
    response: httpx2.Response, options: t.StreamOptions
) -> AsyncGenerator[object]:
    decoder = AnswerDecoder()
    pieces = response.aiter_bytes()
    is_whole = False
    while not is_whole:
        piece = await until_signal(_next_piece(pieces), options.signal)
        is_whole = piece is None
        values = decoder.finish() if piece is None else decoder.feed(piece)
        while (value := _next_value(values)) is not _END:
            yield value


def _next_value(values: Iterator[object]) -> object:
    with _translated("answer"):
        return next(values, _END)


async def _next_piece(pieces: AsyncIterator[bytes]) -> bytes | None:
    with _translated("answer"):
        return await anext(pieces, None)


@contextmanager
def _translated(
    phase: Literal["request", "answer"], exchange: _Exchange | None = None
) -> Generator[None]:
    """Raise what the SDK raises as a `ModelRequestError`.

    Args:
        phase: What is going on, for the errors that do not say themselves whose fault they are.
        exchange: The request, where a refusal may have come whose body the SDK cannot read.

    Raises:
        ModelRequestError: Whatever a vendor or a network can do to a request.
    """
    try:
        yield
    except genai_errors.APIError as error:
        raise _of_refusal(error, exchange) from error
    except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
        raise of_network(error) from error
    except ImportError as error:
        # The environment names an HTTP library for the SDK that is not there.
        raise failure("bad_request", f"the SDK cannot send the request: {error}") from error
    except (httpx2.InvalidURL, *_MALFORMED) as error:
        response = exchange.response if exchange is not None else None
        if response is not None and response.status_code >= _FIRST_ERROR_STATUS:
            raise _of_status(response) from error
        # Only the name: the text may quote a header, and so the key.
        name = type(error).__name__
        if phase == "request":
            raise failure("bad_request", f"the request cannot be sent ({name})") from error
        raise failure("bad_response", f"the answer cannot be read ({name})") from error


def _of_refusal(error: genai_errors.APIError, exchange: _Exchange | None) -> ModelRequestError:
    details = cast("object", error.details)  # pyright: ignore[reportUnknownMemberType] - untyped
    response = exchange.response if exchange is not None else None
    if response is None:
        return error_of(details)
    return error_of(details, http_status=response.status_code, headers=response.headers)


def _of_status(response: httpx2.Response) -> ModelRequestError:
    """Say what little a refusal says whose body cannot be read."""
    status = response.status_code
    return failure(
        reason_for_status(status),
        f"the vendor refused with status {status}, and its reason cannot be read",
        http_status=status,
    )
