"""The one strict reader of recordings: inspection, management, replay and writers rest on it.

It reads through a descriptor up to the size that the file has at the start, so a recording may be
read while others append to it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from openprogram.errors import RecordingFileError, quoted
from openprogram.providers import file_safety
from openprogram.providers.recording.format import RowError, is_blank
from openprogram.providers.recording.lines import LineBatches
from openprogram.providers.recording.row_checker import CheckedRow as CheckedRow
from openprogram.providers.recording.row_checker import RowChecker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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

    Yields:
        The rows in the order of the file, each checked against all before it.

    Raises:
        RecordingFileError: A row is not sound, or a call has no end; the rows before it have been
            handed out.
    """
    reading = _Reading(fd, path, RowChecker(), offset=0)
    yield from reading.rows()
    reading.require_whole()


def validate_recording(path: Path) -> None:
    """Accept a recording, or say what is wrong with it; changes nothing.

    Args:
        path: The file.

    Raises:
        RecordingFileError: It cannot be opened, or is not sound.
    """
    fd = file_safety.open_recording_for_reading(path, require_private=False)
    try:
        for _ in iterate_rows(fd, path):
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
    checker = RowChecker(next_call_index=next_call_index, is_appended=offset > 0)
    reading = _Reading(fd, path, checker, offset=offset)
    for _ in reading.rows():
        pass
    if reading.is_empty:
        raise RecordingFileError(path, "empty_file", "there is no row in it")
    return Survey(
        call_count=checker.call_count,
        open_calls={index: call.event_count for index, call in checker.open_calls.items()},
        end=reading.end,
        torn_bytes=0 if is_blank(reading.rest) else len(reading.rest),
        format_version=checker.format_version,
    )


class _Reading:
    """One pass over a file."""

    def __init__(self, fd: int, path: Path, checker: RowChecker, *, offset: int) -> None:
        self._fd = fd
        self._path = path
        self._checker = checker
        self._line_number = 0
        self._is_appended = offset > 0
        self.end = offset
        self.rest = b""

    @property
    def is_empty(self) -> bool:
        """Whether there is no row, not even a torn one."""
        return (
            not self._is_appended and self._checker.format_version is None and is_blank(self.rest)
        )

    def rows(self) -> Iterator[CheckedRow]:
        """Hand out the whole rows."""
        try:
            batches = LineBatches(self._fd, self.end, os.fstat(self._fd).st_size)
            for lines in batches:
                yield from self._check(lines)
        except OSError as error:
            reason = f"cannot be read: {quoted(error.strerror)}"
            raise RecordingFileError(self._path, "unreadable", reason) from error
        self.rest = batches.rest

    def _check(self, lines: list[bytes]) -> Iterator[CheckedRow]:
        check, line_number, offset = self._checker.check, self._line_number, self.end
        for line in lines:
            line_number += 1
            try:
                row = check(line, line_number, offset)
            except RowError as error:
                place = None if self._is_appended else line_number
                raise RecordingFileError(
                    self._path, error.code, error.reason, place, error.call_index
                ) from None
            offset += len(line) + 1
            if row is not None:
                yield row
        self._line_number, self.end = line_number, offset

    def require_whole(self) -> None:
        """Refuse what no single row shows: nothing at all, a torn end, a call without one."""
        if self.is_empty:
            raise RecordingFileError(self._path, "empty_file", "there is no row in it")
        if not is_blank(self.rest):
            reason = "the last row was not written to its end: it has no LF"
            raise RecordingFileError(self._path, "truncated_row", reason, self._line_number + 1)
        missing = min(self._checker.open_calls.items(), default=None)
        if missing is not None:
            call_index, call = missing
            reason = f"call {call_index} has no end; it was cut off, or is still running"
            raise RecordingFileError(
                self._path, "missing_call_end", reason, call.line_number, call_index
            )
