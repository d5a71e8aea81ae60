"""The course of some variables, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from openprogram.errors import FlightError
from openprogram.flight.trace.tracer import TraceLimits
from openprogram.flight.trace.watching import Watched, parse_watch_list, watch_lines
from traced_apps import trace_app

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = r"""
def add(total):
    total = total + 1
    word = "\x1b[2J\n" + "x" * 300
    del word
def main():
    total = 7
    add(total)
"""


def test_each_change_is_a_line(tmp_path: Path):
    trace = trace_app(tmp_path, SOURCE)
    assert list(watch_lines(trace, parse_watch_list("add.total, absent"))) == [
        "app.py:2  add  total = 7",
        "app.py:3  add  total = 8",
        "absent never got a value",
    ]
    first, last = watch_lines(trace, [Watched("word", None)])
    assert first.startswith(r'app.py:4  add  word = "\u001b[2J\nxxx')
    assert first.endswith("... (313 characters)")
    assert last == "app.py:5  add  word deleted"


def test_a_trace_that_is_not_whole_says_so(tmp_path: Path):
    source = "def main():\n    for i in range(500):\n        total = i\n"
    trace = trace_app(tmp_path, source, limits=TraceLimits(total_bytes=2_000))
    *_, last = watch_lines(trace, [Watched("total", None)])
    assert last == "the trace is not whole: size_limit"


@pytest.mark.parametrize("text", ["", "a,", "a b", "f.", "a-b", "\x1b"])
def test_what_names_no_variable_is_refused(text: str):
    with pytest.raises(FlightError, match="names no variable; give name or function"):
        parse_watch_list(text)
