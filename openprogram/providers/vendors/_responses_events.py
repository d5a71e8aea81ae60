"""Translates the stream events of the Responses dialect into ours; knows no network and no SDK.

Source: https://platform.openai.com/docs/api-reference/responses-streaming. Events, items and parts
of types that are not known are skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._responses_failures import stream_error
from openprogram.providers.vendors._responses_items import (
    OutputItems,
    Part,
    PartKind,
    content_part,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from openprogram.providers import types as t
    from openprogram.providers.vendors._assembly import MessageAssembler

T = TypeVar("T")

_TEXTS: Mapping[str, tuple[PartKind, str]] = {
    "response.output_text.delta": ("text", "delta"),
    "response.output_text.done": ("text", "text"),
    "response.refusal.delta": ("refusal", "delta"),
    "response.refusal.done": ("refusal", "refusal"),
    "response.reasoning_summary_text.delta": ("summary", "delta"),
    "response.reasoning_summary_text.done": ("summary", "text"),
    "response.reasoning_text.delta": ("reasoning", "delta"),
    "response.reasoning_text.done": ("reasoning", "text"),
    "response.function_call_arguments.delta": ("arguments", "delta"),
    "response.function_call_arguments.done": ("arguments", "arguments"),
}
"""What each event that carries a text tells of, and which of its fields holds the text."""

_ENDS: Mapping[str, str] = {
    "response.completed": "completed",
    "response.done": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
"""The last events, and the status that each stands for where the response names none."""


class _InputDetails(msgspec.Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None


class _IncompleteDetails(msgspec.Struct):
    reason: str | None = None


class _Response(msgspec.Struct):
    status: str | None = None
    output: list[dict[str, Any]] | None = None
    usage: _Usage | None = None
    error: Any = None
    incomplete_details: _IncompleteDetails | None = None


class _AnyEvent(msgspec.Struct):
    type: str = ""
    object: str = ""
    error: Any = None


class _ResponseEvent(msgspec.Struct):
    response: _Response


class _ItemEvent(msgspec.Struct):
    output_index: int
    item: dict[str, Any]


class _PartEvent(msgspec.Struct):
    output_index: int
    part: dict[str, Any]
    content_index: int = 0
    summary_index: int = 0


class _TextEvent(msgspec.Struct):
    output_index: int
    content_index: int = 0
    summary_index: int = 0
    delta: str | None = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None


class EventReader:
    """Reads the events of one answer, in order.

    Args:
        assembler: Where the message grows.
    """

    def __init__(self, assembler: MessageAssembler) -> None:
        self._assembler = assembler
        self._items = OutputItems(assembler)
        self._cut_by: str | None = None
        self.is_ended = False
        """Whether the vendor said that the answer is whole, or that nothing more comes."""

    def read(self, data: object) -> Iterator[t.AssistantMessageEvent]:
        """Translate one event.

        Args:
            data: The JSON value behind one `data:` field.

        Yields:
            What it means: none, one or several events.

        Raises:
            ModelRequestError: The vendor failed, or it breaks its own protocol.
        """
        any_event = _typed(data, _AnyEvent)
        kind = any_event.type
        if any_event.object == "response":
            # A server that does not stream sends the response alone.
            yield from self._end(_typed(data, _Response), "completed")
        elif not kind and any_event.error:
            raise stream_error(any_event.error)
        elif kind in _TEXTS:
            yield from self._read_text(kind, _typed(data, _TextEvent))
        elif kind in _ENDS:
            yield from self._end(_typed(data, _ResponseEvent).response, _ENDS[kind])
        match kind:
            case "response.output_item.added":
                step = _typed(data, _ItemEvent)
                yield from self._items.begin(step.output_index, step.item)
            case "response.output_item.done":
                step = _typed(data, _ItemEvent)
                yield from self._items.end(step.output_index, step.item)
            case "response.content_part.added" | "response.reasoning_summary_part.added":
                yield from self._read_part(_typed(data, _PartEvent), is_whole=False)
            case "response.content_part.done" | "response.reasoning_summary_part.done":
                yield from self._read_part(_typed(data, _PartEvent), is_whole=True)
            case "error":
                raise stream_error(data)
            case _:
                pass

    def finish(self) -> t.EventDone:
        """End the message after the stream has ended.

        Returns:
            The `done` event.

        Raises:
            ModelRequestError: The stream was cut before the message was whole, the model refused,
                or a function call could not be read.
        """
        if not self.is_ended:
            raise failure("network", "the connection ended before the answer did")
        refusal, unreadable = self._items.refusal, self._items.unreadable_call
        if refusal is not None:
            raise failure("refusal", f"the model refused: {refusal}")
        if self._cut_by == "content_filter":
            raise failure("refusal", "the vendor's content filter ended the answer")
        if unreadable is not None and self._cut_by is not None:
            raise failure("output_limit", f"max_tokens was reached: {unreadable}")
        if unreadable is not None:
            raise unreadable
        reason: Literal["stop", "length"] = "stop" if self._cut_by is None else "length"
        return self._assembler.done(reason)

    def _read_text(self, kind: str, step: _TextEvent) -> Iterator[t.AssistantMessageEvent]:
        part_kind, field = _TEXTS[kind]
        text: str = getattr(step, field) or ""
        part = Part(part_kind, _number_of(part_kind, step))
        if field == "delta":
            yield from self._items.extend(step.output_index, part, text)
        else:
            yield from self._items.complete(step.output_index, part, text)

    def _read_part(self, step: _PartEvent, *, is_whole: bool) -> Iterator[t.AssistantMessageEvent]:
        read = content_part(step.part, 0)
        if read is None:
            return
        part = Part(read[0].kind, _number_of(read[0].kind, step))
        if not is_whole:
            yield from self._items.begin_part(step.output_index, part)
        yield from self._items.complete(step.output_index, part, read[1])

    def _end(self, response: _Response, status: str) -> Iterator[t.AssistantMessageEvent]:
        self._set_usage(response.usage)
        if response.status is not None and response.status in _ENDS.values():
            status = response.status
        if status == "failed":
            raise stream_error(response.error)
        if status == "cancelled":
            raise failure("server", "the vendor cancelled the answer")
        yield from self._items.end_all(response.output or [])
        if status == "incomplete":
            details = response.incomplete_details
            self._cut_by = (details and details.reason) or "unknown"
        self.is_ended = True

    def _set_usage(self, usage: _Usage | None) -> None:
        if usage is None:
            return
        details = usage.input_tokens_details or _InputDetails()
        cached, written = details.cached_tokens or 0, details.cache_write_tokens or 0
        self._assembler.set_usage(
            # The vendor counts what came from the cache, and what went there, as input too.
            input_=max((usage.input_tokens or 0) - cached - written, 0),
            output=usage.output_tokens or 0,
            cache_read=cached,
            cache_write=written,
        )


def _number_of(kind: PartKind, step: _TextEvent | _PartEvent) -> int:
    match kind:
        case "summary":
            return step.summary_index
        case "arguments":
            return 0
        case _:
            return step.content_index


def _typed(data: object, kind: type[T]) -> T:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        # The error names a place and types only, never a value of the answer.
        raise failure(
            "bad_response", f"the answer breaks the vendor's protocol: {error}"
        ) from error
