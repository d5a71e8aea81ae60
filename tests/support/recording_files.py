"""Recordings as rows, laid out as this and other writers lay them out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from openprogram.errors import RecordingFileError
from openprogram.providers import types as t
from openprogram.providers.recording.reader import validate_recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Row = dict[str, Any]
Fault = tuple[str, int | None, int | None]

NAMES: Row = {"api": "scripted", "provider": "pretend", "model": "pretend-1"}
STUB: Row = {"role": "assistant", "content": [], **NAMES, "timestamp": 1}
HEADER: Row = {
    "type": "header",
    "format_version": 1,
    "recording_id": "x",
    "created_at": "2026-08-11T13:45:02Z",
    "redaction_version": 1,
}


def compact(row: Row) -> bytes:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode()


def spaced(row: Row) -> bytes:
    return json.dumps(row).encode()


def sorted_by_key(row: Row) -> bytes:
    return json.dumps(row, sort_keys=True).encode()


LAYOUTS: tuple[Callable[[Row], bytes], ...] = (compact, spaced, sorted_by_key)


def encoded(rows: Iterable[Row], layout: Callable[[Row], bytes] = compact) -> bytes:
    return b"".join(layout(row) + b"\n" for row in rows)


def write(path: Path, rows: Iterable[Row], layout: Callable[[Row], bytes] = compact) -> Path:
    path.write_bytes(encoded(rows, layout))
    path.chmod(0o600)
    return path


def message(*content: t.AssistantContent, **fields: Any) -> t.AssistantMessage:
    return t.AssistantMessage(content=list(content), timestamp=1, **{**NAMES, **fields})


def request_row(call_index: int, text: str = "hi", **model_fields: Any) -> Row:
    model: Row = {
        "id": "pretend-1",
        "name": "Pretend",
        "api": "scripted",
        "provider": "pretend",
        "base_url": "https://model.test",
    }
    model |= model_fields
    context = t.Context(messages=[t.UserMessage(content=text, timestamp=1)])
    return {
        "type": "request",
        "call_index": call_index,
        "model": t.to_wire(t.from_wire(t.Model, model)),
        "context": t.to_wire(context),
        "options": t.to_wire(t.SimpleStreamOptions()),
    }


def event_row(call_index: int, event_index: int, event: Row | t.RecordedEvent) -> Row:
    wire = event if isinstance(event, dict) else t.to_wire(event)
    return {
        "type": "event",
        "call_index": call_index,
        "event_index": event_index,
        "event": wire,
    }


def end_row(call_index: int, event_count: int, outcome: str | None = "complete") -> Row:
    row: Row = {"type": "call_end", "call_index": call_index, "event_count": event_count}
    return row if outcome is None else {**row, "outcome": outcome}


def text_events(*deltas: str, **message_fields: Any) -> list[Row]:
    """A streamed text whose snapshots are left out where they can be."""
    derived: Row = {"partial": STUB, "partial_derived": True}
    whole = message(t.TextContent(text="".join(deltas)), **message_fields)
    return [
        t.to_wire(t.EventStart(partial=message())),
        {"type": "text_start", "content_index": 0, **derived},
        *({"type": "text_delta", "content_index": 0, "delta": each, **derived} for each in deltas),
        {"type": "text_end", "content_index": 0, "content": "".join(deltas), **derived},
        t.to_wire(t.EventDone(reason="stop", message=whole)),
    ]


def tool_events() -> list[Row]:
    """A streamed tool call, every snapshot whole."""
    call = t.ToolCall(id="c1", name="f", arguments={"a": [1, 2.5, None, {"b": "é\u2028"}]})
    early = message(t.ToolCall(id="c1", name="f", arguments={}), stop_reason="toolUse")
    whole = message(call, stop_reason="toolUse", usage=t.Usage(input=3, output=2, total_tokens=5))
    events = [
        t.EventStart(partial=message()),
        t.EventToolCallStart(content_index=0, partial=early),
        t.EventToolCallDelta(content_index=0, delta='{"a":', partial=early),
        t.EventToolCallEnd(content_index=0, tool_call=call, partial=whole),
        t.EventDone(reason="toolUse", message=whole),
    ]
    return [t.to_wire(event) for event in events]


def call_rows(
    call_index: int, events: Iterable[Row], outcome: str | None = "complete", **request: Any
) -> list[Row]:
    rows = [event_row(call_index, index, event) for index, event in enumerate(events)]
    return [request_row(call_index, **request), *rows, end_row(call_index, len(rows), outcome)]


def interleaved(first: list[Row], second: list[Row]) -> list[Row]:
    """Two calls at once, one row of each in turn."""
    rows: list[Row] = []
    for at in range(max(len(first), len(second))):
        rows += first[at : at + 1] + second[at : at + 1]
    return rows


def sample_rows() -> list[Row]:
    """A sound recording with something of everything that version 1 can hold."""
    error = message(stop_reason="error", error_message="busy")
    return [
        HEADER,
        *call_rows(0, text_events("one ", "two é ", "\\u2028 \u2028")),
        *interleaved(call_rows(1, tool_events()), call_rows(2, text_events("a", "b"), "cancelled")),
        *call_rows(3, [t.to_wire(t.EventError(reason="error", error=error))], "error"),
        *call_rows(4, [], "abandoned"),
        *call_rows(5, text_events("x"), None),
    ]


def fault(path: Path) -> Fault | None:
    """Say what the strict reader finds wrong: code, line and call."""
    try:
        validate_recording(path)
    except RecordingFileError as error:
        return (error.code, error.line_number, error.call_index)
    return None


def fault_of(folder: Path, data: bytes) -> Fault | None:
    path = folder / "x.jsonl"
    path.write_bytes(data)
    return fault(path)
