"""Reads one secret from a person or a pipe; it never comes from the command line, nor goes out."""

from __future__ import annotations

import os
import sys
import termios
from typing import TYPE_CHECKING

from openprogram.cli import _diagnostics, _output

if TYPE_CHECKING:
    from typing import Any

_MOST_BYTES = 65_536
_TERMINAL_LINE_BYTES = 4095
"""A terminal drops what a line has beyond this, without a word."""


def read_secret(question: str) -> str:
    """Ask for a secret without echo, or take it from a pipe or a file on standard input.

    Args:
        question: What to type, for a person; goes to standard error.

    Returns:
        Printable ASCII without blanks: what an HTTP header can carry.

    Raises:
        UsageError: There is none, it is too long or more than one word, or the terminal cannot
            hide it. No message shows any of it.
    """
    data = _ask(question) if _output.is_terminal(sys.stdin) else _read_to_the_end()
    words = data.split()
    if not words:
        raise _diagnostics.UsageError("no key was given; type it at the prompt, or pipe it in")
    if len(words) > 1 or not all(0x20 < byte < 0x7F for byte in words[0]):  # noqa: PLR2004 - ASCII
        raise _diagnostics.UsageError(
            "the key is not one word of plain characters; give the key alone, nothing around it"
        )
    return words[0].decode("ascii")


def _read_to_the_end() -> bytes:
    data = b""
    # One byte more than allowed tells a key that fits from an endless stream.
    while len(data) <= _MOST_BYTES and (piece := os.read(0, _MOST_BYTES)):
        data += piece
    if len(data) > _MOST_BYTES:
        raise _diagnostics.UsageError(
            f"standard input holds more than {_MOST_BYTES} bytes; pipe in the key alone"
        )
    return data


def _ask(question: str) -> bytes:
    try:
        before = termios.tcgetattr(0)
        quiet: list[Any] = [*before]
        quiet[3] &= ~termios.ECHO
        # Flushing drops what was typed before, which was echoed.
        termios.tcsetattr(0, termios.TCSAFLUSH, quiet)
    except termios.error as error:
        raise _diagnostics.UsageError(
            "this terminal cannot hide what is typed; pipe the key in instead"
        ) from error
    try:
        _diagnostics.draw(question)
        # In canonical mode a read gives one line.
        line = os.read(0, _MOST_BYTES)
    finally:
        # Flushing again keeps further pasted lines away from the shell.
        termios.tcsetattr(0, termios.TCSAFLUSH, before)
        _diagnostics.draw("\n")
    if len(line) >= _TERMINAL_LINE_BYTES:
        raise _diagnostics.UsageError(
            "the key is longer than a line that a terminal passes on whole; pipe it in instead"
        )
    return line
