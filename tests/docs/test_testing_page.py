"""The guide to testing is true: its program runs, and its tables are all there is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from openprogram import pytest_plugin

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")


def _first_cells(heading: str) -> list[str]:
    table = re.search(rf"(?m)^\| {heading} \|.*\n\|.*\n((?:\|.*\n)+)", PAGE)
    assert table is not None
    return re.findall(r"(?m)^\| `(\w+)", table[1])


def test_the_first_programs_run_as_they_stand():
    programs = re.findall(r"(?s)```python\n(.*?)```", PAGE)
    program = "\n".join(programs[:2])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("http://127.0.0.1:")


def test_modes_options_and_settings_are_all_there():
    source = Path(pytest_plugin.__file__).read_text(encoding="utf-8")
    assert _first_cells("mode") == re.findall(
        r'"(\w+)"', source.split("_MODES: Final = ")[1].split("\n")[0]
    )
    settings = re.findall(r'addini\(\s*"(\w+)"', source)
    assert _first_cells("setting") == settings
    mark = re.search(r"\{_NAME\}\((.*?)\):", source)
    assert mark is not None
    assert _first_cells("option") == re.findall(r"(\w+)=", mark[1])
