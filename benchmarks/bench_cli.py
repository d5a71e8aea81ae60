"""Measure how fast commands start, as ratios to what the machine could do, side by side.

A command is compared with a bare Typer program of one command, the library's import with an
interpreter that does nothing. Run it as `python benchmarks/bench_cli.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from measuring import Row, clock_seconds_for, in_turns, ratios, run_alone

if TYPE_CHECKING:
    from pathlib import Path

    from measuring import Scale

STARTS_PER_ROUND = 2
BARE_TYPER = """\
import typer

app = typer.Typer()


@app.command()
def status() -> None:
    print("off")


app()
"""
LATE_MODULES = ("anthropic", "google.genai", "openai", "httpx2", "textual", "pydantic")
COMMANDS: tuple[tuple[str, tuple[str, ...], float | None], ...] = (
    ("recordings status", ("recordings", "status"), 1.5),
    ("recordings list, empty", ("recordings", "list"), None),
    ("--help", ("--help",), None),
    ("recordings show --help", ("recordings", "show", "--help"), None),
)
IMPORT = "import openprogram.providers"


def measure(folder: Path, scale: Scale) -> list[Row]:
    """Start each program and its floor in turn."""
    bare_typer = folder / "bare_typer.py"
    bare_typer.write_text(BARE_TYPER)
    environment = os.environ | {"HOME": str(folder), "OPENPROGRAM_STATE_DIR": f"{folder}/state"}
    starts = scale.count(STARTS_PER_ROUND)

    def start(*words: str) -> None:
        for _ in range(starts):
            subprocess.run(
                [sys.executable, *words], env=environment, stdout=subprocess.DEVNULL, check=True
            )

    works = {
        "bare": lambda: start(str(bare_typer)),
        "pass": lambda: start("-c", "pass"),
        IMPORT: lambda: start("-c", IMPORT),
    }
    for name, words, _ in COMMANDS:
        works[name] = lambda words=words: start("-m", "openprogram", *words)
    taken = in_turns(works, scale, timed_by=clock_seconds_for)
    sizes = f"{starts} starts a round"
    rows = [
        Row(
            area="CLI",
            work=f"{name} / bare Typer program",
            values=ratios(taken[name], taken["bare"]),
            at_most=target,
            sizes=sizes,
        )
        for name, _, target in COMMANDS
    ]
    rows.append(
        Row(
            area="CLI",
            work=f"{IMPORT} / python -c pass",
            values=ratios(taken[IMPORT], taken["pass"]),
            at_most=2.0,
            sizes=sizes,
        )
    )
    rows.append(
        Row(
            area="CLI",
            work="recordings status: SDKs, Textual, pydantic imported",
            values=(float(count_late_modules(environment)),),
            unit="modules",
            at_most=0,
        )
    )
    return rows


def count_late_modules(environment: dict[str, str]) -> int:
    """Count what the command imports although it has no use for it."""
    command = [sys.executable, "-X", "importtime", "-m", "openprogram", "recordings", "status"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    return len(imported.intersection(LATE_MODULES))


if __name__ == "__main__":
    run_alone(measure, __doc__)
