"""Rows decoded leniently: what the UI shows need not be sound."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from openprogram_recordings_tui.presentation.values import Json, is_object

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Event(msgspec.Struct):
    """What a line shows of an event; the snapshot, most of a row in older files, is skipped."""

    type: Json = None
    content_index: Json = None
    delta: Json = None
    content: Json = None
    tool_call: Json = None
    reason: Json = None
    error: Json = None


class _EventRow(msgspec.Struct):
    event: _Event


_decode_event_row = msgspec.json.Decoder(_EventRow).decode


def decode_row(line: bytes) -> Mapping[str, Json] | None:
    """Decode a row.

    Args:
        line: The bytes of a row.

    Returns:
        The object; None for anything else.
    """
    try:
        value = msgspec.json.decode(line)
    except _UNDECODABLE:
        # Lone surrogates are refused above and may well stand in a recording.
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
    return value if is_object(value) else None


def decode_event(line: bytes) -> Mapping[str, Json] | None:
    """Decode what a line shows of an event row.

    Args:
        line: The bytes of a row.

    Returns:
        Fields of its event, without any snapshot; None when there is no event in it.
    """
    try:
        event = _decode_event_row(line).event
    except _UNDECODABLE:
        known = (decode_row(line) or {}).get("event")
        return known if is_object(known) else None
    fields = msgspec.structs.asdict(event)
    return {name: value for name, value in fields.items() if value is not None}
