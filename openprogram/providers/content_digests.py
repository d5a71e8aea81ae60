"""Digests of requests and answers: equal when comparing would find no difference. Pure.

What comparing leaves out is left out here too: fields that differ from run to run, fields that hold
their default, the order of keys, and how a number is written where a number is declared.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from openprogram.providers import declared_places
from openprogram.providers.recording.redaction import PLACEHOLDER, is_secret_field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram.providers.declared_places import Place

Json: TypeAlias = Any
"""Any JSON value."""

DIGEST_BYTES = 16
"""How long a digest is."""

_encode = msgspec.json.Encoder(order="deterministic").encode
_PLACEHOLDER_BYTES = PLACEHOLDER.encode("ascii")
# Within encoded JSON a quotation mark inside a string is escaped, so this is a key and its value.
_HIDDEN_FIELD = re.compile(rb'("(?:[^"\\]|\\.)*"):"%b"' % re.escape(_PLACEHOLDER_BYTES))


def digest_request(request: Mapping[str, Json]) -> bytes:
    """Digest what a request asks.

    Args:
        request: A dict with `model`, `context` and `options`, such as a request row; other keys do
            not count.

    Returns:
        `DIGEST_BYTES` bytes.

    Example:
        >>> one = {"model": {"id": "m"}, "context": {"messages": []}, "options": None}
        >>> other = {"options": None, "model": {"id": "m", "fast": False}, "context": {}}
        >>> digest_request(one) == digest_request(other)
        True
    """
    places = declared_places.request_places()
    return _digest([_canonical(request.get(name), place) for name, place in places.items()])


def digest_last_message(request: Mapping[str, Json]) -> bytes | None:
    """Digest the newest message of a request's context.

    Args:
        request: As for `digest_request`.

    Returns:
        `DIGEST_BYTES` bytes; None when there is no message.
    """
    context = request.get("context")
    messages = cast("dict[str, Json]", context).get("messages") if isinstance(context, dict) else ()
    if not isinstance(messages, list) or not messages:
        return None
    place = declared_places.request_places()["context"].fields["messages"].place
    last: Json = cast("list[Json]", messages)[-1]
    return _digest(_canonical(last, None if place is None else place.items))


def digest_message(message: Mapping[str, Json] | None) -> bytes:
    """Digest an assistant's message.

    Args:
        message: As it stands in a terminal event; None when there is none.

    Returns:
        `DIGEST_BYTES` bytes.
    """
    return _digest(_canonical(message, _message_place()))


def digest_content(message: Mapping[str, Json] | None) -> bytes | None:
    """Digest only what an assistant's message says: its texts, thoughts and tool calls.

    Args:
        message: As for `digest_message`.

    Returns:
        `DIGEST_BYTES` bytes; None when it says nothing.
    """
    content = None if message is None else message.get("content")
    if not content:
        return None
    return _digest(_canonical(content, _message_place().fields["content"].place))


@functools.cache
def _message_place() -> Place:
    place = declared_places.event_place().variants["done"].fields["message"].place
    assert place is not None  # noqa: S101 - for the type checker: a message is an object
    return place


def _digest(canonical: Json) -> bytes:
    return hashlib.blake2b(_encoded(canonical), digest_size=DIGEST_BYTES).digest()


def _encoded(canonical: Json) -> bytes:
    try:
        text = _encode(canonical)
    except (UnicodeEncodeError, OverflowError):
        # Lone surrogates and huge numbers: slower, and equal for equal values all the same.
        text = json.dumps(canonical, sort_keys=True, separators=(",", ":")).encode("ascii")
    if _PLACEHOLDER_BYTES in text:
        return _HIDDEN_FIELD.sub(_without_placeholder, text)
    return text


def _without_placeholder(field: re.Match[bytes]) -> bytes:
    """Write a removed secret as null, which it equals."""
    return field[1] + b":null" if is_secret_field(json.loads(field[1])) else field[0]


def _canonical(value: Json, place: Place | None) -> Json:
    """Bring a value into a form that is equal for whatever compares as equal at this place."""
    if place is None:
        return value
    if type(value) is dict:
        fields = cast("dict[str, Json]", value)
        chosen = place.of(fields, fields)
        if chosen is None or not chosen.fields:
            return fields
        canonical = _canonical_fields(fields, chosen)
        if place.variants:
            # Its default says nothing here: without it two kinds could look alike.
            canonical[place.tag_name] = fields[place.tag_name]
        return canonical
    if type(value) is list:
        items = cast("list[Json]", value)
        return items if place.items is None else [_canonical(each, place.items) for each in items]
    if place.is_number and type(value) is float and value.is_integer():
        return int(value)
    return value


def _canonical_fields(values: dict[str, Json], place: Place) -> dict[str, Json]:
    canonical: dict[str, Json] = {}
    for name, value in values.items():
        field = place.fields.get(name)
        if field is None:
            if name in place.known_names:
                continue
            field = declared_places.UNDECLARED_FIELD
        if value == PLACEHOLDER and is_secret_field(name):
            value = None  # noqa: PLW2901 - a removed secret equals null
        shown = _canonical(value, field.place)
        default = _canonical(field.default, field.place)
        if type(shown) is not type(default) or shown != default:
            canonical[name] = shown
    return canonical
