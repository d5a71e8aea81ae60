"""What a trace tells of a program, and what it leaves alone."""

from __future__ import annotations

import gc
import json
import re
import stat
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.errors import FlightError
from openprogram.flight import Trace, TraceLimits, Tracer
from traced_apps import load_app, told, trace_app

if TYPE_CHECKING:
    from pathlib import Path


def test_fix_nothing_outside_the_root_is_traced(tmp_path: Path):
    source = "import json, colorsys\ndef main():\n    text = json.dumps({'a': [1]}, indent=1)\n"
    source += "    colorsys.rgb_to_hsv(1, 0, 0)\n    return text\n"
    trace = trace_app(tmp_path, source)
    assert {row.file for row in trace.rows} == {"app.py"}
    assert trace.values("text") == ['{\n "a": [\n  1\n ]\n}']
    # Neither does a root that holds the whole library.
    app = load_app(tmp_path / "other", source)
    with Tracer(tmp_path / "all.trace", trace_root="/"):
        app.main()
    files = {row.file for row in Trace.load(tmp_path / "all.trace").rows}
    assert {name.rpartition("/")[2] for name in files} == {"app.py"}


def test_fix_there_is_no_root_by_default(tmp_path: Path):
    with pytest.raises(TypeError, match="trace_root"):
        Tracer(tmp_path / "a.trace")  # pyright: ignore[reportCallIssue]  # that is the test
    with pytest.raises(FlightError, match="no such directory"):
        Tracer(tmp_path / "a.trace", trace_root=tmp_path / "absent")


def test_fix_what_the_last_line_changes_is_told(tmp_path: Path):
    source = "def main():\n    early = 1\n    last = early + 1\n"
    trace = trace_app(tmp_path, source)
    assert told(trace) == ["C 1", "L 2 early=1", "R 3 last=2"]
    assert trace.final("last", "main") == 2


def test_fix_what_the_last_line_changes_before_it_raises_is_told(tmp_path: Path):
    source = "def inner():\n    items = []\n    items.append(1) or items[5]\n"
    source += "def main():\n    try:\n        inner()\n    except IndexError:\n        pass\n"
    trace = trace_app(tmp_path, source)
    assert told(trace, "inner") == ["C 1", "L 2 items=[]", "X 3 raised items=[1]", "X 3 left"]


def test_fix_secrets_are_masked_in_the_trace(tmp_path: Path):
    def mask(value: Any, name: str | None) -> Any:
        if name in {"password", "pin"}:
            return "[REDACTED]"
        return json.loads(re.sub("sk-[a-z]+", "[SCRUBBED]", json.dumps(value)))

    source = """
def login(password, pin):
    for pin in range(pin, pin + 2):
        body = {"text": f"key {password}", "list": [password]}
    raise ValueError("bad sk-secret")
def main():
    try:
        login("sk-secret", 4711)
    except ValueError as error:
        kept = "sk-secret"
        return kept
"""
    trace = trace_app(tmp_path, source, mask=mask)
    text = (tmp_path / "app.trace").read_text()
    assert "sk-secret" not in text
    assert "471" not in text
    assert trace.calls("login") == [{"password": "[REDACTED]", "pin": "[REDACTED]"}]
    assert trace.values("body")[-1] == {"text": "key [SCRUBBED]", "list": ["[SCRUBBED]"]}
    assert trace.raised() == [{"type": "ValueError", "args": ["bad [SCRUBBED]"]}]
    assert trace.returns("main") == ["[SCRUBBED]"]


def test_a_mask_that_raises_lets_nothing_through_and_disturbs_nobody(tmp_path: Path):
    def mask(_: Any, name: str | None) -> Any:
        raise RuntimeError(name)

    app = load_app(tmp_path / "root", "def main():\n    a = 'secret'\n    return a\n")
    with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root", mask=mask):
        assert app.main() == "secret"
    trace = Trace.load(tmp_path / "a.trace")
    assert "secret" not in (tmp_path / "a.trace").read_text()
    assert trace.lost_count > 0
    assert not trace.is_whole


def test_forbidden_rows_are_left_out_and_counted(tmp_path: Path):
    source = "def main():\n    a = 'forbidden'\n    b = 2\n    return b\n"
    trace = trace_app(tmp_path, source, is_forbidden=_is_forbidden)
    assert trace.withheld_count == 1
    assert trace.values("b") == [2]
    assert "forbidden" not in (tmp_path / "app.trace").read_text()


