"""The lists of an open recording: its calls, the events of one, its physical rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram_recordings_tui.presentation.lines import Line, LineSource
from openprogram_recordings_tui.presentation.rows import call_line, event_line, raw_line

if TYPE_CHECKING:
    from openprogram_recordings_tui.sources.open_recording import OpenRecording

_RAW_PREVIEW_BYTES = 4096


class CallLines(LineSource):
    """The calls of a recording."""

    def __init__(self, recording: OpenRecording) -> None:
        self._recording = recording

    @property
    def line_count(self) -> int:
        """How many calls were found so far."""
        return self._recording.call_count

    def line(self, index: int, width: int) -> Line:
        """Give the row of one call.

        Args:
            index: The call, from 0.
            width: In cells.

        Returns:
            Its row.
        """
        return call_line(self._recording.call_row(index), width)


class EventLines(LineSource):
    """The events of a call."""

    def __init__(self, recording: OpenRecording, call_index: int) -> None:
        self._recording = recording
        self._rows = recording.event_rows(call_index)

    @property
    def line_count(self) -> int:
        """How many events were found so far."""
        return len(self._rows)

    def line(self, index: int, width: int) -> Line:
        """Give the row of one event.

        Args:
            index: From 0.
            width: In cells.

        Returns:
            Its row.
        """
        row = self._rows[index]
        event = self._recording.event(row)
        size_bytes = self._recording.index.length(row)
        return event_line(index, event, size_bytes, width)

    def physical_row(self, index: int) -> int:
        """Say in which row of the file an event is.

        Args:
            index: The event, from 0.

        Returns:
            The row, from 0.
        """
        return self._rows[index]


class RawLines(LineSource):
    """The physical rows of a recording, sound or not."""

    def __init__(self, recording: OpenRecording) -> None:
        self._recording = recording

    @property
    def line_count(self) -> int:
        """How many rows were found so far."""
        return self._recording.row_count

    def line(self, index: int, width: int) -> Line:  # noqa: ARG002 - a bounded preview is read
        """Give one row of the file.

        Args:
            index: From 0.
            width: In cells.

        Returns:
            Its number and its beginning; bytes that are not UTF-8 are shown as escapes.
        """
        recording = self._recording
        data = recording.index.read_row(index, limit_bytes=_RAW_PREVIEW_BYTES)
        return raw_line(
            index + 1,
            data.decode("utf-8", "backslashreplace"),
            digits=len(str(recording.row_count)),
            left_out_bytes=recording.index.length(index) - len(data),
            is_faulty=index == recording.faulty_row(),
        )
