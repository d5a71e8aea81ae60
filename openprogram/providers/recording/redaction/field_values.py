"""Reads the value of a field whose name is known: quoted, bare, or a literal of a program."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from openprogram.providers.recording.redaction.field_names import is_vague_secret, last_word
from openprogram.providers.recording.redaction.json_schemas import is_schema
from openprogram.providers.recording.redaction.text_values import (
    PLACEHOLDER,
    QUOTE,
    Replacement,
    bare_value_end,
    closing_bracket,
    closing_quote,
    is_basic_credential,
    is_credential_like,
    is_made_up,
    is_reference,
)

if TYPE_CHECKING:
    from openprogram.providers.recording.redaction.text_rules import TextViews

_DEFAULT = re.compile(r"(?a)\$\{[A-Za-z_]\w{0,100}:?[-=](?P<value>[^\s{}\"'`]{1,1000}+)\}")
_KEPT = re.compile(
    r"(?ai)(?P<quote>[\"']?)(?:null|none|true|false|nil|undefined)(?P=quote)(?=[\s\"'`)\]},;&]|\Z)"
)
_SHELL_REST = re.compile(
    r"(?a)(?=[\w'\"\\])"
    r"(?:\\.|'[^'\n]{0,1000}+'|\"(?:[^\"\\\n]|\\.){0,1000}+\"|[\w.!@#%^*+=:,/-])*+"
)
_BARE_JSON_VALUE = re.compile(r"(?a)[^\s,}\])\\\"']+")
_NEXT_LINE_VALUE = re.compile(r"\"(?!\"\")|'(?!'')|[{\[]")
_CLOSING_QUOTE = re.compile(r"\\*[\"']")
_AUTH_USER = re.compile(r"\(\s*+(?:\"[^\"\n]{0,200}+\"|'[^'\n]{0,200}+')\s*+,\s*+(?=[\"'])")
_BASE64 = re.compile(r"(?a)[\w+/-]{6,1000}={0,2}")
_PATH = re.compile(r"[~.]?/|[A-Za-z]:\\")
_LONGEST_COUNT = 3
"""Digits of a number that counts tokens rather than being one, as in `dict(token=2)`."""
_NUMBER = re.compile(r"(?a)-?\d[\d.eE+-]*")
_PARAMETER_BEFORE = re.compile(r"(?a)[?&#;](?:[\w.]*\[)?\Z")
_CALL_BEFORE = re.compile(r"(?a)\(\s*\Z|,\s+\Z")
_CODE_VALUE = re.compile(r"(?a)[A-Za-z_][A-Za-z_.]*|[A-Za-z_][\w.]*[(\[][^\n]*[)\]][\w.()]*")
_FLAT_LITERAL = re.compile(
    r"[{\[](?P<inside>(?=[^{}\[\]\n]{0,200}[\"'])(?:\"[^\"\n]{0,200}+\"|'[^'\n]{0,200}+'"
    r"|[^{}\[\]\"'\n])*+)[}\]]"
)
_LONGEST_JUDGED = 256
_LONGEST_SCHEMA = 100_000
_AFTER_CLOSING_QUOTE = re.compile(r"\s*+(?:[,)\];}+%.]|\Z)|[ \t]*+\r?\n")
_LONGEST_HEAD = 100
_DIGIT = re.compile(r"[0-9]")


class Field(NamedTuple):
    """One field of a text: its name and what stands around it."""

    views: TextViews
    name: str
    before: str
    """What stands before the name, at most 60 characters."""
    gap: str
    """What stands between the name and its separator: quotes, brackets, spaces."""
    separator: str
    space: str
    """The white space behind the separator."""
    value_at: int

    @property
    def part(self) -> str:
        """The part of a text that the field stands in."""
        return self.views.text

    @property
    def head(self) -> str:
        """The beginning of the value."""
        return self.part[self.value_at : self.value_at + _LONGEST_HEAD]

    def is_url_parameter(self) -> bool:
        """Say whether the field stands in the query or the fragment of a URL, or in a form."""
        return _PARAMETER_BEFORE.search(self.before) is not None

    def has_quoted_name(self) -> bool:
        """Say whether the name is a text, as in JSON and in the dicts of Python."""
        has_quote = '"' in self.gap or "'" in self.gap
        return has_quote and self.before[-1:] in {'"', "'", "`"}

    def enclosing_quote(self) -> str:
        """Return the quote that name and value stand in together, if they do."""
        return self.before[-1] if self.before.endswith(('"', "'", "`")) else ""


def read_quoted(field: Field, at: int | None = None) -> Replacement | None:
    """Read a quoted value; the quotes stay, what is between them goes.

    Args:
        field: The field.
        at: Where the value begins, when not behind the separator.

    Returns:
        None when no quoted value begins there, or one that only refers to a secret.
    """
    part = field.part
    opening = QUOTE.match(part, field.value_at if at is None else at)
    if opening is None or _KEPT.match(part, opening.start()):
        return None
    start = opening.end()
    is_format = "f" in opening[0].lower() and part.startswith("{", start)
    if is_format or part.startswith(PLACEHOLDER, start):
        return None
    if _is_closing(field, opening["quote"], start):
        return None
    end = closing_quote(part, start, opening["quote"], len(opening["escape"]))
    if end < 0:
        end = field.views.line_end(start)
    elif field.separator == "=" and len(opening["quote"]) == 1:
        end = _end_of_shell_word(part, end)
    if end <= start:
        return None
    if is_reference(part[start : min(end, start + _LONGEST_HEAD)]):
        return _read_default(part, start, end)
    return _unless_vague(field, Replacement(start, end))


def _is_closing(field: Field, quote: str, at: int) -> bool:
    """Say whether a quote ends the text that the name stands in, as in `input("Password: ")`."""
    if field.has_quoted_name():
        return False
    if quote == field.enclosing_quote():
        return True
    if quote not in field.before or not _AFTER_CLOSING_QUOTE.match(field.part, at):
        return False
    line = field.before.rpartition("\n")[2]
    return line.count(quote) % 2 == 1


def _end_of_shell_word(part: str, end: int) -> int:
    """Find the end of a word that goes on behind its first quote, as `"a"b'c'` does."""
    rest = _SHELL_REST.match(part, end + 1)
    return end if rest is None else rest.end() - rest[0].endswith(("'", '"'))


def read_json_like(field: Field) -> Replacement | None:
    """Read the value behind a quoted name, as far as it is like JSON."""
    at, part = field.value_at, field.part
    is_kept = _KEPT.match(part, at) is not None
    if is_kept or ("\n" in field.space and not _NEXT_LINE_VALUE.match(part, at)):
        return None
    if QUOTE.match(part, at):
        return read_quoted(field)
    found_quote = _CLOSING_QUOTE.search(field.gap)
    quote = '"' if found_quote is None else found_quote[0]
    if part[at] in "{[":
        closed = closing_bracket(part, at)
        end = closed if closed >= 0 else len(part)
        is_kept = _is_schema_text(part[at:end])
        return None if is_kept else Replacement(at, end, quote + PLACEHOLDER + quote)
    run = _BARE_JSON_VALUE.match(part, at)
    if run is None:
        return None
    is_number = _NUMBER.fullmatch(run[0]) and not is_vague_secret(field.name)
    if not is_number and (not is_credential_like(run[0]) or is_reference(run[0])):
        return None
    return _unless_vague(field, Replacement(at, run.end(), quote + PLACEHOLDER + quote))


def _is_schema_text(text: str) -> bool:
    if len(text) > _LONGEST_SCHEMA:
        return False
    try:
        return is_schema(json.loads(text), within_properties=False)
    except (ValueError, RecursionError):
        return False


def read_basic_auth(field: Field) -> Replacement | None:
    """Read `auth=("user", "password")`, and `"auth": "..."` with both in base64."""
    if user := _AUTH_USER.match(field.part, field.value_at):
        return read_quoted(field, user.end())
    opening = QUOTE.match(field.part, field.value_at)
    encoded = _BASE64.match(field.part, field.value_at if opening is None else opening.end())
    if encoded is None or not is_basic_credential(encoded[0]):
        return None
    return Replacement(*encoded.span())


def read_bare(field: Field, stop: str) -> Replacement | None:
    """Read a value without quotes.

    Args:
        field: The field.
        stop: The characters that end the value, as the inside of a character class.

    Returns:
        None when there is no value, or one that is none or only refers to a secret.
    """
    if is_reference(field.head):
        return _read_default(field.part, field.value_at, len(field.part))
    if not field.is_url_parameter() and _KEPT.match(field.head):
        return None
    end = bare_value_end(field.part, field.value_at, stop)
    return _unless_vague(field, Replacement(field.value_at, end)) if end > field.value_at else None


def _read_default(part: str, at: int, end: int) -> Replacement | None:
    """Read what a shell takes where a variable has no value: `${TOKEN:-...}`."""
    found = _DEFAULT.match(part, at, end)
    if found is None or is_reference(found["value"]):
        return None
    return Replacement(*found.span("value"))


def read_word(field: Field) -> Replacement | None:
    """Read a value without quotes up to a space, or to the quote that holds name and value."""
    return read_bare(field, rf"\s{field.enclosing_quote()}")


def _unless_vague(field: Field, found: Replacement) -> Replacement | None:
    """Drop a word behind a vague name or a comparison, and a constant that says its own name.

    A long value is never dropped, so that no character is read again and again.
    """
    if found.end - found.start > _LONGEST_JUDGED or field.is_url_parameter():
        return found
    value = field.part[found.start : found.end]
    is_compared = field.separator in {"==", "==="}
    if is_vague_secret(field.name):
        return found if not is_compared and is_made_up(value) and _DIGIT.search(value) else None
    if is_compared:
        return found if is_made_up(value) else None
    if last_word(field.name) in {"credential", "credentials"} and _PATH.match(value):
        return None
    is_own_name = value == field.name and field.separator == "=" and field.space
    is_html_key = field.name == "accesskey" and len(value) == 1
    return None if is_own_name or is_html_key else found


def if_credential_like(field: Field, found: Replacement | None) -> Replacement | None:
    """Keep a finding only if its value looks like a credential, or is too long to judge."""
    if found is None or found.end - found.start > _LONGEST_JUDGED:
        return found
    return found if is_credential_like(field.part[found.start : found.end]) else None


def read_after_equals(field: Field) -> Replacement | None:
    """Read the value of an assignment: in a URL, a shell, a program or a file of settings."""
    if (
        "]" in field.gap
        and (field.space or " " in field.gap)
        and not _CLOSING_QUOTE.search(field.gap)
    ):
        return None
    if field.is_url_parameter() and not field.space:
        is_in_list = field.before.endswith(";") and not field.before.endswith("&amp;")
        return read_bare(field, r"&#\s\"'<>`;" if is_in_list else r"&#\s\"'<>`")
    if QUOTE.match(field.part, field.value_at):
        return read_quoted(field)
    if field.part.startswith(("{", "["), field.value_at):
        return _read_literal(field)
    found = read_word(field)
    if field.separator != "=" or field.space or field.gap.strip("]\"'"):
        return if_credential_like(field, found)
    return None if found is None or _is_code(field, found) else found


def _read_literal(field: Field) -> Replacement | None:
    """Read `cookies={'sid': '...'}`; a literal without a text in it holds no credential."""
    literal = _FLAT_LITERAL.match(field.part, field.value_at)
    return None if literal is None else Replacement(*literal.span("inside"))


def _is_code(field: Field, found: Replacement) -> bool:
    """Say whether a value is a variable or a call: `token=token`, `f(password=entered)`."""
    line_end = min(field.views.line_end(found.start), found.start + _LONGEST_HEAD * 2)
    words = field.part[found.start : line_end].split()
    value = words[0].rstrip(",;:") if words else ""
    if value.endswith((")", "]")) and _CODE_VALUE.fullmatch(value):
        return True
    value = value.rstrip(")")
    is_plain = value.isdigit() or _CODE_VALUE.fullmatch(value) is not None
    if field.name.isupper() or not is_plain:
        return False
    is_call = _CALL_BEFORE.search(field.before) is not None
    if value.isdigit():
        return is_call and len(value) <= _LONGEST_COUNT
    is_alike = last_word(value) == last_word(field.name)
    return is_alike or is_call
