"""What tracing costs, against the same work without a tracer.

Python 3.11 is told of lines in another way than later versions, so the target differs. Run it as
`python benchmarks/bench_trace.py`.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

from measuring import Row, in_turns, ratios, run_alone

from openprogram.flight.trace.tracer import Tracer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from measuring import Scale

AREA = "trace"
AT_MOST = 60 if hasattr(sys, "monitoring") else 120
REPEATS = 20
"""The work alone is so short that it is timed several times over."""
SOURCE = '''
"""Work to trace."""


def add(count):
    total = 0
    for number in range(count):
        total += number
    return total


def call(count):
    for number in range(count):
        step(number)


def step(number):
    return number


def collect(count):
    found = {"items": [], "name": "a"}
    for number in range(count):
        found["items"].append(number % 10)
        if number % 20 == 0:
            found["items"] = []
    return found
'''
WORKS = {
    "add": ("an int loop", AT_MOST),
    "call": ("a call in a loop", None),
    "collect": ("a loop that changes a dict of lists", None),
}


def measure(folder: Path, scale: Scale) -> list[Row]:
    """Measure all of it."""
    path = folder / "work_to_trace.py"
    path.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("work_to_trace", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows: list[Row] = []
    for name, (words, at_most) in WORKS.items():
        work: Callable[[int], object] = getattr(module, name)
        count = scale.count(50_000 if at_most else 10_000, least=10)

        def alone(work: Callable[[int], object] = work, count: int = count) -> None:
            for _ in range(REPEATS):
                work(count)

        def traced(work: Callable[[int], object] = work, count: int = count) -> None:
            with Tracer(folder / "bench.trace", trace_root=folder):
                work(count)

        taken = in_turns({"alone": alone, "traced": traced}, scale)
        floor = [seconds / REPEATS for seconds in taken["alone"]]
        rows.append(
            Row(
                area=AREA,
                work=f"{words}, traced / not traced",
                values=ratios(taken["traced"], floor),
                at_most=at_most,
                sizes=f"{count:,} rounds",
            )
        )
    return rows


if __name__ == "__main__":
    run_alone(measure, __doc__)
