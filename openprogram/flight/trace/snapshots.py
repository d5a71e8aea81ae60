"""Values of a running program as JSON text, within limits, and without running any of its code.

No `__repr__`, `__eq__`, `__iter__`, property or `__getattr__` of an app's class is called: built-in
types are read by their own methods, other objects by the storage of their attributes. So looking
changes nothing, and a value that is hostile or slow to look at costs no more than another.

What JSON has no word for is an object with one key: `__dt__`, `__date__` and `__opaque__` as on a
tape; `__float__`, `__int__` (hexadecimal), `__bytes__` (hexadecimal), `__decimal__`, `__uuid__`,
`__time__`, `__timedelta__` (days, seconds, microseconds), `__complex__` (two texts), `__enum__`
(class and member), `__tuple__`, `__set__`, `__frozenset__`, `__dict__` (pairs, where a key is no
text or looks like one of these) and `__object__` (class and attributes). `__cut__` stands where a
limit was reached: `[what stands before it, how much there is]`.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import types
import uuid
import zoneinfo
from collections import deque
from dataclasses import dataclass
from itertools import islice
from json import JSONEncoder
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Json: TypeAlias = Any
"""What `json.dumps` writes as it is."""

PLAIN_TYPE_IDS: Final = frozenset(map(id, (int, str, float, bool, type(None))))
"""Types whose values never change and need no look inside.

Types are told apart by identity everywhere here: a metaclass may define `__eq__` and `__hash__`.
"""
_LARGEST_INT: Final = 1 << 4096
"""Longer ones take long to write as decimals, and readers refuse them."""
_SAFE_ZONES: Final = frozenset(map(id, (type(None), dt.timezone, zoneinfo.ZoneInfo)))

dump_json: Final = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Writes JSON in one line; a lone surrogate stays what it is."""

# Methods of these are called on subclasses too, past what those override.
_list_type: Final[Any] = list
_tuple_type: Final[Any] = tuple
_dict_type: Final[Any] = dict
_deque_type: Final[Any] = deque
_name_of_type: Final = type.__dict__["__qualname__"].__get__
_bases_of_type: Final = type.__dict__["__mro__"].__get__
_members_of_type: Final = type.__dict__["__dict__"].__get__
_arguments_of_error: Final = BaseException.__dict__["args"].__get__


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueLimits:
    """How much of one value is written."""

    item_count: int = 200
    """Items and attributes of everything in it, together."""
    character_count: int = 2_000
    """Characters of all its texts, together."""
    depth: int = 6


class _Budget:
    __slots__ = ("characters", "depth", "items")

    def __init__(self, limits: ValueLimits) -> None:
        self.items = limits.item_count
        self.characters = limits.character_count
        self.depth = limits.depth


def name_type(kind: type) -> str:
    """Name a type without asking its metaclass.

    Args:
        kind: Any class.

    Returns:
        Its module and qualified name; built-in ones without the module.
    """
    name = str(_name_of_type(kind))
    module = _members_of_type(kind).get("__module__")
    return f"{module}.{name}" if type(module) is str and module != "builtins" else name


def snapshot(value: object, limits: ValueLimits) -> Json:
    """Turn any value into JSON.

    Args:
        value: Anything.
        limits: How much of it is kept.

    Returns:
        JSON that shares no container with the value.
    """
    return _encode(value, _Budget(limits), 0)


def snapshot_error(error: BaseException, limits: ValueLimits) -> Json:
    """Turn an exception into JSON, without asking for its text.

    Args:
        error: Any exception.
        limits: How much of its arguments is kept.

    Returns:
        Its `type` and its `args`.
    """
    budget = _Budget(limits)
    arguments = _items(_arguments_of_error(error), budget, 0)
    return {"type": name_type(type(error)), "args": arguments}


def _encode(value: Any, budget: _Budget, depth: int) -> Json:
    kind = cast("type[Any]", type(value))
    budget.items -= 1
    if value is None or kind is bool:
        return value
    encode = _LEAVES.get(id(kind))
    if encode is not None:
        return encode(value, budget)
    if depth >= budget.depth or budget.items < 0:
        return {"__cut__": [name_type(kind), None]}
    for base in _bases_of_type(kind):
        encode_container = _CONTAINERS.get(id(base))
        if encode_container is not None:
            return encode_container(value, budget, depth)
    return _object(value, kind, budget, depth)


