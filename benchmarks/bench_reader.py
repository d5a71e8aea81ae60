"""How fast recordings are read, inspected, listed and indexed, beside what must be paid.

Run it as `python benchmarks/bench_reader.py`.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from measuring import (
    Row,
    added_memory_mb,
    clock_seconds_for,
    growth_of,
    in_turns,
    ratios,
    run_alone,
    scaled,
)
from sample_recordings import write_recording

from openprogram import paths
from openprogram.providers import management
from openprogram.providers.inspection import inspect_recording
from openprogram.providers.recording.reader import validate_recording
from openprogram.providers.row_index import RowIndex

if TYPE_CHECKING:
    from collections.abc import Callable

    from measuring import Scale

SEED = 7
INSPECT = """\
from openprogram.providers.inspection import inspect_recording

kept = inspect_recording(path)
"""
INDEX = """\
from openprogram.providers.row_index import RowIndex

kept = RowIndex(path)
for count in kept.scan():
    pass
"""


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


def measure_validation(folder: Path, scale: Scale) -> list[Row]:
    """Every row is judged; the floors are paid for the same rows."""
    path, rows = folder / "rows.jsonl", list[Row]()
    for name, full, delta, is_whole in [
        ("300 B", 100_000, "word ", False),
        ("2 kB", 20_000, "w" * 1_750, False),
        ("20 kB", 4_000, "w" * 19_750, False),
        ("700 B, whole snapshots", 50_000, "word ", True),
        ("20 kB, whole snapshots", 4_000, "w" * 9_600, True),
    ]:
        count = write_recording(
            path, row_count=scale.count(full), delta=delta, per_call=100, is_whole=is_whole
        )
        taken = in_turns(
            {
                "ours": lambda: validate_recording(path),
                "envelope": lambda: loop_over(path, decode_envelope),
                "json": lambda: loop_over(path, json.loads),
            },
            scale,
        )
        # The targets are set for what is written here; whole snapshots come from older writers.
        most, least = (None, None) if is_whole else (4.0, 3.0)
        sizes = f"{count:,} rows of {path.stat().st_size // count:,} B"
        over_envelope = ratios(taken["ours"], taken["envelope"])
        over_json = ratios(taken["json"], taken["ours"])
        work = f"validate rows of {name}"
        rows += [
            Row(
                area="reading",
                work=f"{work} / decode the typed envelope",
                values=over_envelope,
                at_most=most,
                sizes=sizes,
            ),
            Row(
                area="reading",
                work=f"json.loads / {work}",
                values=over_json,
                at_least=least,
                sizes=sizes,
            ),
        ]
    return rows


def measure_growth(folder: Path, scale: Scale) -> list[Row]:
    """Time per row at three sizes, and the least that must be paid for it."""
    sizes = scale.counts(10_000, 30_000, 100_000, least=50)
    paths_ = [folder / f"growth-{size}.jsonl" for size in sizes]
    for path, size in zip(paths_, sizes, strict=True):
        write_recording(path, row_count=size, delta="word ", per_call=20)
    rows: list[Row] = []
    for name, work in (("validate", validate_recording), ("inspect", inspect_recording)):
        taken = in_turns(
            {path.name: lambda path=path, work=work: work(path) for path in paths_}, scale
        )
        seconds = list(taken.values())
        rows.append(
            Row(
                area="reading",
                work=f"{name} {sizes[-1]:,} rows / {sizes[0]:,} rows",
                values=ratios(seconds[-1], seconds[0]),
                at_most=12,
                growth=growth_of(sizes, seconds),
                sizes="calls of 20 deltas",
            )
        )
    return rows


def measure_list(folder: Path, scale: Scale) -> list[Row]:
    """Recordings of every size: read for the first time, and answered from the index."""
    root = _managed_root(folder / "many")
    sizes, files = random.Random(SEED), list[Path]()
    for number in range(scale.count(80, least=3)):
        size = int(1_000 * 10 ** sizes.uniform(0, 4) * scale.part)
        files.append(root / f"r{number}.jsonl")
        write_recording(files[-1], row_count=max(size // 300, 6), delta="word ", per_call=60)
    total = sum(file.stat().st_size for file in files)
    taken = in_turns(
        {
            "ours": lambda: [inspect_recording(file) for file in files],
            "lines": lambda: [loop_over(file) for file in files],
            "envelope": lambda: [loop_over(file, decode_envelope) for file in files],
            "bytes": lambda: [read_bytes(file) for file in files],
        },
        scale,
    )
    named = f"{len(files)} recordings of 1 kB to 10 MB, {total / 1e6:.0f} MB in all"
    return [
        Row(
            area="listing",
            work="first inspection / read the bytes",
            values=ratios(taken["ours"], taken["bytes"]),
            at_most=4,
            sizes=named,
        ),
        Row(
            area="listing",
            work="floor: loop over the lines / read the bytes",
            values=ratios(taken["lines"], taken["bytes"]),
            sizes=named,
        ),
        Row(
            area="listing",
            work="floor: decode the typed envelope / read the bytes",
            values=ratios(taken["envelope"], taken["bytes"]),
            sizes=named,
        ),
        *_measure_unchanged(folder, scale),
    ]


def _measure_unchanged(folder: Path, scale: Scale) -> list[Row]:
    """List recordings that were inspected before; the floor looks at each and reads nothing."""
    root = _managed_root(folder / "unchanged")
    count = scale.count(1_000, least=5)
    for number in range(count):
        write_recording(root / f"r{number}.jsonl", row_count=20, delta="word ", per_call=15)
        # The index keeps no file that was written this instant.
        os.utime(root / f"r{number}.jsonl", (1_786_000_000, 1_786_000_000))
    taken = in_turns(
        {
            "ours": management.list_recordings,
            "stat": lambda: [os.lstat(entry.path) for entry in os.scandir(root)],
        },
        scale,
    )
    sizes = f"{count:,} recordings"
    return [
        Row(
            area="listing",
            work="an unchanged recording, from the index",
            values=scaled(taken["ours"], 1e6 / count),
            unit="us",
            at_most=20,
            sizes=sizes,
        ),
        Row(
            area="listing",
            work="floor: lstat of each",
            values=scaled(taken["stat"], 1e6 / count),
            unit="us",
            sizes=sizes,
        ),
    ]


def _managed_root(state: Path) -> Path:
    os.environ["OPENPROGRAM_STATE_DIR"] = str(state)
    root = paths.recordings_dir()
    root.mkdir(parents=True, mode=0o700)
    return root


def measure_many_calls(folder: Path, scale: Scale) -> list[Row]:
    """One recording of many calls: what is kept of it is small."""
    path = folder / "calls.jsonl"
    rows = write_recording(path, row_count=scale.count(270_000), delta="word ", per_call=22)
    found = inspect_recording(path)
    taken = in_turns(
        {
            "ours": lambda: inspect_recording(path),
            "envelope": lambda: loop_over(path, decode_envelope),
        },
        scale,
    )
    sizes = f"{len(found.calls):,} calls, {rows:,} rows, {path.stat().st_size / 1e6:.0f} MB"
    return [
        Row(
            area="reading",
            work="inspect many short calls / decode the typed envelope",
            values=ratios(taken["ours"], taken["envelope"]),
            sizes=sizes,
        ),
        Row(
            area="reading",
            work="inspect many short calls: memory added",
            values=(added_memory_mb(INSPECT, path),),
            unit="MB",
            sizes=sizes,
        ),
    ]


def measure_row_index(folder: Path, scale: Scale) -> list[Row]:
    """What the terminal UI does with a recording too long to wait for."""
    path = folder / "million.jsonl"
    rows = write_recording(path, row_count=scale.count(1_000_000), delta="word ", per_call=500)

    def first_rows() -> None:
        with RowIndex(path) as index:
            next(index.scan())

    def scan() -> None:
        with RowIndex(path) as index:
            for _ in index.scan():
                pass

    taken = in_turns({"ours": scan, "lines": lambda: loop_over(path)}, scale)
    firsts = in_turns({"first": first_rows}, scale, timed_by=clock_seconds_for)
    sizes = f"{rows:,} rows, {path.stat().st_size / 1e6:.0f} MB"
    area = "row index"
    return [
        Row(
            area=area,
            work="find every row / loop over the lines",
            values=ratios(taken["ours"], taken["lines"]),
            sizes=sizes,
        ),
        Row(
            area=area,
            work="the first rows",
            values=scaled(firsts["first"], 1e3),
            unit="ms",
            sizes=sizes,
        ),
        Row(
            area=area,
            work="memory added",
            values=(added_memory_mb(INDEX, path),),
            unit="MB",
            sizes=sizes,
        ),
    ]


def measure(folder: Path, scale: Scale) -> list[Row]:
    """Measure all of it."""
    return [
        *measure_validation(folder, scale),
        *measure_growth(folder, scale),
        *measure_many_calls(folder, scale),
        *measure_list(folder, scale),
        *measure_row_index(folder, scale),
    ]


if __name__ == "__main__":
    run_alone(measure, __doc__)
