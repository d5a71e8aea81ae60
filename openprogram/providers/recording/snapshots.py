"""Leave out of the file what the events themselves say about the message so far, and put it back.

Every non-terminal event carries `partial`, the message so far; writing it whole would make a file
grow with the square of the reply. Derivation rule, per call, from the snapshot before:

- `text_start` and `thinking_start` append an empty block,
- `text_delta` and `thinking_delta` append their delta to the block at `content_index`,
- `text_end` and `thinking_end` set that block's text to their content,
- `toolcall_delta` changes nothing, `toolcall_end` sets the block to its tool call.

`start` and `toolcall_start` derive nothing: they always stand whole. All other fields of the
message are as in the snapshot before, unless the stub names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from openprogram.providers import types as t

if TYPE_CHECKING:
    from openprogram._json_types import JsonObject
    from openprogram.providers.types import AssistantContent, AssistantMessage, RecordedEvent


DERIVED_KEY = "partial_derived"
"""Stands, as true, in an event row whose `partial` is a stub."""

STUB_FIELD_NAMES = ("role", "content", "api", "provider", "model", "timestamp")
"""What a stub always holds: older readers require these fields."""

_EMPTY_BLOCKS: dict[str, JsonObject] = {
    "text_start": t.to_wire(t.TextContent(text="")),
    "thinking_start": t.to_wire(t.ThinkingContent(thinking="")),
}
_TEXT_FIELDS = {"text": "text", "thinking": "thinking"}
_MESSAGE_FIELDS = tuple(
    name for name in t.AssistantMessage.__struct_fields__ if name not in {"content", "usage"}
)


class SnapshotReader:
    """Puts the whole `partial` back into the events of one call, taken in order.

    Example:
        >>> reader = SnapshotReader()
        >>> whole = {"role": "assistant", "content": [], "model": "m"}
        >>> _ = reader.rebuild({"type": "start", "partial": whole})
        >>> stub = {"role": "assistant", "content": [], "model": "m"}
        >>> event = {"type": "text_start", "content_index": 0, "partial": stub}
        >>> reader.rebuild(event | {"partial_derived": True})["partial"]["content"][0]["text"]
        ''
    """

    def __init__(self) -> None:
        self._snapshot: JsonObject = {}

    def rebuild(self, event: JsonObject) -> JsonObject:
        """Give an event with its whole snapshot.

        Args:
            event: The event of a row as it stands in the file; not changed.

        Returns:
            The event without `partial_derived`; itself when there is nothing to put back.

        Raises:
            ValueError: The stub cannot follow from the events before it.
        """
        partial = event.get("partial")
        if not isinstance(partial, dict):
            return event
        if event.get(DERIVED_KEY) is not True:
            self._snapshot = cast("JsonObject", partial)
            return event
        stub = cast("JsonObject", partial)
        content = _derive(event, cast("list[JsonObject]", self._snapshot.get("content", [])))
        self._snapshot = {**self._snapshot, **stub, "content": content}
        whole = {name: value for name, value in event.items() if name != DERIVED_KEY}
        whole["partial"] = self._snapshot
        return whole


def _derive(event: JsonObject, before: list[JsonObject]) -> list[JsonObject]:
    """Apply one event to the content of the snapshot before it."""
    kind: str = event["type"]
    index: int = event.get("content_index", -1)
    empty = _EMPTY_BLOCKS.get(kind)
    if empty is not None:
        if index != len(before):
            raise ValueError(f"a derived {kind} opens block {index!r} after {len(before)} blocks")
        return [*before, empty]
    if not 0 <= index < len(before):
        raise ValueError(f"a derived {kind} names block {index!r} of {len(before)}")
    if kind == "toolcall_delta":
        return before
    content = [*before]
    content[index] = _derive_block(event, before[index])
    return content


def _derive_block(event: JsonObject, block: JsonObject) -> JsonObject:
    kind: str = event["type"]
    if kind == "toolcall_end":
        return event["tool_call"]
    prefix, _, step = kind.partition("_")
    field = _TEXT_FIELDS.get(prefix)
    if field is None or block.get("type") != prefix or step not in {"delta", "end"}:
        raise ValueError(f"a derived {kind} cannot follow from a {block.get('type')!r} block")
    text = block[field] + event["delta"] if step == "delta" else event["content"]
    return {**block, field: text}


class DerivationChecker:
    """Says of each event of a call whether its stub can be put back, and builds nothing."""

    def __init__(self) -> None:
        self._block_types: list[str] | None = None

    def check(self, event: RecordedEvent, *, is_derived: bool) -> None:
        """Take the next event of the call.

        Args:
            event: The typed event; a derived one holds its stub.
            is_derived: Whether the row says `partial_derived`.

        Raises:
            ValueError: The stub cannot follow from the events before it.
        """
        partial: AssistantMessage | None = getattr(event, "partial", None)
        if partial is None:
            return
        if not is_derived:
            self._block_types = [block.type for block in partial.content]
            return
        if self._block_types is None:
            raise ValueError(f"a derived {event.type} has no snapshot before it")
        types, index = self._block_types, getattr(event, "content_index", -1)
        if event.type in _EMPTY_BLOCKS:
            if index != len(types):
                raise ValueError(f"a derived {event.type} opens block {index} after {len(types)}")
            types.append(event.type.partition("_")[0])
            return
        prefix, _, step = event.type.partition("_")
        wanted = "toolCall" if prefix == "toolcall" else prefix
        if step not in {"delta", "end"} or not 0 <= index < len(types) or types[index] != wanted:
            raise ValueError(f"a derived {event.type} has no {wanted} block {index}")


class SnapshotTracker:
    """Follows the unredacted snapshots of one live call and says which of them are derivable.

    Sources may pass the same mutable message each time, so nothing of an event is kept by
    reference but its immutable strings.
    """

    def __init__(self) -> None:
        self._blocks: list[tuple[Any, ...]] | None = None
        self._fields: tuple[Any, ...] = ()

    def advance(self, event: RecordedEvent) -> frozenset[str] | None:
        """Take the next event of the call.

        Args:
            event: A typed event, as the provider yielded it.

        Returns:
            None when its snapshot has to be written whole; else the names of the message fields,
            besides the content, that changed since the snapshot before.
        """
        partial: AssistantMessage | None = getattr(event, "partial", None)
        if partial is None:
            return None
        fields = _message_fields(partial)
        before, self._blocks = self._blocks, [_block_state(block) for block in partial.content]
        fields_before, self._fields = self._fields, fields
        if before is None or not _follows(event, before, self._blocks):
            return None
        if fields == fields_before:
            return frozenset()
        names = (*_MESSAGE_FIELDS, "usage")
        return frozenset(
            name for name, was, now in zip(names, fields_before, fields, strict=True) if was != now
        )


def _message_fields(message: AssistantMessage) -> tuple[Any, ...]:
    usage = message.usage
    cost = usage.cost
    return (
        *[getattr(message, name) for name in _MESSAGE_FIELDS],
        (
            *(usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens),
            *(cost.input, cost.output, cost.cache_read, cost.cache_write, cost.total),
        ),
    )


def _block_state(block: AssistantContent) -> tuple[Any, ...]:
    """Copy what makes a block: its type, its streamed text, and a digest of the rest."""
    if isinstance(block, t.TextContent):
        rest = block.cache_control if block.cache_control is None else _digest(block.cache_control)
        return ("text", block.text, block.text_signature, rest)
    if isinstance(block, t.ThinkingContent):
        return ("thinking", block.thinking, block.thinking_signature, block.redacted)
    return ("toolCall", "", block.id, block.name, block.thought_signature, _digest(block.arguments))


def _digest(value: Any) -> bytes | object:
    """Encode an untyped value; one that JSON cannot say equals nothing, not even itself."""
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError):
        return object()


_EMPTY_STATES = {
    "text_start": _block_state(t.TextContent(text="")),
    "thinking_start": _block_state(t.ThinkingContent(thinking="")),
}


def _follows(
    event: RecordedEvent, before: list[tuple[Any, ...]], now: list[tuple[Any, ...]]
) -> bool:
    """Say whether the derivation rule gives exactly the blocks that the event carries."""
    index: int = getattr(event, "content_index", -1)
    empty = _EMPTY_STATES.get(event.type)
    if empty is not None:
        return (
            index == len(before)
            and len(now) == index + 1
            and now[:-1] == before
            and (now[-1] == empty)
        )
    if isinstance(event, t.EventStart | t.EventToolCallStart) or not 0 <= index < len(before):
        return False
    if len(before) != len(now) or any(
        was != is_ for at, (was, is_) in enumerate(zip(before, now, strict=True)) if at != index
    ):
        return False
    return _block_follows(event, before[index], now[index])


def _block_follows(event: RecordedEvent, was: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    match event:
        case t.EventToolCallDelta():
            return was == now
        case t.EventToolCallEnd():
            return now == _block_state(event.tool_call)
        case t.EventTextDelta() | t.EventThinkingDelta():
            text, delta = now[1], event.delta
            # Prefix and suffix are compared in place: joining them would copy the text once more.
            return (
                was[0] == now[0] == event.type.partition("_")[0]
                and was[2:] == now[2:]
                and len(text) == len(was[1]) + len(delta)
                and text.endswith(delta)
                and text.startswith(was[1])
            )
        case t.EventTextEnd() | t.EventThinkingEnd():
            return (
                was[0] == now[0] == event.type.partition("_")[0]
                and was[2:] == now[2:]
                and now[1] == event.content
            )
        case _:
            return False
