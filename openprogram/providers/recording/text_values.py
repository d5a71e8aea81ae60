"""Where a value in a text ends, and whether it looks like a credential; knows nothing of names."""

from __future__ import annotations

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


QUOTE = re.compile(r"(?a)(?:[bBfFrRuU]{1,2}|\$|@)?(?P<escape>\\*)(?P<quote>[\"'`]|&quot;)")
"""Opens a quoted value, in the ways of shells, programs, JSON in JSON and HTML."""

_TRAILING = re.compile(r"[\"'`)\]}>,;.]+\Z")
_REFERENCE = re.compile(
    r"(?a)\$\{?[A-Z_][A-Z0-9_]*\}?(?=[\s\"'`)\],;&]|\Z)|\$\{\{|\$\(|<[\w .-]+>(?=\W|\Z)|\{\{|"
    r"(?:os\.(?:environ|getenv)|process\.env|getenv|self|settings|config|this|args)[.\[(]"
)
_CODE = re.compile(r"(?a)[A-Za-z_][\w.]*[\[(]|(?:[A-Za-z_]+\.)+[A-Za-z_]+\Z|https?://")
_PLAIN_WORD = re.compile(r"[\"'(]*[A-Za-z][a-z]*(?:[-/'][A-Za-z]?[a-z]+)*[\"')]*[.,;:!?]*")
_COUNTED = re.compile(r"(?ai)\d+(?:st|nd|rd|th)?(?:-[a-z]+)*")
_SPECIAL = re.compile(r"[0-9$!#@%^&*+~=]")
_SHORTEST_CREDENTIAL = 4
_SHORTEST_NUMBER = 6
_MOST_PROSE_CHARACTERS = 400
_BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)


def closing_quote(text: str, at: int, quote: str, escape_count: int) -> int:
    r"""Find where a quoted text ends, whatever the number of JSON texts it is nested in.

    The level of a quote is the number of trailing one bits of the count of backslashes before it:
    `"` 0, `\"` 1, `\\\"` 2. A text ends at the first quote of its own level or of one outside.

    Args:
        text: The text.
        at: The offset after the opening quote.
        quote: The quote, one character or `&quot;`.
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
    """Find the offset after the bracket that closes the one at `at`; the end when none does."""
    depth = 0
    for match in _BRACKET_OR_STRING.finditer(text, at):
        character = match[0]
        if character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


def trailing_length(run: str) -> int:
    """Count the characters that close a sentence or a literal, at the end of a bare value."""
    found = _TRAILING.search(run[-16:])
    return 0 if found is None else len(found[0])


def bare_value_end(text: str, at: int, stop: str) -> int:
    """Find where a value without quotes ends.

    A placeholder is one piece of it, whatever the stop says of its space.

    Args:
        text: The text.
        at: Where the value begins.
        stop: The characters that end it, as the inside of a character class.

    Returns:
        The offset after its last character, closing punctuation left out.
    """
    start = at + len(PLACEHOLDER) if text.startswith(PLACEHOLDER, at) else at
    match = _run_until(stop).match(text, start)
    end = start if match is None else match.end()
    return end - trailing_length(text[max(start, end - 16) : end])


@lru_cache(maxsize=64)
def _run_until(stop: str) -> re.Pattern[str]:
    return re.compile(rf"(?a)(?:[^{stop}]*+)")


def is_reference(value: str) -> bool:
    """Say whether a value names where the secret is, as `$API_KEY` and `os.environ[...]` do."""
    return _REFERENCE.match(value) is not None


def is_prose(value: str) -> bool:
    """Say whether a value is made of plain words, as in `Authorization: required for all calls`."""
    words = value[:_MOST_PROSE_CHARACTERS].split()
    return all(_PLAIN_WORD.fullmatch(word) or _COUNTED.fullmatch(word) for word in words)


def is_credential_like(value: str) -> bool:
    """Say whether a bare value after a colon or in code looks like one that people chose or got."""
    if len(value) < _SHORTEST_CREDENTIAL or _SPECIAL.search(value) is None or _CODE.match(value):
        return False
    is_long_number = value.isdigit() and len(value) >= _SHORTEST_NUMBER
    return is_long_number or _COUNTED.fullmatch(value) is None
