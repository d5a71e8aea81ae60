"""The lists of an open recording: its calls, the events of one, its physical rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram_recordings_tui.cells import wrap
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.lines import Line, LineSource
from openprogram_recordings_tui.presentation.rows import (
    call_line,
    event_line,
    raw_line,
    raw_part_line,
)

if TYPE_CHECKING:
    from openprogram_recordings_tui.sources.open_recording import OpenRecording

_BYTES_PER_CELL = 10
_OPEN_ROW_BYTES = 64_000
_OPEN_ROW_LINES = 4000
_RAW_MARGIN_CELLS = 4


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
    """The physical rows of a recording, sound or not; one of them may be open."""

    def __init__(self, recording: OpenRecording) -> None:
        self._recording = recording
        self._open_row: int | None = None
        self._open_lines: list[str] = []
        self._width = 0

    @property
    def line_count(self) -> int:
        """How many rows were found so far, and what the open one takes besides."""
        return self._recording.row_count + len(self._open_lines)

    def line(self, index: int, width: int) -> Line:
        """Give one row of the file, or a line of the open one.

        Args:
            index: From 0.
            width: In cells.

        Returns:
            Its number and its beginning; bytes that are not UTF-8 are shown as escapes.
        """
        row, inner = self._place(index)
        digits = len(str(self._recording.row_count))
        if inner is not None:
            return raw_part_line(self._open_lines[inner], digits=digits)
        data = self._read(row, width * _BYTES_PER_CELL)
        return raw_line(
            row + 1,
            data,
            digits=digits,
            size_bytes=self._recording.index.length(row),
            is_faulty=row == self._recording.faulty_row(),
            is_open=row == self._open_row,
        )

    def reflow(self, width: int) -> None:
        """Wrap the open row to a width.

        Args:
            width: In cells.
        """
        if width != self._width:
            self._width = width
            self._wrap()

    def line_of(self, row: int) -> int:
        """Say where a row stands.

        Args:
            row: The row of the file, from 0.

        Returns:
            Its line.
        """
        is_below = self._open_row is not None and row > self._open_row
        return row + (len(self._open_lines) if is_below else 0)

    def toggle(self, index: int) -> int:
        """Open the row at a line, or close it.

        Args:
            index: Of the line.

        Returns:
            The line of the row then.
        """
        row, _ = self._place(index)
        self._open_row = None if row == self._open_row else row
        self._wrap()
        return self.line_of(row)

    def _place(self, index: int) -> tuple[int, int | None]:
        """Say which row a line shows, and which line of the open row it is."""
        if self._open_row is None or index <= self._open_row:
            return index, None
        inner = index - self._open_row - 1
        if inner < len(self._open_lines):
            return self._open_row, inner
        return index - len(self._open_lines), None

    def _wrap(self) -> None:
        if self._open_row is None:
            self._open_lines = []
            return
        text = self._read(self._open_row, _OPEN_ROW_BYTES)
        digits = len(str(self._recording.row_count))
        cells = max(self._width - digits - _RAW_MARGIN_CELLS, 1)
        self._open_lines = wrap(text, cells, limit_lines=_OPEN_ROW_LINES)[:_OPEN_ROW_LINES]
        left_out_bytes = self._recording.index.length(self._open_row) - _OPEN_ROW_BYTES
        if left_out_bytes > 0:
            self._open_lines.append(f"… {figures.size(left_out_bytes)} more are not shown")

    def _read(self, row: int, limit_bytes: int) -> str:
        data = self._recording.index.read_row(row, limit_bytes=limit_bytes)
        return data.decode("utf-8", "backslashreplace")
