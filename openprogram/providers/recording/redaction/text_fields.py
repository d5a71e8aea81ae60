"""Finds credentials by the name that stands before them in a text: assignments and headers.

Names are found backwards from their separators, because separators are rare and words such as
"token" are not. Prose after a colon, a word of code, an empty value and the name of a variable are
no credentials.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from openprogram.providers.recording.redaction.colon_values import (
    is_line_header,
    read_after_colon,
    read_next_line,
)
from openprogram.providers.recording.redaction.field_names import (
    NAME_ENDING_BACKWARDS,
    NAME_TRIGGERS,
    is_query_secret,
    is_secret_field,
)
from openprogram.providers.recording.redaction.field_values import (
    Field,
    read_after_equals,
    read_basic_auth,
    read_json_like,
    read_quoted,
)
from openprogram.providers.recording.redaction.text_rules import TextRule, TextViews
from openprogram.providers.recording.redaction.text_values import (
    PLACEHOLDER,
    Replacement,
    is_made_up,
    is_reference,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_GAP = rb"[ \t\"'`\\\]*?]*+"
_NAME = (
    rb"(?!yek(?![\w.?&#;-]| (?:ipa|terces|etavirp)))("
    + NAME_ENDING_BACKWARDS.encode()
    + rb"[\w.]{0,60}(?:-[\w.]{1,60}){0,8}(?: (?:ipa|terces|etavirp))?)"
)
_NAME_BEFORE = {
    separator: re.compile(re.escape(separator) + _GAP + _NAME) for separator in (b"=", b":", b"|")
}
"""For a text read backwards: the name before each separator."""
# What is beyond Latin-1 is a `?` here too: the search must not begin anew at each of a run.
_NAME_BEFORE[b"?"] = re.compile(rb"(?<!\?)\?\?(?!\?)[ \t\"'`\])]*+" + _NAME)
_SEPARATOR_CHARACTER = re.compile(rb"[=:|]|(?<!\?)\?\?(?!\?)")
_SEPARATOR = re.compile(
    rb"(?P<gap>" + _GAP + rb")(?P<separator>:=|={1,3}>?|:(?!//)\*{0,2}|\|)(?P<space>\s*+)"
)
_OTHERWISE = re.compile(
    rb"(?P<gap>[\"'`\])]*+)[ \t]*+(?P<separator>\?\?|\|\||\?:)=?(?P<space>\s*+)\(?(?=[\"'`])"
)
"""Between a name and what a program takes where it has no value, as in `env.TOKEN ?? "..."`."""
_EXPANSION = re.compile(r"(?:(?<=:)-|(?<==))(?P<value>[^\s{}\"'`$]{1,1000}+)\}")
"""The rest of `${TOKEN:-...}` and `${TOKEN:=...}` behind the colon."""
_PROSE_AFTER_COLON = re.compile(rb"[ \t]++[a-z]++[.,;:!?)]*+[ \t]++[^\s#/=|>\\]")
_TABLE_CELL = re.compile(r"(?a)`?(?P<value>[^\s|`]+)`?[ \t]*\|")


class _Name(NamedTuple):
    """Where the name of a field stands in a text."""

    start: int
    end: int


def _find_candidates(views: TextViews) -> list[int]:
    """Find one name on each line that has one, the last one of each separator."""
    found: list[int] = []
    backwards = views.backwards
    for separator, pattern in _NAME_BEFORE.items():
        at = 0 if separator in backwards else views.size
        while match := pattern.search(backwards, at):
            name = _name_of(match, views)
            at = match.end()
            if name is not None:
                found.append(name.start)
                at = backwards.find(b"\n", at)
                if at < 0:
                    break
    return found


def _name_of(match: re.Match[bytes], views: TextViews) -> _Name | None:
    """Return the name that a match of `_NAME_BEFORE` read backwards, if it may be secret."""
    text, size = views.text, views.size
    start, end = size - match.end(1), size - match.start(1)
    name = text[start:end]
    if not (is_secret_field(name) or _is_secret_here(name, text[start - 1 : start])):
        return None
    after = size - match.start()
    is_colon = text[end:after].endswith((":", "\uff1a"))
    if is_colon and _PROSE_AFTER_COLON.match(views.lowered, after) and not is_line_header(name):
        return None
    return _Name(start, end)


def _is_secret_here(name: str, before: str) -> bool:
    """Say whether a name holds a credential because of the character before it, or may hold one."""
    if before in {"?", "&", "#", ";"} and is_query_secret(name):
        return True
    return name in {"auth", "_auth"} or (before == ";" and name.lower() == "pwd")


def _find_secrets(views: TextViews) -> Iterator[Replacement]:
    at = 0
    while separator := _SEPARATOR_CHARACTER.search(views.lowered, at):
        at = separator.end()
        before = _NAME_BEFORE[separator[0][:1]]
        match = before.match(views.backwards, views.size - at)
        name = None if match is None else _name_of(match, views)
        found = None if name is None else _read(views, name)
        if found is not None:
            at = max(at, found.end)
            yield found


def _read(views: TextViews, name: _Name) -> Replacement | None:
    match = _OTHERWISE.match(views.lowered, name.end)
    if match is None or views.text[match.start("separator")] not in {"?", "|"}:
        match = _SEPARATOR.match(views.lowered, name.end)
    if match is None or match.end() >= views.size:
        return None
    if views.text.startswith(PLACEHOLDER, match.end()):
        return None
    groups = {group: text.decode("latin-1") for group, text in match.groupdict().items()}
    return _read_field(
        Field(
            views=views,
            name=views.text[name.start : name.end].strip("-_."),
            before=views.text[max(0, name.start - 60) : name.start],
            value_at=match.end(),
            **groups,
        )
    )


def _read_field(field: Field) -> Replacement | None:
    if field.before.endswith("${"):
        reader = _read_expansion
    elif field.separator in {"??", "||", "?:"}:
        reader = read_quoted
    elif field.name == "auth":
        reader = read_basic_auth
    elif field.has_quoted_name():
        reader = read_json_like
    elif field.separator == "|":
        reader = _read_table_cell
    elif "\n" in field.space:
        reader = read_next_line
    else:
        is_colon = field.separator in {":", ":*", ":**"}
        reader = read_after_colon if is_colon else read_after_equals
    return reader(field)


def _read_expansion(field: Field) -> Replacement | None:
    """Read what a shell takes where a variable has no value."""
    found = _EXPANSION.match(field.part, field.value_at)
    if found is None or is_reference(found["value"]):
        return None
    return Replacement(*found.span("value"))


def _read_table_cell(field: Field) -> Replacement | None:
    """Read the second cell of `| password | ... |`."""
    cell = _TABLE_CELL.match(field.part, field.value_at)
    is_first = field.before.rstrip(" \t*`").endswith("|")
    if cell is None or not is_first or not is_made_up(cell["value"]):
        return None
    return Replacement(*cell.span("value"))


FIELDS = TextRule(
    triggers=NAME_TRIGGERS,
    find_candidates=_find_candidates,
    find_secrets=_find_secrets,
)
"""`name = value`, `name: value`, `?name=value`, `"name": "value"`, `name ?? "value"`, tables."""
