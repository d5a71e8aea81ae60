"""The benches run, and the page on performance says what the results hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
RESULTS: dict[str, Any] = json.loads(
    (CHECKOUT / "benchmarks" / "results.json").read_text(encoding="utf-8")
)
PAGE = (CHECKOUT / "docs" / "performance.md").read_text(encoding="utf-8")
STARTS_MANY_PROGRAMS = ("bench_cli", "bench_tui", "bench_replay")


def test_the_benches_run_at_tiny_sizes_and_write_nothing(tmp_path: Path):
    pytest.importorskip("pydantic")
    pytest.importorskip("vcr")
    words = [word for name in STARTS_MANY_PROGRAMS for word in ("--without", name)]
    program = str(CHECKOUT / "benchmarks" / "run_all.py")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    before = {path: path.stat().st_mtime_ns for path in (CHECKOUT / "benchmarks").glob("*.json")}
    done = subprocess.run(
        [sys.executable, program, "--tiny", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    works = {cells[0] for cells in _rows_of(done.stdout)}
    assert len(works) > 50
    assert {work.partition(":")[0] for work in works} == {
        "recording",
        "redaction",
        "reading",
        "listing",
        "row index",
        "diff",
        "type system",
        "trace",
    }
    assert before == {
        path: path.stat().st_mtime_ns for path in (CHECKOUT / "benchmarks").glob("*.json")
    }
    assert list(folder.iterdir()) == []


def test_the_page_shows_the_results():
    figures, _, missed = PAGE.partition("## Targets that are missed")
    shown = [(cells[0], cells[2], cells[3].strip("*")) for cells in _rows_of(figures)]
    words = {True: "yes", False: "no", None: ""}
    rows: list[dict[str, Any]] = RESULTS["rows"]
    assert shown == [
        (f"{row['area']}: {row['work']}", row["target"], words[row["met"]]) for row in rows
    ]
    assert not [row["work"] for row in rows if row["met"] is False and row["work"] not in missed]


def test_the_results_tell_nothing_about_the_machine():
    assert set(RESULTS) == {"python", "rounds", "rows"}
    assert RESULTS["rounds"] >= 7
    text = json.dumps(RESULTS)
    assert not re.search(r"/(?:tmp|home|root|work|usr)\b|\b\d{4}-\d{2}-\d{2}\b", text)


def _rows_of(text: str) -> list[list[str]]:
    """Take the first table apart, without its head."""
    lines = re.findall(r"(?m)^\| (.*) \|$", text)
    return [[cell.strip() for cell in f" {line} ".split(" | ")] for line in lines[2:]]
