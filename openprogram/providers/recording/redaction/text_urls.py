"""Finds credentials in URLs: user and password before the host, and tokens that stand there."""

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
    Replacement,
    is_reference,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_GATES = tuple(
    gate(slashes, re.escape(slashes.encode()) + rb"[^\s/@]*[:@]" + REST_OF_LINE)
    for slashes in ("://", ":\\/\\/")
)
_USERINFO = re.compile(
    r"(?a):(?P<slash>\\*/)(?P=slash)(?P<info>[^\s/?#\"'<>`\\]*)@"
    r"|:(?P<slash2>\\*/)(?P=slash2)(?P<odd>[^\s/:@\"'<>`\\]*:(?!\d{1,5}(?:[/?#\s]|\Z))"
    r"[^\s\"'<>`\\]{0,256}?)@(?=[\w.-]+(?:[:/?#\s]|\Z))"
)
_TOKEN_USER = re.compile(
    r"(?a)(?=[\w.~%+=-]*\Z)(?:(?=\S*\d)[^\s.]{8,}|\S*\d\S*[-_]\S*|\S*[-_]\S*\d\S*|\S{24,})"
)


def _find_candidates(views: TextViews) -> list[int]:
    if b"@" not in views.raw:
        return []
    return [start for one in _GATES for start in one.starts(views.raw)]


def _find_secrets(views: TextViews) -> Iterator[Replacement]:
    if b"@" not in views.raw:
        return
    for match in _USERINFO.finditer(views.text):
        group = "info" if match["info"] is not None else "odd"
        user, colon, password = match[group].partition(":")
        start, end = match.span(group)
        if colon and (user or password):
            if password and user and not _is_token(user, password):
                start += len(user) + 1
            if not is_reference(views.text[start:end]):
                yield Replacement(start, end)
        elif user and _TOKEN_USER.fullmatch(user) and user != PLACEHOLDER:
            yield Replacement(start, end)


def _is_token(user: str, password: str) -> bool:
    """Say whether the user is the secret, as in `https://TOKEN:x-oauth-basic@host`."""
    return password.lower() == "x-oauth-basic" or _TOKEN_USER.fullmatch(user) is not None


URLS = TextRule(
    triggers=(r":/", r"\\/"),
    find_candidates=_find_candidates,
    find_secrets=_find_secrets,
)
"""`scheme://user:password@host` and `https://token@host`."""
