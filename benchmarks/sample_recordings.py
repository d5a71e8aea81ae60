"""Recordings of any size for the benches, written quickly: a row is encoded once, then numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openprogram.providers import types as t
from openprogram.providers.recording.format import encode_header, encode_row

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES: dict[str, Any] = {"api": "scripted", "provider": "pretend", "model": "pretend-1"}
STUB: dict[str, Any] = {"role": "assistant", "content": [], **NAMES, "timestamp": 1_786_000_000_000}
MODEL = t.Model(
    id="pretend-1", name="P", api="scripted", provider="pretend", base_url="https://model.test"
)
OTHER_ROWS_PER_CALL = 5
"""Rows of a call besides its deltas: request, start, text_start, done, call_end."""


def message(text: str) -> t.AssistantMessage:
    """A message with every field."""
    return t.AssistantMessage(content=[t.TextContent(text=text)], timestamp=1, **NAMES)


def request(text: str = "a question") -> tuple[t.Model, t.Context, t.SimpleStreamOptions]:
    """What a provider is asked."""
    context = t.Context(messages=[t.UserMessage(content=text, timestamp=1)])
    return MODEL, context, t.SimpleStreamOptions()


def wire_events(deltas: list[str], *, is_whole: bool) -> list[dict[str, Any]]:
    """The events of one call, as rows hold them: snapshots left out, or whole as older writers do.

    The events of a real stream have all of the text so far in a whole snapshot; here each has its
    own delta, so that every row is as long as the next.
    """
    derived: dict[str, Any] = {"partial": STUB, "partial_derived": True}
    empty: dict[str, Any] = t.to_wire(message("")) | {"content": []}
    events: list[dict[str, Any]] = [
        {"type": "start", "partial": empty},
        {"type": "text_start", "content_index": 0, **derived},
    ]
    for delta in deltas:
        snapshot = {"partial": t.to_wire(message(delta))} if is_whole else derived
        events.append({"type": "text_delta", "content_index": 0, "delta": delta, **snapshot})
    events.append({"type": "done", "reason": "stop", "message": t.to_wire(message(deltas[-1]))})
    return events


def call_lines(
    call_index: int, events: list[bytes], *, text: str = "a question"
) -> Iterator[bytes]:
    """Number the rows of one call; the events are encoded already."""
    model, context, options = request(text)
    yield encode_row(
        {
            "type": "request",
            "call_index": call_index,
            "model": t.to_wire(model),
            "context": t.to_wire(context),
            "options": t.to_wire(options),
        }
    )
    for index, event in enumerate(events):
        yield b'{"type":"event","call_index":%d,"event_index":%d,"event":%b}\n' % (
            call_index,
            index,
            event,
        )
    end = {"type": "call_end", "call_index": call_index, "event_count": len(events)}
    yield encode_row({**end, "outcome": "complete"})


def write_recording(
    path: Path, *, row_count: int, delta: str, per_call: int, is_whole: bool = False
) -> int:
    """Write about `row_count` rows, and say how many.

    Args:
        path: The file.
        row_count: How many rows, roughly: calls are written whole, and one at least.
        delta: The text of each delta.
        per_call: How many deltas a call has.
        is_whole: Write whole snapshots, not stubs.

    Returns:
        The number of rows.
    """
    wire = wire_events([delta] * per_call, is_whole=is_whole)
    events = [encode_row(event)[:-1] for event in wire]
    written = 1
    with path.open("wb") as file:
        file.write(encode_header("bench"))
        for call_index in range(max(row_count // (per_call + OTHER_ROWS_PER_CALL), 1)):
            lines = list(call_lines(call_index, events))
            file.writelines(lines)
            written += len(lines)
    path.chmod(0o600)
    return written
