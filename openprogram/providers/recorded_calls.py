"""The calls of one recording, validated once and read again where they are wanted."""

from __future__ import annotations

import os
import weakref
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from openprogram.errors import RecordingFileError, quoted
from openprogram.providers import file_safety
from openprogram.providers import types as t
from openprogram.providers.recording.format import REDACTION_VERSION_IF_UNSAID
from openprogram.providers.recording.reader import iterate_rows
from openprogram.providers.recording.redaction import REDACTION_VERSION
from openprogram.providers.recording.rereading import read_row, typed_event, whole_event
from openprogram.providers.recording.snapshots import SnapshotReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from openprogram.providers.recording.format import Outcome
    from openprogram.providers.types import RecordedEvent


@dataclass(slots=True)
class _Call:
    """Where the rows of one call are."""

    request: tuple[int, int, int]
    """Byte offset, length, and line number from 1."""
    events: array[int] = field(default_factory=lambda: array("Q"))
    """Offset and length of each event row, one after the other."""
    outcome: Outcome = "complete"


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
        offset, length, _ = self._calls[call_index].request
        return read_row(self._fd, self.path, offset, length, kind="request", call_index=call_index)

    def request_size(self, call_index: int) -> int:
        """Say how much there is to read of a request.

        Args:
            call_index: From 0.

        Returns:
            The size of its row in bytes.
        """
        return self._calls[call_index].request[1]

    def request_line(self, call_index: int) -> int:
        """Say where a request stands.

        Args:
            call_index: From 0.

        Returns:
            Its physical line in the file, from 1.
        """
        return self._calls[call_index].request[2]

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
        for event_index, (offset, length) in enumerate(zip(places, places, strict=True)):
            row = read_row(self._fd, self.path, offset, length, kind="event", call_index=call_index)
            event = whole_event(
                self.path, row, snapshots, call_index=call_index, event_index=event_index
            )
            yield typed_event(self.path, t.RecordedEvent, event, call_index=call_index)

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
                self._require_known_redaction(row.value)
                continue
            if row.kind == "request":
                calls.append(_Call(request=(row.offset, row.length, row.line_number)))
            elif row.kind == "event":
                calls[row.call_index].events.extend((row.offset, row.length))
            else:
                calls[row.call_index].outcome = cast("Outcome", row.value)
        return calls

    def _require_known_redaction(self, header: Any) -> None:
        """Refuse what other rules than ours took the secrets out of: both sides must agree."""
        version = header.get("redaction_version")
        if version is None:
            version = REDACTION_VERSION_IF_UNSAID
        if type(version) is not int or version != REDACTION_VERSION:
            raise RecordingFileError(
                self.path,
                "unsupported_version",
                f"its redaction version {quoted(version)} is not known here; it can be shown, and "
                "replayed by the program that wrote it",
                line_number=1,
            )
