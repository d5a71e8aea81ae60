"""Finds credentials in a text that is JSON, by field names and in every string of it.

The text need not be sound: it is read as far as it is JSON, cut or not, and never parsed as a
whole. What is found are places of the text, so that everything else stays as it was written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from openprogram.providers.recording.redaction.field_names import is_header_pair, is_secret_field
from openprogram.providers.recording.redaction.json_schemas import (
    SCHEMA_MAP_NAMES,
    SCHEMA_VALUE_NAMES,
    is_schema,
)
from openprogram.providers.recording.redaction.text_commands import find_in_argument
from openprogram.providers.recording.redaction.text_values import (
    PLACEHOLDER,
    Replacement,
    closing_bracket,
    is_basic_credential,
)

if TYPE_CHECKING:
    from collections.abc import Callable

PAIR_NAME_FIELDS = frozenset({"name", "key", "header", "field"})
"""Fields that may name the field beside them: `{"name": "x-api-key", "value": "..."}`."""
PAIR_VALUE_FIELDS = frozenset({"value", "values", "val"})
"""Fields that hold what such an object names."""
BASIC_AUTH_FIELDS = frozenset({"auth", "_auth"})
"""Fields that hold a credential when it is the base64 of `user:password`."""

_START = re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{\"])")
_STRING = re.compile(r"\s*+\"(?:[^\"\\\n]|\\.)*+\"\s*+")
_TOKEN = re.compile(
    rf"\s*+(?:(?P<string>\"(?:[^\"\\]|\\.)*+\")|(?P<done>{re.escape(PLACEHOLDER)})"
    r"|(?P<mark>[{}\[\]:,])|(?P<scalar>-?\d[\d.eE+-]*+|true|false|null|NaN|-?Infinity)|(?P<cut>\"))",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.", re.DOTALL)
_QUOTED_PLACEHOLDER = f'"{PLACEHOLDER}"'
_KEPT_SCALARS = frozenset({"null", "true", "false"})
_DEEPEST_SECRET_SCHEMA = 16


def may_be_json(text: str, at: int = 0) -> bool:
    """Say whether a text begins as a JSON object does, or as an array of texts or containers."""
    return _START.match(text, at) is not None


def is_json_string(text: str) -> bool:
    """Say whether a text is one JSON string and nothing else."""
    return text.lstrip()[:1] == '"' and _STRING.fullmatch(text) is not None


@dataclass(slots=True)
class _Frame:
    """One open object or array."""

    is_object: bool
    in_schema_map: bool = False
    is_secret_schema: bool = False
    is_pair_value: bool = False
    is_in_array: bool = False
    is_headers: bool = False
    """Whether an array holds names and values in turn."""
    start: int = 0
    key: str | None = None
    count: int = 0
    names_secret: bool = False
    first: str = ""
    """The first text of an array: a header's name, or a command."""
    previous: str = ""
    """The last text of an array: a flag, it may be."""
    previous_count: int = 0
    """Which element that was, from 1."""
    second: str | None = None
    """The second text of an array."""
    value_places: list[Replacement] = field(default_factory=list[Replacement])

    def is_pair(self) -> bool:
        """Say whether an array is a header and its value, alone or in a list of such."""
        if self.count != 2:  # noqa: PLR2004 - a pair
            return False
        is_lone = self.second is not None and is_header_pair(self.first, self.second)
        return self.is_in_array or is_lone

    def expects_key(self, mark_before: str) -> bool:
        return self.is_object and mark_before in "{,"


