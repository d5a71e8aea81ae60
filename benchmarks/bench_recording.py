"""What recording adds to a call: time per event, size per event, and how both grow.

The floors: the same stream without a recorder, and bare appends to a file. Run it as
`python benchmarks/bench_recording.py`.
"""

from __future__ import annotations

import asyncio
import os
from itertools import count
from typing import TYPE_CHECKING, Any

from measuring import (
    Row,
    Taken,
    clock_seconds_for,
    exponent,
    growth_of,
    in_turns,
    ratios,
    run_alone,
    scaled,
)
from sample_recordings import message, request

from openprogram.providers import types as t
from openprogram.providers.recording import RecordingProvider, RecordingSink

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from measuring import Scale

AREA = "recording"
DELTA = "some words of an answer that goes on for a while. "


def events_of(delta_count: int, *, cap: int | None = None) -> list[Any]:
    """A stream of deltas; with a cap, blocks begin anew at that many characters."""
    begun = t.EventStart(partial=message(""))
    begun.partial.content = []
    events: list[Any] = [begun, t.EventTextStart(content_index=0, partial=message(""))]
    text = ""
    for _ in range(delta_count):
        if cap and len(text) >= cap:
            events.append(t.EventTextEnd(content_index=0, content=text, partial=message(text)))
            text = ""
            events += [begun, t.EventTextStart(content_index=0, partial=message(""))]
        text += DELTA
        events.append(t.EventTextDelta(content_index=0, delta=DELTA, partial=message(text)))
    events.append(t.EventTextEnd(content_index=0, content=text, partial=message(text)))
    events.append(t.EventDone(reason="stop", message=message(text)))
    return events


class Scripted:
    """Yields the events it was given."""

    def __init__(self, events: list[Any]) -> None:
        self.events = events

    async def stream(self, *_: Any) -> AsyncIterator[Any]:
        for event in self.events:
            yield event


async def drain(events: Any) -> None:
    async for _ in events:
        pass


def ask(provider: Any, text: str = "a question") -> None:
    """Ask once, and take the whole answer."""
    asyncio.run(drain(provider.stream(*request(text))))


def take_bare_and_recorded(
    streams: dict[int, list[Any]], folder: Path, scale: Scale, *, name: str
) -> tuple[Taken, Taken]:
    """Time each stream as it is, and recorded into a new file."""
    numbers = count()

    def record(events: list[Any]) -> None:
        provider = RecordingProvider(Scripted(events), folder / f"{name}-{next(numbers)}.jsonl")
        ask(provider)

    works: dict[str, Callable[[], object]] = {}
    for size, events in streams.items():
        works[f"bare {size}"] = lambda events=events: ask(Scripted(events))
        works[f"ours {size}"] = lambda events=events: record(events)
    taken = in_turns(works, scale)
    bare = {str(size): taken[f"bare {size}"] for size in streams}
    return bare, {str(size): taken[f"ours {size}"] for size in streams}


def added_us(ours: list[float], bare: list[float], event_count: int) -> tuple[float, ...]:
    """Say what a recorder adds per event, round by round."""
    return tuple((y - x) / event_count * 1e6 for x, y in zip(bare, ours, strict=True))


