"""A provider that answers by script, without a server, a socket or a key; for the tests of users.

    from openprogram.providers import register_api_provider
    from openprogram.testing import FauxProvider, Text, ToolCall

    faux = FauxProvider([[ToolCall("list_dir", {"path": "."})], [Text("done")]])
    register_api_provider("faux", faux)
    ...  # run the agent with a model whose api is "faux"
    assert len(faux.requests) == 2

It is registered as any provider is, so that a recorder or a transform stands in front of it too.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import openprogram.testing.answers as a
from openprogram.errors import ModelRequestError, ProviderError
from openprogram.providers.vendors._assembly import MessageAssembler
from openprogram.providers.vendors._cancellation import Signal, until_signal
from openprogram.providers.vendors._failures import (
    failure,
    reason_for_status,
    retry_after_seconds,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from openprogram.errors import FailureReason
    from openprogram.providers import types as t

    Events = AsyncGenerator[t.AssistantMessageEvent, None]

FauxEntry: TypeAlias = a.Answer | a.HttpError | a.Drop | Iterable[a.Part]
"""What one request gets; plain parts are an `Answer` with defaults."""

_Due: TypeAlias = a.Answer | a.HttpError | a.Drop

_STOP_REASONS: Final[Mapping[str | None, Literal["stop", "length", "toolUse"]]] = {
    None: "stop",
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "toolUse": "toolUse",
    "tool_use": "toolUse",
}
_REASONS: Final[Mapping[str, FailureReason]] = {
    "api_error": "server",
    "authentication_error": "auth",
    "invalid_request_error": "bad_request",
    "overloaded_error": "overloaded",
    "rate_limit_error": "rate_limit",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FauxRequest:
    """One request as the provider got it."""

    model: t.Model
    """Who was asked."""
    context: t.Context
    """What was asked."""
    options: t.StreamOptions | None
    """How."""


FauxScript: TypeAlias = Iterable[FauxEntry] | Callable[[FauxRequest], FauxEntry]
"""One entry per request, or a function that finds the entry from the request."""


class FauxProvider:
    """Streams what its script says, as a vendor's provider would.

    A stream begins with `start` and ends with one `done` or `error`; an `HttpError`, a `Drop` and a
    `MidStreamError` are `error` events. `Ping` says nothing here, and `RawBytes` is refused: there
    are no bytes without a wire.

    Args:
        script: What to answer.

    Example:
        >>> from openprogram.providers import types as t
        >>> from openprogram.testing import Text
        >>> faux = FauxProvider([[Text("hello")]])
        >>> async def ask() -> list[str]:
        ...     model = t.Model(id="m", name="m", api="faux", provider="faux", base_url="")
        ...     return [event.type async for event in faux.stream(model, t.Context(messages=[]))]
        >>> asyncio.run(ask())
        ['start', 'text_start', 'text_delta', 'text_end', 'done']
    """

    requires_credentials: Final = False

    def __init__(self, script: FauxScript) -> None:
        self._script: Sequence[FauxEntry] | Callable[[FauxRequest], FauxEntry] = (
            script if callable(script) or isinstance(script, Sequence) else list(script)
        )
        self._requests: list[FauxRequest] = []

    @property
    def requests(self) -> list[FauxRequest]:
        """What was asked so far, in order."""
        return list(self._requests)

    @property
    def unused_count(self) -> int:
        """How many entries of the script were not asked for; 0 when it is a function."""
        return 0 if callable(self._script) else max(0, len(self._script) - len(self._requests))

    def stream(
        self, model: t.Model, context: t.Context, options: t.StreamOptions | None = None
    ) -> Events:
        """Stream the next answer.

        Args:
            model: Who is asked; its prices make the cost.
            context: What is asked.
            options: How; `signal` ends the stream at the next event.

        Returns:
            The events.

        Raises:
            ProviderError: The script is used up, or has an entry that needs a wire.
            TypeError: An entry of the script is none.
        """
        request = FauxRequest(model=model, context=context, options=options)
        entry = self._entry_for(request)
        self._requests.append(request)
        return _iterate(entry, request)

    def stream_simple(
        self, model: t.Model, context: t.Context, options: t.SimpleStreamOptions | None = None
    ) -> Events:
        """Stream the next answer; see `stream`."""
        return self.stream(model, context, options)

    def _entry_for(self, request: FauxRequest) -> _Due:
        if callable(self._script):
            entry = self._script(request)
        else:
            number = len(self._requests)
            if number >= len(self._script):
                raise ProviderError(
                    f"faux: request {number + 1} came, but the script has {len(self._script)} "
                    "entries; add one, or look at `requests` to see who asked"
                )
            entry = self._script[number]
        if isinstance(entry, (a.HttpError, a.Drop)):
            return entry
        answer = a.as_answer(entry)
        if any(isinstance(part, a.RawBytes) for part in answer.parts):
            raise ProviderError(
                "faux: an entry holds bytes; use LoopbackVendor for what depends on the wire"
            )
        return answer


async def _iterate(entry: _Due, request: FauxRequest) -> Events:
    assembler = MessageAssembler(request.model)
    yield assembler.start()
    end: t.EventDone | t.EventError
    try:
        if isinstance(entry, a.HttpError):
            raise _refusal(entry)
        if isinstance(entry, a.Drop):
            raise _lost()
        signal = None if request.options is None else request.options.signal
        for number, part in enumerate(entry.parts):
            async for event in _say(assembler, part, number, signal):
                yield event
                await until_signal(asyncio.sleep(0), signal)
        usage = entry.usage
        assembler.set_usage(
            input_=usage.input,
            output=usage.output,
            cache_read=usage.cache_read,
            cache_write=usage.cache_write,
        )
        end = assembler.done(_STOP_REASONS.get(entry.stop_reason, "stop"))
    except ModelRequestError as error:
        end = assembler.fail(error)
    yield end


async def _say(
    assembler: MessageAssembler, part: a.Part, number: int, signal: Signal | None
) -> AsyncIterator[t.AssistantMessageEvent]:
    match part:
        case a.Text():
            started = assembler.start_text()
            deltas, add = part.text, assembler.add_text
        case a.Thinking():
            signature = part.signature
            started = assembler.start_thinking(
                signature=signature if isinstance(signature, str) else "".join(signature)
            )
            deltas, add = part.thinking, assembler.add_thinking
        case a.RedactedThinking():
            started = assembler.start_thinking(signature=part.data, redacted=True)
            deltas, add = "", assembler.add_thinking
        case a.ToolCall():
            started = assembler.start_tool_call(part.id or f"call_{number + 1}", part.name)
            arguments = part.arguments
            deltas = json.dumps(dict(arguments)) if isinstance(arguments, Mapping) else arguments
            add = assembler.add_arguments
        case _:
            await _interrupt(part, signal)
            return
    yield started
    index = started.content_index
    for delta in a.iterate_deltas(deltas):
        if isinstance(delta, str):
            yield add(index, delta)
        else:
            await _interrupt(delta, signal)
    yield assembler.end_block(index)


async def _interrupt(interlude: a.Interlude, signal: Signal | None) -> None:
    match interlude:
        case a.Pause():
            interlude.reached.set_result(None)
            await until_signal(asyncio.wrap_future(interlude.released), signal)
        case a.Drop():
            raise _lost()
        case a.MidStreamError():
            reason = _REASONS.get(interlude.kind, "server")
            raise failure(reason, interlude.message)
        case a.RawBytes():
            raise failure("bad_response", "raw bytes have no meaning without a wire")
        case a.Ping():
            return


def _refusal(entry: a.HttpError) -> ModelRequestError:
    headers = {name.lower(): value for name, value in entry.headers.items()}
    reason = _REASONS.get(entry.kind or "") or reason_for_status(entry.status)
    return failure(
        reason,
        entry.message,
        http_status=entry.status,
        retry_after_seconds=retry_after_seconds(headers),
    )


def _lost() -> ModelRequestError:
    return failure("network", "the connection was lost")
