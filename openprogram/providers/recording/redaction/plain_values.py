"""How any Python value is said in JSON, one level at a time; knows nothing of secrets.

Total and deterministic: an object that fails when it is read is said by its type's name alone.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
import uuid
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from functools import lru_cache
from pathlib import PurePath
from typing import Any, TypeAlias, cast

import msgspec

from openprogram.providers.types import REQUEST_LOCAL_FIELD_NAMES, StreamOptions

Simple: TypeAlias = str | int | float | dict[Any, Any] | list[Any] | AbstractSet[Any] | None
"""What `simplify` gives: a scalar, or one level of a container with anything in it."""

_LONGEST_INTEGER_BITS = 13_000


def simplify(value: object) -> Simple:
    """Turn an object of no plain type into a scalar or into one level of a container.

    Args:
        value: Anything; it is not changed.

    Returns:
        Bytes as text, structs, models, dataclasses, named tuples and mappings as dicts, other
        sequences as lists, sets as they are, and anything else as its type's name.
    """
    try:
        return _simplify_known(value)
    except Exception:  # noqa: BLE001 - a foreign object may do anything, and redaction is total
        return type_name(value)


def _simplify_known(value: object) -> Simple:
    if isinstance(value, msgspec.Struct):
        return _struct_fields(value)
    if isinstance(value, enum.Enum):
        inner = value.value
        return inner if type(inner) in {str, int, float, bool} else simplify(inner)
    scalar = _scalar(value)
    return _container(value) if scalar is None else scalar


def _scalar(value: object) -> str | int | float | None:  # noqa: PLR0911 - a flat table of kinds
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(cast("bytes", value)).decode("utf-8", "backslashreplace")
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, Decimal, PurePath)):
        return str(value)
    return None


def _container(value: Any) -> Simple:  # noqa: PLR0911 - a flat table of kinds
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, AbstractSet):
        return cast("AbstractSet[Any]", value)
    if isinstance(value, tuple) and hasattr(type(cast("object", value)), "_fields"):
        return dict(cast("Any", value)._asdict())
    if isinstance(value, (list, tuple)):
        return list(cast("list[Any]", value))
    if isinstance(value, type):
        return type_name(cast("object", value))
    if dataclasses.is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    dump = getattr(cast("object", type(value)), "model_dump", None)
    return cast("dict[Any, Any]", dump(value)) if callable(dump) else type_name(value)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _StructPlan:
    """How one struct type is read, worked out once."""

    tag: dict[Any, Any]
    fields: tuple[tuple[str, str], ...]
    """Attribute and name on the wire."""


@lru_cache(maxsize=256)
def _struct_plan(type_: type[msgspec.Struct]) -> _StructPlan:
    config = type_.__struct_config__
    left_out = REQUEST_LOCAL_FIELD_NAMES if issubclass(type_, StreamOptions) else frozenset[str]()
    names = zip(type_.__struct_fields__, type_.__struct_encode_fields__, strict=True)
    return _StructPlan(
        tag={} if config.tag_field is None else {config.tag_field: config.tag},
        fields=tuple(pair for pair in names if pair[0] not in left_out),
    )


def _struct_fields(value: msgspec.Struct) -> dict[Any, Any]:
    plan = _struct_plan(type(value))
    return plan.tag | {wire: getattr(value, name) for name, wire in plan.fields}


def number_value(value: float) -> int | float | str:
    """Say a number in JSON.

    Args:
        value: An int or a float.

    Returns:
        The number; `NaN`, `Infinity` or `-Infinity` as a text; an integer of some 4,000 digits or
        more as a hexadecimal text, because JSON readers refuse such.
    """
    if type(value) is int:
        return value if value.bit_length() <= _LONGEST_INTEGER_BITS else hex(value)
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124 - NaN is the one


def key_text(key: object) -> str:
    """Say the key of a mapping as the name of a field.

    Args:
        key: Any hashable value.

    Returns:
        Scalars as JSON writes them, what has a text of its own as that, else the type's name.
    """
    if key is None or key is True or key is False:
        return {None: "null", True: "true", False: "false"}[key]
    try:
        said = _scalar(key)
    except Exception:  # noqa: BLE001 - a foreign object may do anything, and redaction is total
        said = None
    if said is None:
        return type_name(key)
    return said if isinstance(said, str) else str(number_value(said))


def type_name(value: object) -> str:
    """Name the type of an object, or a type itself, in angle brackets; runs no code of it."""
    is_type = issubclass(type(value), type)  # isinstance would ask the object itself
    type_ = cast("type[Any]", value) if is_type else type(value)
    return f"<{type.__dict__['__name__'].__get__(type_)}>"
