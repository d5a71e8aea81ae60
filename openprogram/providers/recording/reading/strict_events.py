"""Decoders that take an event's JSON text as it ordinarily is, and refuse anything out of it.

What they accept, the exact parser in `format` accepts too, and no byte of it went unseen: unknown
fields are refused here, because a decoder that skips a value does not check it. What they refuse
may still be sound, so whoever calls them then asks the exact parser.
"""

from __future__ import annotations

import functools
import types
import typing
from typing import TYPE_CHECKING, Any, cast

import msgspec

from openprogram.providers import types as t
from openprogram.providers.recording.snapshots import DERIVED_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from openprogram.providers.types import RecordedEvent

_VERSION_2_ONLY = (t.EventStructuredOutputRetry, t.EventStructuredOutputEnd)


@functools.cache
def ordinary_event_decoder(format_version: int) -> Callable[[bytes], RecordedEvent]:
    """Make the decoder of ordinary events of a format version.

    Args:
        format_version: 1 or 2.

    Returns:
        A function from one JSON text to a typed event, which has an attribute `partial_derived`
        when it has a `partial`. It raises a `ValueError` or a `RecursionError` for anything that
        is not ordinary.
    """
    known = cast("tuple[type[msgspec.Struct], ...]", typing.get_args(t.AssistantMessageEvent))
    structs = known if format_version == 1 else (*known, *_VERSION_2_ONLY)
    union = functools.reduce(lambda one, other: one | other, map(_strict, structs))
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(union)
    return decoder.decode


@functools.cache
def event_type(format_version: int) -> Any:
    """Give the type that every event of a format version fits.

    Args:
        format_version: 1 or 2.

    Returns:
        A union, for `msgspec.convert`.
    """
    return t.AssistantMessageEvent if format_version == 1 else t.RecordedEvent


@functools.cache
def _strict(struct: type[msgspec.Struct]) -> Any:
    """Make the twin of a wire type that refuses unknown fields, at any depth."""
    hints = typing.get_type_hints(struct)
    fields: list[Any] = []
    for field in msgspec.structs.fields(struct):
        type_ = _strict_hint(hints[field.name])
        if field.default_factory is not msgspec.NODEFAULT:
            fields.append((field.name, type_, msgspec.field(default_factory=field.default_factory)))
        elif field.default is not msgspec.NODEFAULT:
            fields.append((field.name, type_, field.default))
        else:
            fields.append((field.name, type_))
    if "partial" in struct.__struct_fields__:
        fields.append((DERIVED_KEY, Any, None))
    config = struct.__struct_config__
    return msgspec.defstruct(
        f"Strict{struct.__name__}",
        fields,
        bases=(struct,),
        tag_field=config.tag_field,
        tag=config.tag,
        kw_only=True,
        forbid_unknown_fields=True,
    )


def _strict_hint(hint: Any) -> Any:
    origin = typing.get_origin(hint)
    if origin in {typing.Union, types.UnionType, list}:
        inner = tuple(_strict_hint(each) for each in typing.get_args(hint))
        return list[inner[0]] if origin is list else typing.Union[inner]  # noqa: UP007 - made here
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _strict(hint)
    return cast("Any", hint)
