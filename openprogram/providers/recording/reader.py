"""The one strict reader of recordings: inspection, management, replay and writers rest on it.

It reads through a descriptor up to the size that the file has at the start, so a recording may be
read while others append to it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import msgspec

from openprogram.errors import RecordingFileError, quoted
from openprogram.providers import file_safety
from openprogram.providers.recording.format import RowError, is_blank
from openprogram.providers.recording.reading.lines import LineBatches
from openprogram.providers.recording.reading.row_checker import RowChecker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from openprogram.providers.recording.reading.open_calls import OpenCall
    from openprogram.providers.recording.reading.row_checker import Taken


class CheckedRow(msgspec.Struct, frozen=True, gc=False):
    """One sound row, and where it is."""

    kind: str
    """`header`, `request`, `event` or `call_end`."""
    line_number: int
    """The physical line, from 1; counted from where the reading began."""
    offset: int
    """Where its first byte is, in bytes."""
    length: int
    """Its size in bytes, LF included."""
    call_index: int | None = None
    """The call it belongs to; None for the header."""
    event_index: int | None = None
    """Of an event: its place in the call, from 0. Of a call_end: how many events the call has."""
    value: Any = None
    """Of a header or request: the whole row. Of a `done` or `error` event: the typed event. Of a
    call_end: the outcome. None for any other event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a writer has to know of rows that others wrote."""

    call_count: int
    """How many calls were begun, and so the index of the next."""
    open_calls: dict[int, int]
    """The calls without an end, each with the number of its events. Of the calls begun before an
    appended part, only those that have a row in it."""
    end: int
    """Where the whole rows end: the offset just after the last LF, in bytes."""
    torn_bytes: int
    """How many bytes of a row without its LF stand behind them."""
    format_version: int | None
    """As the header says; None when not even that is whole, and for an appended part."""


def iterate_rows(fd: int, path: Path) -> Iterator[CheckedRow]:
    """Read a recording row by row, and stop at the first fault.

    Args:
        fd: An open descriptor of a regular file; its position is not used.
        path: The recording, for the error.

    Returns:
        The rows in the order of the file, each checked against all before it. The step after the
        last sound row raises `RecordingFileError` when a row is not sound, or a call has no end.
    """
    return RowReader(fd, path).rows()


def validate_recording(path: Path) -> None:
    """Accept a recording, or say what is wrong with it; changes nothing.

    Args:
        path: The file.

    Raises:
        RecordingFileError: It cannot be opened, or is not sound.
    """
    fd = file_safety.open_recording_for_reading(path, require_private=False)
    try:
        for _ in RowReader(fd, path).rows(include_events=False):
            pass
    finally:
        os.close(fd)


def survey_rows(fd: int, path: Path, *, offset: int = 0, next_call_index: int = 0) -> Survey:
    """Read what others wrote, so that a writer can go on behind it.

    A torn last row and calls without an end are no faults here: the writer sets them right.

    Args:
        fd: An open descriptor of a regular file; its position is not used.
        path: The recording, for the error.
        offset: Where to begin: 0 for the whole file, else just behind an LF. Then calls begun
            before are believed: the first index of an event seen, and the count of an end.
        next_call_index: How many calls were begun before `offset`.

    Returns:
        What was found.

    Raises:
        RecordingFileError: A row is not sound. Without a line number when `offset` is given.
    """
    reader = RowReader(fd, path, offset=offset, next_call_index=next_call_index)
    return reader.survey()


class RowReader:
    """One pass over a file.

    Args:
        fd: An open descriptor of a regular file; its position is not used.
        path: The recording, for the error.
        offset: Where to begin: 0, or just behind an LF.
        next_call_index: How many calls were begun before `offset`.
    """

    def __init__(self, fd: int, path: Path, *, offset: int = 0, next_call_index: int = 0) -> None:
        self._fd = fd
        self._path = path
        self._is_appended = offset > 0
        self._checker = RowChecker(next_call_index=next_call_index, is_appended=offset > 0)
        self._line_number = 0
        self._end = offset
        self._rest = b""

    @property
    def open_calls(self) -> Mapping[int, OpenCall]:
        """The calls that have no end so far, by index."""
        return self._checker.open_calls

    def rows(self, *, include_events: bool = True) -> Iterator[CheckedRow]:
        """Hand out the rows; to be called once.

        Args:
            include_events: Hand out every event. Otherwise those that are neither `done` nor
                `error` are checked, and counted in `open_calls`, but not handed out.

        Yields:
            The rows in the order of the file.

        Raises:
            RecordingFileError: A row is not sound, or a call has no end.
        """
        yield from self._whole_rows(include_events=include_events)
        self._require_some_row()
        if not is_blank(self._rest):
            reason = "the last row was not written to its end: it has no LF"
            raise RecordingFileError(self._path, "truncated_row", reason, self._line_number + 1)
        missing = min(self.open_calls.items(), default=None)
        if missing is not None:
            call_index, call = missing
            reason = f"call {call_index} has no end; it was cut off, or is still running"
            raise RecordingFileError(
                self._path, "missing_call_end", reason, call.line_number, call_index
            )

    def survey(self) -> Survey:
        """Read to the end for a writer, as `survey_rows` does; to be called instead of `rows`.

        Returns:
            What was found.

        Raises:
            RecordingFileError: A row is not sound.
        """
        for _ in self._whole_rows(include_events=False):
            pass
        self._require_some_row()
        return Survey(
            call_count=self._checker.call_count,
            open_calls={index: call.event_count for index, call in self.open_calls.items()},
            end=self._end,
            torn_bytes=0 if is_blank(self._rest) else len(self._rest),
            format_version=self._checker.format_version,
        )

    def _whole_rows(self, *, include_events: bool) -> Iterator[CheckedRow]:
        try:
            batches = LineBatches(self._fd, self._end, os.fstat(self._fd).st_size)
            for lines in batches:
                yield from self._check(lines, include_events=include_events)
        except OSError as error:
            reason = f"cannot be read: {quoted(error.strerror)}"
            raise RecordingFileError(self._path, "unreadable", reason) from error
        self._rest = batches.rest

    def _check(self, lines: list[bytes], *, include_events: bool) -> Iterator[CheckedRow]:
        checker = self._checker
        line_number, offset, at = self._line_number, self._end, 0
        while at < len(lines):
            taken_count = checker.take_deltas(lines, at)
            if taken_count:
                deltas = lines[at : at + taken_count]
                if include_events:
                    yield from self._deltas(deltas, line_number, offset)
                at += taken_count
                line_number += taken_count
                offset += sum(map(len, deltas)) + taken_count
                self._pass_over(line_number, offset)
                continue
            line, start = lines[at], offset
            at += 1
            line_number += 1
            offset += len(line) + 1
            taken = self._checked(line, line_number)
            if taken is None:
                continue
            kind, call_index, event_index, value = taken
            if kind == "event" and value is None:
                self._pass_over(line_number, offset)
                if not include_events:
                    continue
            yield CheckedRow(
                kind, line_number, start, offset - start, call_index, event_index, value
            )
        self._line_number, self._end = line_number, offset

    def _deltas(self, lines: list[bytes], line_number: int, offset: int) -> Iterator[CheckedRow]:
        """Hand out the deltas that were taken last; `line_number` and `offset` are before them."""
        call = cast("OpenCall", self._checker.last)
        event_index = call.event_count - len(lines)
        for at, line in enumerate(lines):
            length = len(line) + 1
            yield CheckedRow(
                "event", line_number + at + 1, offset, length, call.call_index, event_index + at
            )
            offset += length

    def _pass_over(self, line_number: int, end_offset: int) -> None:
        """Note where the last event of its call is that is neither `done` nor `error`."""
        call = cast("OpenCall", self._checker.last)
        call.last_line_number, call.end_offset = line_number, end_offset

    def _checked(self, line: bytes, line_number: int) -> Taken | None:
        try:
            return self._checker.check(line, line_number)
        except RowError as error:
            place = None if self._is_appended else line_number
            raise RecordingFileError(
                self._path, error.code, error.reason, place, error.call_index
            ) from None

    def _require_some_row(self) -> None:
        has_header = self._is_appended or self._checker.format_version is not None
        if not has_header and is_blank(self._rest):
            raise RecordingFileError(self._path, "empty_file", "there is no row in it")
