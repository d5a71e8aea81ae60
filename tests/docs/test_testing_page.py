"""The guide to testing is true: its programs run, and its tables are all there is."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from openprogram import pytest_plugin

if TYPE_CHECKING:
    import pytest

    from suite import Run

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")


def _first_cells(heading: str) -> list[str]:
    table = re.search(rf"(?m)^\| {heading} \|.*\n\|.*\n((?:\|.*\n)+)", PAGE)
    assert table is not None
    return re.findall(r"(?m)^\| `(\w+)", table[1])


PROGRAMS = re.findall(r"(?s)```python\n(.*?)```", PAGE)
THEIR_AGENT = """
import asyncio
import builtins

from openprogram.providers import complete, register_api_provider
from openprogram.providers import types as t
from openprogram.testing import FauxProvider, Text

MODEL = t.Model(id="m", name="m", api="faux", provider="faux", base_url="")


def ask_my_agent(question):
    register_api_provider("faux", FauxProvider([[Text("Tea is at four.")]]))
    context = t.Context(messages=[t.UserMessage(content=question, timestamp=1)])
    return asyncio.run(complete(MODEL, context)).content[0].text


builtins.ask_my_agent = ask_my_agent
"""
"""What the page takes as the reader's own; a conftest, so that the program stays as it stands."""


def test_the_first_programs_run_as_they_stand():
    program = "\n".join(PROGRAMS[:2])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("http://127.0.0.1:")


def test_the_recorded_test_runs_as_it_stands_and_replays(run: Run, pytester: pytest.Pytester):
    assert len(PROGRAMS) == 3
    commands = re.findall(r"(?m)^    (pytest.*?)  +# ", PAGE)
    pytester.makeconftest(THEIR_AGENT)
    (pytester.path / "test_tea.py").write_text(PROGRAMS[2], encoding="utf-8")
    for command in commands:
        run(*shlex.split(command)[1:]).assert_outcomes(passed=1)
    (path,) = pytester.path.glob("recordings/test_tea/*.jsonl")
    assert "When is tea?" in path.read_text(encoding="utf-8")
    assert [shlex.split(command)[1:] for command in commands] == [["--record-mode=once"], []]


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
