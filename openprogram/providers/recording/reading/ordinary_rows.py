"""Take a line apart in the cheap way that fits nearly every line, or say that it is not ordinary.

What is taken here the exact parser `format.decode_row` would take too, with the same result.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

import msgspec

from openprogram.providers.recording.format import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from openprogram._json_types import JsonObject
    from openprogram.providers.types import RecordedEvent


NOT_ORDINARY = (ValueError, RecursionError)
"""What a strict decoder raises for a text that the exact parser has to judge."""

_INDEX = rb"(0|[1-9]\d{0,9})"
# After the head, or between head and tail, stands the event. When that is exactly one JSON value,
# the row has exactly these four keys, each once. The second form has its keys sorted.
_EVENT_HEAD = re.compile(
    rb'\{"type": ?"event", ?"call_index": ?%b, ?"event_index": ?%b, ?"event": ?' % (_INDEX, _INDEX)
)
_SORTED_EVENT_HEAD = re.compile(rb'\{"call_index": %b, "event": ' % _INDEX)
_SORTED_EVENT_TAIL = re.compile(rb', "event_index": %b, "type": "event"\}' % _INDEX)
_TAIL_BYTES = 60
_OUTCOME = rb'"(%b)"' % b"|".join(outcome.encode() for outcome in OUTCOMES)
_CALL_END = re.compile(
    rb'\{"type": ?"call_end", ?"call_index": ?%b, ?"event_count": ?%b(?:, ?"outcome": ?%b)?\}'
    % (_INDEX, _INDEX, _OUTCOME)
)
_SORTED_CALL_END = re.compile(
    rb'\{"call_index": %b, "event_count": %b(?:, "outcome": %b)?, "type": "call_end"\}'
    % (_INDEX, _INDEX, _OUTCOME)
)
_LONGEST_CALL_END_BYTES = 120
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"')

_decode: Callable[[bytes], Any] = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def take_ordinary(line: bytes, decode_event: Callable[[bytes], RecordedEvent]) -> JsonObject | None:
    """Take a request, event or call_end apart, its keys known to be without twins.

    Args:
        line: A line that is not too deep.
        decode_event: The strict decoder of its format version.

    Returns:
        The row as the exact parser gives it, but an event in its typed form; None when the line is
        not ordinary, sound or not.
    """
    if len(line) <= _LONGEST_CALL_END_BYTES:
        row = _call_end(line)
        if row is not None:
            return row
    return _event(line, decode_event) or _request(line)


def _call_end(line: bytes) -> JsonObject | None:
    match = _CALL_END.fullmatch(line) or _SORTED_CALL_END.fullmatch(line)
    if match is None:
        return None
    call_index, event_count, outcome = match.groups()
    row: JsonObject = {
        "type": "call_end",
        "call_index": int(call_index),
        "event_count": int(event_count),
    }
    if outcome is not None:
        row["outcome"] = outcome.decode("ascii")
    return row


def _event(line: bytes, decode_event: Callable[[bytes], RecordedEvent]) -> JsonObject | None:
    head = _EVENT_HEAD.match(line)
    if head is not None:
        call_index, event_index = head.groups()
        end = len(line) - 1
        if line[end:] != b"}":
            return None
    else:
        head = _SORTED_EVENT_HEAD.match(line)
        end = line.rfind(b', "event_index": ', -_TAIL_BYTES)
        tail = None if head is None else _SORTED_EVENT_TAIL.fullmatch(line, max(end, 0))
        if head is None or tail is None:
            return None
        call_index, event_index = head[1], tail[1]
    try:
        event = decode_event(line[head.end() : end])
    except NOT_ORDINARY:
        return None
    return {
        "type": "event",
        "call_index": int(call_index),
        "event_index": int(event_index),
        "event": event,
    }


def _request(line: bytes) -> JsonObject | None:
    try:
        row = _decode(line)
    except NOT_ORDINARY:
        return None
    if type(row) is not dict or cast("JsonObject", row).get("type") != "request":
        return None
    encoded = _encode(row)
    # What is encoded from a dict has no key twice. So the line has none either when it is the same
    # text, or another way to write as many keys.
    if encoded != line and _key_count(encoded) != _key_count(line):
        return None
    return cast("JsonObject", row)


def _key_count(text: bytes) -> int:
    return _STRING.sub(b"", text).count(b":")
