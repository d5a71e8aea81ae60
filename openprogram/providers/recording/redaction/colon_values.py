"""Reads the value of a field after a colon: headers, YAML, types of programs, and prose."""

from __future__ import annotations

import re

from openprogram.providers.recording.redaction.field_names import last_word
from openprogram.providers.recording.redaction.field_values import (
    Field,
    if_credential_like,
    read_bare,
    read_quoted,
    read_word,
)
from openprogram.providers.recording.redaction.text_values import (
    QUOTE,
    Replacement,
    closing_quote,
    is_prose,
    is_reference,
    trailing_length,
)

_LINE_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_COOKIE = re.compile(r"(?a)[^\s=;,\"']{1,256}=[^\s;=]")
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
_WORDS_OF_CODE = frozenset({"include", "omit", "same-origin"})
_PLAIN_PASSWORD_NAMES = frozenset({"password", "passwd", "passphrase"})
_SETTING_NAME = re.compile(r"(?a)[A-Z][A-Z0-9]*_[A-Z0-9_]+|\w+[.-][\w.-]+|[a-z0-9]+_[a-z0-9_]+")
_TYPE_NAME = re.compile(r"(?a)(?:[A-Z][a-z]+){2,}|[A-Za-z_][\w.]*\[.*|[A-Za-z_.]+=\w*")
_TYPED_VALUE = re.compile(r"(?a)[A-Za-z_][\w.]*\[")
_LINE_START = re.compile(r"(?:\A|\n)[-+]?[ \t]*(?:-[ \t]+)?\Z")
_REST_OF_LINE = re.compile(r"[ \t\"'`)\]},;.]*+(?:\r?\n|\Z|#|//)")
_BLOCK_SCALAR = re.compile(
    r"(?a)[|>][+-]?[0-9]?[ \t]*\r?\n(?P<value>(?:[ \t]+[^\n]*(?:\n|\Z)|\r?\n)*+)"
)
_YAML_TAG = re.compile(r"(?a)(?:!!\w+|&\w+)[ \t]+")
_YAML_REFERENCE = re.compile(r"(?a)![A-Za-z]\w*[ \t]|\*\w+[ \t]*(?:\n|\Z)")
_NEXT_LINE = re.compile(r"(?a)\r?\n[ \t]+(?:-[ \t]+)?(?=\S+[ \t]*(?:\r?\n|\Z))")
_TYPED = re.compile(
    r"(?a)[A-Za-z_][\w.]*(?:\[[\w., |\[\]]*\])?(?:[ \t]*\|[ \t]*\w+)*\??"
    r"[ \t]*=[ \t]*(?=[bfru]?[\"'`])"
)


def is_line_header(name: str) -> bool:
    """Say whether a field of this name is an HTTP header whose value is the rest of its line."""
    return name.lower().replace("_", "-") in _LINE_HEADERS


def read_next_line(field: Field) -> Replacement | None:
    """Read a value that stands alone on the line after its name, as in YAML."""
    line = _NEXT_LINE.match(field.part, field.value_at - len(field.space))
    if field.separator != ":" or line is None or not _LINE_START.search(field.before):
        return None
    field = field._replace(value_at=line.end())
    return if_credential_like(field, read_bare(field, r"\s"))


def read_after_colon(field: Field) -> Replacement | None:
    """Read what stands behind a name and a colon on the same line."""
    if is_line_header(field.name):
        return _read_header(field)
    part = field.part
    if tag := _YAML_TAG.match(part, field.value_at):
        field = field._replace(value_at=tag.end())
    if typed := _TYPED.match(part, field.value_at):
        return read_quoted(field, typed.end())
    if QUOTE.match(part, field.value_at):
        found = read_quoted(field)
        value = "" if found is None else part[found.start : found.end]
        return None if len(value) <= 1 or value in _WORDS_OF_CODE else found
    if part.startswith(("|", ">"), field.value_at):
        return _read_block_scalar(field)
    is_part = not field.space and field.before.endswith((":", "{"))
    return None if is_part or _YAML_REFERENCE.match(part, field.value_at) else _read_bare(field)


def _read_bare(field: Field) -> Replacement | None:
    found = read_word(field)
    if found is None:
        return None
    value = field.part[found.start : min(found.end, found.start + 100)]
    if value.lower().rstrip("):") in _NO_CREDENTIALS or _TYPE_NAME.fullmatch(value):
        return None
    enclosing = field.enclosing_quote()
    is_whole = _REST_OF_LINE.match(field.part, found.end) is not None or (
        enclosing != "" and field.part.startswith(enclosing, found.end)
    )
    if is_whole and len(value) > 1 and _is_setting(field, value):
        return found
    return if_credential_like(field, found)


def _is_setting(field: Field, value: str) -> bool:
    """Say whether a line is one of a file of settings, so that any word may be the credential."""
    is_type = value.istitle() and value.isalpha() and field.name.islower()
    if is_type or last_word(value) == last_word(field.name):
        return False
    if _SETTING_NAME.fullmatch(field.name) is not None:
        return True
    is_plain = field.name.lower() in _PLAIN_PASSWORD_NAMES and value.isalnum()
    return is_plain and _LINE_START.search(field.before) is not None


def _read_block_scalar(field: Field) -> Replacement | None:
    lines = _BLOCK_SCALAR.match(field.part, field.value_at)
    if lines is None or not (value := lines["value"].strip()):
        return None
    start = field.part.index(value, lines.start("value"))
    return Replacement(start, start + len(value))


def _read_header(field: Field) -> Replacement | None:
    at, part = field.value_at, field.part
    end = field.views.line_end(at)
    if enclosing := field.enclosing_quote():
        before = field.before[:-1]
        escape_count = len(before) - len(before.rstrip("\\"))
        closing = closing_quote(part, at, enclosing, escape_count)
        end = closing if closing >= 0 else end
    elif QUOTE.match(part, at):
        return read_quoted(field)
    if end <= at or is_reference(part[at : min(end, at + 100)]):
        return None
    if "cookie" in field.name.lower():
        return Replacement(at, end) if _COOKIE.match(part, at, end) else None
    return _read_authorization(part, at, end)


def _read_authorization(part: str, at: int, end: int) -> Replacement | None:
    scheme = _SCHEME.match(part, at, end)
    if scheme is None:
        value = part[at : min(end, at + 400)]
        is_none = value.lower() in _NO_CREDENTIALS or is_prose(value) or _TYPED_VALUE.match(value)
        return None if is_none else Replacement(at, end)
    credential = scheme["credential"]
    start = scheme.start("credential")
    is_none = (
        credential.strip("\"'`.,;:!?()").lower() in _NO_CREDENTIALS
        or is_reference(part[start : start + 100])
        or (scheme["more"] and is_prose(f"{credential} {credential}"))
    )
    return (
        None if is_none else Replacement(at, start + len(credential) - trailing_length(credential))
    )
