"""Digests of requests and answers: equal when comparing would find no difference. Pure.

What comparing leaves out is left out here too: fields that differ from run to run, fields that hold
their default, the order of keys, and how a number is written where a number is declared.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import msgspec

from openprogram.providers import declared_places
from openprogram.providers.recording.redaction import PLACEHOLDER, is_secret_field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram._json_types import JsonValue
    from openprogram.providers.declared_places import Place


DIGEST_BYTES = 16
"""How long a digest is."""

_encode = msgspec.json.Encoder(order="deterministic").encode
_PLACEHOLDER_BYTES = PLACEHOLDER.encode("ascii")
# Within encoded JSON a quotation mark inside a string is escaped, so this is a key and its value.
_HIDDEN_FIELD = re.compile(rb'("(?:[^"\\]|\\.)*"):"%b"' % re.escape(_PLACEHOLDER_BYTES))


def digest_request(request: Mapping[str, JsonValue]) -> bytes:
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
    forms = _request_forms()
    return _digest([_canonical(request.get(name), form) for name, form in forms.items()])


def digest_last_message(request: Mapping[str, JsonValue]) -> bytes | None:
    """Digest the newest message of a request's context.

    Args:
        request: As for `digest_request`.

    Returns:
        `DIGEST_BYTES` bytes; None when there is no message.
    """
    context = request.get("context")
    messages = (
        cast("dict[str, JsonValue]", context).get("messages") if isinstance(context, dict) else ()
    )
    if not isinstance(messages, list) or not messages:
        return None
    form = _request_forms()["context"]
    messages_form = None if form is None else form.fields["messages"][0]
    last: JsonValue = cast("list[JsonValue]", messages)[-1]
    return _digest(_canonical(last, None if messages_form is None else messages_form.items))


def digest_message(message: Mapping[str, JsonValue] | None) -> bytes:
    """Digest an assistant's message.

    Args:
        message: As it stands in a terminal event; None when there is none.

    Returns:
        `DIGEST_BYTES` bytes.
    """
    return _digest(_canonical(message, _message_form()))


def digest_content(message: Mapping[str, JsonValue] | None) -> bytes | None:
    """Digest only what an assistant's message says: its texts, thoughts and tool calls.

    Args:
        message: As for `digest_message`.

    Returns:
        `DIGEST_BYTES` bytes; None when it says nothing.
    """
    content = None if message is None else message.get("content")
    if not content:
        return None
    return _digest(_canonical(content, _message_form().fields["content"][0]))


def _digest(canonical: JsonValue) -> bytes:
    return hashlib.blake2b(_encoded(canonical), digest_size=DIGEST_BYTES).digest()


def _encoded(canonical: JsonValue) -> bytes:
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


@dataclass(frozen=True, slots=True)
class _Form:
    """How the values at one declared place are brought into their canonical form."""

    fields: dict[str, tuple[_Form | None, JsonValue]]
    """Of an object: the form of each field, None for one that stays as it is, and its default."""
    left_out: frozenset[str]
    """Of an object: fields that are not compared."""
    tag_name: str
    """See `Place`."""
    variants: dict[str, _Form | None]
    """See `Place`."""
    items: _Form | None
    """Of an array."""


_NUMBER = _Form({}, frozenset(), "", {}, None)
"""The form of a number: by value, however it is written."""


@functools.cache
def _request_forms() -> dict[str, _Form | None]:
    return {name: _form_of(place) for name, place in declared_places.request_places().items()}


@functools.cache
def _message_form() -> _Form:
    """Find the form of the message in a `done` event."""
    place = declared_places.event_place().variants["done"].fields["message"].place
    form = _form_of(place)
    assert form is not None  # noqa: S101 - for the type checker: a message has fields
    return form


def _form_of(place: Place | None) -> _Form | None:
    if place is None:
        return None
    if place.is_number:
        return _NUMBER
    fields: dict[str, tuple[_Form | None, JsonValue]] = {}
    for name, field in place.fields.items():
        form = _form_of(field.place)
        fields[name] = (form, _canonical(field.default, form))
    form = _Form(
        fields,
        place.known_names - place.fields.keys(),
        place.tag_name,
        {tag: _form_of(variant) for tag, variant in place.variants.items()},
        _form_of(place.items),
    )
    return form if form.fields or form.variants or form.items else None


def _canonical(value: JsonValue, form: _Form | None) -> JsonValue:
    """Bring a value into a form that is equal for whatever compares as equal at its place."""
    if form is None:
        return value
    if form is _NUMBER:
        return int(value) if type(value) is float and value.is_integer() else value
    if isinstance(value, list):
        items = cast("list[JsonValue]", value)
        return items if form.items is None else [_canonical(each, form.items) for each in items]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, JsonValue]", value)
    if form.variants:
        tag = fields.get(form.tag_name)
        variant = form.variants.get(tag) if type(tag) is str else None
        # Its tag stays though it is the default: without it two kinds could look alike.
        return fields if variant is None else _fields(fields, variant) | {form.tag_name: tag}
    return _fields(fields, form) if form.fields else fields


def _fields(values: dict[str, JsonValue], form: _Form) -> dict[str, JsonValue]:
    canonical: dict[str, JsonValue] = {}
    known, left_out = form.fields, form.left_out
    for name, value in values.items():
        if name in left_out:
            continue
        inner, default = known.get(name, _UNDECLARED)
        if inner is not None:
            value = _canonical(value, inner)  # noqa: PLW2901 - as it compares
        elif value == PLACEHOLDER and is_secret_field(name):
            value = None  # noqa: PLW2901 - a removed secret equals null
        if type(value) is not type(default) or value != default:
            canonical[name] = value
    return canonical


_UNDECLARED = (None, None)
"""A field that no type declares, in an object that has one: compared, and null when absent."""
