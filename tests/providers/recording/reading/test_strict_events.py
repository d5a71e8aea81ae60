"""Ordinary events are taken at once; anything else is left to the exact parser."""

from __future__ import annotations

import json
import typing
from typing import Any

import msgspec
import pytest

from openprogram.providers import types as t
from openprogram.providers.recording.reading.strict_events import (
    event_type,
    ordinary_event_decoder,
)
from recording_files import STUB, text_events, tool_events

_EVENTS = [*text_events("a", "é"), *tool_events()]
_FOREIGN = {"type": "structured_output_end", "attempt": 1, "mode": "m", "value": [1]}


def _encoded(event: Any) -> bytes:
    return json.dumps(event).encode()


@pytest.mark.parametrize("version", [1, 2])
def test_what_writers_write_is_taken_and_equals_the_typed_event(version: int) -> None:
    decode = ordinary_event_decoder(version)
    for event in _EVENTS:
        taken: Any = decode(_encoded(event))
        plain = {key: value for key, value in event.items() if key != "partial_derived"}
        typed = t.from_wire(t.RecordedEvent, plain)
        assert isinstance(taken, type(typed))
        wire = t.to_wire(taken)
        assert wire.pop("partial_derived", None) == event.get("partial_derived")
        assert wire == t.to_wire(typed)


def _spoilt() -> list[Any]:
    start = {"type": "start", "partial": STUB}
    deep = {**STUB, "usage": {"input": 1, "cost": {"total": 0.5, "future": 1}}}
    return [
        start | {"future": 1},
        start | {"partial": STUB | {"future": 1}},
        start | {"partial": deep},
        start | {"partial": STUB | {"content": [{"type": "text", "text": "x", "future": 1}]}},
        {"type": "start"},
        {"type": "other"},
        {"type": "text_delta", "content_index": True, "delta": "x", "partial": STUB},
        _EVENTS[-1] | {"partial_derived": True},
        [],
        None,
    ]


@pytest.mark.parametrize("event", _spoilt(), ids=lambda event: json.dumps(event)[:40])
def test_what_nobody_looked_at_is_never_taken(event: Any) -> None:
    with pytest.raises((ValueError, RecursionError)):
        ordinary_event_decoder(1)(_encoded(event))


def test_two_events_belong_to_the_foreign_version_only() -> None:
    with pytest.raises(ValueError, match="structured_output_end"):
        ordinary_event_decoder(1)(_encoded(_FOREIGN))
    assert ordinary_event_decoder(2)(_encoded(_FOREIGN)).type == "structured_output_end"
    first, second = (len(typing.get_args(event_type(version))) for version in (1, 2))
    assert (first, second) == (12, 14)
    assert msgspec.convert(_FOREIGN, event_type(2)).value == [1]
