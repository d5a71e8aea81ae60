"""Translates the chunks of `openai-completions` into our events; knows no network and no SDK.

The protocol marks no end of a block, so a text or thinking block ends when something else begins,
and all that is open ends with the answer. Fields that compatible servers fill in their own way are
read leniently; what is of no known form there is skipped.
Source: https://platform.openai.com/docs/api-reference/chat/streaming.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._openai_failures import failure_of
from openprogram.providers.vendors._openai_reasoning import ReasoningDetails, holds_reasoning
from openprogram.providers.vendors._openai_tool_calls import (
    CallPiece,
    FunctionPiece,
    ToolCallReader,
)
from openprogram.providers.vendors._openai_usage import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from openprogram.errors import FailureReason
    from openprogram.providers import types as t
    from openprogram.providers.vendors._assembly import MessageAssembler

_STOP_REASONS: Mapping[str | None, Literal["stop", "length", "toolUse"]] = {
    "function_call": "toolUse",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "toolUse",
    "tool_use": "toolUse",
}
"""All others, and those to come, are a plain stop."""
_BAD_ENDS: Mapping[str | None, tuple[FailureReason, str]] = {
    "content_filter": ("refusal", "the vendor's content filter ended the answer"),
    "error": ("server", "the vendor failed in mid-answer"),
    "insufficient_system_resource": ("overloaded", "the vendor ran out of resources"),
    "network_error": ("server", "the vendor lost its own connection in mid-answer"),
    "sensitive": ("refusal", "the vendor's content filter ended the answer"),
}
"""Reason and sentence by the vendor's word."""

_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")


class _Delta(msgspec.Struct):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_text: Any = None
    reasoning_details: Any = None
    refusal: Any = None
    tool_calls: list[CallPiece] | None = None
    function_call: FunctionPiece | None = None


class _Choice(msgspec.Struct):
    index: int | None = None
    delta: _Delta | None = None
    message: _Delta | None = None
    """What a server sends that does not stream."""
    finish_reason: str | None = None
    usage: Any = None
    error: Any = None


class _AtGroq(msgspec.Struct):
    usage: Any = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: Any = None
    x_groq: _AtGroq | None = None
    error: Any = None
    object: Any = None


class _OpenBlock(msgspec.Struct):
    """The text or thinking block that grows."""

    kind: Literal["text", "thinking"]
    place: int
    details: ReasoningDetails


