"""Finds credentials by the name that stands before them in a text: assignments and headers.

Names are found backwards from their separators. Prose after a colon, a word of code, an empty
value and the name of a variable are no credentials.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from openprogram.providers.recording.field_names import (
    NAME_ENDING_BACKWARDS,
    NAME_TRIGGERS,
    is_query_secret,
    is_secret_field,
)
from openprogram.providers.recording.json_schemas import is_schema
from openprogram.providers.recording.text_rules import TextRule, TextViews
from openprogram.providers.recording.text_values import (
    PLACEHOLDER,
    QUOTE,
    Replacement,
    bare_value_end,
    closing_bracket,
    closing_quote,
    is_basic_credential,
    is_credential_like,
    is_made_up,
    is_prose,
    is_reference,
    trailing_length,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAME = (
    rb"("
    + NAME_ENDING_BACKWARDS.encode()
    + rb"[\w.]{0,60}(?:-[\w.]{1,60}){0,8}(?: (?:ipa|terces|etavirp))?)"
)
_NAME_BEFORE = {
    separator: re.compile(re.escape(separator) + rb"[ \t\"'`\\\]*]*+" + _NAME)
    for separator in (b"=", b":", b"|")
}
"""For a text read backwards: the name before each separator."""
_SEPARATOR_CHARACTER = re.compile(rb"[=:|]")
_PROSE_AFTER_COLON = re.compile(rb"[ \t]++[a-z]++[.,;:!?)]*+[ \t]++[^\s#/=|>\\]")
_SEPARATOR = re.compile(
    rb"(?P<gap>[ \t\"'`\\\]*]*+)(?P<separator>:=|={1,3}>?|:(?!//)\*{0,2}|\|)(?P<space>\s*+)"
)
_KEPT = re.compile(r"(?ai)(?:null|none|true|false|nil|undefined)(?![\w.\-])")
_LINE_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_SCHEME = re.compile(
    r"(?ai)(?:bearer|basic|token|bot|key|apikey|api-key|negotiate|ntlm)[ \t]+(?P<credential>\S+)"
    r"(?P<more>[ \t]+\S)?"
)
_NO_CREDENTIALS = frozenset(
    """
    string str number integer int bool boolean bytes object any optional required none null true
    false undefined unknown yes no ok missing invalid valid expired empty set unset header headers
    token tokens auth authentication authorization scheme schemes credential credentials password
    secretstr text char varchar hash hashed encrypted hidden masked changed reset updated incorrect
    wrong correct weak strong accepted rejected failed default prompt enter confirm see include
    omit same-origin
    """.split()  # noqa: SIM905 - a hundred quotes would hide the words
)
_PLAIN_PASSWORD_NAMES = frozenset({"password", "passwd", "passphrase"})
_CONFIG_NAME = re.compile(r"(?a)[A-Z][A-Z0-9]*_[A-Z0-9_]+|\w+[.-][\w.-]+|[a-z0-9]+_[a-z0-9_]+")
_LINE_START = re.compile(r"(?:\A|\n)[ \t]*(?:-[ \t]+)?\Z")
_REST_OF_LINE = re.compile(r"[ \t\"'`)\]},;.]*+(?:\r?\n|\Z|#|//)")
_SHELL_REST = re.compile(r"(?a)(?:\\.|'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*+\"|[\w.!@#%^*+=:,/-])*+")
_CLOSING_QUOTE = re.compile(r"\\*[\"']")
_BARE_JSON_VALUE = re.compile(r"(?a)[^\s,}\])\\\"']+")
_NUMBER = re.compile(r"(?a)-?\d[\d.eE+-]*")
_BLOCK_SCALAR = re.compile(
    r"(?a)[|>][+-]?[0-9]?[ \t]*\r?\n(?P<value>(?:[ \t]+[^\n]*(?:\n|\Z)|\r?\n)*+)"
)
_YAML_TAG = re.compile(r"(?a)(?:!!\w+|&\w+)[ \t]+")
_YAML_REFERENCE = re.compile(r"(?a)![A-Za-z]\w*[ \t]|\*\w+[ \t]*(?:\n|\Z)")
_YAML_NEXT_LINE = re.compile(r"(?a)\r?\n(?P<indent>[ \t]+)(?:-[ \t]+)?(?=\S+[ \t]*(?:\r?\n|\Z))")
_TYPED = re.compile(
    r"(?a)[A-Za-z_][\w.]*(?:\[[\w., |\[\]]*\])?(?:[ \t]*\|[ \t]*\w+)*\??"
    r"[ \t]*=[ \t]*(?=[bfru]?[\"'`])"
)
_CALL_BEFORE = re.compile(r"(?a)\(\s*\Z|,\s+\Z")
_CODE_VALUE = re.compile(r"(?a)[A-Za-z_][A-Za-z_.]*|[A-Za-z_][\w.]*\([^\n]*\)[\w.()]*")
_LITERAL_WITH_TEXT = re.compile(r"[{\[(][^\n]*[\"'][^\n]*[}\])]")
_TABLE_CELL = re.compile(r"(?a)`?(?P<value>[^\s|`]+)`?[ \t]*\|")


class _Name(NamedTuple):
    """Where the name of a field stands in a text."""

    start: int
    end: int


def _find_candidates(views: TextViews) -> list[int]:
    """Find one name on each line that has one, the last one of each separator."""
    found: list[int] = []
    backwards = views.backwards
    for pattern in _NAME_BEFORE.values():
        at = 0
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
    if is_colon and _PROSE_AFTER_COLON.match(views.lowered, after) and not _is_line_header(name):
        return None
    return _Name(start, end)


def _is_secret_here(name: str, before: str) -> bool:
    """Say whether a name holds a credential because of the character before it, or may hold one."""
    if before in {"?", "&", "#", ";"} and is_query_secret(name):
        return True
    return name in {"auth", "_auth"} or (before == ";" and name.lower() == "pwd")


def _is_line_header(name: str) -> bool:
    return name.lower().replace("_", "-") in _LINE_HEADERS


def _find_secrets(views: TextViews) -> Iterator[Replacement]:
    reader: _FieldReader | None = None
    at = 0
    while separator := _SEPARATOR_CHARACTER.search(views.lowered, at):
        at = separator.end()
        match = _NAME_BEFORE[separator[0]].match(views.backwards, views.size - at)
        name = None if match is None else _name_of(match, views)
        if name is None:
            continue
        reader = reader or _FieldReader(views)
        found = reader.read(name)
        if found is not None:
            at = max(at, found.end)
            yield found


class _FieldReader:
    """Reads the fields of one part; each read sets what it saw around the name."""

    __slots__ = (
        "_before",
        "_gap",
        "_is_url_parameter",
        "_line_end_at",
        "_lowered",
        "_name",
        "_part",
        "_separator",
        "_space",
        "_value_at",
    )

    def __init__(self, views: TextViews) -> None:
        self._part = views.text
        self._lowered = views.lowered
        self._line_end_at = -1
        self._before = ""
        """What stands before the name, at most 60 characters."""
        self._name = ""
        self._gap = ""
        """What stands between the name and its separator: quotes, brackets, spaces."""
        self._separator = ""
        self._space = ""
        self._value_at = 0
        self._is_url_parameter = False

    def read(self, name: _Name) -> Replacement | None:
        """Return what to replace of the field of this name."""
        match = _SEPARATOR.match(self._lowered, name.end)
        if match is None or match.end() >= len(self._part):
            return None
        self._name = self._part[name.start : name.end].strip("-_.")
        self._before = self._part[max(0, name.start - 60) : name.start]
        self._is_url_parameter = self._before.endswith(("?", "&", "#", ";"))
        groups = match.groupdict()
        self._gap, self._separator, self._space = (
            groups[group].decode("latin-1") for group in ("gap", "separator", "space")
        )
        self._value_at = match.end()
        if self._part.startswith(PLACEHOLDER, self._value_at):
            return None
        if self._name == "auth":
            return self._read_basic_auth()
        return self._reading()()

    def _reading(self) -> Callable[[], Replacement | None]:
        if self._is_quoted_name():
            return self._read_json_like
        if self._separator == "|":
            return self._read_table_cell
        if "\n" in self._space:
            return self._read_next_line
        return self._read_after_colon if self._separator[0] == ":" else self._read_after_equals

    def _is_quoted_name(self) -> bool:
        has_quote = '"' in self._gap or "'" in self._gap
        return has_quote and self._before[-1:] in {'"', "'", "`"}

    def _line_end(self, at: int) -> int:
        if self._line_end_at < at:
            found = self._part.find("\n", at)
            self._line_end_at = len(self._part) if found < 0 else found
        end = self._line_end_at
        return end - 1 if end > at and self._part[end - 1] == "\r" else end

    def _read_quoted(self, at: int, *, may_refer: bool = True) -> Replacement | None:
        """Read a quoted value; the quotes stay, what is between them goes."""
        opening = QUOTE.match(self._part, at)
        if opening is None:
            return None
        start = opening.end()
        if self._part.startswith(PLACEHOLDER, start):
            return None
        end = closing_quote(self._part, start, opening["quote"], len(opening["escape"]))
        if end < 0:
            end = self._line_end(start)
        elif self._separator == "=" and self._part.startswith(("'", '"', "\\"), end + 1):
            rest = _SHELL_REST.match(self._part, end + 1) if len(opening["quote"]) == 1 else None
            if rest is not None and rest[0]:
                end = rest.end() - rest[0].endswith(("'", '"'))
        if end <= start or (may_refer and is_reference(self._part[start : min(end, start + 100)])):
            return None
        return Replacement(start, end)

    def _read_json_like(self) -> Replacement | None:
        at, part = self._value_at, self._part
        if _KEPT.match(part, at):
            return None
        if QUOTE.match(part, at):
            return self._read_quoted(at)
        found_quote = _CLOSING_QUOTE.search(self._gap)
        quote = '"' if found_quote is None else found_quote[0]
        if part[at] in "{[":
            closed = closing_bracket(part, at)
            end = closed if closed >= 0 else len(part)
            is_kept = _is_schema_text(part[at:end])
            return None if is_kept else Replacement(at, end, quote + PLACEHOLDER + quote)
        run = _BARE_JSON_VALUE.match(part, at)
        if run is None:
            return None
        is_credential = is_credential_like(run[0]) and not is_reference(run[0])
        if not is_credential and not _NUMBER.fullmatch(run[0]):
            return None
        return Replacement(at, run.end(), quote + PLACEHOLDER + quote)

    def _read_basic_auth(self) -> Replacement | None:
        """Read `_auth=...` and `"auth": "..."` of package registries: user and password, base64."""
        opening = QUOTE.match(self._part, self._value_at)
        start = self._value_at if opening is None else opening.end()
        end = bare_value_end(self._part, start, r"\s\"'`,}\\")
        return Replacement(start, end) if is_basic_credential(self._part[start:end]) else None

    def _read_table_cell(self) -> Replacement | None:
        """Read the second cell of `| password | ... |`."""
        cell = _TABLE_CELL.match(self._part, self._value_at)
        is_first = self._before.rstrip(" \t*`").endswith("|")
        if cell is None or not is_first or not is_made_up(cell["value"]):
            return None
        return Replacement(*cell.span("value"))

    def _read_next_line(self) -> Replacement | None:
        """Read a value that stands alone on the line after its name, as in YAML."""
        line = _YAML_NEXT_LINE.match(self._part, self._value_at - len(self._space))
        if self._separator != ":" or line is None:
            return None
        self._value_at = line.end()
        return self._if_credential_like(self._read_bare(r"\s"))

    def _read_bare(self, stop: str) -> Replacement | None:
        at = self._value_at
        end = bare_value_end(self._part, at, stop)
        if end <= at:
            return None
        head = self._part[at : at + 100]
        if (not self._is_url_parameter and _KEPT.match(head)) or is_reference(head):
            return None
        return Replacement(at, end)

    def _read_after_equals(self) -> Replacement | None:
        if self._is_url_parameter and not self._space:
            is_in_list = self._before.endswith(";") and not self._before.endswith("&amp;")
            return self._read_bare(r"&#\s\"'<>`;" if is_in_list else r"&#\s\"'<>`")
        if QUOTE.match(self._part, self._value_at):
            return self._read_quoted(self._value_at)
        if self._part.startswith(("{", "["), self._value_at):
            return self._read_literal()
        found = self._read_bare(self._stop_at_space_or_enclosing_quote())
        if self._separator != "=" or self._space or self._gap.strip("]\"'"):
            return self._if_credential_like(found)
        return None if found is None or self._is_code(found) else found

    def _read_literal(self) -> Replacement | None:
        """Read `cookies={'sid': '...'}`; a literal without a text in it holds no credential."""
        at = self._value_at
        end = closing_bracket(self._part, at)
        if end < 0 or _LITERAL_WITH_TEXT.fullmatch(self._part, at, end) is None:
            return None
        return Replacement(at + 1, end - 1)

    def _is_code(self, found: Replacement) -> bool:
        """Say whether a value is a variable or a call: `token=token`, `f(password=entered)`."""
        value = self._part[found.start : self._line_end(found.start)][:200]
        value = value.split()[0].rstrip(",;:") if value.split() else value
        if self._name.isupper() or _CODE_VALUE.fullmatch(value.rstrip(")") or value) is None:
            return value.endswith(")") and _CODE_VALUE.fullmatch(value) is not None
        is_same = value.rstrip(")").rpartition(".")[2].lower() == self._name.lower()
        return is_same or _CALL_BEFORE.search(self._before) is not None

    def _if_credential_like(self, found: Replacement | None) -> Replacement | None:
        if found is None or not is_credential_like(self._part[found.start : found.end]):
            return None
        return found

    def _stop_at_space_or_enclosing_quote(self) -> str:
        return rf"\s{self._before[-1:]}" if self._before.endswith(('"', "'", "`")) else r"\s"

    def _read_after_colon(self) -> Replacement | None:
        if _is_line_header(self._name):
            return self._read_header(is_cookie="cookie" in self._name.lower())
        part = self._part
        if tag := _YAML_TAG.match(part, self._value_at):
            self._value_at = tag.end()
        if typed := _TYPED.match(part, self._value_at):
            return self._read_quoted(typed.end())
        if QUOTE.match(part, self._value_at):
            found = self._read_quoted(self._value_at)
            return None if found is None or self._is_word_of_code(found) else found
        if part.startswith(("|", ">"), self._value_at):
            return self._read_block_scalar()
        return (
            None if _YAML_REFERENCE.match(part, self._value_at) else self._read_bare_after_colon()
        )

    def _is_word_of_code(self, found: Replacement) -> bool:
        """Say whether a quoted text is one of the few that programs write after such names."""
        value = self._part[found.start : found.end]
        return len(value) <= 1 or value in {"include", "omit", "same-origin"}

    def _read_bare_after_colon(self) -> Replacement | None:
        found = self._read_bare(self._stop_at_space_or_enclosing_quote())
        if found is None:
            return None
        value = self._part[found.start : min(found.end, found.start + 100)]
        if value.lower() in _NO_CREDENTIALS:
            return None
        is_whole_line = _REST_OF_LINE.match(self._part, found.end) is not None
        if is_whole_line and len(value) > 1 and self._is_setting(value):
            return found
        return self._if_credential_like(found)

    def _is_setting(self, value: str) -> bool:
        if _CONFIG_NAME.fullmatch(self._name) is not None:
            return True
        is_plain = self._name.lower() in _PLAIN_PASSWORD_NAMES and value.isalnum()
        return is_plain and _LINE_START.search(self._before) is not None

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
        return Replacement(at, end) if self._part.find("=", at, end) >= 0 else None

    def _read_authorization(self, at: int, end: int) -> Replacement | None:
        part = self._part
        scheme = _SCHEME.match(part, at, end)
        if scheme is None:
            value = part[at : min(end, at + 400)]
            is_none = value.lower() in _NO_CREDENTIALS or is_prose(value)
            return None if is_none else Replacement(at, end)
        credential = scheme["credential"]
        start = scheme.start("credential")
        is_none = (
            credential.strip("\"'`.,;:!?()").lower() in _NO_CREDENTIALS
            or is_reference(part[start : start + 100])
            or (scheme["more"] and is_prose(f"{credential} {credential}"))
        )
        return (
            None
            if is_none
            else Replacement(at, start + len(credential) - trailing_length(credential))
        )


def _is_schema_text(text: str) -> bool:
    try:
        return is_schema(json.loads(text), within_properties=False)
    except (ValueError, RecursionError):
        return False


FIELDS = TextRule(
    triggers=NAME_TRIGGERS,
    find_candidates=_find_candidates,
    find_secrets=_find_secrets,
)
"""`name = value`, `name: value`, `?name=value`, `"name": "value"`, `| name | value |`."""
