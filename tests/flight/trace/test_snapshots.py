"""Values as JSON: exact within the limits, and cut with a word beyond them."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import json
import math
import os
import threading
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.flight.trace.snapshots import ValueLimits, dump_json, snapshot, snapshot_error

LIMITS = ValueLimits()


class Colour(enum.IntEnum):
    RED = 1


@dataclass
class Point:
    x: int
    y: Any = None


class Word(str):
    __slots__ = ()


SHOWN: list[tuple[object, object]] = [
    (None, None),
    (True, True),
    (-0.0, -0.0),
    ("é\ud800", "é\ud800"),
    (math.inf, {"__float__": "inf"}),
    (b"\x00a", {"__bytes__": "0061"}),
    (bytearray(b"a"), {"__bytes__": "61"}),
    (1 + 2j, {"__complex__": ["1.0", "2.0"]}),
    (decimal.Decimal("1.10"), {"__decimal__": "1.10"}),
    (uuid.UUID(int=1), {"__uuid__": "00000000-0000-0000-0000-000000000001"}),
    (dt.datetime(2026, 1, 2, tzinfo=dt.UTC), {"__dt__": "2026-01-02T00:00:00+00:00"}),
    (dt.date(2026, 1, 2), {"__date__": "2026-01-02"}),
    (dt.time(1, 2), {"__time__": "01:02:00"}),
    (dt.timedelta(days=1, microseconds=2), {"__timedelta__": [1, 0, 2]}),
    ((1, [2]), {"__tuple__": [1, [2]]}),
    ({"b", "a"}, {"__set__": ["a", "b"]}),
    (frozenset({2}), {"__frozenset__": [2]}),
    (deque([1]), {"__object__": ["collections.deque", [1]]}),
    (OrderedDict(a=1), {"a": 1}),
    (Counter("aa"), {"a": 2}),
    (defaultdict(list, a=[1]), {"a": [1]}),
    ({1: "a", "1": "b"}, {"__dict__": [[1, "a"], ["1", "b"]]}),
    ({"__set__": [1]}, {"__dict__": [["__set__", [1]]]}),
    (Colour.RED, {"__enum__": [f"{__name__}.Colour", "RED"]}),
    (Point(1, [2]), {"__object__": [f"{__name__}.Point", {"x": 1, "y": [2]}]}),
    (Word("w"), {"__object__": [f"{__name__}.Word", "w"]}),
    (KeyError("k"), {"__object__": ["KeyError", {"args": ["k"]}]}),
    (Point, {"__opaque__": f"<class {__name__}.Point>"}),
    (os, {"__opaque__": "<module os>"}),
    (snapshot, {"__opaque__": "<function snapshot>"}),
    (threading.Lock(), {"__opaque__": f"<{type(threading.Lock()).__module__}.lock>"}),
]


@pytest.mark.parametrize(("value", "shown"), SHOWN, ids=lambda value: type(value).__name__)
def test_how_values_are_shown(value: object, shown: object):
    assert repr(snapshot(value, LIMITS)) == repr(shown)


def test_what_is_too_large_is_cut_and_says_so():
    limits = ValueLimits(item_count=5, character_count=10, depth=2)
    assert snapshot("x" * 11, limits) == {"__cut__": ["x" * 10, 11]}
    assert snapshot(b"x" * 6, limits) == {"__cut__": [{"__bytes__": "78" * 5}, 6]}
    assert snapshot(list(range(9)), limits) == {"__cut__": [[0, 1, 2, 3], 9]}
    assert snapshot(dict.fromkeys("abcdef"), limits) == {"__cut__": [dict.fromkeys("abcd"), 6]}
    assert snapshot([[[[1]]]], limits) == [[{"__cut__": ["list", None]}]]
    assert snapshot(10**5000, limits)["__cut__"][1] == 16610
    assert len(dump_json(snapshot(["y" * 10**6] * 10**5, limits))) < 200


def test_what_holds_itself_ends():
    loop: list[Any] = []
    loop.append(loop)
    assert '"__cut__"' in dump_json(snapshot(loop, LIMITS))
    wide: dict[str, Any] = {str(number): loop for number in range(1000)}
    assert len(dump_json(snapshot(wide, LIMITS))) < 20_000


def test_an_exception_is_told_without_its_text():
    assert snapshot_error(OSError(2, "gone"), LIMITS) == {
        "type": "FileNotFoundError",
        "args": [2, "gone"],
    }


_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary())
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(_SCALARS, inner, max_size=4),
        st.tuples(inner, inner),
    ),
    max_leaves=12,
)


@given(_VALUES, st.integers(1, 20), st.integers(0, 40), st.integers(0, 4))
def test_any_value_becomes_bounded_json(value: object, items: int, characters: int, depth: int):
    limits = ValueLimits(item_count=items, character_count=characters, depth=depth)
    text = dump_json(snapshot(value, limits))
    assert json.loads(text) is not ...
    assert len(text) <= 100 + 80 * items + 6 * characters + 64 * items


class HostileZone(dt.tzinfo):
    def utcoffset(self, dt: dt.datetime | None) -> dt.timedelta | None:
        raise AssertionError(dt)


def test_a_zone_of_the_app_is_not_asked():
    value = dt.datetime(2026, 1, 2, tzinfo=HostileZone())
    assert snapshot(value, LIMITS) == {"__dt__": "2026-01-02T00:00:00"}
