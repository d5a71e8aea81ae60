"""Replaying, and what vcrpy does with the same streamed answers: recording, loading, file size.

Both record what one model vendor on the loopback interface streams, through the same SDK: ours the
events, vcrpy the HTTP exchange. Run it as `python benchmarks/bench_replay.py`; it needs the `bench`
group.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, cast

import vcr  # pyright: ignore[reportMissingTypeStubs] - it comes without types
from measuring import (
    Row,
    Taken,
    added_memory_mb,
    clock_seconds_for,
    exponent,
    growth_of,
    in_turns,
    ratios,
    run_alone,
    scaled,
)
from sample_recordings import request

from openprogram.providers import types as t
from openprogram.providers.recording import RecordingProvider
from openprogram.providers.replay import ReplayProvider
from openprogram.providers.vendors.anthropic_messages import PROVIDER
from openprogram.testing import LoopbackVendor, Text

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from measuring import Scale

AREA = "replay"
DELTAS_PER_CALL = 17
"""With start, the block's start and end, and done: events of one call, about 22 as the target has.
"""
ORIGINAL_SECONDS = 13.7
"""What the original implementation took to start with 10,000 calls of 22 events, timed elsewhere.
"""
START = """\
from openprogram.providers.replay import ReplayProvider

kept = ReplayProvider(path)
"""
DELTAS = tuple(f"word {number} " for number in range(DELTAS_PER_CALL))


def vendor_request(base_url: str, text: str) -> tuple[Any, ...]:
    """What is asked of the vendor on the loopback interface."""
    _, context, _ = request(text)
    model = t.Model(
        id="m", name="M", api="anthropic-messages", provider="anthropic", base_url=base_url
    )
    return model, context, t.SimpleStreamOptions(api_key="none")


def cassette(path: Path, record_mode: str) -> AbstractContextManager[object]:
    """Let vcrpy, which has no types, record or answer every exchange within the context."""
    use_cassette = cast("Any", vcr).use_cassette
    return cast("AbstractContextManager[object]", use_cassette(str(path), record_mode=record_mode))


async def drain(events: Any) -> None:
    """Take a whole answer; one that ends in an error would make the figures worthless."""
    last = None
    async for event in events:
        last = event
    if not isinstance(last, t.EventDone):
        raise TypeError(f"the answer ended with {last!r}")


async def ask_all(provider: Any, base_url: str, count: int) -> None:
    for number in range(count):
        await drain(provider.stream_simple(*vendor_request(base_url, str(number))))


def measure_peer(folder: Path, scale: Scale) -> tuple[list[Row], Path, Path, str]:
    """Record the same answers in all ways; the last recordings stay, with the vendor's address."""
    calls = scale.count(20, least=2)
    ours, theirs = folder / "ours.jsonl", folder / "theirs.yaml"
    with LoopbackVendor(lambda _: [Text(DELTAS)]) as vendor:
        url = vendor.base_url

        def run(provider: Any) -> None:
            asyncio.run(ask_all(provider, url, calls))

        def record() -> None:
            ours.unlink(missing_ok=True)
            run(RecordingProvider(PROVIDER, ours))

        def record_with_vcr() -> None:
            theirs.unlink(missing_ok=True)
            with cassette(theirs, "all"):
                run(PROVIDER)

        taken = in_turns(
            {"bare": lambda: run(PROVIDER), "ours": record, "vcrpy": record_with_vcr},
            scale,
            timed_by=clock_seconds_for,
        )
    sizes = f"{calls} calls of {DELTAS_PER_CALL} deltas through the SDK"
    answered = calls * len("".join(DELTAS))
    rows = [
        Row(
            area="recording",
            work="streamed HTTP answers / not recorded",
            values=ratios(taken["ours"], taken["bare"]),
            sizes=sizes,
        ),
        Row(
            area="recording",
            work="vcrpy: the same answers / not recorded",
            values=ratios(taken["vcrpy"], taken["bare"]),
            sizes=sizes,
        ),
        Row(
            area="recording",
            work="file size per event",
            values=(ours.stat().st_size / calls / (DELTAS_PER_CALL + 4),),
            unit="B",
            sizes=f"{sizes}, {answered:,} B of text",
        ),
        Row(
            area="recording",
            work="vcrpy: file size per event",
            values=(theirs.stat().st_size / calls / (DELTAS_PER_CALL + 4),),
            unit="B",
            sizes=f"{sizes}, {answered:,} B of text",
        ),
    ]
    return rows, ours, theirs, url


def multiply_recording(source: Path, target: Path, count: int) -> None:
    """Write the first call of a recording again and again, each under its own index."""
    header, *rows = source.read_bytes().splitlines(keepends=True)
    first = [row for row in rows if b'"call_index":0,' in row]
    with target.open("wb") as file:
        file.write(header)
        for index in range(count):
            named = b'"call_index":%d,' % index
            file.writelines(row.replace(b'"call_index":0,', named, 1) for row in first)
    target.chmod(0o600)


