"""Where the physical rows of a recording are and what each seems to be, found as fast as possible.

Nothing is judged and nothing is decoded that can be told from the first or last bytes of a row: a
screen shows the rows of any file, sound or not, before it has been read to the end.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import weakref
from array import array
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from openprogram.providers import file_safety

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

RowKind: TypeAlias = Literal["header", "request", "event", "call_end", "blank", "unknown"]
FileChange: TypeAlias = Literal["gone", "replaced", "shortened", "rewritten", "grown"]
"""What became of a file while it was open; `grown` alone leaves all that was found as it is."""

_KINDS: tuple[RowKind, ...] = ("header", "request", "event", "call_end", "blank", "unknown")
_CODES = {kind: code for code, kind in enumerate(_KINDS)}
_NAMED_CODES = {kind.encode(): code for kind, code in _CODES.items()}
_NO_CALL = -1
_CALL_LIMIT = 10**9
_FIRST_CHUNK_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 20
_KEPT_BYTES = 1 << 16
"""How much of a row is looked at: a row above this is known by its first and last bytes alone."""
_TAIL_BYTES = 64

_WHITESPACE = b" \t\r"
_HEAD = re.compile(
    rb'\{"type": ?"(header|request|event|call_end)"(?:, ?"call_index": ?(\d{1,9}),)?'
)
_SORTED_HEAD = re.compile(rb'\{"call_index": ?(\d{1,9}),')
_SORTED_TAIL = re.compile(rb'"type": ?"(header|request|event|call_end)"\}\s*\Z')


class _Envelope(msgspec.Struct):
    type: Any = None
    call_index: Any = None


_decode_envelope = msgspec.json.Decoder(_Envelope).decode


class RowIndex:
    """The physical rows of a file, blank ones included, so that row N is line N + 1.

    One thread may scan while others ask for the rows found so far.

    Args:
        path: The recording.

    Raises:
        RecordingFileError: It cannot be opened; neither a link nor a FIFO is.
    """

    def __init__(self, path: Path) -> None:
        self._fd = file_safety.open_recording_for_reading(path, require_private=False)
        self._close = weakref.finalize(self, os.close, self._fd)
        self._path = path
        self._opened_as = os.fstat(self._fd)
        # Held while the descriptor is used, so that it is not closed and given to another file.
        self._lock = threading.Lock()
        self._offsets = array("Q", [0])
        self._kinds = array("b")
        self._call_indexes = array("i")
        self.row_count = 0
        """How many rows were found so far."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; a scan ends, and rows read as empty."""
        with self._lock:
            self._close()

    def find_change(self) -> FileChange | None:
        """Say whether the path still leads to the file that was opened, as it was then.

        Returns:
            What became of it; None when nothing did.
        """
        before = self._opened_as
        try:
            now = self._path.lstat()
        except OSError:
            return "gone"
        if (now.st_dev, now.st_ino) != (before.st_dev, before.st_ino):
            return "replaced"
        if now.st_size < before.st_size:
            return "shortened"
        if now.st_size > before.st_size:
            return "grown"
        return "rewritten" if now.st_mtime_ns != before.st_mtime_ns else None

    def scan(self) -> Iterator[int]:
        """Find the rows, as far as the file goes when this begins.

        Yields:
            After each batch, how many rows there are by then. The last row may lack its LF.

        Raises:
            OSError: The file cannot be read any further.
        """
        with self._lock:
            size = os.fstat(self._fd).st_size if self._close.alive else 0
        position, want, begun = 0, _FIRST_CHUNK_BYTES, _BegunRow()
        while position < size:
            chunk = self._read(min(want, size - position), position)
            if not chunk:
                break
            position += len(chunk)
            want = _CHUNK_BYTES
            lines = chunk.split(b"\n")
            last = lines.pop()
            if lines:
                self._add(lines, begun)
                yield self.row_count
            begun.add(last)
        if begun.length:
            self._add([b""], begun)
            yield self.row_count

    def kind(self, row: int) -> RowKind:
        """Say what a row seems to be.

        Args:
            row: From 0, below `row_count`.

        Returns:
            Its kind; `unknown` for what is no row of a recording.
        """
        return _KINDS[self._kinds[row]]

    def call_index(self, row: int) -> int:
        """Say to which call a row says it belongs.

        Args:
            row: From 0, below `row_count`.

        Returns:
            The index; -1 when it says none, or none that a recording could have.
        """
        return self._call_indexes[row]

    def offset(self, row: int) -> int:
        """Say where a row begins.

        Args:
            row: From 0, below `row_count`.

        Returns:
            The offset of its first byte, in bytes.
        """
        return self._offsets[row]

    def length(self, row: int) -> int:
        """Say how long a row is.

        Args:
            row: From 0, below `row_count`.

        Returns:
            Its size in bytes, without its LF.
        """
        return self._offsets[row + 1] - self._offsets[row] - 1

    def read_row(self, row: int, *, limit_bytes: int) -> bytes:
        """Read a row, or its beginning.

        Args:
            row: From 0, below `row_count`.
            limit_bytes: How much to read at most, in bytes.

        Returns:
            Its bytes without the LF; fewer when the file was cut since, none once it is closed.

        Raises:
            OSError: The file cannot be read.
        """
        return self._read(min(self.length(row), limit_bytes), self._offsets[row])

    def _read(self, length: int, offset: int) -> bytes:
        with self._lock:
            return os.pread(self._fd, length, offset) if self._close.alive else b""

    def _add(self, lines: list[bytes], begun: _BegunRow) -> None:
        """Add the rows of a batch; `begun` is the part of the first that came before."""
        end = self._offsets[-1]
        offsets, kinds, call_indexes = array("Q"), array("b"), array("i")
        start, code, call_index = b"\n", 0, 0
        for line in lines:
            if begun.length:
                begun.add(line)
                end += begun.length + 1
                code, call_index, start = _classify(begun.head, begun.tail, whole=begun.whole)
                begun.clear()
            else:
                end += len(line) + 1
                # Nearly every row begins as the row before: an event of the same call.
                if not line.startswith(start):
                    code, call_index, start = _classify(line, line[-_TAIL_BYTES:], whole=line)
            offsets.append(end)
            kinds.append(code)
            call_indexes.append(call_index)
        self._kinds += kinds
        self._call_indexes += call_indexes
        self._offsets += offsets
        # Last, because other threads ask for rows below this.
        self.row_count += len(lines)


