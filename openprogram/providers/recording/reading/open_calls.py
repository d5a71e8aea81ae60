"""What is known of a call whose end has not come yet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from openprogram.providers.recording.snapshots import DerivationChecker

if TYPE_CHECKING:
    from collections.abc import Callable

_DELTA_HEAD = re.compile(
    rb'\{"type":"(?:text|thinking|toolcall)_delta","content_index":\d+,"delta":'
)
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_QUOTATION_MARK = ord('"')
_LONG_LINE_BYTES = 1_000
_decode_string: Callable[[bytes | memoryview], str] = msgspec.json.Decoder(str).decode
_skip_value = msgspec.json.Decoder(msgspec.Raw).decode


class OpenCall:
    """A call whose end has not come yet.

    Args:
        call_index: From 0.
        line_number: Of its request; 0 when that was not read.
        is_begun_before: Whether its request, and perhaps some events, were not read.
    """

    __slots__ = (
        "_delta_head",
        "_delta_tail",
        "_prefix",
        "call_index",
        "checker",
        "end_offset",
        "event_count",
        "is_begun_before",
        "last_line_number",
        "line_number",
        "start",
    )

    def __init__(self, call_index: int, line_number: int, *, is_begun_before: bool) -> None:
        self.call_index = call_index
        """From 0."""
        self.line_number = line_number
        """Of its request; 0 when that was not read."""
        self.event_count = 0
        """How many events it has so far."""
        self.last_line_number = line_number
        """Of its last event that was passed over; `line_number` when none was."""
        self.end_offset = 0
        """Just behind that event, in bytes."""
        self.is_begun_before = is_begun_before
        """Whether its request, and perhaps some events, were not read."""
        self.start = b'{"type":"event","call_index":%d,' % call_index
        """How the row of an event begins, as writers lay it out."""
        self._prefix = self.start + b'"event_index":%d,"event":'
        self.checker = None if is_begun_before else DerivationChecker()
        """Judges its stubs; None as long as the snapshot that they rest on was not read."""
        self._delta_head = b""
        self._delta_tail = b""

    def take_deltas(self, lines: list[bytes], start: int) -> int:
        """Take the lines that are the next events, and but for their text the delta seen last.

        Args:
            lines: Any lines.
            start: Which of them is the next.

        Returns:
            How many were taken: each differs from a row that was validated in nothing but the event
            index, which follows, and the text of its delta, which is one sound JSON string.
        """
        head_form, tail = self._delta_head, self._delta_tail
        if not tail:
            return 0
        first = event_count = self.event_count
        for at in range(start, len(lines)):
            line = lines[at]
            head = head_form % event_count
            if not line.endswith(tail) or not line.startswith(head):
                break
            try:
                if len(line) < _LONG_LINE_BYTES:
                    _decode_string(line[len(head) : -len(tail)])
                else:
                    _require_string(line, len(head), -len(tail))
            except ValueError:
                break
            event_count += 1
        self.event_count = event_count
        return event_count - first

    def remember_delta(self, line: bytes) -> None:
        """Keep the form of a row for those that follow.

        Args:
            line: The row of the event taken last, whose snapshot is derived: such a delta changes
                nothing in what may follow, so a second one of its form is as sound as it is.
        """
        prefix = self.event_prefix()
        head = _DELTA_HEAD.match(line, len(prefix)) if line.startswith(prefix) else None
        text = None if head is None else _STRING.match(line, head.end())
        if head is not None and text is not None:
            self._delta_head = self._prefix + head[0]
            self._delta_tail = line[text.end() :]

    def event_prefix(self) -> bytes:
        """Give all that stands before the event in the row of the next event.

        Returns:
            The bytes, as writers lay them out.
        """
        return self._prefix % self.event_count

    def forget_delta(self) -> None:
        """Let no row pass by its form alone, because another kind of event came."""
        self._delta_tail = b""


def _require_string(line: bytes, start: int, end: int) -> None:
    """Raise a ValueError unless a part of a long line is one sound JSON string.

    To skip a string is to judge all of it but its UTF-8, at four times the speed of decoding it.
    """
    text = memoryview(line)[start:end]
    if line.isascii() and line[start] == _QUOTATION_MARK:
        _skip_value(text)
    else:
        _decode_string(text)
