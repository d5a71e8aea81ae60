"""Where two JSON values differ: at first, or everywhere. Pure.

User data is compared strictly: 1, 1.0 and true differ, null equals only null, a missing key is a
difference. Where the wire format declares a type, numbers compare by value, a field that is not
there counts as its default, and fields that differ from run to run are left out.
"""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import msgspec

from openprogram.providers import declared_places
from openprogram.providers.declared_places import (
    NON_DETERMINISTIC_FIELD_NAMES as NON_DETERMINISTIC_FIELD_NAMES,
)
from openprogram.providers.declared_places import REQUEST_PART_NAMES
from openprogram.providers.recording.redaction import PLACEHOLDER, is_secret_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from openprogram._json_types import JsonValue
    from openprogram.providers.declared_places import Place
    from openprogram.providers.ignored_paths import IgnoredPath

Step: TypeAlias = str | int
"""A key or an index."""


class _Missing(enum.Enum):
    MISSING = "MISSING"

    def __repr__(self) -> str:
        return "<missing>"


MISSING: Final[Literal[_Missing.MISSING]] = _Missing.MISSING
"""Stands for a value that is not there."""


_LEAF_TYPES = frozenset({str, int, float, bool, type(None)})
_encode = msgspec.msgpack.Encoder().encode
_CHUNK_COUNT = 16
"""How many items of an array are compared at once."""
_WIDE_COUNT = 8
"""From how many entries on containers are first compared whole: each level that is costs one pass
over all that is below it."""

# A place in both values: where it is, as links back to the root, and what stands there.
_Trail: TypeAlias = "tuple[_Trail, Step] | None"
_Pair: TypeAlias = "tuple[_Trail, JsonValue, JsonValue, Place | None]"
_Child: TypeAlias = "tuple[Step, JsonValue, JsonValue, Place | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place at which two values differ."""

    path: str
    """Where, such as `context.messages[2].content[0].text`; empty for the values themselves."""
    steps: tuple[Step, ...]
    """The same as keys and indices."""
    recorded: JsonValue
    """What stands there in the first value; `MISSING` when nothing does."""
    incoming: JsonValue
    """What stands there in the second value; `MISSING` when nothing does."""


def join_path(path: str, *steps: Step) -> str:
    """Write a place inside a JSON value.

    Args:
        path: The place of a value, as this function writes it; empty for the root.
        steps: Keys and indices from there on.

    Returns:
        The path; a key that is no plain identifier stands in brackets, as a JSON string.

    Example:
        >>> join_path("", "options", "headers", "x-api-key")
        'options.headers["x-api-key"]'
        >>> join_path("context.messages", 2)
        'context.messages[2]'
    """
    pieces = [path]
    for step in steps:
        if isinstance(step, int):
            pieces.append(f"[{step}]")
        elif step.isascii() and step.isidentifier():
            pieces.append(f".{step}" if len(pieces) > 1 or path else step)
        else:
            pieces.append(f"[{json.dumps(step)}]")
    return "".join(pieces)


def find_first_difference(recorded: JsonValue, incoming: JsonValue) -> Difference | None:
    """Find where two JSON values differ first: dicts by sorted key, lists by index.

    Args:
        recorded: One value.
        incoming: The other.

    Returns:
        The first difference; None when the values are strictly equal.

    Example:
        >>> find_first_difference({"a": [1, 2]}, {"a": [1, 2.0]})
        Difference(path='a[1]', steps=('a', 1), recorded=2, incoming=2.0)
        >>> find_first_difference({"a": None}, {})
        Difference(path='a', steps=('a',), recorded=None, incoming=<missing>)
    """
    return next(iterate_differences(recorded, incoming), None)


def iterate_differences(recorded: JsonValue, incoming: JsonValue) -> Iterator[Difference]:
    """Find every place at which two JSON values differ, in linear time.

    Args:
        recorded: One value.
        incoming: The other.

    Yields:
        The differences; none lies inside another.
    """
    for trail, one, other in _walk([(None, recorded, incoming, None)]):
        yield _difference(trail, one, other)


def find_first_request_difference(
    recorded: Mapping[str, JsonValue],
    incoming: Mapping[str, JsonValue],
    *,
    ignore: Iterable[IgnoredPath] = (),
) -> Difference | None:
    """Find where a request differs first from the recorded one, in the order of its parts.

    Args:
        recorded: A dict with `model`, `context` and `options`, such as a request row.
        incoming: The same of the request that came.
        ignore: Places that are not compared.

    Returns:
        The first difference, or None.
    """
    return next(iterate_request_differences(recorded, incoming, ignore=ignore), None)


def iterate_request_differences(
    recorded: Mapping[str, JsonValue],
    incoming: Mapping[str, JsonValue],
    *,
    ignore: Iterable[IgnoredPath] = (),
) -> Iterator[Difference]:
    """Find every place at which two requests differ, in the order of their parts.

    Args:
        recorded: A dict with `model`, `context` and `options`, such as a request row.
        incoming: The same of the request that came.
        ignore: Places that are not compared.

    Yields:
        The differences. At a field that holds a secret, null and the placeholder are equal.
    """
    places = declared_places.request_places()
    pairs: list[_Pair] = [
        ((None, name), recorded.get(name), incoming.get(name), places[name])
        for name in reversed(REQUEST_PART_NAMES)
    ]
    ignored = tuple(ignore)
    for trail, one, other in _walk(pairs):
        if _are_equal_secrets(trail, one, other):
            continue
        difference = _difference(trail, one, other)
        if not any(path.covers(difference.steps) for path in ignored):
            yield difference


