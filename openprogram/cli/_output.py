"""The only writer of standard output.

A reader that went away (`openprogram recordings list | head -1`) is an answer, not an error: what
would have been written is dropped, and the command's own exit code stands.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, TextIO

from openprogram.errors import ascii_if_unprintable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


def prepare_streams() -> None:
    """Make the three standard streams safe to write to, whatever the caller closed or set.

    A closed descriptor is filled with the null device: otherwise the next file opened would get its
    number, and a stray message of the interpreter would land inside a recording. Its stream, which
    Python leaves out, is made up for, so that no library stumbles over the gap.
    """
    for descriptor, (name, mode) in enumerate(_STREAMS.items()):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        _escape_what_the_encoding_lacks(stream)


def _escape_what_the_encoding_lacks(stream: object) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def is_terminal(stream: TextIO) -> bool:
    """Say whether a person watches a stream.

    Args:
        stream: A standard stream.

    Returns:
        True when it is a terminal.
    """
    try:
        return stream.isatty()
    except ValueError:
        return False


def may_draw_on(stream: TextIO) -> bool:
    """Say whether escape codes are welcome on a stream.

    Args:
        stream: A standard stream.

    Returns:
        False for pipes, `NO_COLOR` and `TERM=dumb`.
    """
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and is_terminal(stream)


def paint(text: str, style: str, *, stream: TextIO | None = None) -> str:
    """Colour words for a person; plain for pipes, `NO_COLOR` and `TERM=dumb`.

    Args:
        text: Printable text.
        style: One of bold, dim, red, green, yellow.
        stream: Where it will be written; standard output when not given.

    Returns:
        The text, with escape codes around it where they are welcome.
    """
    if not may_draw_on(stream or sys.stdout):
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def write_raw(text: str) -> bool:
    """Write text that is safe as it stands, or that its reader asked for byte by byte.

    Args:
        text: The text, line ends included.

    Returns:
        False when nobody reads any more.
    """
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        discard()
        return False
    return True


def write_bytes(data: bytes) -> bool:
    """Write bytes that the reader asked for as they are.

    Args:
        data: Any bytes.

    Returns:
        False when nobody reads any more.
    """
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
    except BrokenPipeError:
        discard()
        return False
    return True


def write_line(text: str = "") -> bool:
    """Write one line; what a terminal could act on is escaped.

    Args:
        text: Any text; it stays one line whatever it holds.

    Returns:
        False when nobody reads any more.
    """
    return write_raw(ascii_if_unprintable(text) + "\n")


def write_lines(lines: Iterable[str]) -> bool:
    """Write lines that are printable already, colours included.

    Args:
        lines: Lines without their ends, such as `_tables.layout_table` gives.

    Returns:
        False when nobody reads any more.
    """
    return all(write_raw(line + "\n") for line in lines)


def write_json(document: Mapping[str, object]) -> bool:
    """Write the one JSON document of a `--json` command, in ASCII: nothing in it can act.

    Args:
        document: JSON values.

    Returns:
        False when nobody reads any more.
    """
    return write_raw(json.dumps(document, indent=2, allow_nan=False) + "\n")


def flush() -> bool:
    """Push out what is buffered.

    Returns:
        False when nobody reads any more.

    Raises:
        OSError: The disk or device behind standard output took no more.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard()
        return False
    return True


def discard() -> None:
    """Send what is still buffered, and all that follows, to the null device."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
