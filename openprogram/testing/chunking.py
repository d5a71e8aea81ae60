"""How an answer's bytes are cut on their way: the awkward places a network may choose.

Each policy takes bytes and returns pieces that join to the same bytes, none of them empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeAlias

Chunking: TypeAlias = Callable[[bytes], list[bytes]]
"""Bytes in, pieces out."""

_FIRST_CONTINUATION_BYTE = 0x80
_LAST_CONTINUATION_BYTE = 0xBF
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
"""Two line ends in a row, of any kind that an event stream may have."""


def whole(data: bytes) -> list[bytes]:
    r"""Send everything in one piece.

    Example:
        >>> whole(b"a\n\nb")
        [b'a\n\nb']
    """
    return [data] if data else []


def every_byte(data: bytes) -> list[bytes]:
    """Send each byte alone.

    Example:
        >>> every_byte(b"abc")
        [b'a', b'b', b'c']
    """
    return cut(data, range(len(data)))


def every(size_bytes: int) -> Chunking:
    """Send pieces of one size.

    Args:
        size_bytes: How long a piece is.

    Returns:
        The policy.

    Example:
        >>> every(2)(b"abc")
        [b'ab', b'c']
    """
    return lambda data: cut(data, range(0, len(data), size_bytes))


def at(offsets: Iterable[int]) -> Chunking:
    """Cut at chosen places.

    Args:
        offsets: Where to cut, in bytes; those outside the data are ignored.

    Returns:
        The policy.

    Example:
        >>> at([1, 99])(b"abc")
        [b'a', b'bc']
    """
    places = frozenset(offsets)
    return lambda data: cut(data, places)


def per_event(data: bytes) -> list[bytes]:
    r"""Cut after each blank line, as a vendor that flushes each event does.

    Example:
        >>> per_event(b"data: 1\n\ndata: 2\n\n")
        [b'data: 1\n\n', b'data: 2\n\n']
        >>> per_event(b"data: 1\r\n\r\ndata: 2\r\n\r\n")
        [b'data: 1\r\n\r\n', b'data: 2\r\n\r\n']
    """
    return cut(data, (blank.end() for blank in _BLANK_LINE.finditer(data)))


def inside_characters(data: bytes) -> list[bytes]:
    r"""Cut inside every character of more than one byte.

    Example:
        >>> inside_characters("né".encode())
        [b'n\xc3', b'\xa9']
    """
    return cut(
        data,
        (
            index
            for index, byte in enumerate(data)
            if _FIRST_CONTINUATION_BYTE <= byte <= _LAST_CONTINUATION_BYTE
        ),
    )


def inside_blank_lines(data: bytes) -> list[bytes]:
    r"""Cut between all characters of the two line ends that end an event.

    Example:
        >>> inside_blank_lines(b"data: 1\n\ndata: 2\n\n")
        [b'data: 1\n', b'\ndata: 2\n', b'\n']
    """
    blanks = _BLANK_LINE.finditer(data)
    return cut(data, (place for blank in blanks for place in range(*blank.span())[1:]))


def cut(data: bytes, offsets: Iterable[int]) -> list[bytes]:
    """Cut bytes at offsets.

    Args:
        data: The bytes.
        offsets: Where to cut, in any order; the ends and what is outside them make no piece.

    Returns:
        The pieces, none of them empty.
    """
    inner = sorted({offset for offset in offsets if 0 < offset < len(data)})
    edges = [0, *inner, len(data)]
    return [data[start:end] for start, end in pairwise(edges) if start < end]
