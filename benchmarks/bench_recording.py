"""What recording adds to a call: time per event, size per event, and how both grow.

Floors stand next to it: the same stream without a recorder, and bare appends to a file. Run it as
`python benchmarks/bench_recording.py`.
"""

from __future__ import annotations

import asyncio
import math
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openprogram.providers import types as t
from openprogram.providers.recording import RecordingProvider, RecordingSink
from openprogram.providers.replay import ReplayProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

ROUNDS = 7
DELTA = "some words of an answer that goes on for a while. "


def message(text: str) -> t.AssistantMessage:
    """The message so far."""
    return t.AssistantMessage(
        content=[t.TextContent(text=text)],
        api="scripted",
        provider="pretend",
        model="pretend-1",
        timestamp=1_786_000_000_000,
    )


def events_of(count: int, *, cap: int | None = None) -> list[Any]:
    """A stream of `count` deltas; with a cap, blocks begin anew at that many characters."""
    events: list[Any] = [t.EventStart(partial=message(""))]
    events[0].partial.content = []
    events.append(t.EventTextStart(content_index=0, partial=message("")))
    text = ""
    for _ in range(count):
        if cap and len(text) >= cap:
            events.append(t.EventTextEnd(content_index=0, content=text, partial=message(text)))
            text = ""
            events.append(t.EventStart(partial=message("")))
            events[-1].partial.content = []
            events.append(t.EventTextStart(content_index=0, partial=message("")))
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


def request(text: str = "hi") -> tuple[Any, Any, Any]:
    model = t.Model(
        id="pretend-1", name="P", api="scripted", provider="pretend", base_url="https://model.test"
    )
    context = t.Context(messages=[t.UserMessage(content=text, timestamp=1)])
    return model, context, t.SimpleStreamOptions()


async def drain(events: Any) -> None:
    async for _ in events:
        pass


def seconds_for(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def show(name: str, values: list[float], unit: str) -> None:
    values = sorted(values)
    print(
        f"{name:<58} {statistics.median(values):10.2f} {unit}"
        f"  ({values[0]:.2f} to {values[-1]:.2f})"
    )


def exponent(sizes: list[int], figures: list[float]) -> float:
    return math.log(figures[-1] / figures[0]) / math.log(sizes[-1] / sizes[0])


def measure_events(folder: Path) -> None:
    print("adding a recorder to a stream of small deltas, snapshots of about 1 kB")
    for count in (500, 1_000, 2_000):
        events = events_of(count, cap=1_000)
        bare = Scripted(events)
        added: list[float] = []
        for round_number in range(ROUNDS):
            plain = seconds_for(lambda bare=bare: asyncio.run(drain(bare.stream(*request()))))
            path = folder / f"events-{count}-{round_number}.jsonl"
            provider = RecordingProvider(bare, path)
            recorded = seconds_for(
                lambda provider=provider: asyncio.run(drain(provider.stream(*request())))
            )
            added.append((recorded - plain) / len(events) * 1e6)
        show(f"  {count:,} deltas: added per event", added, "us")
    fd = os.open(folder / "floor", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    row = b"x" * 300 + b"\n"
    floor = [
        seconds_for(lambda: [os.write(fd, row) for _ in range(10_000)]) / 1e4 * 1e6
        for _ in range(ROUNDS)
    ]
    os.close(fd)
    show("  floor: one bare append", floor, "us")


def measure_long_replies(folder: Path) -> None:
    print("one reply of many deltas: bytes beyond the text, and time, per event")
    sizes = [100, 1_000, 4_000]
    bytes_: list[float] = []
    seconds: list[float] = []
    for count in sizes:
        events = events_of(count)
        path = folder / f"long-{count}.jsonl"
        taken = seconds_for(
            lambda events=events, path=path: asyncio.run(
                drain(RecordingProvider(Scripted(events), path).stream(*request()))
            )
        )
        text_bytes = count * len(DELTA)
        size = path.stat().st_size
        bytes_.append(float(size))
        seconds.append(taken)
        print(
            f"  {count:>5,} deltas: {size / 1e3:9.1f} kB; {(size - 3 * text_bytes) / count:6.1f} B"
            f" an event beyond the text (deltas, text_end, done); {taken / count * 1e6:7.1f} us"
        )
    print(f"  growth: bytes n^{exponent(sizes, bytes_):.2f}, time n^{exponent(sizes, seconds):.2f}")


def measure_begin(folder: Path) -> None:
    print("beginning a call in a file that has 10 or 10,000 of them")
    paths: dict[int, Path] = {}
    ask: dict[str, Any] = {"model": {}, "context": {"messages": []}, "options": None}
    for count in (10, 10_000):
        paths[count] = folder / f"begin-{count}.jsonl"
        with RecordingSink(paths[count]) as sink:
            for index in range(count):
                row = f'{{"type":"call_end","call_index":{index},"event_count":0}}\n'
                sink.begin_call(ask)
                sink.append_rows([row.encode()])
    ratios: list[float] = []
    with RecordingSink(paths[10]) as small, RecordingSink(paths[10_000]) as large:
        for _ in range(ROUNDS):
            few = seconds_for(lambda: [small.begin_call(ask) for _ in range(300)])
            many = seconds_for(lambda: [large.begin_call(ask) for _ in range(300)])
            ratios.append(many / few)
    show("  10,000 against 10", ratios, "x")


def measure_replay(folder: Path) -> None:
    print("replaying a file of 10,000 calls, and of fewer")
    for count in (100, 1_000, 10_000):
        path = folder / f"replay-{count}.jsonl"
        with RecordingSink(path) as sink:
            provider = RecordingProvider(Scripted(events_of(6)), sink)

            async def record(provider: Any = provider, count: int = count) -> None:
                for index in range(count):
                    await drain(provider.stream(*request(str(index))))

            asyncio.run(record())
        started = [seconds_for(lambda path=path: ReplayProvider(path).close()) for _ in range(3)]
        replay = ReplayProvider(path)
        calls = [
            seconds_for(
                lambda index=index, replay=replay: asyncio.run(
                    drain(replay.stream(*request(str(index))))
                )
            )
            for index in range(100)
        ]
        replay.close()
        size = path.stat().st_size
        print(
            f"  {count:>6,} calls, {size / 1e6:6.1f} MB: start {statistics.median(started):6.3f} s"
            f" ({size / 1e6 / statistics.median(started):5.1f} MB/s),"
            f" next call {statistics.median(calls) * 1e6:6.0f} us"
        )


def main() -> None:
    """Run all of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure_events(folder)
        measure_long_replies(folder)
        measure_begin(folder)
        measure_replay(folder)


if __name__ == "__main__":
    main()
