"""Removes credentials from values and texts before anything is written or compared.

Total, deterministic and idempotent: any Python value becomes JSON values, and nothing that it does
can make the redactor fail. It removes credentials, not private content.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
import re
import uuid
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import PurePath
from typing import Any, NamedTuple, cast

import msgspec

from openprogram.providers.recording.field_names import (
    DATA_FIELD_NAMES,
    SCHEMA_MAP_NAMES,
    SCHEMA_VALUE_NAMES,
    SECRET_FIELD_NAMES,
    is_header_pair,
    is_schema,
    is_secret_field,
)
from openprogram.providers.recording.json_text import PAIR_NAME_FIELDS, PAIR_VALUE_FIELDS
from openprogram.providers.recording.text_values import PLACEHOLDER
from openprogram.providers.recording.text_redaction import (
    remove_secrets_from_text,
    secret_spans,
)
from openprogram.providers.types import REQUEST_LOCAL_FIELD_NAMES, StreamOptions

__all__ = [
    "DATA_FIELD_NAMES",
    "PLACEHOLDER",
    "REDACTION_VERSION",
    "SECRET_FIELD_NAMES",
    "is_secret_field",
    "remove_secret_values",
    "remove_secrets_from_text",
    "secret_spans",
]

REDACTION_VERSION = 1
"""Grows when the same value would be redacted to something else."""

_MOST_LEVELS = 128
_TOO_DEEP = "[nested too deep]"
_CYCLE = "[cycle]"
_LONGEST_INTEGER_BITS = 13_000
_OPAQUE_FIELDS = frozenset(
    {"thinking_signature", "text_signature", "thought_signature", "tool_call_id"}
)
_MEDIA_TYPES = frozenset({"image", "video", "audio"})
_CALL_TYPES = frozenset({"toolCall", "tool_use", "function_call", "tool_call"})
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*+")


def remove_secret_values(value: Any) -> Any:
    """Turn any Python value into JSON values without credentials.

    What JSON cannot say is said by a fixed rule: bytes are text, sets and tuples are lists,
    dataclasses, structs and models are objects, NaN and infinities are the texts `NaN`, `Infinity`
    and `-Infinity`, an integer of some 4,000 digits or more is a hexadecimal text, and any other
    object is its type's name in angle brackets.

    Args:
        value: Anything; it is not changed.

    Returns:
        Fresh dicts and lists, their order kept, down to 128 levels.

    Example:
        >>> remove_secret_values({"api_key": "qwerty", "key": "Enter", "n": float("nan")})
        {'api_key': '[secret removed]', 'key': 'Enter', 'n': 'NaN'}
    """
    try:
        return _Walk().convert(value, 0)
    except RecursionError:
        return _TOO_DEEP


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _StructPlan:
    """How one struct type is read, worked out once."""

    tag: tuple[str, Any] | None
    fields: tuple[tuple[str, str], ...]
    """Attribute and name on the wire."""


@lru_cache(maxsize=256)
def _struct_plan(type_: type[msgspec.Struct]) -> _StructPlan:
    config = type_.__struct_config__
    left_out = REQUEST_LOCAL_FIELD_NAMES if issubclass(type_, StreamOptions) else frozenset[str]()
    names = zip(type_.__struct_fields__, type_.__struct_encode_fields__, strict=True)
    tag = None if config.tag_field is None else (config.tag_field, config.tag)
    return _StructPlan(tag=tag, fields=tuple(pair for pair in names if pair[0] not in left_out))


class _FieldRule(NamedTuple):
    """What a field's name says about its value."""

    name: str
    """As it is written; a key may hold a secret too."""
    is_secret: bool
    is_opaque: bool
    may_be_exempt: bool
    is_schema_map: bool
    is_pair_value: bool
    is_headers: bool


