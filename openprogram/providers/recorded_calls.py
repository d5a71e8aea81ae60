"""The calls of one recording, validated once and read again where they are wanted."""

from __future__ import annotations

import os
import weakref
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from openprogram.errors import RecordingFileError
from openprogram.providers import file_safety
from openprogram.providers import types as t
from openprogram.providers.recording.format import RowError, decode_row
from openprogram.providers.recording.reader import iterate_rows
from openprogram.providers.recording.snapshots import SnapshotReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from openprogram.providers.types import RecordedEvent


@dataclass(slots=True)
class _Call:
    """Where the rows of one call are."""

    request: tuple[int, int]
    """Byte offset and length."""
    events: array[int] = field(default_factory=lambda: array("Q"))
    """Offset and length of each event row, one after the other."""
    outcome: str = "complete"


class RecordedCalls:
    """An open recording that is sound as a whole; its content stays on the disk.

    The file stays open, so that removing or replacing it changes nothing; writing over it is
    noticed where it is read.

    Args:
        path: The recording; it has to be the user's own, mode 0600.

    Raises:
        RecordingFileError: It is not sound, or not safe.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        """The file."""
        self._fd = file_safety.open_recording_for_reading(path, require_private=True)
        self._finalizer = weakref.finalize(self, os.close, self._fd)
        try:
            self._calls = self._find_calls()
        except BaseException:
            self._finalizer()
            raise

    def __len__(self) -> int:
        return len(self._calls)

    def close(self) -> None:
        """Let go of the file; a second call does nothing."""
        self._finalizer()

    def read_request(self, call_index: int) -> dict[str, Any]:
        """Read a request.

        Args:
            call_index: From 0.

        Returns:
            Its row: `model`, `context` and `options` as JSON values, beside the envelope.

        Raises:
            RecordingFileError: The file was changed since.
        """
        return self._read_row(self._calls[call_index].request, call_index)

    def read_events(self, call_index: int) -> Iterator[RecordedEvent]:
        """Read the events of a call, one at a time.

        Args:
            call_index: From 0.

        Yields:
            Typed events, their snapshots whole.

        Raises:
            RecordingFileError: The file was changed since.
        """
        snapshots = SnapshotReader()
        places = iter(self._calls[call_index].events)
        for event_index, place in enumerate(zip(places, places, strict=True)):
            row = self._read_row(place, call_index)
            if row.get("event_index") != event_index or not isinstance(row.get("event"), dict):
                raise self._changed(call_index)
            try:
                event: RecordedEvent = t.from_wire(t.RecordedEvent, snapshots.rebuild(row["event"]))
            except ValueError as error:
                raise self._changed(call_index) from error
            yield event

    def outcome(self, call_index: int) -> str:
        """Say how a call ended.

        Args:
            call_index: From 0.

        Returns:
            `complete`, `error`, `cancelled` or `abandoned`.
        """
        return self._calls[call_index].outcome

    def _find_calls(self) -> list[_Call]:
        calls: list[_Call] = []
        for row in iterate_rows(self._fd, self.path):
            if row.call_index is None:
                continue
            if row.kind == "request":
                calls.append(_Call(request=(row.offset, row.length)))
            elif row.kind == "event":
                calls[row.call_index].events.extend((row.offset, row.length))
            else:
                calls[row.call_index].outcome = str(row.value)
        return calls

    def _read_row(self, place: tuple[int, int], call_index: int) -> dict[str, Any]:
        offset, length = place
        line = os.pread(self._fd, length, offset)
        try:
            row: Any = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # Lone surrogates are refused above, and are sound in a recording.
            try:
                row = decode_row(line)
            except RowError as error:
                raise self._changed(call_index) from error
        if not isinstance(row, dict) or row.get("call_index") != call_index:  # type: ignore[reportUnknownMemberType]  # an object of anything
            raise self._changed(call_index)
        return row  # type: ignore[reportUnknownVariableType]  # likewise

    def _changed(self, call_index: int) -> RecordingFileError:
        return RecordingFileError(
            self.path,
            "unreadable",
            "was changed while it was being replayed; replay a copy that nothing writes to",
            call_index=call_index,
        )
