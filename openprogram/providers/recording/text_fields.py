"""Finds credentials by the name that stands before them in a text: assignments, headers, pairs.

It decides where a value begins and ends, and whether what stands there is one at all: prose after a
colon, a word of code or an empty value are none.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from openprogram.providers.recording.field_names import (
    is_header_pair,
    is_schema,
    is_secret_field,
)
from openprogram.providers.recording.text_gate import NAME_ENDINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACEHOLDER = "[secret removed]"
"""Stands where a secret stood."""


class Replacement(NamedTuple):
    """One place of a text that is replaced."""

    start: int
    end: int
    text: str = PLACEHOLDER


_FIELD = re.compile(
    rf"(?i:{NAME_ENDINGS})[0-9]{{0,3}}"
    r"(?P<gap>(?:\\*[\"']|&quot;|[\] \t]|%(?:25)*(?:5D|22|27))*+)"
    r"(?P<sep>:=|={1,3}>?|:(?!//)|%(?:25)*3[ADad]|,)(?P<space>\s*+)",
    re.ASCII,
)
_NAME_BACKWARDS = re.compile(r"[\w.\-%\[]*", re.ASCII)
_LONGEST_NAME = 200
_QUOTE = re.compile(r"(?a)(?:[bBfFrRuU]{1,2}|\$|@)?(?P<escape>\\*)(?P<quote>[\"'`]|&quot;)")
_KEPT = re.compile(r"(?:null|none|true|false|nil|undefined)(?![\w.\-])", re.IGNORECASE | re.ASCII)
_REFERENCE = re.compile(
    r"\$\{?[A-Z_][A-Z0-9_]*\}?(?=[\s\"'`)\],;&]|\Z)|\$\{\{|\$\(|<[\w .-]+>(?=\W|\Z)|\{\{|"
    r"(?:os\.(?:environ|getenv)|process\.env|getenv|self|settings|config|this|args)[.\[(]",
    re.ASCII,
)
_TRAILING = re.compile(r"(?a)[\"'`)\]}>,;.]+\Z")
QUERY_ONLY_NAMES = frozenset({"key", "signature", "sig"})
_LINE_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_SINGLE_TOKEN_SCHEME = re.compile(
    r"(?:bearer|basic|token|bot|key|apikey|api-key|negotiate|ntlm)[ \t]+(?P<credential>\S+)",
    re.IGNORECASE | re.ASCII,
)
_PLAIN_WORD = re.compile(r"(?a)[\"'(]*[A-Za-z][a-z]*(?:[-/'][A-Za-z]?[a-z]+)*[\"')]*[.,;:!?]*")
_NO_CREDENTIALS = frozenset(
    "string str number integer int bool boolean bytes object any optional required none null true "
    "false undefined unknown yes no missing invalid expired header headers token tokens auth "
    "authentication authorization scheme schemes credential credentials".split()
)
_SPECIAL = re.compile(r"[$!#@%^&*+~=]")
_COUNTED = re.compile(r"\d+(?:st|nd|rd|th)?(?:-[a-z]+)*", re.IGNORECASE | re.ASCII)
_CONFIG_NAME = re.compile(
    r"[A-Z][A-Z0-9]*_[A-Z0-9_]+|\w+[.-][\w.-]+|[a-z0-9]+_[a-z0-9_]+", re.ASCII
)
_BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)
_PAIR_VALUE_NAME = re.compile(
    r"\\*[\"'](?:value|values|val)\\*[\"']\s*:\s*", re.IGNORECASE | re.ASCII
)
_PAIR_NAME_BEFORE = re.compile(
    r"\s*:\s*[\"']\\*(?:eman|yek|redaeh|dleif)\\*[\"']", re.IGNORECASE | re.ASCII
)
_SHELL_REST = re.compile(r"(?:\\.|'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*+\"|[\w.!@#%^*+=:,/-])*+", re.ASCII)

_BARE_VALUE = re.compile(r"[^\s,}\])\\\"']+", re.ASCII)
_NOT_SPACE = re.compile(r"\S*", re.ASCII)
_BLOCK_SCALAR = re.compile(
    r"[|>][+-]?[0-9]?[ \t]*\r?\n(?P<value>(?:[ \t]+[^\n]*(?:\n|\Z)|\r?\n)*+)", re.ASCII
)


@lru_cache(maxsize=64)
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.ASCII)


def find_field_secrets(part: str) -> Iterator[Replacement]:
    """Find the values of secret fields in a part of a text.

    Args:
        part: A part as `iterate_parts` cuts them.

    Yields:
        What to replace, in rising order.
    """
    at = 0
    while match := _FIELD.search(part, at):
        at = match.end()
        found = _Field(part, match).read()
        if found is not None:
            at = max(found.end, at)
            if not part.startswith(PLACEHOLDER, found.start) or found.end != found.start + len(
                PLACEHOLDER
            ):
                yield found


class _Field:
    """One name with its separator, and the ways to read what stands behind."""

    def __init__(self, part: str, match: re.Match[str]) -> None:
        self.part = part
        self.gap = match["gap"]
        self.separator = match["sep"]
        self.space = match["space"]
        self.value_at = match.end()
        name_end = match.start("gap")
        before = part[max(0, match.start() - _LONGEST_NAME) : match.start()][::-1]
        length = _NAME_BACKWARDS.match(before).end()  # type: ignore[union-attr]
        self.name_at = match.start() - length
        self.name = part[self.name_at : name_end]
        self.before_name = part[max(0, self.name_at - 60) : self.name_at]
        self.is_url_parameter = self.before_name[-1:] in set("?&#;")
        if "%" in self.name:
            self._decode_name()
        self.name = self.name.rpartition("[")[2].strip("-_.%$")

    def _decode_name(self) -> None:
        decoded = unquote(unquote(unquote(self.name)))
        head, mark, tail = _split_last(decoded)
        if mark or "%" in self.separator:
            self.is_url_parameter = True
        self.name = tail if mark else head

    def read(self) -> Replacement | None:
        """Return what to replace, None when nothing stands here that is a secret."""
        if not self._is_secret():
            return None
        if self.separator == ",":
            return self._read_pair()
        if "%" in self.separator:
            return self._read_run(r"%(?:25)*(?:26|23|22|27|7D|2C|3B)|[&\s\"'<>#]")
        if any(mark in self.gap for mark in ("'", '"', "&quot;")) and self.before_name[-1:] in set(
            "\"'`;"
        ):
            return self._read_json_like()
        if self.separator == ":":
            return self._read_after_colon()
        return self._read_after_equals()

    def _is_secret(self) -> bool:
        lowered = self.name.lower()
        if lowered in QUERY_ONLY_NAMES:
            if self.is_url_parameter and self.separator != ":" and self.separator != ",":
                return True
            return lowered == "key" and self.before_name.lower().endswith(
                ("api ", "secret ", "private ", "access ", "auth ")
            )
        return is_secret_field(self.name)

    def _read_quoted(self, at: int) -> Replacement | None:
        """Read a quoted value at `at`; the quotes stay, what is between them goes."""
        opening = _QUOTE.match(self.part, at)
        if opening is None:
            return None
        start = opening.end()
        end = closing_quote(self.part, start, opening["quote"], len(opening["escape"]))
        if end < 0:
            end = self._line_end(start)
        elif self.separator == "=" and self.part[end + 1 : end + 2] in {"'", '"', "\\"}:
            rest = _SHELL_REST.match(self.part, end + 1)
            if rest is not None and rest.end() > end + 1:
                end = rest.end() - (self.part[rest.end() - 1] in "'\"")
        return Replacement(start, end) if end > start else None

    def _line_end(self, at: int) -> int:
        end = self.part.find("\n", at)
        end = len(self.part) if end < 0 else end
        return end - 1 if end > at and self.part[end - 1] == "\r" else end

    def _read_json_like(self) -> Replacement | None:
        at = self.value_at
        part = self.part
        if _KEPT.match(part, at) or at >= len(part):
            return None
        quoted = self._read_quoted(at)
        if quoted is not None or _QUOTE.match(part, at):
            return quoted
        quote = self.gap.strip(" \t]") or '"'
        if part[at] in "{[":
            end = closing_bracket(part, at)
            if _is_schema_text(part[at:end]):
                return None
            return Replacement(at, end, quote + PLACEHOLDER + quote)
        run = _BARE_VALUE.match(part, at)
        if run is None or not (
            _is_number(run[0]) or (is_credential_like(run[0]) and not _REFERENCE.match(run[0]))
        ):
            return None
        return Replacement(at, run.end(), quote + PLACEHOLDER + quote)

    def _read_pair(self) -> Replacement | None:
        """Read `["x-api-key", "..."]` and `"name": "x-api-key", "value": "..."`."""
        if not self.gap.endswith(("'", '"')):
            return None
        before = self.before_name[::-1].lstrip("\\\"'")
        if _PAIR_NAME_BEFORE.match(self.before_name[::-1].lstrip("\"'").lstrip("\\")):
            value_name = _PAIR_VALUE_NAME.match(self.part, self.value_at)
            return None if value_name is None else self._read_quoted(value_name.end())
        found = self._read_quoted(self.value_at)
        if found is None or before.lstrip()[:1] not in {"[", "("}:
            return None
        return found if is_header_pair(self.name, self.part[found.start : found.end]) else None

    def _read_run(self, stop: str) -> Replacement | None:
        """Read up to a stop pattern, without the punctuation that closes a sentence or a literal."""
        at = self.value_at
        start = at + len(PLACEHOLDER) if self.part.startswith(PLACEHOLDER, at) else at
        found = _pattern(stop).search(self.part, start)
        end = len(self.part) if found is None else found.start()
        run = self.part[start:end]
        run = run[: len(run) - len(_trailing(run))]
        if start > at:
            return Replacement(at, start + len(run))
        if not run or (_KEPT.match(run) and not self.is_url_parameter) or _REFERENCE.match(run):
            return None
        return Replacement(at, at + len(run))

    def _read_after_equals(self) -> Replacement | None:
        quoted = _QUOTE.match(self.part, self.value_at)
        if "\n" in self.space:
            return None
        if quoted and not self.is_url_parameter:
            return self._read_quoted(self.value_at)
        if self.is_url_parameter and not self.space:
            stop = (
                r"[&#;\s\"'<>`]"
                if self.before_name[-1:] == ";" and not self.before_name.endswith("&amp;")
                else r"[&#\s\"'<>`]"
            )
            return self._read_run(stop)
        is_tight = self.separator == "=" and not self.space and not self.gap
        found = self._read_run(self._stop_at_enclosing_quote(r"\s"))
        if found is None or is_tight or self.part.startswith(PLACEHOLDER, self.value_at):
            return found
        return found if is_credential_like(self.part[found.start : found.end]) else None

    def _stop_at_enclosing_quote(self, stop: str) -> str:
        quote = self.before_name[-1:]
        return rf"{stop}|{quote}" if quote and quote in "\"'`" else stop

    def _read_after_colon(self) -> Replacement | None:
        at = self.value_at
        lowered = self.name.lower().replace("_", "-")
        if self.before_name.endswith("-") or at >= len(self.part):
            return None
        if "\n" in self.space:
            return None
        if lowered in _LINE_HEADERS:
            return self._read_header(is_cookie="cookie" in lowered)
        if _QUOTE.match(self.part, at):
            return self._read_quoted(at)
        if _BLOCK_SCALAR.match(self.part, at):
            return self._read_block_scalar()
        found = self._read_run(self._stop_at_enclosing_quote(r"\s"))
        if found is None or self.part.startswith(PLACEHOLDER, at):
            return found
        value = self.part[found.start : found.end]
        rest = self.part[found.end : self._line_end(found.end)].strip(" \t\"'`)]},;.")
        is_alone = not rest or rest.startswith(("#", "//"))
        if value.lower() in _NO_CREDENTIALS:
            return None
        if is_alone and _CONFIG_NAME.fullmatch(self.name) and len(value) > 1:
            return found
        return found if is_credential_like(value) else None

    def _read_block_scalar(self) -> Replacement | None:
        lines = _BLOCK_SCALAR.match(self.part, self.value_at)
        if lines is None:
            return None
        value = lines["value"]
        start = lines.start("value") + len(value) - len(value.lstrip())
        return Replacement(start, lines.start("value") + len(value.rstrip()))

    def _read_header(self, *, is_cookie: bool) -> Replacement | None:
        at = self.value_at
        end = self._line_end(at)
        quote = self.before_name[-1:]
        if quote and quote in "\"'`":
            escape = len(self.before_name) - 1 - len(self.before_name[:-1].rstrip("\\"))
            closing = closing_quote(self.part, at, quote, escape)
            end = closing if 0 <= closing < end else end
        elif (opening := _QUOTE.match(self.part, at)) is not None:
            return self._read_quoted(opening.start())
        value = self.part[at:end].rstrip()
        end = at + len(value)
        if not value or _REFERENCE.match(value):
            return None
        if is_cookie:
            is_set = "=" in value or value.startswith(PLACEHOLDER)
            return Replacement(at, end) if is_set else None
        return self._read_authorization(value, at, end)

    def _read_authorization(self, value: str, at: int, end: int) -> Replacement | None:
        scheme = _SINGLE_TOKEN_SCHEME.match(value)
        words = value.split()
        if value.startswith(PLACEHOLDER):
            tail = _NOT_SPACE.match(value, len(PLACEHOLDER))
            assert tail is not None  # noqa: S101 - the pattern matches the empty text
            attached = tail[0][: len(tail[0]) - len(_trailing(tail[0]))]
            return Replacement(at, at + len(PLACEHOLDER) + len(attached))
        if scheme is not None:
            credential = scheme["credential"]
            bare = credential.strip("\"'`.,;:!?()")
            if bare.lower() in _NO_CREDENTIALS or _REFERENCE.match(bare):
                return None
            if len(words) > 2 and _PLAIN_WORD.fullmatch(credential):
                return None
            return Replacement(at, at + scheme.end() - len(_trailing(credential)))
        if len(words) == 1:
            is_word = _PLAIN_WORD.fullmatch(value) is not None
            return None if is_word or value.lower() in _NO_CREDENTIALS else Replacement(at, end)
        is_prose = all(_PLAIN_WORD.fullmatch(word) or _COUNTED.fullmatch(word) for word in words)
        return None if is_prose else Replacement(at, end)


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
    level = _level(escape_count)
    line_end = text.find("\n", at)
    line_end = len(text) if line_end < 0 else line_end
    found = text.find(quote, at, line_end)
    while found >= 0:
        before = found
        while before > at and text[before - 1] == "\\":
            before -= 1
        if _level(found - before) <= level:
            return found - min(found - before, (1 << _level(found - before)) - 1)
        found = text.find(quote, found + 1, line_end)
    return -1


def _level(escape_count: int) -> int:
    level = 0
    while escape_count & 1:
        escape_count >>= 1
        level += 1
    return level


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


def _is_schema_text(text: str) -> bool:
    try:
        return is_schema(json.loads(text), within_properties=False)
    except (ValueError, RecursionError):
        return False


def _split_last(text: str) -> tuple[str, str, str]:
    for at in range(len(text) - 1, -1, -1):
        if text[at] in "?&#;/=:":
            return text[:at], text[at], text[at + 1 :]
    return text, "", ""


def _trailing(run: str) -> str:
    found = _TRAILING.search(run[-16:])
    return "" if found is None else found[0]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d[\d.eE+-]*", text) is not None


def is_credential_like(value: str) -> bool:
    """Say whether a bare value after a colon or in code looks like one that people chose or got."""
    if len(value) < 4 or _COUNTED.fullmatch(value) and not (value.isdigit() and len(value) > 5):
        return False
    if re.match(r"[A-Za-z_][\w.]*[\[(]|(?:[A-Za-z_]+\.)+[A-Za-z_]+\Z|https?://", value):
        return False
    return any(c.isdigit() for c in value) or _SPECIAL.search(value) is not None
