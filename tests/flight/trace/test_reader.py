"""Asking a trace, and refusing what is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from openprogram.errors import TraceFormatError
from openprogram.flight.trace.reader import Trace
from traced_apps import trace_app

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
class Account:
    def add(self, amount):
        total = amount + 1
        return total
def other():
    total = 100
    del total
def main():
    Account().add(1)
    other()
    Account().add(2)
"""
HEAD = '{"k":"H","version":2}\n'


def test_a_variable_is_followed(tmp_path: Path):
    trace = trace_app(tmp_path, SOURCE)
    assert trace.values("total") == [2, 100, 3]
    assert trace.values("total", "add") == trace.values("total", "Account.add") == [2, 3]
    assert (trace.first("total"), trace.final("total"), trace.final("total", "other")) == (
        2,
        3,
        100,
    )
    changes = trace.changes("total", fn="other")
    assert [(each.is_deleted, each.row.place) for each in changes] == [
        (False, "app.py:7"),
        (True, "app.py:8"),
    ]
    assert [call["amount"] for call in trace.calls("add")] == [1, 2]
    assert trace.returns("add") == [2, 3]
    assert trace.values("absent") == []
    with pytest.raises(LookupError, match="'absent' never got a value in 'add'"):
        trace.first("absent", "add")
    assert trace.values("total", "dd") == []


def test_a_torn_tail_is_left_out_and_told(tmp_path: Path):
    whole = trace_app(tmp_path, SOURCE)
    assert whole.is_whole
    path = tmp_path / "app.trace"
    data = path.read_bytes()
    rows = data.count(b"\n") - 2
    for cut in (1, 5, len(data) // 2):
        path.write_bytes(data[:-cut])
        torn = Trace.load(path)
        assert torn.torn_tail_bytes == len(data[:-cut].rpartition(b"\n")[2])
        assert torn.rows == whole.rows[: len(torn.rows)]
        assert len(torn.rows) == min(rows, data[:-cut].count(b"\n") - 1)
        assert torn.end == ""
        assert not torn.is_whole


@pytest.mark.parametrize(
    ("text", "line_number", "reason"),
    [
        ("", 1, "not the first row"),
        ('{"k":"L"}\n', 1, "not the first row"),
        ('{"k":"H","version":3}\n', 1, "version 3 is not 2"),
        ('{"k":"H","version":2.0}\n', 1, "version 2.0 is not 2"),
        (HEAD + "{\n" + "{}\n", 2, "no JSON"),
        (HEAD + "[" * 100_000 + "\n", 2, "no JSON"),
        (HEAD + "\xff\n", 2, "no JSON"),
        (HEAD + "[]\n", 2, "no object"),
        (HEAD + '{"k":"L","id":1,"fn":"f"}\n', 2, "lacks a key"),
        (HEAD + '{"k":"L","id":1,"fn":"f","at":"a:1","set":[]}\n', 2, "lacks a key"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, text: str, line_number: int, reason: str):
    path = tmp_path / "a.trace"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(TraceFormatError, match=reason) as caught:
        Trace.load(path)
    assert (caught.value.line_number, caught.value.path) == (line_number, path)


def test_rows_of_other_kinds_are_passed_over(tmp_path: Path):
    path = tmp_path / "a.trace"
    row = {"k": "L", "id": 1, "fn": "f", "at": "a:b.py:3", "set": {"x": 1}, "new": True}
    path.write_text(HEAD + '{"k":"Z"}\n' + json.dumps(row) + "\n")
    trace = Trace.load(path)
    assert [(row.file, row.line) for row in trace.rows] == [("a:b.py", 3)]
