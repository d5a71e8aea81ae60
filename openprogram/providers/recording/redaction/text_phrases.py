"""Finds credentials that a word before them announces: `Bearer ...`, `password is "..."`.

Each pattern begins with one literal, because the search for that is fast.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

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
    is_basic_credential,
    is_credential_like,
    is_made_up,
    is_reference,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = rb"(?:[ \t]++(?:\\*[\"'`])?|%20)"
_MADE = _SPACE + rb"(?P<secret>[\w.+/=~:-]{12,}+)"
_IS = rb"[\"'`*]{0,3}[ \t]++(?:is|was)(?:[ \t]++now)?:?[ \t]++"
_BEARER = re.compile(rb"bearer(?<![\w-]bearer)(?:[ \t]++(?P<open>\\*[\"'`])?|%20)(?=\S{8})")
_BASIC = re.compile(rb"basic(?<![\w-]basic)" + _SPACE + rb"(?P<secret>[\w+/-]{6,}+={0,2})")
_BOT = re.compile(rb"bot(?<![a-z]bot)" + _MADE)
_TOKEN_OR_KEY = re.compile(rb"k(?:(?<=tok)en(?<![a-z]token)|ey(?<![a-z]key))" + _MADE)
_KEY_IS = re.compile(rb"k(?:(?<=tok)en|(?<=api.k)ey|(?<=secret.k)ey)" + _IS)
_PASSWORD_IS = re.compile(rb"w(?:(?<=passw)ord|(?<=pass)wd)" + _IS)
_PASSWORD = re.compile(
    rb"w(?:(?<=passw)ord|(?<=pass)wd)[ \t]++(?=\\*[\"'`]|[^\s:=]+[ \t]*+(?:\r?\n|\Z))"
)
_NETRC = re.compile(rb"login[ \t]++[^\s:=]++[ \t]++passw(?:or)?d[ \t]++(?=\S)")
_SCHEME_GATES = (
    gate("bearer", rb"bearer" + _SPACE + rb"\S{8}" + REST_OF_LINE),
    gate("basic", rb"basic" + _SPACE + rb"[\w+/-]{6}" + REST_OF_LINE),
    gate("bot", rb"bot" + _MADE + REST_OF_LINE),
)
_KEY_GATES = (
    gate("key", rb"k(?=ey)ey(?:" + _MADE + rb"|" + _IS + rb")" + REST_OF_LINE),
    gate("token", rb"k(?<=tok)en(?:" + _MADE + rb"|" + _IS + rb")" + REST_OF_LINE),
)
_PASSWORD_GATE = gate(
    "passw",
    rb"passw(?:or)?d(?:"
    + _IS
    + rb"|[ \t]++(?:\\*[\"'`]|[^\s:=]+[ \t]*+(?:\r?\n|\Z)))"
    + REST_OF_LINE,
)
_NETRC_GATE = gate("login", _NETRC.pattern + REST_OF_LINE)

_BEARER_VALUE = re.compile(
    r"(?a)(?=[^\s\"'`<>,;%]{0,200}?(?:[\d$!#^&*+=~_@]|[a-z][A-Z]|[A-Za-z]{20}))"
    r"(?:[^\s\"'`<>,;%&]|&(?!\w{2,4};|#)){8,}+"
)
_RUN = re.compile(r"[A-Za-z0-9]{12,}+")
_IRREGULAR = re.compile(r"[0-9][A-Za-z]|[a-z][A-Z]|[A-Z][a-z].*[A-Z]")
_UUID = re.compile(r"(?a)[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_LONGEST_SIGN = 2
"""A quoted text of that many characters is a sign, as in `password "," is missing`."""


def _find_candidates(views: TextViews) -> list[int]:
    gates = (*_SCHEME_GATES, *_KEY_GATES, _PASSWORD_GATE, _NETRC_GATE)
    return [start for one in gates for start in one.starts(views.lowered)]


def _find_secrets(views: TextViews) -> Iterator[Replacement]:
    part, lowered = views.text, views.lowered
    if any(one.is_open(lowered) for one in _SCHEME_GATES):
        yield from _find_schemes(views)
    if any(one.is_open(lowered) for one in _KEY_GATES):
        yield from _find_made_up(views, _TOKEN_OR_KEY)
        for match in _KEY_IS.finditer(lowered):
            yield from _said_value(part, match.end(), is_said=True)
    if _PASSWORD_GATE.is_open(lowered):
        for match in _PASSWORD_IS.finditer(lowered):
            yield from _said_value(part, match.end(), is_said=True)
        for match in _PASSWORD.finditer(lowered):
            yield from _said_value(part, match.end(), is_said=False)
    if _NETRC_GATE.is_open(lowered):
        for match in _NETRC.finditer(lowered):
            yield from _netrc_value(part, match.end())


def _netrc_value(part: str, at: int) -> Iterator[Replacement]:
    end = bare_value_end(part, at, r"\s")
    if end > at and not part.startswith(PLACEHOLDER, at):
        yield Replacement(at, end)


def _find_schemes(views: TextViews) -> Iterator[Replacement]:
    for match in _BEARER.finditer(views.lowered):
        yield from _bearer_value(views.text, match)
    for match in _BASIC.finditer(views.lowered):
        start, end = match.span("secret")
        if is_basic_credential(views.text[start:end]):
            yield Replacement(start, end)
    yield from _find_made_up(views, _BOT)


def _find_made_up(views: TextViews, pattern: re.Pattern[bytes]) -> Iterator[Replacement]:
    for match in pattern.finditer(views.lowered):
        start, end = match.span("secret")
        secret = views.text[start:end].rstrip(".:")
        if not _UUID.match(secret) and any(map(_is_irregular, _RUN.findall(secret))):
            yield Replacement(start, start + len(secret))


def _is_irregular(run: str) -> bool:
    """Say whether letters and digits are mixed as in no word, number or word with a number."""
    return not run.isalpha() and not run.isdigit() and _IRREGULAR.search(run) is not None


def _bearer_value(part: str, match: re.Match[bytes]) -> Iterator[Replacement]:
    at = match.end()
    if part.startswith(PLACEHOLDER, at) or is_reference(part[at : at + 100]):
        return
    if match["open"]:
        quote = match["open"].decode()
        end = closing_quote(part, at, quote[-1], len(quote) - 1)
        if end > at and any(character.isdigit() for character in part[at:end]):
            yield Replacement(at, end)
            return
    found = _BEARER_VALUE.match(part, at)
    if found is not None:
        yield Replacement(at, at + len(found[0].rstrip(".,;:!?)]}")))


def _said_value(part: str, at: int, *, is_said: bool) -> Iterator[Replacement]:
    """Read one word: in quotes, or made up behind `is`, or alone with a sign on its line."""
    opening = QUOTE.match(part, at)
    if opening is None:
        end = bare_value_end(part, at, r"\s")
        is_secret = is_made_up(part[at:end]) if is_said else is_credential_like(part[at:end])
    else:
        at = opening.end()
        end = closing_quote(part, at, opening["quote"], len(opening["escape"]))
        value = part[at:end] if end > at else ""
        is_secret = len(value) > _LONGEST_SIGN and len(value.split()) == 1
    if is_secret and not is_reference(part[at : at + 100]):
        yield Replacement(at, end)


PHRASES = TextRule(
    triggers=("bearer", "basic", "bot", "token", "key", "passw", "login"),
    find_candidates=_find_candidates,
    find_secrets=_find_secrets,
)
"""Authorization schemes, `password is "x"`, `PASSWORD 'x'`, `login me password x`."""
