"""Cuts a text into the parts that rules judge one by one: a line, or several with one value.

Where a part ends depends only on what stands before, so that a stream can be cut in the same
places as the whole text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from openprogram.providers.recording.redaction.field_names import NAME_ENDING_BACKWARDS
from openprogram.providers.recording.redaction.secret_shapes import (
    PRIVATE_KEY_BEGIN,
    PRIVATE_KEY_END,
)
from openprogram.providers.recording.redaction.text_gate import find_candidates
from openprogram.providers.recording.redaction.text_rules import TextViews

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = NAME_ENDING_BACKWARDS.encode()
_QUOTED_NAME = rb"[\"']?" + _NAME + rb"[\w.-]{0,80}[\"']?"
_LINE_END = rb"\n\r?[ \t]*"
# For a lowered line read backwards, from its LF.
_OPENS_NEXT_LINE = re.compile(
    _LINE_END
    + rb"(?:\\|>?[:=,](?:[\"']\\*|[ \t\]])*+"
    + _NAME
    + rb"|"
    + _QUOTED_NAME
    + rb"[ \t]*:eman -|>yek/<"
    + _NAME
    + rb"|[\"',;:|=]{0,3}[a-z0-9]{16}ai[ks]a)"
)
_OPENS_FORM_FIELD = re.compile(_LINE_END + _QUOTED_NAME + rb"=eman ;")
_OPENS_BLOCK_SCALAR = re.compile(_LINE_END + rb"[0-9]?[+-]?[|>][ \t]*:[ \t]*[\"']?" + _NAME)
_OPENS_BRACKETS = re.compile(rb"[{\[][ \t]*>?[:=][ \t\"'\\\]]*" + _NAME)
_VALUE_FIRST = re.compile(r'(?ai)"(?:value|values|val)"[ \t]*:')
_BRACKET = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|[{}\[\]]')
_FORM_FIELD_LINES = 2


class OpenPart:
    """Follows one part line by line and says whether it goes on."""

    __slots__ = ("_depth", "_in_block_scalar", "_in_private_key", "_lines_due")

    def __init__(self) -> None:
        self._depth = 0
        """Of the brackets behind a name that are open."""
        self._lines_due = 0
        """How many more lines belong to the part whatever they hold."""
        self._in_private_key = False
        self._in_block_scalar = False

    def goes_on_after(self, line: str) -> bool:
        """Take the next line, its LF included, and say whether the part needs one more."""
        if self._in_private_key:
            end = PRIVATE_KEY_END.search(line) if "-----END" in line else None
            if end is None:
                return True
            self._in_private_key = False
            line = line[end.end() :]
        if self._in_block_scalar:
            if line[:1] in " \t\r\n":
                self._in_private_key = _leaves_private_key_open(line)
                return True
            self._in_block_scalar = False
        self._lines_due = max(self._lines_due - 1, 0)
        self._open_by(line)
        return (
            self._in_private_key or self._in_block_scalar or self._depth > 0 or self._lines_due > 0
        )

    def _open_by(self, line: str) -> None:
        backwards = TextViews(line).backwards
        self._in_private_key = _leaves_private_key_open(line)
        self._count_brackets(line, backwards)
        if _OPENS_NEXT_LINE.match(backwards):
            self._lines_due = max(self._lines_due, 1)
        elif _OPENS_BLOCK_SCALAR.match(backwards):
            self._in_block_scalar = True
        elif _OPENS_FORM_FIELD.match(backwards):
            self._lines_due = _FORM_FIELD_LINES
        elif line.rstrip().endswith(",") and _VALUE_FIRST.search(line):
            self._lines_due = max(self._lines_due, 1)

    def _count_brackets(self, line: str, backwards: bytes) -> None:
        openers: set[int] = set()
        if "{" in line or "[" in line:
            openers = {len(line) - one.start() - 1 for one in _OPENS_BRACKETS.finditer(backwards)}
        if self._depth == 0 and not openers:
            return
        for match in _BRACKET.finditer(line, 0 if self._depth else min(openers)):
            character = match[0]
            if character in "{[":
                self._depth += bool(self._depth or match.start() in openers)
            elif character in "}]" and self._depth:
                self._depth -= 1


def _leaves_private_key_open(line: str) -> bool:
    if "-----BEGIN" not in line:
        return False
    at = 0
    while begin := PRIVATE_KEY_BEGIN.search(line, at):
        end = PRIVATE_KEY_END.search(line, begin.end())
        if end is None:
            return True
        at = end.end()
    return False


def iterate_parts(text: str) -> Iterator[tuple[int, int]]:
    """Cut a text into the parts that may hold a secret; all else holds none.

    Args:
        text: Any text outside of JSON.

    Yields:
        Start and end offsets, in rising order; both stand at the border of a line.
    """
    done = 0
    for candidate in find_candidates(text):
        if candidate < done:
            continue
        start = done = max(text.rfind("\n", done, candidate) + 1, done)
        part = OpenPart()
        goes_on = True
        while goes_on and done < len(text):
            line_start = done
            done = text.find("\n", line_start) + 1 or len(text)
            goes_on = part.goes_on_after(text[line_start:done])
        yield start, done
