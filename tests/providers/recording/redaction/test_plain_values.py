"""How any Python value is said in JSON."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
import uuid
from collections import OrderedDict, UserDict
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, ClassVar, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers import types as t
from openprogram.providers.recording.redaction.plain_values import (
    key_text,
    number_value,
    simplify,
    type_name,
)


class Colour(enum.Enum):
    RED = "red"
    MANY = (1, 2)


class Level(enum.IntEnum):
    LOW = 1


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "not this"


class Point(msgspec.Struct, rename="camel", tag_field="kind", tag="point"):
    at_x: int
    notes: Any = None


@dataclasses.dataclass
class Plain:
    name: str
    count: ClassVar[int] = 1


class Model:
    """Looks like a pydantic model."""

    def model_dump(self) -> dict[str, Any]:
        return {"a": 1}


class Failing:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


class FailingModel:
    def model_dump(self) -> dict[str, Any]:
        raise ValueError


class Pair(NamedTuple):
    left: int
    right: int


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"a\xff", "a\\xff"),
        (bytearray(b"a"), "a"),
        (memoryview(b"a"), "a"),
        (Colour.RED, "red"),
        (Colour.MANY, [1, 2]),
        (Level.LOW, 1),
        (Text("this"), "this"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.datetime(2026, 1, 2, 3, tzinfo=dt.UTC), "2026-01-02T03:00:00+00:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.50"), "1.50"),
        (PurePosixPath("/a/b"), "/a/b"),
        (OrderedDict({"a": 1}), {"a": 1}),
        (UserDict({"a": 1}), {"a": 1}),
        (Pair(1, 2), {"left": 1, "right": 2}),
        (Plain("a"), {"name": "a"}),
        (Point(at_x=1), {"kind": "point", "atX": 1, "notes": None}),
        (Model(), {"a": 1}),
        (Model, "<Model>"),
        (range(3), "<range>"),
        (object(), "<object>"),
        (len, "<builtin_function_or_method>"),
    ],
)
def test_objects_are_said_one_level_at_a_time(value: object, expected: object):
    said = simplify(value)
    assert said == expected
    assert type(said) is type(expected)


def test_an_object_that_fails_is_said_by_the_name_of_its_type():
    assert simplify(Failing()) == "<Failing>"
    assert simplify(FailingModel()) == "<FailingModel>"


def test_sets_stay_sets_because_their_order_is_decided_later():
    assert simplify({1, 2}) == {1, 2}
    assert simplify({"a": 1}.keys()) == {"a"}


def test_options_lose_what_belongs_to_the_process():
    said = simplify(t.SimpleStreamOptions(temperature=0.5, signal=object(), on_payload=len))
    assert isinstance(said, dict)
    assert said["temperature"] == 0.5
    assert "signal" not in said
    assert "on_payload" not in said


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, 1),
        (1.5, 1.5),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (2**12_999, 2**12_999),
        (2**13_000, hex(2**13_000)),
        (-(2**13_000), hex(-(2**13_000))),
    ],
)
def test_numbers_that_json_cannot_say_are_texts(number: float, expected: object):
    assert number_value(number) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", "a"),
        (Text("this"), "this"),
        (b"a\xff", "a\\xff"),
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (1.5, "1.5"),
        (math.nan, "NaN"),
        ((1, 2), "<tuple>"),
        (Failing, "<Failing>"),
    ],
)
def test_keys_are_texts(key: object, expected: str):
    assert key_text(key) == expected


class Named(type):
    """A metaclass that lies about the name of its classes."""

    @property
    def __name__(cls) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - that is the lie
        raise RuntimeError


class Liar(metaclass=Named):
    pass


def test_the_name_of_a_type_runs_none_of_its_code():
    assert type_name(Liar) == type_name(Liar()) == "<Liar>"


@given(st.floats() | st.integers())
def test_every_number_is_said_in_json(number: float):
    said = number_value(number)
    assert msgspec.json.decode(msgspec.json.encode(said)) == said or type(said) is int
