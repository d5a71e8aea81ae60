"""Removes credentials from a text that comes in pieces, and holds back what is not yet decided.

Law: the outputs joined are the redacted inputs joined, one output for each input, and no output
shows a part of what a later one would have hidden.
"""

from __future__ import annotations

import re
from collections import deque

from openprogram.providers.recording.redaction.json_text import may_be_json
from openprogram.providers.recording.redaction.text_gate import TRIGGER, find_candidates
from openprogram.providers.recording.redaction.text_parts import OpenPart
from openprogram.providers.recording.redaction.text_values import Replacement
from openprogram.providers.recording.redaction.texts import find_in_part, find_replacements

_HELD_CHARACTERS = 32
"""More than the longest match of `TRIGGER`, so that none can begin in what was let go."""

_LONGEST_UNDECIDED_START = 64
"""A text of more white space than that is read as a whole, so that none is read again and again."""
_UNDECIDED_START = re.compile(r"\s*(?:[{\[]\s*|d|da|dat|data)?\Z")


def _is_read_as_a_whole(start: str) -> bool:
    is_json = may_be_json(start) or start.lstrip().startswith('"')
    return is_json or start.startswith("data:")


class DeltaRedactor:
    """Redacts one block of streamed text, delta by delta.

    Ordinary text is let go but for its last 32 characters. Behind a word that may announce a
    credential, the rest of the line is held back until it is whole, and longer where a value goes
    over several lines. A text that may be JSON is held back from the first such word to its end.

    Args:
        json_text: Whether the deltas are pieces of JSON, as those of a tool call's arguments are.

    Example:
        >>> redactor = DeltaRedactor()
        >>> redactor.feed("key: sk-ant-ap"), redactor.feed("i03-AAbbCCddEEff")
        ([], [])
        >>> redactor.finish()
        ['key: [secret removed]', '']
    """

    __slots__ = (
        "_decided",
        "_is_triggered",
        "_is_whole",
        "_line",
        "_open_part",
        "_part",
        "_part_at",
        "_pending",
        "_pending_at",
        "_replacements",
        "_start",
        "_tail",
        "_total",
    )

    def __init__(self, json_text: bool = False) -> None:
        self._is_whole: bool | None = True if json_text else None
        self._is_triggered = False
        self._open_part: OpenPart | None = None
        self._start = ""
        self._tail = ""
        self._part: list[str] = []
        """The pieces of the part that is being read; in JSON, of the whole text."""
        self._line: list[str] = []
        """The pieces of its last line, which is not whole yet."""
        self._part_at = 0
        self._pending: deque[str] = deque()
        self._pending_at = 0
        self._total = 0
        self._decided = 0
        self._replacements: deque[Replacement] = deque()

    @property
    def pending_count(self) -> int:
        """How many deltas are held back."""
        return len(self._pending)

    def feed(self, delta: str) -> list[str]:
        """Take the next delta.

        Args:
            delta: A piece of text, of any length.

        Returns:
            The redacted deltas that became decided, the oldest first.
        """
        self._pending.append(delta)
        if self._is_whole is None:
            self._start += delta
            is_undecided = _UNDECIDED_START.match(self._start) is not None
            if is_undecided and len(self._start) <= _LONGEST_UNDECIDED_START:
                return []
            self._is_whole = is_undecided or _is_read_as_a_whole(self._start)
            delta, self._start = self._start, ""
        self._take(delta)
        return self._let_go()

    def finish(self) -> list[str]:
        """Say that no more deltas come.

        Returns:
            The redacted deltas that were held back, the oldest first.
        """
        if self._is_whole is None:
            self._is_whole = True
            self._take(self._start)
        if self._is_whole:
            if self._is_triggered:
                self._replacements.extend(find_replacements("".join(self._part)))
        elif self._is_triggered or self._open_part is not None:
            line = "".join(self._line)
            if self._open_part is not None or find_candidates(line):
                self._close_part(line)
        self._decided = self._total
        return self._let_go()

    def _take(self, delta: str) -> None:
        if self._is_whole:
            self._part.append(delta)
            self._total += len(delta)
            self._watch(delta)
        else:
            at = 0
            while (line_end := delta.find("\n", at) + 1) > 0:
                self._take_piece(delta[at:line_end])
                self._end_line()
                at = line_end
            if at < len(delta):
                self._take_piece(delta[at:])
        if not self._is_triggered:
            self._decided = max(self._decided, self._total - _HELD_CHARACTERS)

    def _take_piece(self, piece: str) -> None:
        self._line.append(piece)
        self._total += len(piece)
        self._watch(piece)

    def _watch(self, piece: str) -> None:
        if self._is_triggered:
            return
        window = self._tail + piece
        self._is_triggered = TRIGGER.search(window.lower()) is not None
        self._tail = window[-_HELD_CHARACTERS:]

    def _end_line(self) -> None:
        if self._is_triggered:
            line = "".join(self._line)
            self._line.clear()
            if self._open_part is None and find_candidates(line):
                self._open_part = OpenPart()
            if self._open_part is not None:
                if self._open_part.goes_on_after(line):
                    self._part.append(line)
                    return
                self._close_part(line)
        self._line.clear()
        self._tail = ""
        self._is_triggered = False
        self._part_at = self._decided = self._total

    def _close_part(self, last_line: str) -> None:
        at = self._part_at
        self._replacements.extend(
            Replacement(start + at, end + at, text)
            for start, end, text in find_in_part("".join(self._part) + last_line)
        )
        self._part.clear()
        self._open_part = None

    def _let_go(self) -> list[str]:
        outputs: list[str] = []
        pending = self._pending
        while pending and self._pending_at + len(pending[0]) <= self._decided:
            delta = pending.popleft()
            outputs.append(self._redacted(delta) if self._replacements else delta)
            self._pending_at += len(delta)
        return outputs

    def _redacted(self, delta: str) -> str:
        start = done = self._pending_at
        end = start + len(delta)
        pieces: list[str] = []
        while self._replacements and self._replacements[0].start < end:
            one = self._replacements[0]
            if one.start >= start:
                pieces += (delta[done - start : one.start - start], one.text)
            done = min(one.end, end)
            if one.end > end:
                break
            self._replacements.popleft()
        pieces.append(delta[done - start :])
        return "".join(pieces)
