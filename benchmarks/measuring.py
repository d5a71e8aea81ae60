"""What all benches share: rounds in turn, ratios with their spread, and the rows of one table.

A machine that is busy with other work slows whatever runs just then. So a figure and its floor take
turns, round by round, and are divided round by round; the least and the most stand beside the
median. Work within this process is timed on the processor, anything else on the clock.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Taken: TypeAlias = dict[str, list[float]]
"""Seconds by name, one figure a round."""
Unit: TypeAlias = Literal["x", "us", "ms", "MB", "MB/s", "B", "modules"]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    rounds: int
    """How often each figure is taken, after one round that does not count."""
    part: float
    """Which part of the full sizes."""

    def count(self, full: int, *, least: int = 1) -> int:
        """Scale a size, but not below what the bench needs."""
        return max(int(full * self.part), least)

    def counts(self, *full: int, least: int = 1) -> list[int]:
        """Scale sizes, from small to large; they stay different."""
        return [max(self.count(each), least * (at + 1)) for at, each in enumerate(full)]


FULL = Scale(rounds=7, part=1.0)
TINY = Scale(rounds=1, part=0.001)
"""Shows that a bench runs; its figures mean nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    area: str
    """Such as `reading`."""
    work: str
    """What was measured, and over what."""
    values: tuple[float, ...]
    """One figure a round, or one alone for what does not vary."""
    unit: Unit = "x"
    at_most: float | None = None
    """The target for the median: not above this."""
    at_least: float | None = None
    """The target for the median: not below this."""
    growth: float | None = None
    """To which power of the size the work grows, where it was measured at several."""
    sizes: str = ""
    """What was measured on."""

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None for a figure that has none."""
        if self.at_most is not None:
            return self.median <= self.at_most
        return None if self.at_least is None else self.median >= self.at_least

    @property
    def target(self) -> str:
        """The target in words."""
        if self.at_most is not None:
            return f"<= {self.at_most:g} {self.unit}"
        return "" if self.at_least is None else f">= {self.at_least:g} {self.unit}"

    @property
    def measured(self) -> str:
        """The median, and the least and most where there is more than one figure."""
        text = f"{_short(self.median)} {self.unit}"
        if len(self.values) > 1:
            text += f" ({_short(min(self.values))} to {_short(max(self.values))})"
        return text

    def to_json(self) -> dict[str, Any]:
        """Give what the results hold of it."""
        return {
            "area": self.area,
            "work": self.work,
            "median": _rounded(self.median),
            "least": _rounded(min(self.values)),
            "most": _rounded(max(self.values)),
            "unit": self.unit,
            "target": self.target,
            "met": self.is_met,
            "growth_exponent": None if self.growth is None else round(self.growth, 2),
            "sizes": self.sizes,
        }


Measure: TypeAlias = "Callable[[Path, Scale], list[Row]]"
"""What each bench offers: measure in a folder of its own, at a scale."""


def seconds_for(work: Callable[[], object]) -> float:
    """Time one run on the processor: what else the machine does then matters little."""
    started = time.process_time()
    work()
    return time.process_time() - started


def clock_seconds_for(work: Callable[[], object]) -> float:
    """Time one run on the clock, for work that waits or that other processes do."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def in_turns(
    works: Mapping[str, Callable[[], object]],
    scale: Scale,
    *,
    timed_by: Callable[[Callable[[], object]], float] = seconds_for,
) -> Taken:
    """Time all of them in turn, round by round, after one round that does not count."""
    taken: Taken = {name: [] for name in works}
    for round_number in range(scale.rounds + 1):
        for name, work in works.items():
            seconds = timed_by(work)
            if round_number:
                taken[name].append(seconds)
    return taken


def ratios(ours: Sequence[float], floor: Sequence[float]) -> tuple[float, ...]:
    """Divide round by round."""
    return tuple(one / (other or 1e-9) for one, other in zip(ours, floor, strict=True))


def scaled(values: Sequence[float], factor: float) -> tuple[float, ...]:
    """Bring figures to another unit."""
    return tuple(value * factor for value in values)


def exponent(sizes: Sequence[float], figures: Sequence[float]) -> float:
    """Say to which power of the size a figure grows, from the least size to the largest."""
    return math.log((figures[-1] or 1e-9) / (figures[0] or 1e-9)) / math.log(sizes[-1] / sizes[0])


def growth_of(sizes: Sequence[float], taken: Sequence[Sequence[float]]) -> float:
    """Do the same for the least of some rounds: it is what the work takes when nothing disturbs."""
    return exponent(sizes, [min(values) for values in taken])


def added_memory_mb(statements: str, path: Path) -> float:
    """Run statements that use `path` in a fresh interpreter; say how far its memory rose over what
    it had after the imports, which are what stands before the first empty line.
    """
    imports, _, work = statements.partition("\n\n")
    program = (
        "import sys\nfrom pathlib import Path\n"
        "def peak():\n"
        "    words = Path('/proc/self/status').read_text().split()\n"
        "    return int(words[words.index('VmHWM:') + 1])\n"
        f"path = Path(sys.argv[1])\n{imports}\nbefore = peak()\n{work}\nprint(peak() - before)\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1e3


def table(rows: Sequence[Row]) -> str:
    """Write rows as a table in Markdown."""
    cells: list[tuple[str, ...]] = [
        ("work", "measured: median (least to most)", "target", "met", "growth", "on")
    ]
    for row in rows:
        met = {True: "yes", False: "**no**", None: ""}[row.is_met]
        growth = "" if row.growth is None else f"n^{row.growth:.2f}"
        cells.append((f"{row.area}: {row.work}", row.measured, row.target, met, growth, row.sizes))
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    cells.insert(1, tuple("-" * width for width in widths))
    return "".join(
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |\n"
        for line in cells
    )


def run_alone(measure: Measure, description: str | None) -> None:
    """Run one bench as a program: print its rows."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tiny", action="store_true", help="only show that it runs")
    scale = TINY if parser.parse_args().tiny else FULL
    with tempfile.TemporaryDirectory() as name:
        print(table(measure(Path(name), scale)), end="")


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
