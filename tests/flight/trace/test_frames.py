"""Comparing only what a line may have changed tells the same as comparing everything."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from openprogram.flight.trace import frame_recorder
from openprogram.flight.trace.code_facts import describe_code
from openprogram.flight.trace.frames import ValueWriter
from openprogram.flight.trace.reader import Trace
from openprogram.flight.trace.snapshots import ValueLimits
from openprogram.flight.trace.tracer import Tracer
from traced_apps import load_app, told, trace_app

if TYPE_CHECKING:
    from pathlib import Path
    from types import CodeType

    import pytest

    from openprogram.flight.trace.code_facts import CodeFacts

EVERY_WAY_TO_BIND = """
import contextlib
class Base:
    inner = 1
    inner += 1
    del inner
def numbers(limit):
    for number in range(limit):
        got = yield number
        if got: limit = got; number = -1
async def item(): return 5
def main():
    a, *b = c = 1, 2, 3
    (d, [e, f]) = 4, (5, 6)
    if (g := a + d) > 3: h = g; i = h
    while g:
        g -= 2
        if g < 0: break
    else:
        j = 0
    for k, m in zip("ab", "cd"):
        try:
            if k == "b": raise KeyError(m)
            n = k
        except (KeyError, ValueError) as o:
            p = o.args
        finally:
            q = (k,
                 m)
    with contextlib.suppress(ValueError) as r, contextlib.nullcontext(9) as s:
        t = s; int("x")
    match {"u": 1, "v": [2, 3], "w": 4}:
        case {"u": int(u), "v": [x, *y], **z}:
            aa = u
    def bb(cc, dd=1):
        nonlocal a
        a += cc
        return lambda: (a, cc)
    ee = bb(1)()
    bb(2)
    ff = {gg: hh for gg, hh in enumerate("xy")}
    ii = numbers(2)
    jj = next(ii); kk = ii.send(9)
    del b, ii
    import os.path as ll, sys
    from os import sep as mm
    class nn(Base):
        oo = 1
        def pp(self): return super().__class__
    qq = [rr for ss in [[1], [2]] for rr in ss if rr]
    try:
        item().send(None)
    except StopIteration as tt:
        uu = tt.value
    a: int = 5
    qq.append(a); qq += [1]; qq[0] = 7
    return locals().get("zz")
"""


def _compare_all(code: CodeType, file_name: str) -> CodeFacts:
    facts = describe_code(code, file_name)
    return replace(facts, stored_at={}, stored_anywhere=facts.names)


def test_no_change_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    app = load_app(tmp_path / "root", EVERY_WAY_TO_BIND)
    with Tracer(tmp_path / "some.trace", trace_root=tmp_path / "root"):
        app.main()
    with monkeypatch.context() as patched:
        patched.setattr(frame_recorder, "describe_code", _compare_all)
        with Tracer(tmp_path / "all.trace", trace_root=tmp_path / "root"):
            app.main()
    some, everything = ((tmp_path / f"{name}.trace").read_text() for name in ("some", "all"))
    assert some.count("\n") > 80
    # Both tell the same of each line, be it in another order.
    assert [sorted(line) for line in some.splitlines()] == [
        sorted(line) for line in everything.splitlines()
    ]


def test_a_plain_value_and_another_take_turns(tmp_path: Path):
    source = "def main():\n    for value in (1, [1], 1, 'a', 2**70, -5, 10**5000, None):\n"
    source += "        kept = value\n"
    trace = trace_app(tmp_path, source)
    shown = trace.values("kept")
    assert [*shown[:6], shown[7]] == [1, [1], 1, "a", 2**70, -5, None]
    assert "__cut__" in shown[6]


def test_a_module_and_a_class_body_tell_what_they_store(tmp_path: Path):
    root = tmp_path / "root"
    load_app(root, "ONE = 1\nclass Two:\n    three = ONE + 2\n", name="late.py")
    source = "import runpy\ndef main(path):\n    runpy.run_path(path)\n"
    app = load_app(root, source)
    with Tracer(tmp_path / "a.trace", trace_root=root):
        app.main(str(root / "late.py"))

    trace = Trace.load(tmp_path / "a.trace")
    assert (trace.final("ONE", "<module>"), trace.final("three", "Two")) == (1, 3)
    assert trace.values("__name__", "<module>") == []
    assert told(trace, "Two")[-1].startswith("R 3 ")


def test_a_writer_without_a_mask_writes_all():
    writer = ValueWriter(ValueLimits(), None)
    assert writer.text_of({"password": "x"}, "a") == '{"password":"x"}'
