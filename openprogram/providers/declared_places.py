"""Which places of a request or an event have a declared type, and what that means for comparing.

Worked out once from `openprogram.providers.types`, so a field added there is known here.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
from msgspec import inspect as type_inspection

from openprogram.providers import types as t

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram._json_types import JsonValue


REQUEST_PART_NAMES = ("model", "context", "options")
"""The parts of a request, in the order in which they are compared."""
NON_DETERMINISTIC_FIELD_NAMES = frozenset({"timestamp"})
"""Fields that differ from run to run; skipped where a type declares them, and nowhere else."""

_SKIPPED_NAMES = NON_DETERMINISTIC_FIELD_NAMES | t.REQUEST_LOCAL_FIELD_NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What is declared of the values at one place.

    User data, in which anything may stand, has no place: where a place is asked for, it is None.
    """

    fields: Mapping[str, Field] = field(default_factory=dict[str, "Field"])
    """Of an object: its fields by name, without the skipped ones."""
    known_names: frozenset[str] = frozenset()
    """Of an object: the names of its fields, and of the skipped ones."""
    tag_name: str = ""
    """Of an object that may be one of several: the field that says which."""
    variants: Mapping[str, Place] = field(default_factory=dict[str, "Place"])
    """Of an object that may be one of several: each by its tag."""
    items: Place | None = None
    """Of an array: its items."""
    is_number: bool = False
    """Whether numbers compare by value."""

    def of(self, one: Mapping[str, JsonValue], other: Mapping[str, JsonValue]) -> Place | None:
        """Choose the variant that two objects at this place are.

        Args:
            one: An object.
            other: Another.

        Returns:
            What is declared of both; None when they are of two kinds, or of an unknown one.
        """
        if not self.variants:
            return self
        tag = one.get(self.tag_name)
        if not isinstance(tag, str) or tag != other.get(self.tag_name):
            return None
        return self.variants.get(tag)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A declared field of an object."""

    place: Place | None = None
    """What is declared of its value; None for user data."""
    default: JsonValue = None
    """What its absence means; null where the type requires it."""


UNDECLARED_FIELD = Field()
"""A field that no type declares, in an object that has one: compared, and null when absent."""


@functools.cache
def request_places() -> Mapping[str, Place]:
    """Give what is declared of the parts of a request.

    Returns:
        A place each for `model`, `context` and `options`.
    """
    types = {"model": t.Model, "context": t.Context, "options": t.SimpleStreamOptions}
    return {name: _object_place(type_inspection.type_info(cls)) for name, cls in types.items()}


@functools.cache
def event_place() -> Place:
    """Give what is declared of an event.

    Returns:
        A place with one variant per event type.
    """
    place = _place(type_inspection.type_info(t.RecordedEvent))
    assert place is not None  # noqa: S101 - for the type checker: events are objects
    return place


def _place(info: type_inspection.Type) -> Place | None:
    if isinstance(info, type_inspection.UnionType):
        return _union_place(info)
    if isinstance(info, type_inspection.StructType):
        return _object_place(info)
    if isinstance(info, type_inspection.ListType):
        return Place(items=_place(info.item_type))
    if isinstance(info, type_inspection.IntType | type_inspection.FloatType):
        return Place(is_number=True)
    is_user_data = isinstance(info, type_inspection.AnyType | type_inspection.DictType)
    return None if is_user_data else Place()


def _union_place(info: type_inspection.UnionType) -> Place | None:
    """Take the one place of a union that says something: no two of its types are containers."""
    structs = [x for x in info.types if isinstance(x, type_inspection.StructType)]
    if len(structs) > 1:
        variants = {str(x.tag): _object_place(x) for x in structs}
        return Place(tag_name=structs[0].tag_field or "", variants=variants)
    places = [_place(x) for x in info.types]
    return None if None in places else next((p for p in places if p != Place()), Place())


def _object_place(info: type_inspection.Type) -> Place:
    assert isinstance(info, type_inspection.StructType)  # noqa: S101 - for the type checker
    fields = {
        each.encode_name: Field(place=_place(each.type), default=_default_of(each))
        for each in info.fields
        if each.encode_name not in _SKIPPED_NAMES
    }
    if info.tag_field is not None:
        fields[info.tag_field] = Field(default=info.tag)
    return Place(
        fields=fields, known_names=frozenset(fields).union(x.encode_name for x in info.fields)
    )


def _default_of(declared: type_inspection.Field) -> JsonValue:
    if declared.default is not msgspec.NODEFAULT:
        return declared.default
    if declared.default_factory is msgspec.NODEFAULT:
        return None
    return msgspec.to_builtins(declared.default_factory())