class _BegunRow:
    """A row that spans chunks: as much of it as is needed to know it."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self.tail = b""
        self.length = 0

    @property
    def head(self) -> bytes:
        return bytes(self._kept)

    @property
    def whole(self) -> bytes | None:
        return bytes(self._kept) if self.length == len(self._kept) else None

    def add(self, piece: bytes) -> None:
        self.length += len(piece)
        self._kept += piece[: _KEPT_BYTES - len(self._kept)]
        self.tail = (self.tail + piece[-_TAIL_BYTES:])[-_TAIL_BYTES:]

    def clear(self) -> None:
        self._kept.clear()
        self.tail = b""
        self.length = 0


def _classify(head: bytes, tail: bytes, *, whole: bytes | None) -> tuple[int, int, bytes]:
    """Say what a row seems to be.

    Args:
        head: Its first bytes.
        tail: Its last bytes.
        whole: All of it, unless it is long.

    Returns:
        The code of its kind, its call, and a beginning that tells both.
    """
    match = _HEAD.match(head)
    if match is not None and (match[2] is not None or match[1] == b"header"):
        call_index = _NO_CALL if match[2] is None else int(match[2])
        return _NAMED_CODES[match[1]], call_index, match[0] if match[2] else b"\n"
    ending = _SORTED_TAIL.search(tail)
    beginning = _SORTED_HEAD.match(head)
    if ending is not None and (beginning is not None or ending[1] == b"header"):
        call_index = _NO_CALL if beginning is None else int(beginning[1])
        return _NAMED_CODES[ending[1]], call_index, b"\n"
    if whole is None:
        return _CODES["unknown"], _NO_CALL, b"\n"
    if not whole.strip(_WHITESPACE):
        return _CODES["blank"], _NO_CALL, b"\n"
    return (*_look_inside(whole), b"\n")


def _look_inside(line: bytes) -> tuple[int, int]:
    """Decode the envelope of a row that is laid out in no way known."""
    envelope = _Envelope()
    with contextlib.suppress(ValueError, RecursionError):
        envelope = _decode_envelope(line)
    kind, call_index = envelope.type, envelope.call_index
    if not isinstance(kind, str) or kind not in _CODES or kind in {"blank", "unknown"}:
        return _CODES["unknown"], _NO_CALL
    if type(call_index) is not int or not 0 <= call_index < _CALL_LIMIT:
        call_index = _NO_CALL
    return _CODES[kind], call_index
