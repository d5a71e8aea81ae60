"""Builds the assistant message of a stream, and the events that tell of it.

Every vendor module translates its wire events into calls on one `MessageAssembler`. Blocks are
never changed, only replaced: each event's `partial` is a message of its own with a list of its own,
and shares the blocks that did not change. So an event costs as much as there are blocks, however
long the text is.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, cast

from msgspec import structs

from openprogram.providers import types as t
from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    from openprogram.errors import ModelRequestError

_Block = TypeVar("_Block", t.TextContent, t.ThinkingContent, t.ToolCall)

_TOKENS_PER_PRICE = 1_000_000


class MessageAssembler:
    """The assistant message so far.

    Several blocks may be open at once. `content_index` is the place in our own content, which is
    not the vendor's number for a block.

    Args:
        model: Who answers, and at what prices.
    """

    def __init__(self, model: t.Model) -> None:
        self._prices = model.cost
        self._content: list[t.AssistantContent] = []
        self._argument_texts: dict[int, str] = {}
        self._message = t.AssistantMessage(
            content=[],
            api=model.api,
            provider=model.provider,
            model=model.id,
            timestamp=time.time_ns() // 1_000_000,
        )

    def start(self) -> t.EventStart:
        """Begin the stream."""
        return t.EventStart(partial=self._partial())

    def start_text(self) -> t.EventTextStart:
        """Begin a text block."""
        return t.EventTextStart(
            content_index=self._append(t.TextContent(text="")), partial=self._partial()
        )

    def start_thinking(
        self, *, signature: str | None = None, redacted: bool | None = None
    ) -> t.EventThinkingStart:
        """Begin a thinking block.

        Args:
            signature: What is known of the signature; for a redacted block, the whole payload.
            redacted: True when only the vendor can read it.
        """
        block = t.ThinkingContent(thinking="", thinking_signature=signature, redacted=redacted)
        return t.EventThinkingStart(content_index=self._append(block), partial=self._partial())

    def start_tool_call(
        self, id_: str, name: str, *, thought_signature: str | None = None
    ) -> t.EventToolCallStart:
        """Begin a tool call; its arguments stay empty until it ends.

        Args:
            id_: The call's id.
            name: The tool.
            thought_signature: Opaque, where the vendor signs calls.
        """
        block = t.ToolCall(id=id_, name=name, arguments={}, thought_signature=thought_signature)
        index = self._append(block)
        self._argument_texts[index] = ""
        return t.EventToolCallStart(content_index=index, partial=self._partial())

    def add_text(self, index: int, delta: str) -> t.EventTextDelta:
        """Add to a text block."""
        block = self._block(index, t.TextContent)
        self._content[index] = structs.replace(block, text=block.text + delta)
        return t.EventTextDelta(content_index=index, delta=delta, partial=self._partial())

    def add_thinking(self, index: int, delta: str) -> t.EventThinkingDelta:
        """Add to a thinking block."""
        block = self._block(index, t.ThinkingContent)
        self._content[index] = structs.replace(block, thinking=block.thinking + delta)
        return t.EventThinkingDelta(content_index=index, delta=delta, partial=self._partial())

    def add_signature(self, index: int, piece: str) -> None:
        """Add to a thinking block's signature, byte for byte; later events show it."""
        block = self._block(index, t.ThinkingContent)
        signature = (block.thinking_signature or "") + piece
        self._content[index] = structs.replace(block, thinking_signature=signature)

    def sign_text(self, index: int, signature: str) -> None:
        """Say what the vendor wants back with a text block; later events show it."""
        block = self._block(index, t.TextContent)
        self._content[index] = structs.replace(block, text_signature=signature)

    def add_arguments(self, index: int, delta: str) -> t.EventToolCallDelta:
        """Add to the JSON text of a tool call's arguments."""
        self._block(index, t.ToolCall)
        self._argument_texts[index] += delta
        return t.EventToolCallDelta(content_index=index, delta=delta, partial=self._partial())

    def text_of(self, index: int) -> str:
        """Give what came of a block so far: its text, its thinking, or its arguments as JSON."""
        block = self._content[index]
        match block:
            case t.TextContent():
                return block.text
            case t.ThinkingContent():
                return block.thinking
            case t.ToolCall():
                return self._argument_texts.get(index, "")

    def end_block(self, index: int) -> t.BlockEndEvent:
        """End a block.

        Args:
            index: Its place in the content.

        Returns:
            The event that tells of it.

        Raises:
            ModelRequestError: The arguments of a tool call are no JSON object.
        """
        block = self._content[index]
        match block:
            case t.TextContent():
                return t.EventTextEnd(
                    content_index=index, content=block.text, partial=self._partial()
                )
            case t.ThinkingContent():
                return t.EventThinkingEnd(
                    content_index=index, content=block.thinking, partial=self._partial()
                )
            case t.ToolCall():
                arguments = _parse_arguments(block.name, self._argument_texts.pop(index, ""))
                call = structs.replace(block, arguments=arguments)
                self._content[index] = call
                return t.EventToolCallEnd(
                    content_index=index, tool_call=call, partial=self._partial()
                )

    def set_usage(
        self, *, input_: int, output: int, cache_read: int = 0, cache_write: int = 0
    ) -> None:
        """Say what the call used so far, in tokens; the cost follows from the model's prices.

        Args:
            input_: Without those that came from a cache.
            output: Reasoning included.
            cache_read: Read from a cache.
            cache_write: Written to a cache.
        """
        usage = t.Usage(
            input=input_,
            output=output,
            cache_read=cache_read,
            cache_write=cache_write,
            total_tokens=input_ + output + cache_read + cache_write,
        )
        usage.cost = cost_of(usage, self._prices)
        self._message.usage = usage

    def done(self, reason: Literal["stop", "length", "toolUse"]) -> t.EventDone:
        """End the stream well.

        Args:
            reason: Why the model stopped; a plain stop after a tool call is a `toolUse`.
        """
        if reason == "stop" and any(isinstance(block, t.ToolCall) for block in self._content):
            reason = "toolUse"
        self._message.stop_reason = reason
        return t.EventDone(reason=reason, message=self._partial())

    def fail(self, error: ModelRequestError) -> t.EventError:
        """End the stream badly, and keep what had come.

        Args:
            error: Why; its reason `aborted` makes the event an aborted one.
        """
        reason = "aborted" if error.reason == "aborted" else "error"
        message = self._message
        message.stop_reason = reason
        message.error_message = str(error)
        message.error_reason = error.reason
        message.error_retryable = error.is_retryable
        message.error_retry_after_s = error.retry_after_seconds
        return t.EventError(reason=reason, error=self._partial())

    def _append(self, block: t.AssistantContent) -> int:
        self._content.append(block)
        return len(self._content) - 1

    def _block(self, index: int, kind: type[_Block]) -> _Block:
        block = self._content[index]
        if not isinstance(block, kind):
            raise failure("bad_response", "the answer adds to a block what is not of its kind")
        return block

    def _partial(self) -> t.AssistantMessage:
        return structs.replace(self._message, content=self._content.copy())


