"""How fast recordings are read, inspected, listed, indexed and compared, beside what must be paid.

Ours and the floors take turns in every round, and the processor's time is what counts, so that a
busy machine changes little. Run it as `python benchmarks/bench_reader.py`.
"""

from __future__ import annotations

import json
import math
import os
import random
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from openprogram import paths
from openprogram.providers import management
from openprogram.providers import types as t
from openprogram.providers.comparison import find_first_difference
from openprogram.providers.inspection import inspect_recording
from openprogram.providers.recording.format import encode_header, encode_row
from openprogram.providers.recording.reader import validate_recording
from openprogram.providers.row_index import RowIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 7
NAMES: dict[str, Any] = {"api": "scripted", "provider": "pretend", "model": "pretend-1"}
STUB: dict[str, Any] = {"role": "assistant", "content": [], **NAMES, "timestamp": 1_786_000_000_000}


class Header(msgspec.Struct, tag_field="type", tag="header"):
    """The envelope of a row, what it holds left as bytes: the least a parser must do."""

    format_version: int


class Request(msgspec.Struct, tag_field="type", tag="request"):
    """Likewise."""

    call_index: int
    model: msgspec.Raw
    context: msgspec.Raw
    options: msgspec.Raw


class Event(msgspec.Struct, tag_field="type", tag="event"):
    """Likewise."""

    call_index: int
    event_index: int
    event: msgspec.Raw


class CallEnd(msgspec.Struct, tag_field="type", tag="call_end"):
    """Likewise."""

    call_index: int
    event_count: int


decode_envelope = msgspec.json.Decoder(Header | Request | Event | CallEnd).decode


def whole_message(text: str) -> dict[str, Any]:
    """A snapshot with every field, as the original implementation writes it."""
    content: list[Any] = [t.TextContent(text=text)]
    return t.to_wire(t.AssistantMessage(content=content, timestamp=1, **NAMES))


def call_lines(call_index: int, deltas: list[str], *, is_whole: bool = False) -> Iterator[bytes]:
    """One call of a recording."""
    model = t.Model(
        id="pretend-1", name="P", api="scripted", provider="pretend", base_url="https://model.test"
    )
    context = t.Context(messages=[t.UserMessage(content="a question", timestamp=1)])
    yield encode_row(
        {
            "type": "request",
            "call_index": call_index,
            "model": t.to_wire(model),
            "context": t.to_wire(context),
            "options": t.to_wire(t.SimpleStreamOptions()),
        }
    )
    derived: dict[str, Any] = {"partial": STUB, "partial_derived": True}
    events: list[dict[str, Any]] = [
        {"type": "start", "partial": whole_message("") | {"content": []}},
        {"type": "text_start", "content_index": 0, **derived},
    ]
    for delta in deltas:
        snapshot = {"partial": whole_message(delta)} if is_whole else derived
        events.append({"type": "text_delta", "content_index": 0, "delta": delta, **snapshot})
    events.append({"type": "done", "reason": "stop", "message": whole_message(deltas[-1])})
    for index, event in enumerate(events):
        yield encode_row(
            {"type": "event", "call_index": call_index, "event_index": index, "event": event}
        )
    end = {"type": "call_end", "call_index": call_index, "event_count": len(events)}
    yield encode_row({**end, "outcome": "complete"})


