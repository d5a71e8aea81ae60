"""What only `sys.monitoring` can get wrong."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.errors import FlightError
from openprogram.flight.trace.reader import Trace
from openprogram.flight.trace.tracer import TraceLimits, Tracer
from traced_apps import load_app

if TYPE_CHECKING:
    from pathlib import Path

MONITORING: Any = getattr(sys, "monitoring", None)
pytestmark = pytest.mark.skipif(MONITORING is None, reason="sys.monitoring came with Python 3.12")
SOURCE = "def main():\n    for n in range(2000):\n        kept = n\n    return kept\n"


def _tools() -> list[str | None]:
    return [MONITORING.get_tool(number) for number in range(6)]


def test_fix_other_tools_are_left_as_they_are(tmp_path: Path):
    app = load_app(tmp_path / "root", SOURCE)
    before = _tools()
    lines: list[int] = []

    def see_line(_: object, line: int) -> None:
        lines.append(line)

    events = MONITORING.events
    MONITORING.use_tool_id(3, "another")
    try:
        MONITORING.register_callback(3, events.LINE, see_line)
        MONITORING.set_local_events(3, app.main.__code__, events.LINE)
        with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root"):
            assert _tools()[3] == "another"
            app.main()
        told = len(lines)
        assert told > 4_000
        app.main()
        assert len(lines) == 2 * told
        MONITORING.set_local_events(3, app.main.__code__, 0)
    finally:
        MONITORING.free_tool_id(3)
    assert _tools() == before
    assert len(Trace.load(tmp_path / "a.trace").rows) > 4_000


def test_nothing_is_left_on_the_code(tmp_path: Path):
    app = load_app(tmp_path / "root", SOURCE)
    for name in ("a", "b"):
        with Tracer(tmp_path / f"{name}.trace", trace_root=tmp_path / "root"):
            app.main()
        for tool in (3, 4):
            MONITORING.use_tool_id(tool, "look")
            assert MONITORING.get_local_events(tool, app.main.__code__) == 0
            assert MONITORING.get_events(tool) == 0
            MONITORING.free_tool_id(tool)
    # What the first trace was done with is told again to the second.
    assert (tmp_path / "a.trace").read_bytes() == (tmp_path / "b.trace").read_bytes()


def test_it_says_so_when_no_tool_is_free(tmp_path: Path):
    taken = [number for number in range(6) if MONITORING.get_tool(number) is None]
    for number in taken:
        MONITORING.use_tool_id(number, "taken")
    try:
        with pytest.raises(FlightError, match="all its tools are taken; end"):
            Tracer(tmp_path / "a.trace", trace_root=tmp_path).start()
    finally:
        for number in taken:
            MONITORING.free_tool_id(number)


def test_a_full_trace_ends(tmp_path: Path):
    app = load_app(tmp_path / "root", SOURCE)
    limits = TraceLimits(total_bytes=1_100)
    with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root", limits=limits):
        assert app.main() == 1999
    trace = Trace.load(tmp_path / "a.trace")
    assert (trace.end, trace.head["backend"]) == ("size_limit", "monitoring")