def cost_of(usage: t.Usage, prices: t.ModelCost) -> t.UsageCost:
    """Turn tokens into USD.

    Args:
        usage: How many tokens.
        prices: USD per million tokens; None is unknown.

    Returns:
        The parts whose price is known. The total stays 0 when a price that was needed is unknown:
        half a sum would look like a whole one.

    Example:
        >>> usage = t.Usage(input=1_000_000, output=500_000)
        >>> cost_of(usage, t.ModelCost(input=3.0, output=15.0)).total
        10.5
        >>> cost_of(usage, t.ModelCost(input=3.0)).total
        0.0
    """
    parts = {
        "input": (usage.input, prices.input),
        "output": (usage.output, prices.output),
        "cache_read": (usage.cache_read, prices.cache_read),
        "cache_write": (usage.cache_write, prices.cache_write),
    }
    known = {
        name: count * price / _TOKENS_PER_PRICE
        for name, (count, price) in parts.items()
        if price is not None
    }
    is_whole = all(name in known or count == 0 for name, (count, _) in parts.items())
    return t.UsageCost(**known, total=sum(known.values()) if is_whole else 0.0)


def _parse_arguments(tool: str, text: str) -> dict[str, Any]:
    """Read a tool call's arguments; no text at all means that there are none."""
    if not text.strip():
        return {}
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise failure(
            "bad_response", f"the arguments of tool call {tool!r} are not valid JSON"
        ) from error
    if not isinstance(value, dict):
        raise failure("bad_response", f"the arguments of tool call {tool!r} are not a JSON object")
    return cast("dict[str, Any]", value)


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)
