"""One call of an inspected recording, and its content: read on demand, never all of it at once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from openprogram.errors import RecordingFileError
from openprogram.providers import file_safety
from openprogram.providers.recording.format import is_blank
from openprogram.providers.recording.reading.lines import LineBatches
from openprogram.providers.recording.rereading import (
    decode_line,
    read_row,
    unreadable,
    whole_event,
)
from openprogram.providers.recording.snapshots import SnapshotReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from openprogram._json_types import JsonValue
    from openprogram.providers.recording.format import Outcome
    from openprogram.providers.types import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInspection:
    """One call: what it was, how it went, and where it is."""

    call_index: int
    """From 0."""
    provider: str | None
    """As its request says, null when it does not."""
    api: str | None
    """Likewise: the wire protocol."""
    model: str | None
    """Likewise: the vendor's name of the model."""
    event_count: int
    """How many of its events were read."""
    outcome: Outcome | None
    """`complete`, `error`, `cancelled` or `abandoned`; None when it has no end."""
    stop_reason: str | None
    """Of its last message; None when no `done` or `error` event came."""
    usage: Usage | None
    """Token counts of its last message, likewise."""
    cost_usd: float | None
    """What it cost, in USD; None when there is no usage, or a price is unknown."""
    first_line_number: int
    """The physical line of its request, from 1."""
    last_line_number: int
    """The physical line of its last row that was read."""
    offset: int
    """Where its request begins, in bytes."""
    request_bytes: int
    """How long the row of its request is, LF included."""
    end_offset: int
    """Just behind its last row that was read, in bytes; rows of other calls may stand between."""
    answer_offset: int | None
    """Where its `done` or `error` event begins, in bytes; None when no such event was read."""
    answer_bytes: int | None
    """How long that row is, LF included; likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventInspection:
    """One event and where it is."""

    event_index: int
    """Its place in the call, from 0."""
    line_number: int
    """The physical line, from 1."""
    offset: int
    """Where its row begins, in bytes."""
    length: int
    """How long its row is, in bytes, LF included."""
    event: dict[str, JsonValue]
    """The event, its snapshot whole, with the fields that no type declares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """The content of one call."""

    path: Path
    """The recording."""
    inspection: CallInspection
    """What is known of the call without its content."""
    request: Mapping[str, JsonValue]
    """The whole row of its request, with `model`, `context` and `options`."""

    def iterate_events(self) -> Iterator[EventInspection]:
        """Read the events, one at a time: together their snapshots may be far larger than the file.

        Yields:
            The events in their order.

        Raises:
            RecordingFileError: The file cannot be read, or was changed since it was inspected.
        """
        return _iterate_events(self.path, self.inspection)


def read_call(path: Path, call: CallInspection) -> RecordedCall:
    """Read the request of a call, and make its events readable.

    Args:
        path: The recording.
        call: What an inspection of it said of the call.

    Returns:
        The call.

    Raises:
        RecordingFileError: The file cannot be read, or was changed since it was inspected.
    """
    fd = file_safety.open_recording_for_reading(path, require_private=False)
    try:
        row = read_row(
            fd,
            path,
            call.offset,
            call.request_bytes,
            kind="request",
            call_index=call.call_index,
        )
    finally:
        os.close(fd)
    return RecordedCall(path=path, inspection=call, request=row)


def first_user_text(request: Mapping[str, JsonValue]) -> str | None:
    """Find what the user said first in a request.

    Args:
        request: A request row, or a dict with its `context`; any JSON values.

    Returns:
        The text, raw; None when no user says any.

    Example:
        >>> first_user_text({"context": {"messages": [{"role": "user", "content": "hi"}]}})
        'hi'
    """
    for message in _items(_field(request.get("context"), "messages")):
        if _field(message, "role") != "user":
            continue
        content = _field(message, "content")
        if isinstance(content, str):
            return content
        for block in _items(content):
            text = _field(block, "text")
            if isinstance(text, str):
                return text
    return None


def _iterate_events(path: Path, call: CallInspection) -> Iterator[EventInspection]:
    snapshots, index = SnapshotReader(), call.call_index
    fd = file_safety.open_recording_for_reading(path, require_private=False)
    try:
        line_number, offset, event_index = call.first_line_number, call.offset, 0
        for lines in LineBatches(fd, call.offset, call.end_offset):
            for line in lines:
                row = None if is_blank(line) else decode_line(path, line, call_index=index)
                if row and row.get("type") == "event" and row.get("call_index") == index:
                    event = whole_event(
                        path, row, snapshots, call_index=index, event_index=event_index
                    )
                    yield EventInspection(
                        event_index=event_index,
                        line_number=line_number,
                        offset=offset,
                        length=len(line) + 1,
                        event=event,
                    )
                    event_index += 1
                line_number += 1
                offset += len(line) + 1
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        os.close(fd)
    if event_index != call.event_count:
        raise RecordingFileError(
            path,
            "unreadable",
            f"holds {event_index:,} events of the call now, not {call.event_count:,}; look again",
            call_index=index,
        )


def _field(value: JsonValue, name: str) -> JsonValue:
    return cast("dict[str, JsonValue]", value).get(name) if isinstance(value, dict) else None


def _items(value: JsonValue) -> list[JsonValue]:
    return cast("list[JsonValue]", value) if isinstance(value, list) else []