def measure_events(folder: Path, scale: Scale) -> list[Row]:
    """Many small deltas; their snapshots have one size, so that an event is like the next."""
    streams = {
        size: events_of(size, cap=1_000) for size in scale.counts(500, 2_000, 8_000, least=10)
    }
    bare, ours = take_bare_and_recorded(streams, folder, scale, name="events")
    sizes = list(streams)
    added = {
        size: added_us(ours[str(size)], bare[str(size)], len(events))
        for size, events in streams.items()
    }
    fd = os.open(folder / "floor", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    row, appends = b"x" * 300 + b"\n", scale.count(10_000)
    floor = in_turns({"append": lambda: [os.write(fd, row) for _ in range(appends)]}, scale)
    os.close(fd)
    return [
        Row(
            area=AREA,
            work="added per event, snapshots of 1 kB",
            values=added[sizes[-1]],
            unit="us",
            at_most=40,
            growth=growth_of(sizes, [ours[str(size)] for size in sizes]),
            sizes=f"{sizes[0]:,} to {sizes[-1]:,} deltas",
        ),
        Row(
            area=AREA,
            work="floor: one bare append",
            values=scaled(floor["append"], 1e6 / appends),
            unit="us",
            sizes="300 B",
        ),
    ]


def measure_event_size(folder: Path, scale: Scale) -> list[Row]:
    """One number of deltas, each snapshot larger than the other stream's."""
    deltas = scale.count(1_000, least=20)
    caps = (1_000, 4_000, 16_000)
    streams = {cap: events_of(deltas, cap=cap) for cap in caps}
    bare, ours = take_bare_and_recorded(streams, folder, scale, name="caps")
    return [
        Row(
            area=AREA,
            work="a stream with snapshots of 16 kB / of 1 kB",
            values=ratios(ours["16000"], ours["1000"]),
            at_most=16,
            growth=growth_of(caps, [ours[str(cap)] for cap in caps]),
            sizes=f"{deltas:,} deltas",
        ),
        Row(
            area=AREA,
            work="recorded stream, snapshots of 1 kB / bare stream",
            values=ratios(ours["1000"], bare["1000"]),
            sizes=f"{deltas:,} deltas",
        ),
    ]


def measure_long_replies(folder: Path, scale: Scale) -> list[Row]:
    """One reply, longer and longer: file and time have to grow as it does."""
    deltas = scale.counts(100, 1_000, 4_000, least=10)
    streams = {size: events_of(size) for size in deltas}
    _, ours = take_bare_and_recorded(streams, folder, scale, name="long")
    file_sizes: list[float] = []
    for size, events in streams.items():
        path = folder / f"size-{size}.jsonl"
        ask(RecordingProvider(Scripted(events), path))
        file_sizes.append(float(path.stat().st_size))
    # The text stands in the deltas, in `text_end` and in `done`.
    text_bytes = 3 * deltas[-1] * len(DELTA)
    sizes = f"{deltas[0]:,} to {deltas[-1]:,} deltas"
    each = {size: [seconds / len(streams[size]) for seconds in ours[str(size)]] for size in deltas}
    return [
        Row(
            area=AREA,
            work="file size of one long reply, beyond its text, per event",
            values=((file_sizes[-1] - text_bytes) / len(streams[deltas[-1]]),),
            unit="B",
            at_most=350,
            growth=exponent(deltas, file_sizes),
            sizes=sizes,
        ),
        Row(
            area=AREA,
            work=f"time per event, reply of {deltas[-1]:,} deltas / of {deltas[1]:,}",
            values=ratios(each[deltas[-1]], each[deltas[1]]),
            at_most=1.3,
            growth=growth_of(deltas[1:], [ours[str(size)] for size in deltas[1:]]),
            sizes=sizes,
        ),
    ]


def measure_begin(folder: Path, scale: Scale) -> list[Row]:
    """Begin a call in a file that has few of them, and in one that has many."""
    wire: dict[str, Any] = {"model": {}, "context": {"messages": []}, "options": None}
    few_and_many = [10, scale.count(10_000, least=20)]
    sinks: list[RecordingSink] = []
    for size in few_and_many:
        sink = RecordingSink(folder / f"begin-{size}.jsonl")
        for index in range(size):
            row = f'{{"type":"call_end","call_index":{index},"event_count":0}}\n'
            sink.begin_call(wire)
            sink.append_rows([row.encode()])
        sinks.append(sink)
    calls = scale.count(300, least=5)
    few, many = sinks

    def begin(sink: RecordingSink) -> None:
        for _ in range(calls):
            sink.begin_call(wire)

    taken = in_turns(
        {"few": lambda: begin(few), "many": lambda: begin(many)}, scale, timed_by=clock_seconds_for
    )
    for sink in sinks:
        sink.close()
    return [
        Row(
            area=AREA,
            work=f"begin a call after {few_and_many[1]:,} calls / after 10",
            values=ratios(taken["many"], taken["few"]),
            at_most=1.3,
            sizes=f"{calls} calls a round",
        )
    ]


def measure(folder: Path, scale: Scale) -> list[Row]:
    """Measure all of it."""
    return [
        *measure_events(folder, scale),
        *measure_event_size(folder, scale),
        *measure_long_replies(folder, scale),
        *measure_begin(folder, scale),
    ]


if __name__ == "__main__":
    run_alone(measure, __doc__)
