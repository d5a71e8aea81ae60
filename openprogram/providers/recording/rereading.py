"""Rows of a recording that was found sound, read again by their place.

Between the judgement and the second reading somebody may have written over the file. Whatever
stands there then, only `RecordingFileError` comes of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import msgspec

from openprogram.errors import RecordingFileError
from openprogram.providers.recording.format import RowError, decode_row

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram._json_types import JsonObject
    from openprogram.providers.recording.snapshots import SnapshotReader

RowKind: TypeAlias = Literal["request", "event"]

_decode = cast("Any", msgspec.json.Decoder()).decode


def read_row(
    fd: int, path: Path, offset: int, length: int, *, kind: RowKind, call_index: int
) -> JsonObject:
    """Read one row of a call.

    Args:
        fd: The open recording; its position is not used.
        path: The recording, for the error.
        offset: Where the row begins, in bytes.
        length: How long it is, in bytes.
        kind: What the row was.
        call_index: Whose it was.

    Returns:
        The row.

    Raises:
        RecordingFileError: It cannot be read, or another row stands there now.
    """
    try:
        line = os.pread(fd, length, offset)
    except OSError as error:
        raise unreadable(path, error) from error
    row = decode_line(path, line, call_index=call_index)
    if row.get("type") != kind or row.get("call_index") != call_index:
        raise _changed(path, call_index)
    return row


def decode_line(path: Path, line: bytes, *, call_index: int) -> JsonObject:
    """Decode a line that was a sound row.

    Args:
        path: The recording, for the error.
        line: The line.
        call_index: The call that is being read, for the error.

    Returns:
        The row, of whatever kind and call.

    Raises:
        RecordingFileError: It is no row any more.
    """
    try:
        row = _decode(line)
    except (ValueError, RecursionError):
        # Lone surrogates are refused above, and are sound in a recording.
        try:
            row = decode_row(line)
        except RowError as error:
            raise _changed(path, call_index) from error
    if not isinstance(row, dict):
        raise _changed(path, call_index)
    return cast("JsonObject", row)


def whole_event(
    path: Path, row: JsonObject, snapshots: SnapshotReader, *, call_index: int, event_index: int
) -> JsonObject:
    """Take the event out of its row, and put its snapshot back.

    Args:
        path: The recording, for the error.
        row: The event's row.
        snapshots: Has rebuilt the events of the call before this one, in order.
        call_index: The call.
        event_index: Which of its events this was.

    Returns:
        The event, with the fields that no type declares.

    Raises:
        RecordingFileError: It is not the event that it was.
    """
    event = row.get("event")
    if row.get("event_index") != event_index or not isinstance(event, dict):
        raise _changed(path, call_index)
    try:
        return snapshots.rebuild(cast("JsonObject", event))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        # The strict reader accepted other bytes than these.
        raise _changed(path, call_index) from error


def typed_event(path: Path, type_: Any, event: JsonObject, *, call_index: int) -> Any:
    """Build the typed event.

    Args:
        path: The recording, for the error.
        type_: The union of the events that may stand there.
        event: A whole event.
        call_index: The call.

    Returns:
        A value of that union.

    Raises:
        RecordingFileError: It is not the event that it was.
    """
    try:
        return msgspec.convert(event, type_)
    except (ValueError, RecursionError) as error:
        raise _changed(path, call_index) from error


def unreadable(path: Path, error: OSError) -> RecordingFileError:
    """Say that the system refuses to read a file.

    Args:
        path: The recording.
        error: What the system said.

    Returns:
        The error to raise.
    """
    return RecordingFileError(path, "unreadable", f"cannot be read: {error.strerror}")


def _changed(path: Path, call_index: int) -> RecordingFileError:
    return RecordingFileError(
        path,
        "unreadable",
        "was changed while it was being read; use a copy that nothing writes to",
        call_index=call_index,
    )
