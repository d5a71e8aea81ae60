"""A recording someone looks into: found row by row, read only where someone looks.

It does not ask whether the file is sound, so a broken one opens as far as it goes.
"""

from __future__ import annotations

import json
from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import msgspec
from openprogram.providers.row_index import RowIndex

from openprogram_recordings_tui.presentation.conversations import first_words
from openprogram_recordings_tui.presentation.marks import OPEN_CALL_MARK, outcome_mark
from openprogram_recordings_tui.presentation.rows import CallRow
from openprogram_recordings_tui.presentation.values import Json, object_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from openprogram.providers.inspection import CallInspection, RecordingInspection

LARGEST_PARSED_ROW_BYTES = 4_000_000
"""A row above this is shown as a bounded preview, and never parsed whole."""

_ASSEMBLED_EVENTS = 20_000
_NO_ROWS: array[int] = array("I")


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
        self.row = lru_cache(maxsize=512)(self._read_row)

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

    def answer(self, call_index: int) -> Mapping[str, Json] | None:
        """Give the assistant message of a call as far as it came.

        Args:
            call_index: From 0.

        Returns:
            The message of its last event, or one put together from its deltas; None without any.
        """
        rows = self.event_rows(call_index)
        if not rows:
            return None
        last = object_of((self.row(rows[-1]) or {}).get("event"))
        message = object_of(last.get("message") or last.get("error"))
        return message or self._assembled(rows)

    def call_row(self, call_index: int) -> CallRow:
        """Say what the list of calls shows of one.

        Args:
            call_index: From 0.

        Returns:
            What the strict reader found, or else what its own rows say.
        """
        known = self._inspected(call_index)
        request = self.request(call_index) or {}
        about = (first_words(request) or "").strip()[:200] or None
        if known is not None:
            return CallRow(
                call_index=call_index,
                model=known.model,
                event_count=known.event_count,
                token_count=None if known.usage is None else known.usage.total_tokens,
                cost_usd=known.cost_usd,
                about=about,
                mark=outcome_mark(known.outcome),
            )
        has_end = call_index in self._end_rows
        model = object_of(request.get("model")).get("id")
        return CallRow(
            call_index=call_index,
            model=str(model) if model is not None else None,
            event_count=len(self.event_rows(call_index)),
            about=about,
            mark=outcome_mark(self.outcome(call_index)) if has_end else OPEN_CALL_MARK,
        )

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

    def _assembled(self, rows: Sequence[int]) -> Mapping[str, Json]:
        blocks: dict[int, dict[str, Json]] = {}
        for row in rows[:_ASSEMBLED_EVENTS]:
            event = object_of((self._read_row(row) or {}).get("event"))
            place, kind = event.get("content_index"), str(event.get("type"))
            if not isinstance(place, int):
                continue
            block = blocks.setdefault(place, {"type": "text", "text": ""})
            if kind == "toolcall_end":
                blocks[place] = dict(object_of(event.get("tool_call")))
            elif kind.startswith("thinking"):
                block["type"] = "thinking"
                block["thinking"] = block.get("thinking", "") + str(event.get("delta") or "")
            elif isinstance(event.get("delta"), str):
                block["text"] += event["delta"]
        return {"content": [blocks[place] for place in sorted(blocks)]}

    def _read_row(self, row: int) -> Mapping[str, Json] | None:
        if self.index.length(row) > LARGEST_PARSED_ROW_BYTES:
            return None
        return decode(self.index.read_row(row, limit_bytes=LARGEST_PARSED_ROW_BYTES))


def decode(line: bytes) -> Mapping[str, Json] | None:
    """Decode a row leniently: whatever is an object will do.

    Args:
        line: The bytes of a row.

    Returns:
        The object; None for anything else.
    """
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Lone surrogates are refused above and may well stand in a recording.
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
    return cast("Mapping[str, Json]", value) if isinstance(value, dict) else None