def multiply_cassette(source: Path, target: Path, count: int) -> None:
    """Do the same with the first exchange of a cassette."""
    head, *exchanges = source.read_text().split("- request:\n")
    with target.open("w") as file:
        file.write(head)
        for _ in range(count):
            file.write("- request:\n" + exchanges[0])
        file.write("version: 1\n")


def start_and_close(path: Path) -> None:
    ReplayProvider(path).close()


def load_cassette(path: Path) -> None:
    # The cassette is read as it is entered.
    with cassette(path, "none"):
        pass


def loads_of_lines(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def measure_starts(folder: Path, scale: Scale, ours: Path, theirs: Path) -> list[Row]:
    """Start with more and more of the same calls."""
    sizes = scale.counts(500, 2_000, 10_000, least=3)
    works: dict[str, Callable[[], object]] = {}
    for size in sizes:
        recording, exchanges = folder / f"{size}.jsonl", folder / f"{size}.yaml"
        multiply_recording(ours, recording, size)
        works[f"ours {size}"] = lambda path=recording: start_and_close(path)
        if size != sizes[-1]:
            multiply_cassette(theirs, exchanges, size)
            works[f"vcrpy {size}"] = lambda path=exchanges: load_cassette(path)
    largest = folder / f"{sizes[-1]}.jsonl"
    works["json"] = lambda: loads_of_lines(largest)
    taken = in_turns(works, scale)
    size_mb = largest.stat().st_size / 1e6
    named = f"{sizes[-1]:,} calls of {DELTAS_PER_CALL + 4} events, {size_mb:.0f} MB"
    starts = [taken[f"ours {size}"] for size in sizes]
    shared = sizes[:-1]
    return [
        Row(
            area=AREA,
            work="vcrpy loads the same exchanges / start",
            values=ratios(taken[f"vcrpy {shared[-1]}"], taken[f"ours {shared[-1]}"]),
            at_least=10,
            growth=growth_of(shared, [taken[f"vcrpy {size}"] for size in shared]),
            sizes=f"{shared[-1]:,} calls; growth is vcrpy's",
        ),
        Row(
            area=AREA,
            work="json.loads of each line / start",
            values=ratios(taken["json"], starts[-1]),
            growth=growth_of(sizes, starts),
            sizes=named,
        ),
        Row(
            area=AREA,
            work="the original's 13.7 s, timed elsewhere / start",
            values=tuple(ORIGINAL_SECONDS / seconds for seconds in starts[-1]),
            at_least=20,
            sizes=named,
        ),
        Row(
            area=AREA,
            work="memory that start added / file size",
            values=(added_memory_mb(START, largest) / size_mb,),
            at_most=1.2,
            sizes=named,
        ),
    ]


def measure_next_call(folder: Path, scale: Scale, ours: Path, url: str) -> list[Row]:
    """Serve calls from a short file and from a long one."""
    asked = scale.count(40, least=2)
    sizes = [asked * (scale.rounds + 1), scale.count(10_000, least=asked * (scale.rounds + 2))]
    works: dict[str, Callable[[], object]] = {}
    providers: list[ReplayProvider] = []
    for size in sizes:
        path = folder / f"next-{size}.jsonl"
        multiply_recording(ours, path, size)
        providers.append(ReplayProvider(path))

        def serve(provider: ReplayProvider = providers[-1]) -> None:
            asyncio.run(serve_some(provider, url, asked))

        works[str(size)] = serve
    taken: Taken = in_turns(works, scale)
    for provider in providers:
        provider.close()
    few, many = (taken[str(size)] for size in sizes)
    return [
        Row(
            area=AREA,
            work=f"next call of {sizes[1]:,} / of {sizes[0]:,}",
            values=ratios(many, few),
            at_most=1.3,
            growth=exponent(sizes, [min(few), min(many)]),
            sizes=f"{asked} calls a round",
        ),
        Row(
            area=AREA,
            work="next call, all its events",
            values=scaled(many, 1e6 / asked),
            unit="us",
            sizes=f"{DELTAS_PER_CALL + 4} events",
        ),
    ]


async def serve_some(provider: ReplayProvider, url: str, count: int) -> None:
    for _ in range(count):
        # Every recorded call asks what the first did.
        await drain(provider.stream_simple(*vendor_request(url, "0")))


def measure(folder: Path, scale: Scale) -> list[Row]:
    """Measure all of it."""
    rows, ours, theirs, url = measure_peer(folder, scale)
    rows += measure_starts(folder, scale, ours, theirs)
    rows += measure_next_call(folder, scale, ours, url)
    return rows


if __name__ == "__main__":
    run_alone(measure, __doc__)
