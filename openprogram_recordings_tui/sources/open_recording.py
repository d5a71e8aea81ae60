"""A recording someone looks into: found row by row, read only where someone looks.

It does not ask whether the file is sound, so a broken one opens as far as it goes.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING

from openprogram.providers.row_index import RowIndex
from openprogram_recordings_tui.presentation.conversations import gist_of
from openprogram_recordings_tui.presentation.marks import call_mark, outcome_mark
from openprogram_recordings_tui.presentation.rows import CallRow
from openprogram_recordings_tui.presentation.values import Json, is_object, object_of, text_of
from openprogram_recordings_tui.sources.answers import Answer, assemble_answer, whole_answer
from openprogram_recordings_tui.sources.decoding import decode_event, decode_row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from openprogram.providers.inspection import CallInspection, RecordingInspection

LARGEST_PARSED_ROW_BYTES = 4_000_000
"""A row above this is shown as a bounded preview, and never parsed whole."""

LARGEST_LISTED_ROW_BYTES = 500_000
"""A row above this is not parsed for one line of a list: a screen holds fifty of them."""

_KEPT_BYTES = 8_000_000
_ASSEMBLED_EVENTS = 10_000
_NO_ROWS: array[int] = array("I")


class _RowCache:
    """The rows decoded last, as many as fit a number of bytes."""

    def __init__(self) -> None:
        self._rows: OrderedDict[int, tuple[int, Mapping[str, Json] | None]] = OrderedDict()
        self._used_bytes = 0

    def get(
        self, row: int, size_bytes: int, read: Callable[[], bytes]
    ) -> Mapping[str, Json] | None:
        """Give a row, decoded now or before."""
        if row in self._rows:
            self._rows.move_to_end(row)
            return self._rows[row][1]
        value = decode_row(read())
        self._rows[row] = size_bytes, value
        self._used_bytes += size_bytes
        while self._used_bytes > _KEPT_BYTES and len(self._rows) > 1:
            self._used_bytes -= self._rows.popitem(last=False)[1][0]
        return value


class OpenRecording:
    """The rows of one file, its calls and their events."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """The file."""
        self.index = RowIndex(path)
        """Where its rows are."""
        self.inspection: RecordingInspection | None = None
        """What the strict reader says of it; None until it has."""
        self._request_rows: list[int] = []
        self._event_rows: list[array[int]] = []
        self._end_rows: dict[int, int] = {}
        self._sorted_count = 0
        self._cache = _RowCache()

    @property
    def row_count(self) -> int:
        """How many physical rows were found so far."""
        return self._sorted_count

    @property
    def call_count(self) -> int:
        """How many calls were found so far."""
        return len(self._request_rows)

    def close(self) -> None:
        """Let go of the file."""
        self.index.close()

    def scan(self, on_progress: Callable[[], None], is_cancelled: Callable[[], bool]) -> None:
        """Find the rows; runs in a thread while the screen shows what is found so far.

        Args:
            on_progress: Called after each batch.
            is_cancelled: Asked often; True ends the scan.

        Raises:
            OSError: The file cannot be read any further.
        """
        for _ in self.index.scan():
            if is_cancelled():
                return
            self._sort_new_rows()
            on_progress()
        self._sort_new_rows()
        on_progress()

    def _sort_new_rows(self) -> None:
        """Give the rows found since the last batch to their calls."""
        index = self.index
        for row in range(self._sorted_count, index.row_count):
            kind, call_index = index.kind(row), index.call_index(row)
            if kind == "request" and call_index == len(self._request_rows):
                self._request_rows.append(row)
                self._event_rows.append(array("I"))
            elif kind == "event" and 0 <= call_index < len(self._event_rows):
                self._event_rows[call_index].append(row)
            elif kind == "call_end" and call_index >= 0:
                self._end_rows.setdefault(call_index, row)
        self._sorted_count = index.row_count

    def event_rows(self, call_index: int) -> Sequence[int]:
        """Say in which rows the events of a call are.

        Args:
            call_index: From 0.

        Returns:
            Row numbers from 0, in the order of the file; it grows while the scan goes on.
        """
        return self._event_rows[call_index] if call_index < len(self._event_rows) else _NO_ROWS

    def request_row(self, call_index: int) -> int | None:
        """Say in which row a request is.

        Args:
            call_index: From 0.

        Returns:
            The row number from 0; None for a call that was not found.
        """
        return self._request_rows[call_index] if call_index < self.call_count else None

    def request(self, call_index: int) -> Mapping[str, Json] | None:
        """Read a request.

        Args:
            call_index: From 0.

        Returns:
            Its row; None when it cannot be read, or is too large to be parsed.
        """
        row = self.request_row(call_index)
        return None if row is None else self.row(row)

    def outcome(self, call_index: int) -> str | None:
        """Read how a call ended.

        Args:
            call_index: From 0.

        Returns:
            Its outcome; None while it has no end.
        """
        row = self._end_rows.get(call_index)
        if row is None:
            return None
        return str((self.row(row) or {}).get("outcome") or "complete")

    def answer(self, call_index: int) -> Answer:
        """Give the assistant message of a call as far as it came.

        Args:
            call_index: From 0.

        Returns:
            The message of its last event, or one put together from its deltas, and how many of
            them are left out.
        """
        rows = self.event_rows(call_index)
        if not rows:
            return Answer(None)
        last = object_of((self.row(rows[-1]) or {}).get("event"))
        whole = whole_answer(last)
        if whole is not None:
            return Answer(whole)
        events = (self._whole_event(row) for row in rows)
        return assemble_answer(events, len(rows), _ASSEMBLED_EVENTS)

    def _whole_event(self, row: int) -> Mapping[str, Json] | None:
        event = (self.row(row) or {}).get("event")
        return event if is_object(event) else None

    def event(self, row: int) -> Mapping[str, Json] | None:
        """Read what a line shows of an event.

        Args:
            row: The row of the file, from 0.

        Returns:
            Fields of the event; None when it cannot be read, or is too large for a line.
        """
        if self.index.length(row) > LARGEST_LISTED_ROW_BYTES:
            return None
        return decode_event(self.index.read_row(row, limit_bytes=LARGEST_LISTED_ROW_BYTES))

    def call_row(self, call_index: int) -> CallRow:
        """Say what the list of calls shows of one.

        Args:
            call_index: From 0.

        Returns:
            What the strict reader found, or else what its own rows say.
        """
        known = self._inspected(call_index)
        last = self._last_message(call_index)
        about = gist_of(last)
        if known is not None:
            return CallRow(
                call_index=call_index,
                model=known.model,
                event_count=known.event_count,
                token_count=None if known.usage is None else known.usage.total_tokens,
                cost_usd=known.cost_usd,
                about=about,
                mark=call_mark(known),
            )
        return CallRow(
            call_index=call_index,
            model=self._model(call_index),
            event_count=len(self.event_rows(call_index)),
            about=about,
            mark=outcome_mark(self.outcome(call_index), text_of(last.get("stop_reason"))),
        )

    def cost_usd(self, call_index: int) -> float | None:
        """Say what a call cost.

        Args:
            call_index: From 0.

        Returns:
            In USD, as the strict reader says; None while it has not come there, and when no price
            is known.
        """
        known = self._inspected(call_index)
        return None if known is None else known.cost_usd

    def _last_message(self, call_index: int) -> Mapping[str, Json]:
        """Give what the last event of a call holds whole; only what is quickly read is read."""
        rows = self.event_rows(call_index)
        if not rows or self.index.length(rows[-1]) > LARGEST_LISTED_ROW_BYTES:
            return {}
        last = object_of((self.row(rows[-1]) or {}).get("event"))
        return whole_answer(last) or {}

    def _model(self, call_index: int) -> str | None:
        row = self.request_row(call_index)
        if row is None or self.index.length(row) > LARGEST_LISTED_ROW_BYTES:
            return None
        model = object_of((self.row(row) or {}).get("model")).get("id")
        return None if model is None else str(model)

    def faulty_row(self) -> int | None:
        """Say at which row the strict reader stopped.

        Returns:
            The row number from 0; None for a sound file, or a fault that has no place.
        """
        error = None if self.inspection is None else self.inspection.error
        return None if error is None or error.line_number is None else error.line_number - 1

    def _inspected(self, call_index: int) -> CallInspection | None:
        calls = () if self.inspection is None else self.inspection.calls
        return calls[call_index] if call_index < len(calls) else None

    def row(self, row: int) -> Mapping[str, Json] | None:
        """Read a row of the file.

        Args:
            row: From 0.

        Returns:
            The object in it; None when it is none, or too large to be parsed.
        """
        size_bytes = self.index.length(row)
        if size_bytes > LARGEST_PARSED_ROW_BYTES:
            return None
        return self._cache.get(
            row,
            size_bytes,
            lambda: self.index.read_row(row, limit_bytes=LARGEST_PARSED_ROW_BYTES),
        )
