"""Measure how fast commands start, as ratios to what the machine could do, side by side.

A command is compared with a bare Typer program of one command, the library's import with an
interpreter that does nothing. Rounds alternate, so that a busy machine slows both sides.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROUNDS = 7
STARTS_PER_ROUND = 5

BARE_TYPER = """\
import typer

app = typer.Typer()


@app.command()
def status() -> None:
    print("off")


app()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two programs, and how much longer the one may take."""

    name: str
    """What is measured."""
    ours: tuple[str, ...]
    """The words after the interpreter."""
    floor_name: str
    """What it is compared with."""
    floor: tuple[str, ...]
    """The words after the interpreter."""
    most_ratio: float | None
    """The target; None where the figure is only shown."""


def comparisons(bare_typer: Path) -> list[Comparison]:
    """List what is compared."""
    typer_floor = ("bare Typer program", (str(bare_typer),))
    command = ("-m", "openprogram")
    return [
        Comparison(
            name=name,
            ours=ours,
            floor_name=floor_name,
            floor=floor,
            most_ratio=most_ratio,
        )
        for name, ours, (floor_name, floor), most_ratio in (
            ("recordings status", (*command, "recordings", "status"), typer_floor, 1.5),
            ("recordings list, empty", (*command, "recordings", "list"), typer_floor, None),
            ("--help", (*command, "--help"), typer_floor, None),
            (
                "recordings show --help",
                (*command, "recordings", "show", "--help"),
                typer_floor,
                None,
            ),
            (
                "import openprogram.providers",
                ("-c", "import openprogram.providers"),
                ("python -c pass", ("-c", "pass")),
                2.0,
            ),
        )
    ]


def seconds(words: tuple[str, ...], environment: dict[str, str]) -> float:
    """Time some starts of one program, in seconds each."""
    command = [sys.executable, *words]
    started = time.perf_counter()
    for _ in range(STARTS_PER_ROUND):
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - started) / STARTS_PER_ROUND


def measure(compared: Comparison, environment: dict[str, str]) -> list[tuple[float, float]]:
    """Time both programs in alternating rounds, after a warm-up; seconds a start each."""
    seconds(compared.ours, environment)
    seconds(compared.floor, environment)
    return [
        (seconds(compared.ours, environment), seconds(compared.floor, environment))
        for _ in range(ROUNDS)
    ]


def main() -> int:
    """Measure and print; 1 when a target is missed."""
    missed = 0
    print(f"{ROUNDS} alternating rounds of {STARTS_PER_ROUND} starts; ratio: median (min-max)")
    with tempfile.TemporaryDirectory() as directory:
        bare_typer = Path(directory, "bare_typer.py")
        bare_typer.write_text(BARE_TYPER)
        environment = os.environ | {
            "HOME": directory,
            "OPENPROGRAM_STATE_DIR": f"{directory}/state",
        }
        for compared in comparisons(bare_typer):
            rounds = measure(compared, environment)
            ratios = [ours / floor for ours, floor in rounds]
            median = statistics.median(ratios)
            target = "" if compared.most_ratio is None else f"  target <= {compared.most_ratio}"
            is_missed = compared.most_ratio is not None and median > compared.most_ratio
            missed += is_missed
            print(
                f"{compared.name:30}{median:6.2f}x ({min(ratios):.2f}-{max(ratios):.2f}) "
                f"of {compared.floor_name}; "
                f"{statistics.median(ours for ours, _ in rounds) * 1000:.0f} ms against "
                f"{statistics.median(floor for _, floor in rounds) * 1000:.0f} ms"
                f"{target}{'  MISSED' if is_missed else ''}"
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
