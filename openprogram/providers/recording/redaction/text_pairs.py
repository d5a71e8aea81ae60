"""Finds credentials whose name stands in a value of its own: lists, tags, `name` and `value`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from openprogram.providers.recording.redaction.field_names import (
    NAME_ENDING,
    NAME_ENDING_BACKWARDS,
    NAME_TRIGGERS,
    is_header_pair,
    is_secret_field,
)
from openprogram.providers.recording.redaction.text_rules import (
    REST_OF_LINE,
    TextRule,
    TextViews,
    gate,
)
from openprogram.providers.recording.redaction.text_values import (
    PLACEHOLDER,
    QUOTE,
    Replacement,
    bare_value_end,
    closing_quote,
    is_made_up,
    is_reference,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDING = NAME_ENDING.encode()
_COMMA_GATE = re.compile(
    rb",[ \t]*+[\"'`]\\*+(?P<name>" + NAME_ENDING_BACKWARDS.encode() + rb"[\w.-]{0,100})(?=[\"'`])"
)
"""For a text read backwards: a quoted name before a comma."""
_ELEMENT_GATE = gate(
    "<",
    rb"<(?=[a-z])(?:key>)?(?:[\w-]+:)?[\w.-]{0,60}?"
    + _ENDING
    + rb"(?:[\s>]|</key>)"
    + REST_OF_LINE,
)
_VALUE_GATE = gate("val", rb"val(?:(?:ues?)?\\*\"[ \t]*+:|ue=[\"'])" + REST_OF_LINE)
_NAME_GATES = tuple(
    gate(
        beginning,
        beginning.encode() + rb"[\"' \t]*+[\w.-]{0,80}?" + _ENDING + rb"[\"']?[ \t]*+\r?\n",
    )
    for beginning in ("- name:", "; name=")
)

_PLACEHOLDER_START = PLACEHOLDER.split()[0]
_AFTER_NAME = re.compile(r"(?a)\\*[\"'`][ \t]*+,\s*+")
_BEFORE_LISTED = re.compile(r"(?a)[\[({][\"'\\]?\s*(?:b|\\*)[\"'`]\Z")
_BEFORE_ARGUMENT = re.compile(r"(?a)\w\(\s*[\"'`]\Z")
_BEFORE_NAME_VALUE = re.compile(r"(?ai)\\*[\"'](?:name|key|header|field)\\*[\"']\s*:\s*\\*[\"']\Z")
_VALUE_NAME = re.compile(r"(?ai)\\*[\"'](?:value|values|val)\\*[\"']\s*+:\s*+")
_VALUE_BEFORE_NAME = re.compile(
    r"(?ai)\"(?:value|values|val)\"\s*+:\s*+\"(?P<value>(?:[^\"\\\n]|\\.)*+)\"\s*+,\s*+"
    r"\"(?:name|key|header|field)\"\s*+:\s*+\"(?P<name>[^\"\\\n]{0,100})\""
)
_ELEMENT = re.compile(
    r"(?a)<(?P<tag>(?:[\w-]{1,40}:)?(?P<name>[\w.-]{1,80}))(?:\s[^<>\n]{0,200})?>"
    r"(?P<value>[^<>]+)</(?P=tag)>"
)
_ATTRIBUTES = re.compile(
    r"(?ai)<[^<>\n]{0,200}?\s(?:name|key|id|type)=(?P<quote>[\"'])(?P<name>[\w.-]{1,80})(?P=quote)"
    r"[^<>\n]{0,200}?\svalue=(?P<mark>[\"'])(?P<value>[^\"'<>\n]+)(?P=mark)"
)
_KEY_ELEMENT = re.compile(
    r"(?a)<key>(?P<name>[\w.-]{1,80})</key>\s*<string>(?P<value>[^<>]+)</string>"
)
_YAML_PAIR = re.compile(
    r"(?a)name:[ \t]*[\"']?(?P<name>[\w.-]{1,80})[\"']?[ \t]*\r?\n[ \t]*value:[ \t]*(?P<at>)(?=\S)"
)
_FORM_FIELD = re.compile(
    r"(?a)name=[\"']?(?P<name>[\w.-]{1,80})[\"']?[ \t]*\r?\n\r?\n(?P<value>[^\r\n]+)"
)


def _find_candidates(views: TextViews) -> list[int]:
    found = [start for start, _ in _find_quoted_names(views)]
    for one in (_ELEMENT_GATE, _VALUE_GATE, *_NAME_GATES):
        found += one.starts(views.lowered)
    return found


def _find_quoted_names(views: TextViews) -> list[tuple[int, int]]:
    if b"," not in views.raw:
        return []
    size = views.size
    places = [
        (size - match.end("name"), size - match.start("name"))
        for match in _COMMA_GATE.finditer(views.backwards)
    ]
    places.reverse()
    return [(start, end) for start, end in places if is_secret_field(views.text[start:end])]


def _find_secrets(views: TextViews) -> Iterator[Replacement]:
    part, lowered = views.text, views.lowered
    for start, end in _find_quoted_names(views):
        yield from _listed_value(part, start, end)
    if _VALUE_GATE.is_open(lowered):
        yield from _named_values(part, _VALUE_BEFORE_NAME)
        yield from _named_values(part, _ATTRIBUTES)
    if _ELEMENT_GATE.is_open(lowered):
        yield from _named_values(part, _ELEMENT)
        yield from _named_values(part, _KEY_ELEMENT)
    if any(one.is_open(lowered) for one in _NAME_GATES):
        yield from _named_values(part, _FORM_FIELD)
        for match in _YAML_PAIR.finditer(part):
            if is_secret_field(match["name"]):
                yield from _value(part, match.end())


def _named_values(part: str, pattern: re.Pattern[str]) -> Iterator[Replacement]:
    for match in pattern.finditer(part):
        value = match["value"].strip()
        is_done = not value or PLACEHOLDER in value or is_reference(value)
        if is_secret_field(match["name"]) and not is_done:
            start = part.index(value, match.start("value"))
            yield Replacement(start, start + len(value))


def _listed_value(part: str, start: int, end: int) -> Iterator[Replacement]:
    """Read `["x-api-key", "..."]`, `set("API_KEY", "...")`, `"name": "...", "value": "..."`."""
    after = _AFTER_NAME.match(part, end)
    if after is None:
        return
    name, before = part[start:end], part[max(0, start - 60) : start]
    if _BEFORE_NAME_VALUE.search(before):
        value_name = _VALUE_NAME.match(part, after.end())
        if value_name is not None:
            yield from _value(part, value_name.end())
        return
    is_argument = _BEFORE_ARGUMENT.search(before) is not None
    if not is_argument and not _BEFORE_LISTED.search(before):
        return
    for found in _value(part, after.end(), is_quoted=True):
        value = part[found.start : found.end]
        if is_header_pair(name, value) or (is_argument and (name.isupper() or is_made_up(value))):
            yield found


def _value(part: str, at: int, *, is_quoted: bool = False) -> Iterator[Replacement]:
    opening = QUOTE.match(part, at)
    if opening is not None:
        at = opening.end()
        end = closing_quote(part, at, opening["quote"], len(opening["escape"]))
        if end < 0:
            end = bare_value_end(part, at, r"\n")
    elif is_quoted:
        return
    else:
        end = bare_value_end(part, at, r"\s")
    value = part[at:end]
    if value and not value.startswith(_PLACEHOLDER_START) and not is_reference(value):
        yield Replacement(at, end)


PAIRS = TextRule(
    triggers=(*NAME_TRIGGERS, "val"),
    find_candidates=_find_candidates,
    find_secrets=_find_secrets,
)
"""`["x-api-key", "..."]`, `<password>...</password>`, `- name: API_KEY` with `value: ...`."""
