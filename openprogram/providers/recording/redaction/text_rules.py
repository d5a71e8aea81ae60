"""What a rule for texts is, and the forms of a text that rules search; judges nothing itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from openprogram.providers.recording.redaction.text_values import Replacement

_LOOK_ALIKES = (("\uff1a", ":"), ("\uff1d", "="), ("\u00a0", " "), ("\u3000", " "))


class TextViews:
    """One text in the forms that are searched fast; an offset means the same in all of them.

    They are bytes, one for each character, because a pattern that starts with one literal byte is
    then found at about a third of a nanosecond a byte. What is beyond Latin-1 is a `?`.
    """

    __slots__ = ("_line_end", "_text_end", "backwards", "lowered", "raw", "size", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = len(text)
        self._line_end = self._text_end = -1
        if not text.isascii():
            for look_alike, character in _LOOK_ALIKES:
                text = text.replace(look_alike, character)
        self.raw = text.encode("latin-1", "replace")
        self.lowered = self.raw.lower()
        self.backwards = self.lowered[::-1]
        """The lowered form from its end: what stands before a rare character is found from it."""

    def line_end(self, at: int) -> int:
        """Find where the text of a line ends, white space at its end left out.

        Args:
            at: An offset in the line, not before that of the last call.
        """
        if self._line_end < at:
            found = self.raw.find(b"\n", at)
            self._line_end = self._text_end = self.size if found < 0 else found
            while self._text_end > at and self.raw[self._text_end - 1] in b" \t\r":
                self._text_end -= 1
        return max(self._text_end, at)


class Gate(NamedTuple):
    """Finds places in one form of a text; a literal decides at once about most texts."""

    literal: bytes
    """Without it the pattern cannot match."""
    pattern: re.Pattern[bytes]

    def starts(self, text: bytes) -> list[int]:
        """Return where the matches begin."""
        if self.literal not in text:
            return []
        return [match.start() for match in self.pattern.finditer(text)]

    def is_open(self, text: bytes) -> bool:
        """Say whether there is a match."""
        return self.literal in text and self.pattern.search(text) is not None


def gate(literal: str, pattern: bytes) -> Gate:
    """Make a gate.

    Args:
        literal: What is in every match.
        pattern: Best begun with the literal, or a rare piece of it, because the search for that is
            fast; best ended with the rest of the line, because one candidate a line is enough.
    """
    return Gate(literal.encode(), re.compile(pattern))


REST_OF_LINE = rb"[^\n]*+"
"""A pattern that takes what follows on the line."""


class TextRule(NamedTuple):
    """One way of telling credentials in a text.

    Law: a secret that `find_secrets` finds in a part of a text lies behind a match of one of the
    `triggers`, and the first line of the part has a candidate. So a text without triggers or
    candidates need not be judged, and a stream can let go what stands before its first trigger.
    """

    triggers: tuple[str, ...]
    """Patterns for the lowered text: characters and classes of them, nothing else."""
    find_candidates: Callable[[TextViews], Iterable[int]]
    """Where a secret may be: offsets on the line that its part begins with."""
    find_secrets: Callable[[TextViews], Iterable[Replacement]]
    """What is to be replaced in a part, in any order."""
