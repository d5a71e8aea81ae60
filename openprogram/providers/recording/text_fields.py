"""Finds credentials by the name that stands before them in a text: assignments, headers, pairs.

Prose after a colon, a word of code, an empty value and the name of a variable are no credentials.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from openprogram.providers.recording.field_names import (
    is_header_pair,
    is_schema,
    is_secret_field,
)
from openprogram.providers.recording.text_gate import NAME_ENDING, lowered_ascii
from openprogram.providers.recording.text_values import (
    PLACEHOLDER,
    QUOTE,
    Replacement,
    bare_value_end,
    closing_bracket,
    closing_quote,
    is_credential_like,
    is_prose,
    is_reference,
    trailing_length,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUERY_ONLY_NAME = re.compile(r"(?ai)key|(?:[\w.-]+[_.-])?sig(?:nature)?")

_FIELD = re.compile(
    rf"(?a)(?:{NAME_ENDING})(?P<gap>(?:\\*[\"']|&quot;|[\] \t]|%(?:25)*(?:5d|22|27))*+)"
    r"(?P<separator>:=|={1,3}>?|:(?!//)(?:(?<=zation:)|(?<=cookie:)|(?<=cookies:)"
    r"|(?![ \t]++[a-z]++[.,;:!?)]*+[ \t]++[^\s#/]))|%(?:25)*3[ad]|,|>)(?P<space>\s*+)"
)
"""For lowered text; a plain word after a colon, with more behind it, is prose."""
_NAME_BACKWARDS = re.compile(r"(?a)[\w.\-%\[]*")
_LONGEST_NAME = 200
_KEPT = re.compile(r"(?ai)(?:null|none|true|false|nil|undefined)(?![\w.\-])")
_LINE_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_KEY_KINDS = ("api ", "secret ", "private ", "access ", "auth ")
_SCHEME = re.compile(
    r"(?ai)(?:bearer|basic|token|bot|key|apikey|api-key|negotiate|ntlm)[ \t]+(?P<credential>\S+)"
    r"(?P<more>[ \t]+\S)?"
)
_NO_CREDENTIALS = frozenset(
    "string str number integer int bool boolean bytes object any optional required none null true "
    "false undefined unknown yes no missing invalid expired header headers token tokens auth "
    "authentication authorization scheme schemes credential credentials".split()  # noqa: SIM905
)
_CONFIG_NAME = re.compile(r"(?a)[A-Z][A-Z0-9]*_[A-Z0-9_]+|\w+[.-][\w.-]+|[a-z0-9]+_[a-z0-9_]+")
_REST_OF_LINE = re.compile(r"[ \t\"'`)\]},;.]*+(?:\r?\n|\Z|#|//)")
_PAIR_VALUE_NAME = re.compile(r"(?ai)\\*[\"'](?:value|values|val)\\*[\"']\s*+:\s*+")
_PAIR_NAME_BEFORE = re.compile(r"(?ai)\s*+:\s*+[\"']\\*(?:eman|yek|redaeh|dleif)\\*[\"']")
_SHELL_REST = re.compile(r"(?a)(?:\\.|'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*+\"|[\w.!@#%^*+=:,/-])*+")
_BARE_JSON_VALUE = re.compile(r"(?a)[^\s,}\])\\\"']+")
_NUMBER = re.compile(r"(?a)-?\d[\d.eE+-]*")
_BLOCK_SCALAR = re.compile(
    r"(?a)[|>][+-]?[0-9]?[ \t]*\r?\n(?P<value>(?:[ \t]+[^\n]*(?:\n|\Z)|\r?\n)*+)"
)
_ENCODED_STOP = re.compile(r"(?a)%(?:25)*(?:26|23|22|27|7D|2C|3B)|[&\s\"'<>#]|\Z")


def is_query_secret(name: str) -> bool:
    """Say whether a name holds a credential in the query of a URL, though data elsewhere."""
    return _QUERY_ONLY_NAME.fullmatch(name) is not None


def find_field_secrets(part: str) -> Iterator[Replacement]:
    """Find the values of secret fields in a part of a text.

    Args:
        part: A part as `text_gate.iterate_parts` cuts them.

    Yields:
        What to replace, in rising order.
    """
    reader = _FieldReader(part)
    lowered = lowered_ascii(part)
    done = 0
    while match := _FIELD.search(lowered, done):
        done = match.end()
        found = reader.read(match)
        if found is not None:
            done = max(done, found.end)
            if part[found.start : found.end] != PLACEHOLDER:
                yield found


class _FieldReader:
    """Reads the fields of one part; each read sets what it saw of the name."""

    __slots__ = (
        "_before",
        "_gap",
        "_is_url_parameter",
        "_line_end_at",
        "_name",
        "_part",
        "_separator",
        "_space",
        "_value_at",
    )

    def __init__(self, part: str) -> None:
        self._part = part
        self._line_end_at = -1
        self._before = ""
        """What stands before the name, at most 60 characters."""
        self._gap = ""
        """What stands between the name and its separator: quotes, brackets, spaces."""
        self._separator = ""
        self._space = ""
        self._name = ""
        self._value_at = 0
        self._is_url_parameter = False

    def read(self, match: re.Match[str]) -> Replacement | None:
        """Return what to replace of the field whose name ends in this match of `_FIELD`."""
        self._gap, self._separator, self._space = match["gap"], match["separator"], match["space"]
        self._value_at = match.end()
        self._take_name(match.start(), match.start("gap"))
        if not self._is_secret() or self._value_at >= len(self._part):
            return None
        if self._separator == ",":
            return self._read_pair()
        if self._separator == ">":
            return self._read_element()
        if "%" in self._separator:
            return self._read_encoded()
        if self._is_quoted_name():
            return self._read_json_like()
        if "\n" in self._space:
            return None
        return self._read_after_colon() if self._separator == ":" else self._read_after_equals()

    def _take_name(self, word_at: int, name_end: int) -> None:
        part = self._part
        before = part[max(0, word_at - _LONGEST_NAME) : word_at][::-1]
        match = _NAME_BACKWARDS.match(before)
        name_at = word_at - (0 if match is None else match.end())
        name = part[name_at:name_end]
        self._before = part[max(0, name_at - 60) : name_at]
        self._is_url_parameter = self._before.endswith(("?", "&", "#", ";"))
        if "%" in name:
            decoded = unquote(unquote(unquote(name)))
            name = re.split(r"[?&#;/=:\"']", decoded)[-1]
            self._is_url_parameter |= name != decoded or "%" in self._separator
        self._name = name.rpartition("[")[2].strip("-_.%$")

    def _is_secret(self) -> bool:
        if is_query_secret(self._name):
            if self._is_url_parameter and self._separator not in {":", ","}:
                return True
            return self._name.lower() == "key" and self._before.lower().endswith(_KEY_KINDS)
        return is_secret_field(self._name)

    def _is_quoted_name(self) -> bool:
        has_quote = any(mark in self._gap for mark in ('"', "'", "&quot;"))
        return has_quote and self._before[-1:] in {'"', "'", "`", ";"}

    def _line_end(self, at: int) -> int:
        if self._line_end_at < at:
            found = self._part.find("\n", at)
            self._line_end_at = len(self._part) if found < 0 else found
        end = self._line_end_at
        return end - 1 if end > at and self._part[end - 1] == "\r" else end

    def _read_quoted(self, at: int) -> Replacement | None:
        """Read a quoted value; the quotes stay, what is between them goes."""
        opening = QUOTE.match(self._part, at)
        if opening is None:
            return None
        start = opening.end()
        end = closing_quote(self._part, start, opening["quote"], len(opening["escape"]))
        if end < 0:
            end = self._line_end(start)
        elif self._separator == "=" and self._part.startswith(("'", '"', "\\"), end + 1):
            rest = _SHELL_REST.match(self._part, end + 1)
            if rest is not None and rest[0]:
                end = rest.end() - rest[0].endswith(("'", '"'))
        return Replacement(start, end) if end > start else None

    def _read_json_like(self) -> Replacement | None:
        at, part = self._value_at, self._part
        if _KEPT.match(part, at):
            return None
        if QUOTE.match(part, at):
            return self._read_quoted(at)
        quote = self._gap.strip(" \t]") or '"'
        if part[at] in "{[":
            end = closing_bracket(part, at)
            if _is_schema_text(part[at:end]):
                return None
            return Replacement(at, end, quote + PLACEHOLDER + quote)
        run = _BARE_JSON_VALUE.match(part, at)
        if run is None:
            return None
        is_credential = is_credential_like(run[0]) and not is_reference(run[0])
        if not is_credential and not _NUMBER.fullmatch(run[0]):
            return None
        return Replacement(at, run.end(), quote + PLACEHOLDER + quote)

    def _read_pair(self) -> Replacement | None:
        """Read `["x-api-key", "..."]` and `"name": "x-api-key", "value": "..."`."""
        if not self._gap.endswith(("'", '"')):
            return None
        before = self._before[::-1].lstrip("\"'").lstrip("\\")
        if _PAIR_NAME_BEFORE.match(before):
            value_name = _PAIR_VALUE_NAME.match(self._part, self._value_at)
            return None if value_name is None else self._read_quoted(value_name.end())
        if not before.lstrip().startswith(("[", "(")):
            return None
        found = self._read_quoted(self._value_at)
        if found is None or not is_header_pair(self._name, self._part[found.start : found.end]):
            return None
        return found

    def _read_element(self) -> Replacement | None:
        """Read `<password>...</password>`."""
        end = self._part.find("<", self._value_at)
        if self._gap or not self._before.endswith("<") or end <= self._value_at:
            return None
        is_closed = self._part.startswith(f"</{self._name}>", end)
        return Replacement(self._value_at, end) if is_closed else None

    def _read_encoded(self) -> Replacement | None:
        stop = _ENCODED_STOP.search(self._part, self._value_at)
        end = len(self._part) if stop is None else stop.start()
        if self._part.startswith(PLACEHOLDER, self._value_at):
            return self._read_bare(r"\s&\"'<>#%")
        return Replacement(self._value_at, end) if end > self._value_at else None

    def _read_bare(self, stop: str) -> Replacement | None:
        at = self._value_at
        end = bare_value_end(self._part, at, stop)
        if end <= at:
            return None
        head = self._part[at : min(end, at + 100)]
        if (not self._is_url_parameter and _KEPT.match(head)) or is_reference(head):
            return None
        return Replacement(at, end)

    def _read_after_equals(self) -> Replacement | None:
        if self._is_url_parameter and not self._space:
            is_semicolon = self._before.endswith(";") and not self._before.endswith("&amp;")
            return self._read_bare(r"&#\s\"'<>`;" if is_semicolon else r"&#\s\"'<>`")
        if QUOTE.match(self._part, self._value_at):
            return self._read_quoted(self._value_at)
        found = self._read_bare(self._stop_at_space_or_enclosing_quote())
        is_tight = self._separator == "=" and not self._space and not self._gap
        return found if is_tight else self._if_credential_like(found)

    def _if_credential_like(self, found: Replacement | None) -> Replacement | None:
        if found is None or self._part.startswith(PLACEHOLDER, found.start):
            return found
        return found if is_credential_like(self._part[found.start : found.end]) else None

    def _stop_at_space_or_enclosing_quote(self) -> str:
        return rf"\s{self._before[-1:]}" if self._before.endswith(('"', "'", "`")) else r"\s"

    def _read_after_colon(self) -> Replacement | None:
        at = self._value_at
        lowered = self._name.lower().replace("_", "-")
        if lowered in _LINE_HEADERS:
            return self._read_header(is_cookie="cookie" in lowered)
        if QUOTE.match(self._part, at):
            return self._read_quoted(at)
        if self._part[at] in "|>":
            return self._read_block_scalar()
        found = self._read_bare(self._stop_at_space_or_enclosing_quote())
        if found is None:
            return None
        value = self._part[found.start : min(found.end, found.start + 100)]
        if value.lower() in _NO_CREDENTIALS:
            return None
        is_config = len(value) > 1 and _CONFIG_NAME.fullmatch(self._name) is not None
        if is_config and _REST_OF_LINE.match(self._part, found.end):
            return found
        return self._if_credential_like(found)

    def _read_block_scalar(self) -> Replacement | None:
        lines = _BLOCK_SCALAR.match(self._part, self._value_at)
        if lines is None or not (value := lines["value"].strip()):
            return None
        start = self._part.index(value, lines.start("value"))
        return Replacement(start, start + len(value))

    def _read_header(self, *, is_cookie: bool) -> Replacement | None:
        at = self._value_at
        end = self._line_end(at)
        if self._before.endswith(('"', "'", "`")):
            before = self._before[:-1]
            escape_count = len(before) - len(before.rstrip("\\"))
            closing = closing_quote(self._part, at, self._before[-1], escape_count)
            end = closing if closing >= 0 else end
        elif QUOTE.match(self._part, at):
            return self._read_quoted(at)
        while end > at and self._part[end - 1] in " \t":
            end -= 1
        if end <= at or is_reference(self._part[at : min(end, at + 100)]):
            return None
        if not is_cookie:
            return self._read_authorization(at, end)
        is_set = self._part.find("=", at, end) >= 0 or self._part.startswith(PLACEHOLDER, at)
        return Replacement(at, end) if is_set else None

    def _read_authorization(self, at: int, end: int) -> Replacement | None:
        part = self._part
        if part.startswith(PLACEHOLDER, at):
            return Replacement(at, min(end, bare_value_end(part, at, r"\s")))
        scheme = _SCHEME.match(part, at, end)
        if scheme is not None:
            credential = scheme["credential"]
            bare = credential.strip("\"'`.,;:!?()")
            start = scheme.start("credential")
            if bare.lower() in _NO_CREDENTIALS or is_reference(part[start : start + 100]):
                return None
            if scheme["more"] and is_prose(credential):
                return None
            return Replacement(at, scheme.end("credential") - trailing_length(credential))
        value = part[at : min(end, at + 400)]
        return None if value.lower() in _NO_CREDENTIALS or is_prose(value) else Replacement(at, end)


def _is_schema_text(text: str) -> bool:
    try:
        return is_schema(json.loads(text), within_properties=False)
    except (ValueError, RecursionError):
        return False