def _int(value: int, _: _Budget) -> Json:
    if -_LARGEST_INT < value < _LARGEST_INT:
        return value
    return {"__cut__": [{"__int__": hex(value >> (value.bit_length() - 256))}, value.bit_length()]}


def _float(value: float, _: _Budget) -> Json:
    return value if math.isfinite(value) else {"__float__": repr(value)}


def _text(value: str, budget: _Budget) -> Json:
    length = len(value)
    room = max(budget.characters, 0)
    budget.characters = room - length
    return value if length <= room else {"__cut__": [value[:room], length]}


def _bytes(value: bytes | bytearray, budget: _Budget) -> Json:
    room = max(budget.characters // 2, 0)
    length = len(value)
    budget.characters -= 2 * length
    kept = {"__bytes__": bytes(value[:room]).hex()}
    return kept if length <= room else {"__cut__": [kept, length]}


def _datetime(value: dt.datetime | dt.time, _: _Budget) -> Json:
    if id(type(value.tzinfo)) not in _SAFE_ZONES:
        # Its offset would be asked of a class of the app's.
        value = value.replace(tzinfo=None)
    return {"__time__" if type(value) is dt.time else "__dt__": value.isoformat()}


def _function(value: types.FunctionType, _: _Budget) -> Json:
    return {"__opaque__": f"<function {value.__qualname__}>"}


def _method(value: types.MethodType, _: _Budget) -> Json:
    function = value.__func__
    name = function.__qualname__ if type(function) is types.FunctionType else "?"
    return {"__opaque__": f"<bound method {name}>"}


def _module(value: types.ModuleType, _: _Budget) -> Json:
    name = types.ModuleType.__getattribute__(value, "__dict__").get("__name__")
    return {"__opaque__": f"<module {name}>" if type(name) is str else "<module>"}


_LEAF_ENCODERS: Final[dict[type, Callable[[Any, _Budget], Json]]] = {
    int: _int,
    float: _float,
    str: _text,
    bytes: _bytes,
    bytearray: _bytes,
    complex: lambda value, _: {"__complex__": [repr(value.real), repr(value.imag)]},
    decimal.Decimal: lambda value, _: {"__decimal__": str(value)},
    uuid.UUID: lambda value, _: {"__uuid__": str(value)},
    dt.datetime: _datetime,
    dt.time: _datetime,
    dt.date: lambda value, _: {"__date__": value.isoformat()},
    dt.timedelta: lambda value, _: {
        "__timedelta__": [value.days, value.seconds, value.microseconds]
    },
    types.FunctionType: _function,
    types.MethodType: _method,
    types.ModuleType: _module,
}
_LEAVES: Final = {id(kind): encode for kind, encode in _LEAF_ENCODERS.items()}


def _items(values: Iterable[Any], budget: _Budget, depth: int) -> list[Json]:
    """Encode the items of what iterates by a built-in's own method."""
    encoded: list[Json] = []
    try:
        for value in values:
            if budget.items <= 0:
                break
            encoded.append(_encode(value, budget, depth + 1))
    except RuntimeError:
        # Another thread changed it in the meantime; what was read is true of some instant.
        encoded.append({"__cut__": ["changed while it was read", None]})
    return encoded


def _cut(encoded: Json, kept_count: int, length: int) -> Json:
    return encoded if kept_count >= length else {"__cut__": [encoded, length]}


def _list(value: list[Any], budget: _Budget, depth: int) -> Json:
    encoded = _items(_list_type.__iter__(value), budget, depth)
    return _cut(encoded, len(encoded), _list_type.__len__(value))


def _tuple(value: tuple[Any, ...], budget: _Budget, depth: int) -> Json:
    encoded = _items(_tuple_type.__iter__(value), budget, depth)
    return _cut({"__tuple__": encoded}, len(encoded), _tuple_type.__len__(value))


def _deque(value: deque[Any], budget: _Budget, depth: int) -> Json:
    encoded = _items(_deque_type.__iter__(value), budget, depth)
    kept: Json = {"__object__": ["collections.deque", encoded]}
    return _cut(kept, len(encoded), _deque_type.__len__(value))


def _set(value: Any, budget: _Budget, depth: int) -> Json:
    return _unordered(value, set, budget, depth)


def _frozenset(value: Any, budget: _Budget, depth: int) -> Json:
    return _unordered(value, frozenset, budget, depth)


def _unordered(value: Any, base: Any, budget: _Budget, depth: int) -> Json:
    encoded = _items(base.__iter__(value), budget, depth)
    # The order of a set differs from run to run, so that traces of equal runs would too.
    encoded.sort(key=dump_json)
    return _cut({f"__{base.__name__}__": encoded}, len(encoded), base.__len__(value))


def _dict(value: dict[Any, Any], budget: _Budget, depth: int) -> Json:
    pairs: list[tuple[Any, Json]] = []
    length = _dict_type.__len__(value)
    try:
        for key, each in islice(_dict_type.items(value), max(budget.items, 0)):
            if budget.items <= 0:
                break
            pairs.append((key, _encode(each, budget, depth + 1)))
    except RuntimeError:
        # Another thread changed it in the meantime.
        length = max(length, len(pairs) + 1)
    kept_count = len(pairs)
    if all(type(key) is str for key, _ in pairs):
        room = budget.characters
        budget.characters -= sum(len(key) for key, _ in pairs)
        plain = {key if len(key) <= max(room, 64) else key[: max(room, 64)]: e for key, e in pairs}
        if len(plain) == kept_count and not (
            kept_count == 1 and next(iter(plain)).startswith("__")
        ):
            return _cut(plain, kept_count, length)
    keyed = [[_encode(key, budget, depth + 1), each] for key, each in pairs]
    return _cut({"__dict__": keyed}, kept_count, length)


_CONTAINER_ENCODERS: Final[dict[type, Callable[[Any, _Budget, int], Json]]] = {
    list: _list,
    tuple: _tuple,
    dict: _dict,
    set: _set,
    frozenset: _frozenset,
    deque: _deque,
}
_CONTAINERS: Final = {id(kind): encode for kind, encode in _CONTAINER_ENCODERS.items()}


def _object(value: Any, kind: type, budget: _Budget, depth: int) -> Json:
    bases = _bases_of_type(kind)
    base_ids = {id(base) for base in bases}
    if id(type) in base_ids:
        return {"__opaque__": f"<class {name_type(value)}>"}
    if id(BaseException) in base_ids:
        arguments = _items(_arguments_of_error(value), budget, depth)
        return {"__object__": [name_type(kind), {"args": arguments}]}
    if id(enum.Enum) in base_ids:
        name = _stored_attributes(value, bases).get("_name_")
        return {"__enum__": [name_type(kind), name if type(name) is str else None]}
    for base in _VALUE_BASES:
        if id(base) in base_ids:
            return _based(value, kind, base, budget)
    attributes = _stored_attributes(value, bases)
    if not attributes:
        return {"__opaque__": f"<{name_type(kind)}>"}
    return {"__object__": [name_type(kind), _dict(attributes, budget, depth)]}


_VALUE_BASES: Final = (int, str, float, bytes)


def _based(value: Any, kind: type, base: type, budget: _Budget) -> Json:
    """Write what a subclass of a plain type has of that type."""
    plain: Any = {
        int: lambda: int.__index__(value),
        str: lambda: str.__str__(value),
        float: lambda: float.__float__(value),
        bytes: lambda: bytes.__getitem__(value, slice(None)),
    }[base]()
    return {"__object__": [name_type(kind), _LEAVES[id(base)](plain, budget)]}


def _stored_attributes(value: object, bases: tuple[type, ...]) -> dict[str, object]:
    """Read attributes from where they are stored, past properties and `__getattribute__`."""
    found: dict[str, object] = {}
    for base in reversed(bases):
        members = _members_of_type(base)
        stored = members.get("__dict__")
        if type(stored) is types.GetSetDescriptorType:
            attributes = stored.__get__(value)
            if type(attributes) is dict:
                found.update(cast("dict[str, object]", attributes))
        if "__slots__" in members:
            found.update(_slots(value, members))
    return found


def _slots(value: object, members: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, member in members.items():
        if type(member) is types.MemberDescriptorType and name != "__weakref__":
            try:
                yield name, member.__get__(value)
            except AttributeError:
                # A slot that nothing was put into yet.
                continue
