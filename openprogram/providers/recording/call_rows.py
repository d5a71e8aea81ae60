"""Turn the events of one live call into rows: secrets removed, snapshots left out, order kept.

A row whose delta may end inside a secret is held back, and with it all later rows of the call,
until the secret is whole or the block ends. The consumer of the stream is never held back.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard, cast

from msgspec import structs

from openprogram.errors import quoted
from openprogram.providers import types as t
from openprogram.providers.events import DELTA_TYPES
from openprogram.providers.recording.format import encode_row
from openprogram.providers.recording.redaction import (
    PLACEHOLDER,
    remove_secret_values,
    remove_secrets_from_text,
)
from openprogram.providers.recording.redaction.deltas import DeltaRedactor
from openprogram.providers.recording.snapshots import (
    DERIVED_KEY,
    STUB_FIELD_NAMES,
    SnapshotTracker,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from openprogram._json_types import JsonObject
    from openprogram.providers.recording.format import Outcome

SnapshotForm: TypeAlias = Literal["derived", "full"]

_log = logging.getLogger(__name__)
_STREAMED_FIELDS = {"text": "text", "thinking": "thinking"}
_TEXT_TYPES = (t.EventTextStart, t.EventTextDelta, t.EventTextEnd)


class CallRows:
    """The rows of one call, in the order of its events.

    Args:
        call_index: The call's place in the recording, from 0.
        snapshots: `derived` leaves out what the events say themselves; `full` writes every
            snapshot whole.
        known_secrets: The credentials of this very call. A server's error text repeats them as
            often as not, and they need not look like any vendor's.
    """

    def __init__(
        self,
        call_index: int,
        *,
        snapshots: SnapshotForm = "derived",
        known_secrets: Sequence[str] = (),
    ) -> None:
        self._call_index = call_index
        self._known_secrets = sorted(known_secrets, key=len, reverse=True)
        self._snapshots = snapshots
        self._tracker = SnapshotTracker()
        self._streams: dict[int, _BlockStream] = {}
        self._held: deque[_HeldRow] = deque()
        self._stub: tuple[tuple[Any, ...], JsonObject] = ((), {})
        self._unrecorded: list[JsonObject] = []
        self.event_count = 0
        """How many event rows have been handed out."""

    def add(self, event: object) -> list[bytes]:
        """Take the next event of the call.

        Args:
            event: As the provider yielded it; a dict is accepted in its wire form. An event that no
                recording can hold is left out, counted in the call's last row and logged.

        Returns:
            The rows that can be written now, each a whole line.
        """
        typed = _typed(event)
        if typed is None:
            self._leave_out(event)
            return []
        if isinstance(typed, t.EventError):
            typed = self._without_known_secrets(typed)
        changed = self._tracker.advance(typed)
        if isinstance(typed, t.EventDone | t.EventError):
            self._finish_streams()
        if isinstance(typed, DELTA_TYPES):
            stream = self._stream_of(typed)
            stream.feed(typed.delta)
            self._add_delta(typed, stream, changed)
        else:
            self._add_other(typed, changed)
        return self._take_ready()

    def finish(self) -> list[bytes]:
        """Decide everything that was held back, because no further event will come.

        Returns:
            The rows that can be written now.
        """
        self._finish_streams()
        return self._take_ready()

    def end_row(self, outcome: Outcome) -> bytes:
        """Give the call's last row.

        Args:
            outcome: How the call ended.

        Returns:
            The `call_end` row, a whole line.
        """
        row: JsonObject = {
            "type": "call_end",
            "call_index": self._call_index,
            "event_count": self.event_count,
            "outcome": outcome,
        }
        if self._unrecorded:
            row["unrecorded_events"] = self._unrecorded
        return encode_row(row)

    def _without_known_secrets(self, event: t.EventError) -> t.EventError:
        text = event.error.error_message
        if not text or not any(secret in text for secret in self._known_secrets):
            return event
        for secret in self._known_secrets:
            text = text.replace(secret, PLACEHOLDER)
        return structs.replace(event, error=structs.replace(event.error, error_message=text))

    def _stream_of(self, event: t.BlockDeltaEvent) -> _BlockStream:
        stream = self._streams.get(event.content_index)
        if stream is None or stream.is_finished:
            is_json = isinstance(event, t.EventToolCallDelta)
            stream = self._streams[event.content_index] = _BlockStream(is_json=is_json)
        return stream

    def _finish_streams(self, content_index: int | None = None) -> None:
        indexes = list(self._streams) if content_index is None else [content_index]
        for index in indexes:
            stream = self._streams.get(index)
            if stream is not None:
                stream.finish()

    def _add_delta(
        self, event: t.BlockDeltaEvent, stream: _BlockStream, changed: frozenset[str] | None
    ) -> None:
        number = len(stream.raw_pieces) - 1
        if changed is None or self._snapshots == "full":
            whole = self._whole(event)
            if whole is None:
                return
            snapshot = whole["partial"]
            derived = False
        else:
            snapshot = self._stub_of(event.partial, changed)
            derived = True
        wire: JsonObject = {
            "type": event.type,
            "content_index": event.content_index,
            "delta": "",
            "partial": snapshot,
        }
        if isinstance(event, t.EventTextDelta):
            wire["output_attempt"] = event.output_attempt
        if derived:
            wire[DERIVED_KEY] = True

        def complete() -> None:
            wire["delta"] = stream.redacted_pieces[number]

        self._hold(event, wire, (stream, number + 1), complete, whole=not derived)

    def _add_other(self, event: t.RecordedEvent, changed: frozenset[str] | None) -> None:
        index: int = getattr(event, "content_index", -1)
        if isinstance(event, t.EventTextEnd | t.EventThinkingEnd | t.EventToolCallEnd):
            self._finish_streams(index)
        if changed is None or self._snapshots == "full":
            whole = self._whole(event)
            if whole is not None:
                self._hold(event, whole, None, None, whole=True)
            return
        wire: JsonObject = {"type": event.type, "content_index": index}
        if isinstance(event, t.EventTextEnd | t.EventThinkingEnd):
            wire["content"] = remove_secrets_from_text(event.content)
        elif isinstance(event, t.EventToolCallEnd):
            wire["tool_call"] = remove_secret_values(event.tool_call)
        wire["partial"] = self._stub_of(cast("Any", event).partial, changed)
        if isinstance(event, _TEXT_TYPES):
            wire["output_attempt"] = event.output_attempt
        wire[DERIVED_KEY] = True
        self._hold(event, wire, None, None, whole=False)

    def _whole(self, event: t.RecordedEvent) -> JsonObject | None:
        """Redact an event whole, or leave it out when no reader would accept it."""
        wire = cast("JsonObject", remove_secret_values(event))
        try:
            t.from_wire(t.AssistantMessageEvent, wire)
        except ValueError:
            self._leave_out(event)
            return None
        return wire

    def _stub_of(self, partial: t.AssistantMessage, changed: frozenset[str]) -> JsonObject:
        if changed:
            names = [n for n in t.AssistantMessage.__struct_fields__ if n in changed]
            fields = {name: remove_secret_values(getattr(partial, name)) for name in names}
            return self._base_stub(partial) | fields
        return self._base_stub(partial)

    def _base_stub(self, partial: t.AssistantMessage) -> JsonObject:
        key = (partial.api, partial.provider, partial.model, partial.timestamp)
        if self._stub[0] != key:
            whole: JsonObject = {"role": partial.role, "content": []}
            whole |= {name: getattr(partial, name) for name in STUB_FIELD_NAMES[2:]}
            self._stub = (key, cast("JsonObject", remove_secret_values(whole)))
        return self._stub[1]

    def _hold(
        self,
        event: t.RecordedEvent,
        wire: JsonObject,
        awaited: tuple[_BlockStream, int] | None,
        complete: Callable[[], None] | None,
        *,
        whole: bool,
    ) -> None:
        needs = [awaited] if awaited else []
        patches: list[tuple[JsonObject, str, _BlockStream, int]] = []
        partial: t.AssistantMessage | None = getattr(event, "partial", None)
        if whole and partial is not None:
            for index, stream in self._streams.items():
                patch = _open_block_patch(partial, wire, index, stream)
                if patch is not None:
                    patches.append(patch)
                    needs.append((stream, patch[3]))
        self._held.append(_HeldRow(wire, needs, patches, complete))

    def _take_ready(self) -> list[bytes]:
        rows: list[bytes] = []
        while self._held and self._held[0].is_ready():
            wire = self._held.popleft().take()
            row: JsonObject = {
                "type": "event",
                "call_index": self._call_index,
                "event_index": self.event_count,
                "event": wire,
            }
            rows.append(encode_row(row))
            self.event_count += 1
        return rows

    def _leave_out(self, event: object) -> None:
        name = quoted(getattr(event, "type", type(event).__name__), limit=60)
        self._unrecorded.append({"before_event": self.event_count + len(self._held), "kind": name})
        _log.warning(
            "call %d: an event of kind %s does not fit the format and is not recorded",
            self._call_index,
            name,
        )


class _BlockStream:
    """The deltas of one block: as they came, and redacted as far as that is decided."""

    def __init__(self, *, is_json: bool) -> None:
        self._redactor = DeltaRedactor(json_text=is_json)
        self.raw_pieces: list[str] = []
        self.redacted_pieces: list[str] = []
        self.is_finished = False

    def feed(self, delta: str) -> None:
        self.raw_pieces.append(delta)
        self.redacted_pieces += self._redactor.feed(delta)

    def finish(self) -> None:
        if not self.is_finished:
            self.is_finished = True
            self.redacted_pieces += self._redactor.finish()


class _HeldRow:
    """One event on its way to the file."""

    __slots__ = ("_complete", "_needs", "_patches", "_wire")

    def __init__(
        self,
        wire: JsonObject,
        needs: list[tuple[_BlockStream, int]],
        patches: list[tuple[JsonObject, str, _BlockStream, int]],
        complete: Callable[[], None] | None,
    ) -> None:
        self._wire = wire
        self._needs = needs
        self._patches = patches
        self._complete = complete

    def is_ready(self) -> bool:
        return all(len(stream.redacted_pieces) >= count for stream, count in self._needs)

    def take(self) -> JsonObject:
        for block, field, stream, count in self._patches:
            block[field] = "".join(stream.redacted_pieces[:count])
        if self._complete is not None:
            self._complete()
        return self._wire


def _open_block_patch(
    partial: t.AssistantMessage, wire: JsonObject, index: int, stream: _BlockStream
) -> tuple[JsonObject, str, _BlockStream, int] | None:
    """Find the text of an open block in a snapshot that is written whole.

    A snapshot that ends inside a secret shows no secret to the redactor, so its text is replaced by
    the redacted deltas; a text that is not the deltas joined has been redacted by itself.
    """
    if stream.is_finished or not 0 <= index < len(partial.content):
        return None
    block = partial.content[index]
    field = _STREAMED_FIELDS.get(block.type)
    if field is None or getattr(block, field) != "".join(stream.raw_pieces):
        return None
    return (wire["partial"]["content"][index], field, stream, len(stream.raw_pieces))


def _typed(event: object) -> t.RecordedEvent | None:
    """Take an event as the typed value that a reader will make of it, or None."""
    if isinstance(event, dict):
        try:
            return t.from_wire(t.AssistantMessageEvent, event)
        except ValueError:
            return None
    return event if _is_sound(event) else None


def _is_sound(event: object) -> TypeGuard[t.RecordedEvent]:
    """Check what a typed constructor does not: that the streamed fields have their types."""
    if isinstance(event, DELTA_TYPES):
        delta, index = cast("object", event.delta), cast("object", event.content_index)
        return isinstance(delta, str) and type(index) is int and _is_message(event.partial)
    if isinstance(event, t.EventTextEnd | t.EventThinkingEnd):
        return isinstance(cast("object", event.content), str) and _is_message(event.partial)
    if isinstance(event, t.EventDone):
        return _is_message(event.message)
    if isinstance(event, t.EventError):
        return _is_message(event.error)
    return isinstance(
        event,
        t.EventStart
        | t.EventTextStart
        | t.EventThinkingStart
        | t.EventToolCallStart
        | t.EventToolCallEnd,
    ) and _is_message(event.partial)


def _is_message(value: object) -> bool:
    if not isinstance(value, t.AssistantMessage):
        return False
    usage, content = cast("object", value.usage), cast("object", value.content)
    return (
        isinstance(usage, t.Usage)
        and isinstance(cast("object", usage.cost), t.UsageCost)
        and isinstance(content, list)
        and all(_is_block(block) for block in cast("list[object]", content))
    )


def _is_block(value: object) -> bool:
    if isinstance(value, t.TextContent):
        return isinstance(cast("object", value.text), str)
    if isinstance(value, t.ThinkingContent):
        return isinstance(cast("object", value.thinking), str)
    return isinstance(value, t.ToolCall)