def test_the_size_limit_is_kept_and_told(tmp_path: Path):
    source = "def main():\n    total = 0\n    for i in range(5000):\n        total += i\n"
    limits = TraceLimits(total_bytes=20_000)
    trace = trace_app(tmp_path, source, limits=limits)
    size = (tmp_path / "app.trace").stat().st_size
    assert 19_000 < size <= 20_000
    assert trace.end == "size_limit"
    assert not trace.is_whole
    assert json.loads((tmp_path / "app.trace").read_text().splitlines()[-1]) == {
        "k": "H",
        "end": "size_limit",
        "limit_bytes": 20_000,
    }
    with pytest.raises(FlightError, match="1024"):
        TraceLimits(total_bytes=10)


def test_deletions_are_told(tmp_path: Path):
    source = "def main():\n    a = 1\n    b = [a]\n    del a\n    del b\n    a = 1\n"
    assert told(trace_app(tmp_path, source)) == [
        "C 1",
        "L 2 a=1",
        "L 3 b=[1]",
        "L 4 -a",
        "L 5 -b",
        "R 6 a=1",
    ]


def test_changes_within_a_value_are_told_where_they_happen(tmp_path: Path):
    source = """
class Box:
    __slots__ = ("size", "unset")
class Cart:
    def __init__(self):
        self.items = {}
        self.box = Box()
def change(cart):
    cart.items["a"] = 1
def main():
    cart = Cart()
    cart.box.size = 2
    change(cart)
    same = 1
"""
    trace = trace_app(tmp_path, source)
    shown = [value["__object__"][1] for value in trace.values("cart", "main")]
    assert [each["items"] for each in shown] == [{}, {}, {"a": 1}]
    assert [each["box"] for each in shown][1:] == [
        {"__object__": [f"{_module_of(trace)}.Box", {"size": 2}]}
    ] * 2
    assert len(trace.values("cart", "change")) == 2


def _module_of(trace: Trace) -> str:
    return str(trace.final("cart", "main")["__object__"][0]).rpartition(".")[0]


def test_what_stays_the_same_is_told_once(tmp_path: Path):
    source = """
def main():
    number, word, half, none, flag = 1000, "word", 0.5, None, True
    for _ in range(3):
        number = int("1000")
        word = "".join(["wo", "rd"])
        half = float("0.5")
        flag = not not flag
    flag = 1
    number = 1000.0
    half = -0.0
    half = 0.0
"""
    trace = trace_app(tmp_path, source)
    assert trace.values("word") == ["word"]
    assert list(map(repr, trace.values("number"))) == ["1000", "1000.0"]
    assert list(map(repr, trace.values("half"))) == ["0.5", "-0.0", "0.0"]
    assert list(map(repr, trace.values("flag"))) == ["True", "1"]


def test_recursion_is_told_apart(tmp_path: Path):
    source = "def fact(n):\n    if n < 2:\n        return 1\n    rest = fact(n - 1)\n"
    source += "    return n * rest\ndef main():\n    fact(3)\n"
    trace = trace_app(tmp_path, source)
    assert trace.calls("fact") == [{"n": 3}, {"n": 2}, {"n": 1}]
    assert trace.returns("fact") == [1, 2, 6]
    calls = [row for row in trace.rows if row.kind == "C"]
    assert [(row.frame_id, row.caller_id) for row in calls] == [(1, None), (2, 1), (3, 2), (4, 3)]


def test_generators_keep_their_identity_over_pauses(tmp_path: Path):
    source = """
def numbers(start):
    got = yield start
    yield got
def main():
    one, two = numbers(1), numbers(2)
    next(one), next(two)
    one.send("x"), two.send("y")
    list(one), list(two)
"""
    trace = trace_app(tmp_path, source)
    rows = [row for row in trace.rows if row.function == "numbers"]
    by_frame = {row.frame_id for row in rows}
    assert len(by_frame) == 2
    for frame_id, start, got in zip(sorted(by_frame), (1, 2), ("x", "y"), strict=True):
        own = [row for row in rows if row.frame_id == frame_id]
        assert [row.value for row in own if row.how == "yield"] == [start, got]
        assert [row.changed["got"] for row in own if "got" in row.changed] == [got]
        assert [row.how for row in own if row.kind == "C"] == ["", "resume", "resume"]
    assert trace.returns("numbers") == [None, None]
    assert not trace.raised()


