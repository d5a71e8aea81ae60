"""Read the physical lines of an open file in order, with memory for one chunk or one line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK_BYTES = 1 << 18
_SAMPLE_BYTES = 1 << 12
_SHORT_LINES_COUNT = 4
"""With so many lines in the first `_SAMPLE_BYTES` of a chunk, its lines are short."""


class LineBatches:
    """The lines of a file from one offset to another; LF alone ends a line.

    The descriptor's own position is neither used nor moved, so an appending writer may share it.

    Args:
        fd: An open descriptor of a regular file.
        start: The offset of the first byte, in bytes.
        end: Where to stop; what others append meanwhile is not read.
    """

    def __init__(self, fd: int, start: int, end: int) -> None:
        self._fd = fd
        self._start = start
        self._end = end
        self.rest = b""
        """After the last batch: what stands behind the last LF."""

    def __iter__(self) -> Iterator[list[bytes]]:
        """Read to the end.

        Yields:
            The next lines, each without its LF.

        Raises:
            OSError: The file cannot be read.
        """
        position, begun = self._start, list[bytes]()
        while position < self._end:
            chunk = os.pread(self._fd, min(CHUNK_BYTES, self._end - position), position)
            if not chunk:
                break
            position += len(chunk)
            lines = _split(chunk)
            last = lines.pop()
            if lines:
                if begun:
                    # A line that spans chunks is joined once, so a long one costs what it is long.
                    lines[0] = b"".join((*begun, lines[0]))
                    begun.clear()
                yield lines
            if last:
                begun.append(last)
        self.rest = b"".join(begun)


def _split(chunk: bytes) -> list[bytes]:
    """Split by LF as `bytes.split` does; that looks at every byte, while long lines allow leaps."""
    if chunk.count(b"\n", 0, _SAMPLE_BYTES) >= _SHORT_LINES_COUNT:
        return chunk.split(b"\n")
    lines: list[bytes] = []
    begin, end = 0, chunk.find(b"\n")
    while end >= 0:
        lines.append(chunk[begin:end])
        begin = end + 1
        end = chunk.find(b"\n", begin)
    lines.append(chunk[begin:])
    return lines