def iterate_event_differences(recorded: JsonValue, incoming: JsonValue) -> Iterator[Difference]:
    """Find every place at which two whole events differ.

    Args:
        recorded: An event of a row, its snapshot whole.
        incoming: Another.

    Yields:
        The differences.
    """
    for trail, one, other in _walk([(None, recorded, incoming, declared_places.event_place())]):
        yield _difference(trail, one, other)


def _walk(pairs: list[_Pair]) -> Iterator[tuple[_Trail, JsonValue, JsonValue]]:
    """Visit two values together, depth first, with a stack of its own: no depth is too much."""
    while pairs:
        trail, one, other, place = pairs.pop()
        children = _children(one, other, place)
        if children is None:
            if not _are_equal_leaves(one, other, place):
                yield trail, one, other
            continue
        if len(children) > 1:
            children.sort(key=_step_of, reverse=True)
        pairs += [((trail, step), x, y, inner) for step, x, y, inner in children]


def _step_of(child: _Child) -> Any:
    return child[0]


def _children(one: JsonValue, other: JsonValue, place: Place | None) -> list[_Child] | None:
    """Pair what is in two containers of one kind, but for what is seen to be equal at once."""
    kinds = (cast("object", type(one)), cast("object", type(other)))
    if kinds == (dict, dict):
        recorded, incoming = cast("dict[str, JsonValue]", one), cast("dict[str, JsonValue]", other)
        if place is not None:
            place = place.of(recorded, incoming)
        if place is None or not place.fields:
            return _dict_children(recorded, incoming)
        return _field_children(recorded, incoming, place)
    if kinds == (list, list):
        items = None if place is None else place.items
        return _list_children(cast("list[JsonValue]", one), cast("list[JsonValue]", other), items)
    return None


def _dict_children(one: dict[str, JsonValue], other: dict[str, JsonValue]) -> list[_Child]:
    is_wide = len(one) >= _WIDE_COUNT
    children: list[_Child] = []
    get = other.get
    shared = 0
    for key, x in one.items():
        y = get(key, MISSING)
        if y is not MISSING:
            shared += 1
        if not _are_seen_equal(x, y, look_inside=is_wide):
            children.append((key, x, y, None))
    if shared != len(other):
        children += [(key, MISSING, y, None) for key, y in other.items() if key not in one]
    return children


def _list_children(
    one: list[JsonValue], other: list[JsonValue], place: Place | None
) -> list[_Child]:
    children: list[_Child] = []
    shared = min(len(one), len(other))
    is_wide = shared >= _WIDE_COUNT
    for start in range(0, shared, _CHUNK_COUNT):
        end = min(start + _CHUNK_COUNT, shared)
        some, others = one[start:end], other[start:end]
        if is_wide and _are_seen_equal(some, others, look_inside=True):
            continue
        children += [
            (index, x, y, place)
            for index, x, y in zip(range(start, end), some, others, strict=True)
            if not _are_seen_equal(x, y, look_inside=is_wide)
        ]
    children += [(i, one[i], MISSING, None) for i in range(shared, len(one))]
    children += [(i, MISSING, other[i], None) for i in range(shared, len(other))]
    return children


def _field_children(
    one: dict[str, JsonValue], other: dict[str, JsonValue], place: Place
) -> list[_Child]:
    children: list[_Child] = []
    fields = place.fields
    for name, field in fields.items():
        x, y = one.get(name, MISSING), other.get(name, MISSING)
        if not _are_seen_equal(x, y, look_inside=False):
            children += _differing_field(name, x, y, field)
    if one.keys() <= place.known_names >= other.keys():
        return children
    for name in dict.fromkeys((*one, *other)):
        if name not in place.known_names:
            x, y = one.get(name, MISSING), other.get(name, MISSING)
            children += _differing_field(name, x, y, declared_places.UNDECLARED_FIELD)
    return children


def _differing_field(
    name: str, one: JsonValue, other: JsonValue, field: declared_places.Field
) -> Sequence[_Child]:
    if one is MISSING or other is MISSING:
        default = field.default
        full_one: JsonValue = default if one is MISSING else one
        full_other: JsonValue = default if other is MISSING else other
        differences = _walk([((None, name), full_one, full_other, field.place)])
        if all(_are_equal_secrets(*difference) for difference in differences):
            return ()
        if type(full_one) is type(full_other) and type(full_one) not in _LEAF_TYPES:
            return [(name, full_one, full_other, field.place)]
    return [(name, one, other, field.place)]


def _are_seen_equal(one: JsonValue, other: JsonValue, *, look_inside: bool) -> bool:
    """Compare two values at once where that is cheap.

    Args:
        one: Any value.
        other: Another.
        look_inside: Compare containers as well: by their encodings, for `==` takes 1, 1.0 and true
            for equal, and telling their types apart in Python costs many times more.

    Returns:
        True when they are strictly equal; False when they are not, or it takes a walk to see.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) in _LEAF_TYPES:
        return bool(one == other)
    if not look_inside:
        return False
    try:
        return _encode(one) == _encode(other)
    except (ValueError, OverflowError, TypeError, RecursionError):
        return False


def _are_equal_leaves(one: JsonValue, other: JsonValue, place: Place | None) -> bool:
    if type(one) is type(other):
        return bool(one == other)
    if place is not None and place.is_number and {type(one), type(other)} == {int, float}:
        return bool(one == other)
    return False


def _are_equal_secrets(trail: _Trail, one: JsonValue, other: JsonValue) -> bool:
    if (one is None and other == PLACEHOLDER) or (other is None and one == PLACEHOLDER):
        return trail is not None and isinstance(trail[1], str) and is_secret_field(trail[1])
    return False


def _difference(trail: _Trail, recorded: JsonValue, incoming: JsonValue) -> Difference:
    steps: list[Step] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    steps.reverse()
    return Difference(
        path=join_path("", *steps), steps=tuple(steps), recorded=recorded, incoming=incoming
    )