class JsonScanner:
    """Reads one JSON text, token by token, without recursion."""

    def __init__(
        self, text: str, find_in_string: Callable[[str], list[Replacement]], *, start: int = 0
    ) -> None:
        self.text = text
        self.found: list[Replacement] = []
        self.end = start
        """How far the text is JSON."""
        self.open_at = start
        """Where the innermost object or array begins that was left open."""
        self.is_complete = True
        self._find_in_string = find_in_string
        self._stack: list[_Frame] = []
        self._mark_before = ""

    def scan(self) -> None:
        """Read as far as the text is JSON; then `end` and `found` say how far and what."""
        while (token := _TOKEN.match(self.text, self.end)) is not None:
            if token["cut"] or not self._take(token):
                break
        if self._stack:
            self.is_complete = False
            self.open_at = self._stack[-1].start
        while self._stack:
            self._close(self.end)
        self.found.sort()

    def _take(self, token: re.Match[str]) -> bool:
        mark = token["mark"]
        start = token.start(token.lastgroup or 0)
        if mark is not None:
            return self._take_mark(mark, start)
        if not self._stack:
            return token["string"] is not None and self._take_lone_string(start, token.end())
        frame = self._stack[-1]
        if token["string"] is not None and frame.expects_key(self._mark_before):
            self._take_key(frame, start, token.end())
            return True
        if self._mark_before not in ":[,":
            return False
        self._take_value(frame, start, token.end(), is_string=token["string"] is not None)
        self._mark_before = "v"
        self.end = token.end()
        return True

    def _take_lone_string(self, start: int, end: int) -> bool:
        """Take a string that is the whole text; one behind a text is none of it."""
        if self._mark_before:
            return False
        decoded = self._decode(start, end)
        self._add_within(start, end, decoded, self._find_in_string(decoded))
        self._mark_before = "v"
        self.end = end
        return True

    def _take_mark(self, mark: str, start: int) -> bool:
        end = start + 1
        if mark in "{[":
            if self._stack and self._mark_before not in ":[,":
                return False
            if self._stack and self._hide_container(start):
                return True
            self._open(mark, start)
        elif not self._stack:
            return False
        elif mark in "}]":
            if (mark == "}") is not self._stack[-1].is_object:
                return False
            self._close(end)
        self._mark_before = mark if mark not in "}]" else "v"
        self.end = end
        return True

    def _open(self, mark: str, start: int) -> None:
        parent = self._stack[-1] if self._stack else None
        frame = _Frame(mark == "{", start=start)
        if parent is not None:
            frame.is_pair_value = self._is_pair_value(parent)
            parent.count += 1
            frame.is_in_array = not parent.is_object
            key = (parent.key or "").lower()
            frame.is_headers = parent.is_object and key.endswith(("header", "headers"))
            frame.in_schema_map = parent.is_object and parent.key in SCHEMA_MAP_NAMES
            frame.is_secret_schema = parent.is_object and is_secret_field(parent.key or "")
        self._stack.append(frame)

    def _close(self, end: int) -> None:
        frame = self._stack.pop()
        if frame.is_pair_value and self._stack:
            place = Replacement(frame.start, end, _QUOTED_PLACEHOLDER)
            self._stack[-1].value_places.append(place)
        if frame.names_secret and (frame.is_object or frame.is_pair()):
            self.found.extend(frame.value_places)

    def _take_key(self, frame: _Frame, start: int, end: int) -> None:
        frame.key = self._decode(start, end)
        self._add_within(start, end, frame.key, self._find_in_string(frame.key))
        self._mark_before = "k"
        self.end = end

    def _hides(self, frame: _Frame) -> bool:
        key = frame.key or ""
        if not frame.is_object:
            return False
        if frame.is_secret_schema and key in SCHEMA_VALUE_NAMES:
            return True
        return is_secret_field(key)

    def _hide_container(self, start: int) -> bool:
        frame = self._stack[-1]
        is_header_value = self._is_header_value(frame)
        if not is_header_value and not self._hides(frame):
            return False
        closed = closing_bracket(self.text, start)
        end = closed if closed >= 0 else len(self.text)
        if not is_header_value and self._is_schema(frame, start, end):
            return False
        self.found.append(Replacement(start, end, _QUOTED_PLACEHOLDER))
        frame.count += 1
        self._mark_before = "v"
        self.end = end
        return True

    def _is_schema(self, frame: _Frame, start: int, end: int) -> bool:
        if sum(open_.is_secret_schema for open_ in self._stack[-64:]) > _DEEPEST_SECRET_SCHEMA:
            return False
        try:
            value: Any = json.loads(self.text[start:end])
        except (ValueError, RecursionError):
            return False
        return is_schema(value, within_properties=frame.in_schema_map)

    def _is_pair_value(self, frame: _Frame) -> bool:
        if frame.is_object:
            return (frame.key or "").lower() in PAIR_VALUE_FIELDS
        return frame.count == 1

    def _is_header_value(self, frame: _Frame) -> bool:
        is_value = frame.is_headers and frame.count % 2 == 1
        return is_value and frame.previous_count == frame.count and is_secret_field(frame.previous)

    def _take_value(self, frame: _Frame, start: int, end: int, *, is_string: bool) -> None:
        is_pair_value = self._is_pair_value(frame)
        is_hidden = self._is_header_value(frame) or self._hides(frame)
        frame.count += 1
        if not is_string and self.text[start:end] in _KEPT_SCALARS:
            return
        whole = (
            Replacement(start + 1, end - 1)
            if is_string
            else Replacement(start, end, _QUOTED_PLACEHOLDER)
        )
        if self.text[whole.start : whole.end] == PLACEHOLDER:
            return
        if is_hidden:
            self.found.append(whole)
            return
        if is_pair_value:
            frame.value_places.append(whole)
        if is_string:
            self._take_string(frame, start, end)

    def _take_string(self, frame: _Frame, start: int, end: int) -> None:
        decoded = self._decode(start, end)
        if frame.is_object:
            key = (frame.key or "").lower()
            if key in PAIR_NAME_FIELDS and is_secret_field(decoded):
                frame.names_secret = True
            if key in BASIC_AUTH_FIELDS and is_basic_credential(decoded):
                self.found.append(Replacement(start + 1, end - 1))
                return
        elif frame.count == 1:
            frame.first = decoded
            frame.names_secret = is_secret_field(decoded)
        elif frame.count == 2:  # noqa: PLR2004 - the second of a pair
            frame.second = decoded
        argument = None if frame.is_object else self._find_argument(frame, decoded)
        self._add_within(
            start, end, decoded, [argument] if argument else self._find_in_string(decoded)
        )

    def _find_argument(self, frame: _Frame, decoded: str) -> Replacement | None:
        is_behind_text = frame.previous_count == frame.count - 1
        flag, frame.previous, frame.previous_count = frame.previous, decoded, frame.count
        return find_in_argument(frame.first, flag, decoded) if is_behind_text else None

    def _decode(self, start: int, end: int) -> str:
        raw = self.text[start + 1 : end - 1]
        if "\\" not in raw:
            return raw
        try:
            return str(json.loads(f'"{raw}"', strict=False))
        except ValueError:
            return raw

    def _add_within(self, start: int, end: int, decoded: str, inner: list[Replacement]) -> None:
        if not inner:
            return
        raw = self.text[start + 1 : end - 1]
        if len(raw) == len(decoded):
            self.found.extend(
                Replacement(start + 1 + a, start + 1 + b, text) for a, b, text in inner
            )
            return
        offsets = _raw_offsets(raw, {place for a, b, _ in inner for place in (a, b)})
        self.found.extend(
            Replacement(start + 1 + offsets[a], start + 1 + offsets[b], json.dumps(text)[1:-1])
            for a, b, text in inner
        )


def _raw_offsets(raw: str, wanted: set[int]) -> dict[int, int]:
    """Map offsets in a decoded JSON string to offsets in its raw form, escapes and all."""
    offsets: dict[int, int] = {}
    decoded_at = raw_at = 0
    pending = sorted(wanted, reverse=True)
    for escape in _ESCAPE.finditer(raw):
        plain_count = escape.start() - raw_at
        while pending and pending[-1] <= decoded_at + plain_count:
            place = pending.pop()
            offsets[place] = raw_at + place - decoded_at
        decoded_at += plain_count + 1
        raw_at = escape.end()
    for place in pending:
        offsets[place] = raw_at + place - decoded_at
    return offsets
