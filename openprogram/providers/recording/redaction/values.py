"""Removes credentials from values before anything is written or compared.

Total, deterministic and idempotent: any Python value becomes JSON values, and nothing that it does
can make the redactor fail. It removes credentials, not private content.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from openprogram.providers.recording.redaction.field_names import is_header_pair, is_secret_field
from openprogram.providers.recording.redaction.json_schemas import (
    SCHEMA_MAP_NAMES,
    SCHEMA_VALUE_NAMES,
    is_schema,
)
from openprogram.providers.recording.redaction.json_text import (
    BASIC_AUTH_FIELDS,
    PAIR_NAME_FIELDS,
    PAIR_VALUE_FIELDS,
)
from openprogram.providers.recording.redaction.plain_values import key_text, number_value, simplify
from openprogram.providers.recording.redaction.text_commands import find_in_argument
from openprogram.providers.recording.redaction.text_values import PLACEHOLDER, is_basic_credential
from openprogram.providers.recording.redaction.texts import (
    apply_replacements,
    remove_secrets_from_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_LEVELS = 128
_TOO_DEEP = "[nested too deep]"
_CYCLE = "[cycle]"
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


class _FieldRule(NamedTuple):
    """What a field's name says about its value."""

    name: str
    """As it is written; a key may hold a secret too."""
    is_secret: bool
    is_opaque: bool
    """Whether the value is a signature or an ID, kept byte for byte."""
    may_be_exempt: bool
    """Whether the object's type decides, as for the data of an image."""
    may_be_basic: bool
    is_schema_map: bool
    is_pair_value: bool
    is_headers: bool


_LONGEST_REMEMBERED_NAME = 100
"""A longer name is data, and may be a secret: it is judged each time rather than kept in memory."""


def _field_rule(name: str) -> _FieldRule:
    is_short = len(name) <= _LONGEST_REMEMBERED_NAME
    return _remembered_field_rule(name) if is_short else _judge_field(name)


@lru_cache(maxsize=4096)
def _remembered_field_rule(name: str) -> _FieldRule:
    return _judge_field(name)


def _judge_field(name: str) -> _FieldRule:
    lowered = name.lower()
    return _FieldRule(
        name=remove_secrets_from_text(name),
        is_secret=is_secret_field(name),
        is_opaque=name in _OPAQUE_FIELDS,
        may_be_exempt=name in {"id", "data"},
        may_be_basic=lowered in BASIC_AUTH_FIELDS,
        is_schema_map=name in SCHEMA_MAP_NAMES,
        is_pair_value=lowered in PAIR_VALUE_FIELDS,
        is_headers=lowered.endswith(("header", "headers")),
    )


class _Walk:
    """One walk through one value; remembers the containers it is in."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: set[int] = set()

    def convert(self, value: Any, depth: int, *, in_map: bool = False) -> Any:  # noqa: PLR0911 - one test for each kind, the commonest first
        """Return the JSON value of `value`; `in_map` when its names are those of a schema."""
        type_: object = type(value)  # pyright: ignore[reportUnknownVariableType] - Any has no type
        if type_ is str:
            return remove_secrets_from_text(value)
        if type_ is int or type_ is float:
            return number_value(value)
        if value is None or type_ is bool:
            return value
        if depth >= _MOST_LEVELS:
            return _TOO_DEEP
        if id(value) in self._open:
            return _CYCLE
        self._open.add(id(value))
        try:
            if type_ is dict:
                return self._convert_fields(value, depth, in_map=in_map)
            if type_ is list or type_ is tuple:
                return self._convert_items(value, depth)
            return self._convert_other(value, depth)
        finally:
            self._open.discard(id(value))

    def _convert_other(self, value: Any, depth: int) -> Any:
        simple = simplify(value)
        if type(simple) is dict:
            return self._convert_fields(simple, depth)
        if type(simple) is list:
            return self._convert_items(simple, depth)
        if isinstance(simple, (str, int, float)) or simple is None:
            return self.convert(simple, depth)
        found = [self.convert(item, depth + 1) for item in cast("Iterable[Any]", simple)]
        return sorted(found, key=_sort_text)

    def _convert_fields(
        self, fields: dict[Any, Any], depth: int, *, in_map: bool = False
    ) -> dict[str, Any]:
        result: dict[str, Any] = {}
        kind = fields.get("type")
        has_pair_value = False
        for key, value in fields.items():
            rule = _field_rule(key if type(key) is str else key_text(key))
            type_: object = type(value)  # pyright: ignore[reportUnknownVariableType] - see above
            if value is None or type_ is bool:
                new: Any = value
            elif rule.is_secret:
                new = self._convert_secret(value, depth, in_map=in_map)
            elif type_ is str:
                new = _redacted_text(rule, value, kind)
            else:
                new = self.convert(value, depth + 1, in_map=rule.is_schema_map)
                if rule.is_headers and type(new) is list:
                    new = _without_header_values(cast("list[Any]", new))
            name = rule.name
            result[name if name not in result else _free_name(name, result)] = new
            has_pair_value = has_pair_value or rule.is_pair_value
        if has_pair_value:
            _remove_named_value(result)
        return result

    def _convert_secret(self, value: Any, depth: int, *, in_map: bool) -> Any:
        if not is_schema(value, within_properties=in_map):
            return PLACEHOLDER
        converted = self.convert(value, depth + 1)
        if isinstance(converted, dict):
            schema = cast("dict[str, Any]", converted)
            for name in SCHEMA_VALUE_NAMES & schema.keys():
                if schema[name] is not None and type(schema[name]) is not bool:
                    schema[name] = PLACEHOLDER
        return cast("Any", converted)

    def _convert_items(self, items: Iterable[Any], depth: int) -> list[Any]:
        result: list[Any] = [self.convert(item, depth + 1) for item in items]
        for at, item in enumerate(result):
            if type(item) is list:
                result[at] = _without_pair_value(cast("list[Any]", item))
        is_lone_pair = len(result) == 2 and type(result[0]) is str and type(result[1]) is str  # noqa: PLR2004 - a pair
        if is_lone_pair and is_header_pair(result[0], result[1]):
            return _without_pair_value(result)
        return _without_arguments(result)


def _redacted_text(rule: _FieldRule, value: str, kind: Any) -> str:
    if rule.is_opaque or (rule.may_be_exempt and _is_exempt(rule.name, value, kind)):
        return value
    if rule.may_be_basic and is_basic_credential(value):
        return PLACEHOLDER
    return remove_secrets_from_text(value)


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


def _without_header_values(items: list[Any]) -> list[Any]:
    """Redact names and values in turn, as `["Accept", "a", "Cookie", "b"]` has them."""
    for at in range(0, len(items) - 1, 2):
        items[at : at + 2] = _without_pair_value(items[at : at + 2])
    return items


def _without_arguments(items: list[Any]) -> list[Any]:
    """Redact what stands behind a flag in a list of a command's arguments."""
    command = items[0] if items and type(items[0]) is str else ""
    for at in range(1, len(items)):
        flag, value = items[at - 1], items[at]
        if type(flag) is str and flag[:1] == "-" and type(value) is str:
            found = find_in_argument(command, flag, value)
            if found is not None:
                items[at] = apply_replacements(value, [found])
    return items


def _free_name(name: str, taken: dict[str, Any]) -> str:
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"


def _sort_text(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"