@lru_cache(maxsize=4096)
def _field_rule(name: str) -> _FieldRule:
    lowered = name.lower()
    return _FieldRule(
        name=remove_secrets_from_text(name),
        is_secret=is_secret_field(name),
        is_opaque=name in _OPAQUE_FIELDS,
        may_be_exempt=name in {"id", "data"},
        is_schema_map=name in SCHEMA_MAP_NAMES,
        is_pair_value=lowered in PAIR_VALUE_FIELDS,
        is_headers=lowered.endswith(("header", "headers")),
    )


class _Walk:
    """One walk through one value; remembers the containers it is in."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: set[int] = set()

    def convert(self, value: Any, depth: int) -> Any:
        """Return the JSON value of `value`."""
        type_ = type(value)
        if type_ is str:
            return remove_secrets_from_text(value)
        if type_ is int or type_ is float:
            return _number(value)
        if value is None or type_ is bool:
            return value
        if depth >= _MOST_LEVELS:
            return _TOO_DEEP
        if id(value) in self._open:
            return _CYCLE
        self._open.add(id(value))
        try:
            if type_ is dict:
                return self._convert_fields(value, depth)
            if type_ is list or type_ is tuple:
                return self._convert_items(value, depth)
            return self._convert_other(value, depth)
        finally:
            self._open.discard(id(value))

    def _convert_fields(
        self, fields: Mapping[Any, Any], depth: int, *, in_map: bool = False
    ) -> dict[str, Any]:
        result: dict[str, Any] = {}
        kind = fields.get("type")
        has_pair_value = False
        for key, value in fields.items():
            rule = _field_rule(key if type(key) is str else _key_text(key))
            type_ = type(value)
            if value is None or type_ is bool:
                new: Any = value
            elif rule.is_secret:
                new = self._convert_secret(value, depth, in_map=in_map)
            elif type_ is str:
                is_exempt = rule.is_opaque or (rule.may_be_exempt and _is_exempt(key, value, kind))
                new = value if is_exempt else remove_secrets_from_text(value)
            elif type_ is dict and rule.is_schema_map:
                new = self._convert_map(value, depth + 1)
            else:
                new = self.convert(value, depth + 1)
                if rule.is_headers and type(new) is list:
                    new = _without_pair_value(cast("list[Any]", new))
            name = rule.name
            result[name if name not in result else _free_name(name, result)] = new
            has_pair_value = has_pair_value or rule.is_pair_value
        if has_pair_value:
            _remove_named_value(result)
        return result

    def _convert_map(self, fields: dict[Any, Any], depth: int) -> Any:
        if id(fields) in self._open or depth >= _MOST_LEVELS:
            return self.convert(fields, depth)
        self._open.add(id(fields))
        try:
            return self._convert_fields(fields, depth, in_map=True)
        finally:
            self._open.discard(id(fields))

    def _convert_secret(self, value: Any, depth: int, *, in_map: bool) -> Any:
        if not is_schema(value, within_properties=in_map):
            return PLACEHOLDER
        schema = self.convert(value, depth + 1)
        if type(schema) is dict:
            for name in SCHEMA_VALUE_NAMES & schema.keys():
                if schema[name] is not None and type(schema[name]) is not bool:
                    schema[name] = PLACEHOLDER
        return cast("Any", schema)

    def _convert_items(self, items: Iterable[Any], depth: int) -> list[Any]:
        result = [
            _without_pair_value(new) if type(new) is list and len(new) == 2 else new  # noqa: PLR2004 - a pair
            for new in [self.convert(item, depth + 1) for item in items]
        ]
        if len(result) == 2 and type(result[0]) is str and type(result[1]) is str:  # noqa: PLR2004 - a pair
            return _without_pair_value(result) if is_header_pair(*result) else result
        return result

    def _convert_other(self, value: Any, depth: int) -> Any:
        try:
            return self._convert_known(value, depth)
        except RecursionError:
            return _TOO_DEEP
        except Exception:  # noqa: BLE001 - a foreign object may do anything, and redaction is total
            return _type_name(value)

    def _convert_known(self, value: Any, depth: int) -> Any:  # noqa: C901, PLR0911, PLR0912 - one flat table of kinds
        if isinstance(value, msgspec.Struct):
            plan = _struct_plan(type(value))
            fields = {} if plan.tag is None else {plan.tag[0]: plan.tag[1]}
            fields |= {wire: getattr(value, name) for name, wire in plan.fields}
            return self._convert_fields(fields, depth)
        if isinstance(value, enum.Enum):
            return self.convert(value.value, depth + 1)
        if isinstance(value, str):
            return remove_secrets_from_text(str.__str__(value))
        if isinstance(value, int):
            return _number(int.__int__(value))
        if isinstance(value, float):
            return _number(float.__float__(value))
        if isinstance(value, (bytes, bytearray, memoryview)):
            return remove_secrets_from_text(bytes(value).decode("utf-8", "backslashreplace"))
        if isinstance(value, (dt.date, dt.time)):
            return value.isoformat()
        if isinstance(value, (uuid.UUID, Decimal, PurePath)):
            return remove_secrets_from_text(str(value))
        if isinstance(value, Mapping):
            items = cast("Mapping[Any, Any]", value).items()
            return self._convert_fields(_keyed(items), depth)
        if isinstance(value, (set, frozenset)):
            found = [self.convert(item, depth + 1) for item in cast("set[Any]", value)]
            return sorted(found, key=_sort_text)
        if isinstance(value, tuple) and hasattr(type(value), "_fields"):
            named = zip(type(value)._fields, cast("tuple[Any, ...]", value), strict=False)  # type: ignore[attr-defined]
            return self._convert_fields(dict(named), depth)
        if isinstance(value, (list, tuple)):
            return self._convert_items(cast("Iterable[Any]", value), depth)
        if isinstance(value, type):
            return _type_name(value)
        if dataclasses.is_dataclass(value):
            names = [one.name for one in dataclasses.fields(value)]
            return self._convert_fields({name: getattr(value, name) for name in names}, depth)
        dump = getattr(type(value), "model_dump", None)
        if callable(dump):
            return self.convert(dump(value), depth + 1)
        return _type_name(value)


def _keyed(items: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    return {(key if type(key) is str else _key_text(key)): value for key, value in items}


def _is_exempt(name: str, value: str, kind: Any) -> bool:
    if type(kind) is not str:
        return False
    if name == "data":
        return kind in _MEDIA_TYPES and _BASE64.fullmatch(value) is not None
    return kind in _CALL_TYPES


def _remove_named_value(fields: dict[str, Any]) -> None:
    named = any(
        name.lower() in PAIR_NAME_FIELDS and type(value) is str and is_secret_field(value)
        for name, value in fields.items()
    )
    if not named:
        return
    for name, value in fields.items():
        if name.lower() in PAIR_VALUE_FIELDS and value is not None and type(value) is not bool:
            fields[name] = PLACEHOLDER


def _without_pair_value(items: list[Any]) -> list[Any]:
    is_pair = len(items) == 2 and type(items[0]) is str and is_secret_field(items[0])  # noqa: PLR2004 - a pair
    if is_pair and items[1] is not None and type(items[1]) is not bool:
        return [items[0], PLACEHOLDER]
    return items


def _number(value: float) -> Any:
    if type(value) is int:
        return value if value.bit_length() <= _LONGEST_INTEGER_BITS else hex(value)
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124 - NaN is the one


def _key_text(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, bytes):
        return key.decode("utf-8", "backslashreplace")
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, (int, float)):
        return str(_number(int(key) if isinstance(key, int) else float(key)))
    return _type_name(key)


def _free_name(name: str, taken: dict[str, Any]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"


def _sort_text(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"


def _type_name(value: Any) -> str:
    type_ = cast("type", value) if isinstance(value, type) else cast("type", type(value))
    return f"<{type.__dict__['__name__'].__get__(type_)}>"
