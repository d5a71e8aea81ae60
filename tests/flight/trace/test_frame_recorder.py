"""Whose code is traced, and what happens at the edges of what can be told."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from typing import TYPE_CHECKING, Any

from openprogram.flight.trace.reader import Trace
from openprogram.flight.trace.tracer import Tracer
from traced_apps import load_app, trace_app

if TYPE_CHECKING:
    from pathlib import Path


async def test_other_tasks_of_the_same_loop_are_not_traced(tmp_path: Path):
    source = """
import asyncio
async def work(n):
    for step in range(3):
        await asyncio.sleep(0)
    return n
async def call():
    return await asyncio.gather(work(1), asyncio.to_thread(plain, 2))
def plain(n):
    return n
"""
    app = load_app(tmp_path / "root", source)
    # It has begun before, and goes on during the trace, just as the one that begins during it.
    stranger = asyncio.create_task(app.work(98))
    await asyncio.sleep(0)

    async def traced() -> Any:
        with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root"):
            return await app.call()

    outside = contextvars.Context()
    task = asyncio.create_task(traced())
    other = outside.run(asyncio.create_task, app.work(99))
    assert await asyncio.gather(stranger, task, other) == [98, [1, 2], 99]
    trace = Trace.load(tmp_path / "a.trace")
    assert trace.values("n") == [1, 2]
    assert trace.returns("work") == [1]


def test_a_generator_that_began_before_is_told_from_where_it_goes_on(tmp_path: Path):
    source = "def numbers():\n    first = 1\n    got = yield first\n    yield got\n"
    app = load_app(tmp_path / "root", source)
    numbers = app.numbers()
    next(numbers)
    with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root"):
        assert numbers.send(5) == 5
    # What a trace left behind is no trouble for the next one.
    with Tracer(tmp_path / "b.trace", trace_root=tmp_path / "root"):
        assert list(numbers) == []
    first, second = (Trace.load(tmp_path / f"{name}.trace") for name in "ab")
    assert [row.kind + row.how for row in first.rows] == ["Cresume", "L", "Ryield"]
    assert first.values("first") == [1]
    assert first.values("got") == [5]
    assert [row.kind + row.how for row in second.rows] == ["Cresume", "R"]


def test_generators_that_are_dropped_are_not_taken_for_others(tmp_path: Path):
    source = """
def numbers(n):
    yield n
    yield n
def main():
    for n in range(50):
        source = numbers(n)
        next(source)
        next(source)
        source = None
"""
    trace = trace_app(tmp_path, source)
    rows = [row for row in trace.rows if row.function == "numbers"]
    started = [row.frame_id for row in rows if row.kind == "C" and not row.how]
    assert len(set(started)) == 50
    for frame_id in started:
        values = {row.value for row in rows if row.frame_id == frame_id and row.how == "yield"}
        assert len(values) == 1


def test_a_program_at_its_recursion_limit_ends_as_without_a_tracer(tmp_path: Path):
    source = """
def deep(n):
    return deep(n + 1)
def main():
    try:
        deep(0)
    except RecursionError:
        return "caught"
"""
    app = load_app(tmp_path / "root", source)
    limit = sys.getrecursionlimit()
    with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root"):
        assert app.main() == "caught"
    assert sys.getrecursionlimit() == limit
    trace = Trace.load(tmp_path / "a.trace")
    assert len(trace.calls("deep")) > 100


def test_threads_that_are_not_of_python_are_left_alone(tmp_path: Path):
    source = "import _thread\ndef work(done):\n    done.release()\ndef main():\n"
    source += "    done = _thread.allocate_lock()\n    done.acquire()\n"
    source += "    _thread.start_new_thread(work, (done,))\n    done.acquire()\n"
    before = set(threading.enumerate())
    trace = trace_app(tmp_path, source)
    assert trace.calls("work") == []
    assert set(threading.enumerate()) == before


def test_no_frame_is_kept(tmp_path: Path):
    source = "def inner():\n    raise KeyError\ndef main():\n    try:\n        inner()\n"
    source += "    except KeyError:\n        pass\n"
    app = load_app(tmp_path / "root", source)
    tracer = Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root")
    with tracer:
        app.main()
        assert tracer._recorder
        assert tracer._recorder.current == {}
