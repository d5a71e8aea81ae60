"""Run every bench: print one table, and write it as JSON and into the page on performance.

Run it as `make bench`, on a machine that does as little else as can be.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import bench_cli
import bench_diff
import bench_reader
import bench_recording
import bench_redaction
import bench_replay
import bench_trace
import bench_tui
import bench_type_system
from measuring import FULL, TINY, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from measuring import Row, Scale

BENCHES = (
    bench_recording,
    bench_redaction,
    bench_reader,
    bench_diff,
    bench_replay,
    bench_cli,
    bench_tui,
    bench_type_system,
    bench_trace,
)
HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
PAGE = HERE.parent / "docs" / "performance.md"
_TABLE = re.compile(r"(?m)(?:^\|.*\|\n)+")


def measure_all(scale: Scale, *, without: Sequence[str] = ()) -> list[Row]:
    """Run one bench after the other, each in a folder of its own, none of them the user's."""
    rows: list[Row] = []
    for bench in BENCHES:
        if bench.__name__ in without:
            continue
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as name:
            os.environ["OPENPROGRAM_STATE_DIR"] = f"{name}/state"
            rows += bench.measure(Path(name), scale)
        seconds = time.perf_counter() - started
        print(f"{bench.__name__}: {seconds:.0f} s", file=sys.stderr)
    return rows


def results_of(rows: Sequence[Row], scale: Scale) -> str:
    """Write all figures as JSON, and nothing about the machine."""
    results = {
        "python": platform.python_version(),
        "rounds": scale.rounds,
        "rows": [row.to_json() for row in rows],
    }
    return json.dumps(results, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Run all; with an option only some of it, and write nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="only show that all run")
    parser.add_argument("--without", action="append", default=[], metavar="BENCH")
    given = parser.parse_args()
    scale = TINY if given.tiny else FULL
    rows = measure_all(scale, without=given.without)
    text = table(rows)
    print(text, end="")
    missed = sum(row.is_met is False for row in rows)
    met = sum(row.is_met is True for row in rows)
    print(f"\n{met} targets met, {missed} missed")
    if scale is FULL and not given.without:
        RESULTS.write_text(results_of(rows, scale), encoding="utf-8")
        # The first table of the page is this one.
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(_TABLE.sub(lambda _: text, page, count=1), encoding="utf-8")


if __name__ == "__main__":
    main()
