"""Translates the vendor's stream events into ours; knows no network and no SDK.

Source: https://platform.claude.com/docs/en/api/messages-streaming. That page asks clients to
skip event, block and delta types that they do not know, and so it is done here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from openprogram.errors import ModelRequestError
from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from openprogram.providers import types as t
    from openprogram.providers.vendors._assembly import MessageAssembler

T = TypeVar("T")

_STOP_REASONS: Mapping[str | None, Literal["stop", "length", "toolUse"]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "toolUse",
}
"""All others (`end_turn`, `stop_sequence`, `pause_turn`, and those to come) are a plain stop."""


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _AnyEvent(msgspec.Struct):
    type: str = ""


class _Message(msgspec.Struct):
    usage: _Usage | None = None


class _MessageStart(msgspec.Struct):
    message: _Message


class _BlockStart(msgspec.Struct):
    index: int
    content_block: dict[str, Any]


class _BlockDelta(msgspec.Struct):
    index: int
    delta: dict[str, Any]


class _BlockStop(msgspec.Struct):
    index: int


class _Stop(msgspec.Struct):
    stop_reason: str | None = None
    stop_details: Any = None


class _MessageDelta(msgspec.Struct):
    delta: _Stop
    usage: _Usage | None = None


class _TextBlock(msgspec.Struct):
    text: str = ""


class _ThinkingBlock(msgspec.Struct):
    thinking: str = ""
    signature: str | None = None


class _RedactedBlock(msgspec.Struct):
    data: str


class _ToolUseBlock(msgspec.Struct):
    id: str
    name: str
    input: dict[str, Any] = {}


class _TextDelta(msgspec.Struct):
    text: str


class _ThinkingDelta(msgspec.Struct):
    thinking: str


class _SignatureDelta(msgspec.Struct):
    signature: str


class _ArgumentsDelta(msgspec.Struct):
    partial_json: str


class EventReader:
    """Reads the events of one answer, in order.

    Args:
        assembler: Where the message grows.
    """

    def __init__(self, assembler: MessageAssembler) -> None:
        self._assembler = assembler
        self._open: dict[int, int] = {}
        """The vendor's number of each open block that we know: its place in our content."""
        self._usage = _Usage()
        self._stop = _Stop()
        self._unreadable_call: ModelRequestError | None = None
        self.is_ended = False
        """Whether the vendor said that the message is whole."""

    def read(self, data: object) -> Iterator[t.AssistantMessageEvent]:
        """Translate one event.

        Args:
            data: The JSON value behind one `data:` field.

        Yields:
            What it means: none, one or several events.

        Raises:
            ModelRequestError: It breaks the vendor's protocol.
        """
        match _typed(data, _AnyEvent).type:
            case "message_start":
                self._merge_usage(_typed(data, _MessageStart).message.usage)
            case "content_block_start":
                yield from self._start_block(_typed(data, _BlockStart))
            case "content_block_delta":
                yield from self._extend_block(_typed(data, _BlockDelta))
            case "content_block_stop":
                yield from self._end_block(_typed(data, _BlockStop).index)
            case "message_delta":
                step = _typed(data, _MessageDelta)
                self._merge_usage(step.usage)
                if step.delta.stop_reason is not None:
                    self._stop = step.delta
            case "message_stop":
                self.is_ended = True
            case _:
                pass

    def finish(self) -> t.EventDone:
        """End the message after the stream has ended.

        Returns:
            The `done` event.

        Raises:
            ModelRequestError: The stream was cut before the message was whole, the model refused,
                or a tool call could not be read.
        """
        vendor_reason = self._stop.stop_reason
        reason = _STOP_REASONS.get(vendor_reason, "stop")
        if not (self.is_ended or vendor_reason):
            raise failure("network", "the connection ended before the answer did")
        if vendor_reason == "refusal":
            raise _refusal(self._stop.stop_details)
        if self._unreadable_call is not None and reason == "length":
            raise failure("output_limit", f"max_tokens was reached: {self._unreadable_call}")
        if self._unreadable_call is not None:
            raise self._unreadable_call
        if self._open:
            raise failure("bad_response", "the answer ended inside a block")
        return self._assembler.done(reason)

    def _start_block(self, step: _BlockStart) -> Iterator[t.AssistantMessageEvent]:
        assembler = self._assembler
        if step.index in self._open:
            raise failure("bad_response", f"the answer starts block {step.index} twice")
        match step.content_block.get("type"):
            case "text":
                text = _typed(step.content_block, _TextBlock).text
                yield (start := assembler.start_text())
                if text:
                    yield assembler.add_text(start.content_index, text)
            case "thinking":
                block = _typed(step.content_block, _ThinkingBlock)
                yield (start := assembler.start_thinking(signature=block.signature or None))
                if block.thinking:
                    yield assembler.add_thinking(start.content_index, block.thinking)
            case "redacted_thinking":
                payload = _typed(step.content_block, _RedactedBlock).data
                yield (start := assembler.start_thinking(signature=payload, redacted=True))
            case "tool_use":
                call = _typed(step.content_block, _ToolUseBlock)
                yield (start := assembler.start_tool_call(call.id, call.name))
                if call.input:
                    # Compatible servers put whole arguments here; the vendor itself never does.
                    yield assembler.add_arguments(start.content_index, json.dumps(call.input))
            case _:
                return
        self._open[step.index] = start.content_index

    def _extend_block(self, step: _BlockDelta) -> Iterator[t.AssistantMessageEvent]:
        index = self._open.get(step.index)
        if index is None:
            return
        match step.delta.get("type"):
            case "text_delta":
                if text := _typed(step.delta, _TextDelta).text:
                    yield self._assembler.add_text(index, text)
            case "thinking_delta":
                if thinking := _typed(step.delta, _ThinkingDelta).thinking:
                    yield self._assembler.add_thinking(index, thinking)
            case "signature_delta":
                self._assembler.add_signature(index, _typed(step.delta, _SignatureDelta).signature)
            case "input_json_delta":
                if piece := _typed(step.delta, _ArgumentsDelta).partial_json:
                    yield self._assembler.add_arguments(index, piece)
            case _:
                pass

    def _end_block(self, vendor_index: int) -> Iterator[t.AssistantMessageEvent]:
        index = self._open.pop(vendor_index, None)
        if index is None:
            return
        try:
            yield self._assembler.end_block(index)
        except ModelRequestError as error:
            # Only the end of the message tells whether the vendor erred or max_tokens cut the call.
            self._unreadable_call = error

    def _merge_usage(self, news: _Usage | None) -> None:
        """Take over the counts that an event names; they are totals so far, not increments."""
        if news is None:
            return
        for name in _Usage.__struct_fields__:
            if (count := getattr(news, name)) is not None:
                setattr(self._usage, name, count)
        self._assembler.set_usage(
            input_=self._usage.input_tokens or 0,
            output=self._usage.output_tokens or 0,
            cache_read=self._usage.cache_read_input_tokens or 0,
            cache_write=self._usage.cache_creation_input_tokens or 0,
        )


def _typed(data: object, kind: type[T]) -> T:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        # The error names a place and types only, never a value of the answer.
        raise failure(
            "bad_response", f"the answer breaks the vendor's protocol: {error}"
        ) from error


def _refusal(details: object) -> ModelRequestError:
    match details:
        case {"explanation": str(explanation)} if explanation:
            return failure("refusal", f"the model refused: {explanation}")
        case _:
            return failure("refusal", "the model refused to answer")
