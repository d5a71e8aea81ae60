"""Where a value in a text ends, and whether it looks like a credential; knows nothing of names."""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import NamedTuple

PLACEHOLDER = "[secret removed]"
"""Stands where a secret stood."""


class Replacement(NamedTuple):
    """One place of a text that is replaced."""

    start: int
    end: int
    text: str = PLACEHOLDER


QUOTE = re.compile(r"(?a)(?:[bBfFrRuU]{1,2}|\$|@)?(?P<escape>\\*)(?P<quote>\"\"\"|'''|[\"'`])")
"""Opens a quoted value, in the ways of shells, programs and JSON in JSON."""

_TRAILING = re.compile(r"[\"'`)\]}>,;.]+\Z")
_END = r"(?=[\s\"'`)\],;&|\\]|\Z)"
_REFERENCE = re.compile(
    rf"(?a)\$\{{?[A-Za-z_][A-Za-z0-9_]*\}}?{_END}|\$[0-9@*]{_END}|\$\{{|\$\(|\{{\{{"
    rf"|\{{\d*\}}|\{{[A-Za-z_][\w.()\[\]]*\}}(?:{_END}|[-:/_.{{])|%s{_END}|%\([A-Za-z_]+\)s"
    r"|<[\w .-]+>(?=\W|\Z)"
    r"|(?:os\.(?:environ|getenv)|process\.env|getenv|self|settings|config|this|args)[.\[(]"
)
_SCHEME_WORD = re.compile(r"(?ai)(?:bearer|basic|token|bot|key)[ \t]+")
_STAND_IN = re.compile(
    rf"(?ai)(?:your[-_ ][a-z_ -]+|\*{{3,}}|x{{4,}}|\.{{3}}|[\u2022\u2026]+"
    rf"|#[0-9a-f]{{6}}|(?-i:\[[A-Z]{{2,8}}\])"
    rf"|[\[<(](?:redacted|hidden|masked|filtered|removed|omitted)[\]>)]){_END}"
)
_CODE = re.compile(r"(?a)[A-Za-z_][\w.]*[\[(]|(?:[A-Za-z_]+\.)+[A-Za-z_]+\Z|https?://")
_PLAIN_WORD = re.compile(
    r"[\"'(]*(?:[A-Za-z][a-z]*(?:[-/'][A-Za-z]?[a-z]+)*|[A-Z]{2,6}s?|[0-9]{1,4})[\"')]*[.,;:!?]*"
)
_COUNTED = re.compile(r"(?ai)\d+(?:\.\d+)?(?:%|[kmg]b?|ms|s|h|x|st|nd|rd|th)?(?:-[a-z]+)*")
_SPECIAL = re.compile(r"[0-9$!#@%^&*+~=]")
_MIXED = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9$!#%^&*+~])", re.DOTALL)
_BASE64 = re.compile(r"(?a)[\w+/-]{6,}={0,2}")
_SHORTEST_CREDENTIAL = 4
_SHORTEST_NUMBER = 6
_SHORTEST_MADE_UP = 6
_MOST_PROSE_CHARACTERS = 400
_BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)


def closing_quote(text: str, at: int, quote: str, escape_count: int) -> int:
    r"""Find where a quoted text ends, whatever the number of JSON texts it is nested in.

    The level of a quote is the number of trailing one bits of the count of backslashes before it:
    `"` 0, `\"` 1, `\\\"` 2. A text ends at the first quote of its own level or of one outside.

    Args:
        text: The text.
        at: The offset after the opening quote.
        quote: The quote, one character or three.
        escape_count: How many backslashes stand before the opening quote.

    Returns:
        The offset of the first backslash or quote that no longer belongs to the value; -1 when it
        does not end on its line.
    """
    level = _quote_level(escape_count)
    searched = at
    found = text.find(quote, at)
    while found >= 0 and text.find("\n", searched, found) < 0:
        before = found
        while before > searched and text[before - 1] == "\\":
            before -= 1
        own_level = _quote_level(found - before)
        if own_level <= level:
            return found - min(found - before, (1 << own_level) - 1)
        searched = found + 1
        found = text.find(quote, searched)
    return -1


def _quote_level(escape_count: int) -> int:
    return (escape_count ^ (escape_count + 1)).bit_length() - 1


def closing_bracket(text: str, at: int) -> int:
    """Find the offset after the bracket that closes the one at `at`; -1 when none does."""
    depth = 0
    for match in _BRACKET_OR_STRING.finditer(text, at):
        character = match[0]
        if character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return -1


def trailing_length(run: str) -> int:
    """Count the characters that close a sentence or a literal, at the end of a bare value."""
    found = _TRAILING.search(run[-16:])
    return 0 if found is None else len(found[0])


def bare_value_end(text: str, at: int, stop: str) -> int:
    """Find where a value without quotes ends.

    A space behind a backslash belongs to it.

    Args:
        text: The text.
        at: Where the value begins.
        stop: The characters that end it, as the inside of a character class.

    Returns:
        The offset after its last character, closing punctuation left out.
    """
    match = _run_until(stop).match(text, at)
    end = at if match is None else match.end()
    return end - trailing_length(text[max(at, end - 16) : end])


@lru_cache(maxsize=64)
def _run_until(stop: str) -> re.Pattern[str]:
    return re.compile(rf"(?a)(?:[^\\{stop}]|\\ |\\(?!\n))*+")


def is_reference(value: str) -> bool:
    """Say whether a value says where the secret is, or stands in for one.

    Args:
        value: The text from the value's first character on; what follows may be part of it.

    Returns:
        True for `$API_KEY`, `os.environ[...]`, `<your key>`, `your-api-key`, `***`.
    """
    scheme = _SCHEME_WORD.match(value)
    at = 0 if scheme is None else scheme.end()
    is_scheme_alone = at > 0 and at == len(value)
    return is_scheme_alone or any(one.match(value, at) for one in (_REFERENCE, _STAND_IN))


def is_prose(value: str) -> bool:
    """Say whether a value is made of plain words, as in `Authorization: required for all calls`."""
    words = value[:_MOST_PROSE_CHARACTERS].split()
    return len(words) > 1 and all(_is_plain(word) for word in words)


def _is_plain(word: str) -> bool:
    return bool(_PLAIN_WORD.fullmatch(word) or _COUNTED.fullmatch(word.rstrip(".,;:!?)")))


def is_credential_like(value: str) -> bool:
    """Say whether a bare value after a colon or in code looks like one that people chose or got."""
    if len(value) < _SHORTEST_CREDENTIAL or _SPECIAL.search(value) is None or _CODE.match(value):
        return False
    is_long_number = value.isdigit() and len(value) >= _SHORTEST_NUMBER
    return is_long_number or _COUNTED.fullmatch(value) is None


def is_made_up(value: str) -> bool:
    """Say whether a word has letters and digits or signs mixed, as only a made-up one has."""
    return (
        len(value) >= _SHORTEST_MADE_UP
        and _MIXED.match(value) is not None
        and is_credential_like(value)
    )


def is_basic_credential(text: str) -> bool:
    """Say whether a text is the base64 of `user:password`, as Basic authorization has it."""
    if not _BASE64.fullmatch(text):
        return False
    bare = text.rstrip("=")
    try:
        decoded = base64.b64decode(bare + "=" * (-len(bare) % 4), b"-_" if "-" in text else None)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()
