"""A provider that answers as it is told, and the requests and events that tests record."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import TYPE_CHECKING, Any

from openprogram.providers import types as t

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

NAMES: dict[str, Any] = {"api": "scripted", "provider": "pretend", "model": "pretend-1"}
TIME_MS = 1_786_000_000_000


def message(*content: t.AssistantContent, **fields: Any) -> t.AssistantMessage:
    return t.AssistantMessage(content=list(content), timestamp=TIME_MS, **{**NAMES, **fields})


def text_message(text: str) -> t.AssistantMessage:
    return message(t.TextContent(text=text))


def request(text: str = "hi") -> tuple[t.Model, t.Context, t.SimpleStreamOptions]:
    model = t.Model(
        id="pretend-1",
        name="Pretend",
        api="scripted",
        provider="pretend",
        base_url="https://model.test",
    )
    context = t.Context(messages=[t.UserMessage(content=text, timestamp=1)])
    return model, context, t.SimpleStreamOptions()


def text_events(*deltas: str) -> list[Any]:
    """A whole stream of one text block, each event with its snapshot."""
    events: list[Any] = [
        t.EventStart(partial=message()),
        t.EventTextStart(content_index=0, partial=text_message("")),
    ]
    text = ""
    for delta in deltas:
        text += delta
        events.append(t.EventTextDelta(content_index=0, delta=delta, partial=text_message(text)))
    whole = text_message(text)
    events.append(t.EventTextEnd(content_index=0, content=text, partial=whole))
    events.append(t.EventDone(reason="stop", message=whole))
    return events


def tool_events(*deltas: str) -> list[Any]:
    """A whole stream of one tool call whose arguments come as pieces of JSON."""
    call = t.ToolCall(id="call_1", name="f", arguments=json.loads("".join(deltas)))
    early = message(t.ToolCall(id="call_1", name="f", arguments={}), stop_reason="toolUse")
    whole = message(call, stop_reason="toolUse")
    return [
        t.EventStart(partial=message()),
        t.EventToolCallStart(content_index=0, partial=early),
        *[t.EventToolCallDelta(content_index=0, delta=delta, partial=early) for delta in deltas],
        t.EventToolCallEnd(content_index=0, tool_call=call, partial=whole),
        t.EventDone(reason="toolUse", message=whole),
    ]


class Scripted:
    """Yields the given events; an exception is raised, a coroutine function awaited."""

    requires_credentials = False

    def __init__(self, events: Iterable[Any]) -> None:
        self.events: list[Any] = list(events)
        self.requests: list[tuple[Any, Any, Any]] = []
        self.is_closed = False

    async def stream(self, model: Any, context: Any, options: Any = None) -> AsyncIterator[Any]:
        self.requests.append((model, context, options))
        try:
            for event in self.events:
                if isinstance(event, BaseException):
                    raise event
                if inspect.iscoroutinefunction(event):
                    await event()
                else:
                    yield event
        finally:
            self.is_closed = True

    stream_simple = stream


async def collect(events: Any) -> list[Any]:
    return [event async for event in events]


def drain(events: Any) -> list[Any]:
    return asyncio.run(collect(events))


def rows_of(path: Any) -> list[dict[str, Any]]:
    """The rows of a file, as any JSON reader finds them."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def events_of(rows: Sequence[dict[str, Any]], call_index: int = 0) -> list[dict[str, Any]]:
    return [
        row["event"] for row in rows if row["type"] == "event" and row["call_index"] == call_index
    ]
