"""What only `sys.settrace` can get wrong."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.flight.trace.reader import Trace
from openprogram.flight.trace.tracer import TraceLimits, Tracer
from traced_apps import load_app

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    hasattr(sys, "monitoring"), reason="this Python has sys.monitoring, which is used instead"
)
SOURCE = "def numbers():\n    for n in range(3):\n        yield n\n"


def test_a_generator_is_not_told_of_after_the_end(tmp_path: Path):
    app = load_app(tmp_path / "root", SOURCE)
    numbers = app.numbers()
    with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root") as tracer:
        next(numbers)
    size = tracer.path.stat().st_size
    events: list[str] = []

    def other(frame: Any, event: str, _: Any) -> Any:
        events.append(event)
        assert frame
        return other

    own = sys.gettrace()
    sys.settrace(other)
    try:
        assert next(numbers) == 1
    finally:
        sys.settrace(own)
    assert events[0] == "call"
    assert "line" in events
    assert tracer.path.stat().st_size == size
    assert Trace.load(tracer.path).head["backend"] == "settrace"


def test_a_full_trace_asks_for_no_more_lines(tmp_path: Path):
    source = "import sys\ndef main():\n    for n in range(2000):\n        kept = n\n"
    source += "    return sys._getframe().f_trace_lines\n"
    app = load_app(tmp_path / "root", source)
    limits = TraceLimits(total_bytes=1_100)
    with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root", limits=limits):
        assert app.main() is False
    assert Trace.load(tmp_path / "a.trace").end == "size_limit"