def test_a_thrown_exception_ends_a_generator(tmp_path: Path):
    source = """
def numbers():
    try:
        yield 1
    finally:
        done = True
def main():
    source = numbers()
    next(source)
    try:
        source.throw(KeyError("k"))
    except KeyError:
        pass
"""
    trace = trace_app(tmp_path, source)
    assert told(trace, "numbers") == [
        "C 2",
        "L 3",
        "R 4 yield",
        "C 4 resume",
        "X 4 raised",
        "X 6 handled",
        "X 6 left done=True",
    ]
    assert trace.raised() == [{"type": "KeyError", "args": ["k"]}]


def test_coroutines_that_take_turns_are_told_apart(tmp_path: Path):
    source = """
import asyncio
async def each(k):
    for step in range(2):
        await asyncio.sleep(0)
    return k * 10
async def stream():
    yield 1
    await asyncio.sleep(0)
    yield 2
async def both():
    found = await asyncio.gather(each(1), each(2))
    items = [item async for item in stream()]
    return found + items
def main():
    asyncio.run(both())
"""
    trace = trace_app(tmp_path, source)
    assert trace.returns("both") == [[10, 20, 1, 2]]
    assert trace.returns("each") == [10, 20]
    rows = [row for row in trace.rows if row.function == "each"]
    first, second = sorted({row.frame_id for row in rows})
    turns = [row.frame_id for row in rows if row.how == "resume"]
    assert turns == [first, second] * 2
    for frame_id in (first, second):
        own = [row for row in rows if row.frame_id == frame_id]
        assert [row.changed["step"] for row in own if "step" in row.changed] == [0, 1]
    assert not trace.raised()


def test_exceptions_are_told_as_they_travel(tmp_path: Path):
    source = """
def deep():
    raise LookupError("gone", 3)
def middle():
    deep()
def main():
    try:
        middle()
    except LookupError as error:
        seen = 1
    try:
        int("x")
    except ValueError:
        seen = 2
"""
    trace = trace_app(tmp_path, source)
    told_rows = [
        (row.function, row.line, row.how)
        for row in trace.rows
        if row.kind == "X" and row.error == {"type": "LookupError", "args": ["gone", 3]}
    ]
    assert told_rows == [
        ("deep", 3, "raised"),
        ("deep", 3, "left"),
        ("middle", 5, "passed"),
        ("middle", 5, "left"),
        ("main", 8, "passed"),
        ("main", 9, "handled"),
    ]
    assert [each["type"] for each in trace.raised()] == ["LookupError", "ValueError"]
    assert trace.raised("middle") == []
    assert "-error" in " ".join(told(trace, "main"))


def test_comprehensions_give_their_result_to_the_function(tmp_path: Path):
    source = "def main():\n    found = [a * 2 for a in range(3) if a]\n    return found\n"
    trace = trace_app(tmp_path, source)
    assert trace.values("found", "main") == [[2, 4]]
    assert '".0"' not in (tmp_path / "app.trace").read_text()


def test_closures_see_what_others_change(tmp_path: Path):
    source = """
def main():
    count = 0
    def add():
        nonlocal count
        count += 1
    add()
    add()
"""
    trace = trace_app(tmp_path, source)
    assert trace.values("count", "main") == [0, 1, 2]


def test_threads_of_the_call_are_traced_and_no_others(tmp_path: Path):
    source = """
import threading
from concurrent.futures import ThreadPoolExecutor
def work(n):
    own = n * 2
    return own
def main():
    thread = threading.Thread(target=work, args=(1,))
    thread.start()
    thread.join()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, 2).result()
"""
    app = load_app(tmp_path / "root", source)
    wake, done = threading.Event(), threading.Event()

    def stranger() -> None:
        wake.wait()
        app.work(99)
        done.set()

    thread = threading.Thread(target=stranger)
    thread.start()
    with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root"):
        assert app.main() == 4
        wake.set()
        done.wait()
    thread.join()
    trace = Trace.load(tmp_path / "a.trace")
    assert trace.calls("work") == [{"n": 1}, {"n": 2}]
    assert [row.thread for row in trace.rows if row.kind == "C"] == [0, 1, 2]