def write_recording(
    path: Path, *, row_count: int, delta: str, per_call: int, is_whole: bool = False
) -> int:
    """Write about `row_count` rows, and say how many."""
    written = 1
    with path.open("wb") as file:
        file.write(encode_header("bench"))
        for call_index in range(max(row_count // (per_call + 5), 1)):
            lines = list(call_lines(call_index, [delta] * per_call, is_whole=is_whole))
            file.writelines(lines)
            written += len(lines)
    path.chmod(0o600)
    return written


def seconds_for(work: Callable[[], object]) -> float:
    """Measure the processor's time: what else the machine does then matters little."""
    started = time.process_time()
    work()
    return time.process_time() - started


def rounds_of(works: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Measure all of them in turn, round by round, after one round that does not count."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for round_number in range(ROUNDS + 1):
        for name, work in works.items():
            seconds = seconds_for(work)
            if round_number:
                taken[name].append(seconds)
    return taken


def ratio(ours: list[float], floor: list[float]) -> str:
    """Divide round by round: median, and from least to most."""
    values = sorted(a / b for a, b in zip(ours, floor, strict=True))
    return f"{statistics.median(values):7.2f}x ({values[0]:.2f} to {values[-1]:.2f})"


def exponent(sizes: list[int], seconds: list[float]) -> float:
    return math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])


def read_bytes(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 18):
            pass


def loop_over(path: Path, work: Callable[[bytes], object] | None = None) -> None:
    with path.open("rb") as file:
        if work is None:
            for _ in file:
                pass
        else:
            for line in file:
                work(line)


def measure_validation(folder: Path) -> None:
    print("strict validation, against floors over the same rows")
    path = folder / "rows.jsonl"
    for name, row_count, delta, is_whole in [
        ("stubs of 300 B", 100_000, "word ", False),
        ("stubs of 2 kB", 20_000, "w" * 1_750, False),
        ("stubs of 20 kB", 4_000, "w" * 19_750, False),
        ("whole snapshots of 800 B", 50_000, "word ", True),
        ("whole snapshots of 20 kB", 4_000, "w" * 9_600, True),
    ]:
        rows = write_recording(
            path, row_count=row_count, delta=delta, per_call=100, is_whole=is_whole
        )
        taken = rounds_of(
            {
                "ours": lambda: validate_recording(path),
                "envelope": lambda: loop_over(path, decode_envelope),
                "json": lambda: loop_over(path, json.loads),
                "lines": lambda: loop_over(path),
            }
        )
        each = statistics.median(taken["ours"]) / rows * 1e6
        print(f"  {name}: {rows:,} rows of {path.stat().st_size // rows:,} B, {each:.2f} us each")
        print(f"    against the typed envelope   {ratio(taken['ours'], taken['envelope'])}")
        print(f"    json.loads against ours      {ratio(taken['json'], taken['ours'])}")
        print(f"    against a loop over lines    {ratio(taken['ours'], taken['lines'])}")


def measure_growth(folder: Path) -> None:
    path = folder / "growth.jsonl"
    sizes, validating, inspecting = [10_000, 30_000, 100_000], list[float](), list[float]()
    for row_count in sizes:
        write_recording(path, row_count=row_count, delta="word ", per_call=20)
        taken = rounds_of(
            {"v": lambda: validate_recording(path), "i": lambda: inspect_recording(path)}
        )
        validating.append(statistics.median(taken["v"]))
        inspecting.append(statistics.median(taken["i"]))
    print(f"growth over {sizes[0]:,} to {sizes[-1]:,} rows, as an exponent (1 is linear)")
    print(f"  validation {exponent(sizes, validating):.2f}, ", end="")
    print(f"inspection {exponent(sizes, inspecting):.2f}")


def measure_lists(folder: Path) -> None:
    """Many recordings of every size: read anew, and answered from the index."""
    os.environ["OPENPROGRAM_STATE_DIR"] = str(folder / "state")
    root = paths.recordings_dir()
    root.mkdir(parents=True, mode=0o700)
    sizes = random.Random(7)
    files: list[Path] = []
    for number in range(200):
        size = int(1_000 * 10 ** sizes.uniform(0, 4))
        files.append(root / f"r{number}.jsonl")
        write_recording(files[-1], row_count=max(size // 300, 6), delta="word ", per_call=60)
    total = sum(file.stat().st_size for file in files)
    taken = rounds_of(
        {
            "ours": lambda: [inspect_recording(file) for file in files],
            "lines": lambda: [loop_over(file) for file in files],
            "bytes": lambda: [read_bytes(file) for file in files],
        }
    )
    print(f"inspection of {len(files)} recordings, {total / 1e6:.0f} MB in all")
    print(f"  against a loop over lines    {ratio(taken['ours'], taken['lines'])}")
    print(f"  against reading the bytes    {ratio(taken['ours'], taken['bytes'])}")
    management.list_recordings()
    each = [seconds_for(management.list_recordings) / len(files) * 1e6 for _ in range(ROUNDS)]
    print(f"  unchanged, from the index    {statistics.median(each):7.2f} us each")


def measure_many_calls(folder: Path) -> None:
    path = folder / "calls.jsonl"
    rows = write_recording(path, row_count=10_000 * 27, delta="word ", per_call=22)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = inspect_recording(path)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    taken = rounds_of(
        {
            "ours": lambda: inspect_recording(path),
            "envelope": lambda: loop_over(path, decode_envelope),
        }
    )
    size = path.stat().st_size / 1e6
    print(f"inspection of {len(found.calls):,} calls, {rows:,} rows, {size:.0f} MB")
    print(f"  against the typed envelope   {ratio(taken['ours'], taken['envelope'])}")
    print(f"  memory it added at the most  {grown:7.1f} MB")


def measure_row_index(folder: Path) -> None:
    path = folder / "million.jsonl"
    rows = write_recording(path, row_count=1_000_000, delta="word ", per_call=500)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    firsts: list[float] = []

    def scan() -> None:
        started = time.perf_counter()
        with RowIndex(path) as index:
            for count in index.scan():
                if len(firsts) == 0 or count < 1_000:
                    firsts.append(time.perf_counter() - started)
            assert index.row_count == rows

    scan()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    taken = rounds_of({"ours": scan, "lines": lambda: loop_over(path)})
    print(f"row index of {rows:,} rows, {path.stat().st_size / 1e6:.0f} MB")
    print(f"  against a loop over lines    {ratio(taken['ours'], taken['lines'])}")
    print(f"  first rows after             {statistics.median(firsts) * 1e3:7.2f} ms")
    print(f"  memory it added at the most  {grown:7.1f} MB")


def measure_comparison() -> None:
    print("first difference of two equal values but for the last byte, against ==")
    for name, value in [
        ("text in messages", [{"role": "user", "content": "w" * 1_000} for _ in range(1_000)]),
        ("one long text", {"text": "w" * 1_000_000}),
        ("small fields", [{"a": n, "b": str(n), "c": [n, None, True]} for n in range(20_000)]),
    ]:
        text = json.dumps(value)
        one: Any = json.loads(text)
        other: Any = json.loads(text)
        last = other if isinstance(value, dict) else other[-1]
        key = list(last)[-1]
        last[key] = last[key][:-1] + ("x" if isinstance(last[key], str) else ["x"])

        def differ(one: Any = one, other: Any = other) -> object:
            return find_first_difference(one, other)

        def equal(one: Any = one, other: Any = other) -> object:
            return one == other

        taken = rounds_of({"ours": differ, "equal": equal})
        print(f"  {name:<18} {len(text):>9,} B   {ratio(taken['ours'], taken['equal'])}")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure_validation(folder)
        measure_many_calls(folder)
        measure_growth(folder)
        measure_lists(folder)
        measure_row_index(folder)
        measure_comparison()


if __name__ == "__main__":
    main()