class EventReader:
    """Reads the chunks of one answer, in order.

    Args:
        assembler: Where the message grows.
    """

    def __init__(self, assembler: MessageAssembler) -> None:
        self._assembler = assembler
        self._calls = ToolCallReader(assembler)
        self._open: _OpenBlock | None = None
        self._choice_index = 0
        self._finish_reason: str | None = None
        self._refusal = ""
        self._has_choice = False

    def read(self, data: object) -> Iterator[t.AssistantMessageEvent]:
        """Translate one chunk.

        Args:
            data: The JSON value behind one `data:` field.

        Yields:
            What it means: none, one or several events.

        Raises:
            ModelRequestError: It breaks the protocol, or reports an error.
        """
        try:
            chunk = msgspec.convert(data, _Chunk)
        except msgspec.ValidationError as error:
            # The error names a place and types only, never a value of the answer.
            raise failure(
                "bad_response", f"the answer breaks the vendor's protocol: {error}"
            ) from error
        self._take_usage(chunk)
        for choice in chunk.choices or ():
            if not self._has_choice:
                self._has_choice, self._choice_index = True, choice.index or 0
            if (choice.index or 0) != self._choice_index:
                continue  # nobody asked for a second answer
            yield from self._read_delta(choice.delta or choice.message or _Delta())
            self._finish_reason = choice.finish_reason or self._finish_reason
            if choice.error:
                raise failure_of(choice.error)
        if chunk.error:
            raise failure_of(chunk.error)
        if chunk.object == "error":
            raise failure_of(data)

    def end_blocks(self, *, has_end_mark: bool) -> Iterator[t.AssistantMessageEvent]:
        """End what is open, after the stream has ended.

        Args:
            has_end_mark: Whether the vendor said that nothing more comes.

        Yields:
            The ends.

        Raises:
            ModelRequestError: The stream was cut before the message was whole.
        """
        if self._finish_reason is None and not has_end_mark:
            raise failure("network", "the connection ended before the answer did")
        if not self._has_choice:
            raise failure("bad_response", "the answer holds no choice")
        yield from self._end_open()
        yield from self._calls.end()

    def finish(self) -> t.EventDone:
        """End the message, after its blocks.

        Returns:
            The `done` event.

        Raises:
            ModelRequestError: The model refused, the vendor failed, or a tool call could not be
                read.
        """
        if self._refusal.strip():
            raise failure("refusal", f"the model refused: {self._refusal}")
        if self._finish_reason in _BAD_ENDS:
            raise failure(*_BAD_ENDS[self._finish_reason])
        reason = _STOP_REASONS.get(self._finish_reason, "stop")
        unreadable = self._calls.unreadable
        if unreadable is not None and reason == "length":
            raise failure("output_limit", f"max_tokens was reached: {unreadable}")
        if unreadable is not None:
            raise unreadable
        return self._assembler.done(reason)

    def _read_delta(self, delta: _Delta) -> Iterator[t.AssistantMessageEvent]:
        yield from self._read_reasoning(delta)
        for kind, text in _iterate_content(delta.content):
            yield from self._add(kind, text)
        if isinstance(delta.refusal, str):
            self._refusal += delta.refusal
        pieces = delta.tool_calls or []
        if delta.function_call is not None:
            pieces = [*pieces, CallPiece(function=delta.function_call)]
        if pieces:
            yield from self._end_open()
        for piece in pieces:
            yield from self._calls.add(piece)

    def _read_reasoning(self, delta: _Delta) -> Iterator[t.AssistantMessageEvent]:
        """Take one of the fields that say the same, and keep the details beside it."""
        values = (getattr(delta, name) for name in _REASONING_FIELDS)
        text = next((value for value in values if isinstance(value, str) and value), "")
        if holds_reasoning(delta.reasoning_details):
            if self._open is None or self._open.kind != "thinking":
                yield from self._start("thinking", is_hidden=not text)
            readable = cast("_OpenBlock", self._open).details.add(delta.reasoning_details)
            text = text or readable
        if text:
            yield from self._add("thinking", text)

    def _add(
        self, kind: Literal["text", "thinking"], text: str
    ) -> Iterator[t.AssistantMessageEvent]:
        if self._open is None or self._open.kind != kind:
            yield from self._start(kind)
        place = cast("_OpenBlock", self._open).place
        if kind == "text":
            yield self._assembler.add_text(place, text)
        else:
            yield self._assembler.add_thinking(place, text)

    def _start(
        self, kind: Literal["text", "thinking"], *, is_hidden: bool = False
    ) -> Iterator[t.AssistantMessageEvent]:
        yield from self._end_open()
        if kind == "text":
            start = self._assembler.start_text()
        else:
            start = self._assembler.start_thinking(redacted=is_hidden or None)
        self._open = _OpenBlock(kind, start.content_index, ReasoningDetails())
        yield start

    def _end_open(self) -> Iterator[t.AssistantMessageEvent]:
        block, self._open = self._open, None
        if block is None:
            return
        if (signature := block.details.signature()) is not None:
            self._assembler.add_signature(block.place, signature)
        yield self._assembler.end_block(block.place)

    def _take_usage(self, chunk: _Chunk) -> None:
        """Take over the newest totals, wherever the server puts them."""
        at_groq = chunk.x_groq.usage if chunk.x_groq is not None else None
        in_choices = (choice.usage for choice in chunk.choices or ())
        for usage in (at_groq, *in_choices, chunk.usage):
            if (counts := count_tokens(usage)) is not None:
                self._assembler.set_usage(**counts)


def _iterate_content(content: object) -> Iterator[tuple[Literal["text", "thinking"], str]]:
    """Read a text, or a list of parts as Mistral sends it; empty ones begin no block."""
    if isinstance(content, str):
        if content:
            yield "text", content
        return
    if not isinstance(content, list):
        return
    for part in cast("list[object]", content):
        match part:
            case {"type": "text", "text": str(text)} if text:
                yield "text", text
            case {"type": "thinking"}:
                for _, text in _iterate_content(cast("dict[str, object]", part).get("thinking")):
                    yield "thinking", text
            case _:
                pass