def test_no_code_of_the_app_runs_to_look_at_its_values(tmp_path: Path):
    source = """
calls = []
class Hostile:
    def __init__(self):
        self.kept = 1
    def __getattribute__(self, name):
        calls.append(name)
        raise RuntimeError(name)
    def _fail(self, *_):
        calls.append("called")
        raise RuntimeError("called")
    __repr__ = __str__ = __eq__ = __hash__ = __iter__ = __len__ = __bool__ = _fail
    __format__ = __reduce__ = __dir__ = __sizeof__ = _fail
    __class__ = property(_fail)
class HostileList(list):
    __iter__ = __len__ = __repr__ = __eq__ = __getitem__ = Hostile._fail
class HostileDict(dict):
    __iter__ = __len__ = keys = items = __getitem__ = Hostile._fail
class HostileText(str):
    __str__ = __repr__ = __eq__ = __hash__ = __len__ = Hostile._fail
class HostileInt(int):
    __int__ = __index__ = __repr__ = __eq__ = __lt__ = __hash__ = Hostile._fail
class HostileError(Exception):
    args = property(Hostile._fail)
    __str__ = __repr__ = Hostile._fail
class Meta(type):
    __getattribute__ = __repr__ = __eq__ = __hash__ = Hostile._fail
class Odd(metaclass=Meta):
    pass
def main():
    hostile = object.__new__(Hostile)
    object.__setattr__(hostile, "kept", 1)
    items = HostileList([1, hostile])
    table = HostileDict(a=1)
    text = HostileText("text")
    number = HostileInt(7)
    odd = object.__new__(Odd)
    kind = Odd
    pair = (hostile, odd)
    try:
        raise HostileError("why", hostile)
    except HostileError as error:
        seen = 1
    return hostile
"""
    app = load_app(tmp_path / "root", source)
    with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root"):
        app.main()
    assert app.calls == []
    trace = Trace.load(tmp_path / "a.trace")
    assert trace.is_whole
    assert trace.final("hostile")["__object__"][1] == {"kept": 1}
    assert trace.final("table") == {"a": 1}
    assert trace.final("items")[0] == 1
    assert trace.final("text")["__object__"][1] == "text"
    assert trace.final("number")["__object__"][1] == 7
    assert [error["args"][0] for error in trace.raised()] == ["why"]


def test_values_die_when_they_would_without_a_tracer(tmp_path: Path):
    source = """
import weakref
class Thing:
    pass
def make():
    thing = Thing()
    return weakref.ref(thing)
def main():
    return make()() is None
"""
    app = load_app(tmp_path / "root", source)
    with Tracer(tmp_path / "a.trace", trace_root=tmp_path / "root"):
        assert app.main()
    thing = app.Thing()
    kept = weakref.ref(thing)
    with Tracer(tmp_path / "b.trace", trace_root=tmp_path / "root"):
        app.make()
    del thing
    gc.collect()
    assert kept() is None


def test_two_traces_of_one_run_are_equal_and_private(tmp_path: Path):
    source = "def main():\n    words = {'b', 'a', 'c'}\n    some = {object: 1}\n    return words\n"
    app = load_app(tmp_path / "root", source)
    for name in ("a.trace", "b.trace"):
        with Tracer(tmp_path / name, trace_root=tmp_path / "root", about={"fn": "main"}):
            app.main()
    first, second = ((tmp_path / name).read_bytes() for name in ("a.trace", "b.trace"))
    assert first == second
    assert str(tmp_path).encode() not in first
    assert b"words = {" not in first
    assert stat.S_IMODE((tmp_path / "a.trace").stat().st_mode) == 0o600
    assert Trace.load(tmp_path / "a.trace").head["about"] == {"fn": "main"}


def test_fix_what_traced_before_is_put_back(tmp_path: Path):
    seen: list[str] = []

    def before(_: Any, event: str, __: Any) -> None:
        seen.append(event)

    app = load_app(tmp_path / "root", "def main():\n    return 1\n")
    own, in_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(before)
    threading.settrace(before)
    try:
        with pytest.raises(KeyError), Tracer(tmp_path / "a.trace", trace_root=tmp_path):
            raise KeyError
        assert sys.gettrace() is before
        assert threading.gettrace() is before
        seen.clear()
        app.main()
        assert seen == ["call"]
    finally:
        sys.settrace(own)
        threading.settrace(in_threads)


def test_a_tracer_is_used_once(tmp_path: Path):
    tracer = Tracer(tmp_path / "a.trace", trace_root=tmp_path)
    with tracer:
        pass
    tracer.stop()
    with pytest.raises(FlightError, match="already"):
        tracer.start()


def test_files_can_be_left_out(tmp_path: Path):
    root = tmp_path / "root"
    skipped = load_app(root, "def skipped(f):\n    return f()\n", name="vendored/other.py")
    app = load_app(root, "def main():\n    return 1\n")
    with Tracer(tmp_path / "a.trace", trace_root=root, skip_files=["vendored/*"]):
        skipped.skipped(app.main)
    assert {row.file for row in Trace.load(tmp_path / "a.trace").rows} == {"app.py"}


def _is_forbidden(row: str) -> bool:
    return "forbidden" in row
