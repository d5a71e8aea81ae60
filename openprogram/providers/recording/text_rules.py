"""What a rule for texts is, and the forms of a text that rules search; judges nothing itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from openprogram.providers.recording.text_values import Replacement

_LOOK_ALIKES = (("\uff1a", ":"), ("\uff1d", "="), ("\u00a0", " "), ("\u3000", " "))


class TextViews:
    """One text in the forms that are searched fast; an offset means the same in all of them.

    They are bytes, one for each character, because a pattern that starts with one literal byte is
    then found at about a third of a nanosecond a byte. What is beyond Latin-1 is a `?`.
    """

    __slots__ = ("_line_end", "backwards", "lowered", "raw", "size", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = len(text)
        self._line_end = -1
        if not text.isascii():
            for look_alike, character in _LOOK_ALIKES:
                text = text.replace(look_alike, character)
        self.raw = text.encode("latin-1", "replace")
        self.lowered = self.raw.lower()
        self.backwards = self.lowered[::-1]
        """The lowered form from its end: what stands before a rare character is found from it."""

    def line_end(self, at: int) -> int:
        """Find where the line of an offset ends, its line end left out; fast in rising order."""
        if self._line_end < at:
            found = self.raw.find(b"\n", at)
            self._line_end = self.size if found < 0 else found
        end = self._line_end
        return end - 1 if end > at and self.text[end - 1] == "\r" else end


class TextRule(NamedTuple):
    """One way of telling credentials in a text.

    Law: a secret that `find_secrets` finds in a part of a text lies behind a match of one of the
    `triggers`, and the first line of the part has a candidate. So a text without triggers or
    candidates need not be judged, and a stream can let go what stands before its first trigger.
    """

    triggers: tuple[str, ...]
    """Patterns for the lowered text, of at most `text_gate.LONGEST_TRIGGER` characters."""
    find_candidates: Callable[[TextViews], Iterable[int]]
    """Where a secret may be: offsets on the line that its part begins with."""
    find_secrets: Callable[[TextViews], Iterable[Replacement]]
    """What is to be replaced in a part, in any order."""
