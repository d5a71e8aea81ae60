"""Parses a settings file so strictly that writing it back loses nothing; says where it fails."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, cast

from openprogram.errors import ConfigError, quoted

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.config.specs import SettingsDocument

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LITERALS = frozenset({"true", "false", "null"})
_DEPTH_LIMIT = 64
_NUMBER_LIMIT_CHARACTERS = 300


def parse_document(path: Path, data: bytes) -> SettingsDocument:
    """Parse the bytes of a settings file.

    A key given twice, a number that no float holds and a value nested too deep are refused too:
    Python would read them as something else, and the next change would write that down.

    Args:
        path: Where they come from, for the message.
        data: The whole file.

    Returns:
        The JSON object that it holds.

    Raises:
        ConfigError: It is not UTF-8 or not one JSON object; the message names line and column.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        raise _unparsable(path, before, len(before), "not UTF-8") from error
    try:
        values = cast("object", json.loads(text))
    except json.JSONDecodeError as error:
        raise _unparsable(path, text, error.pos, error.msg) from error
    except (RecursionError, ValueError):
        # Too deep, or too long a number: Python does not say where, the scan below does.
        values = None
    _refuse_what_is_lost(path, text)
    if not isinstance(values, dict):
        raise _unparsable(path, text, len(text) - len(text.lstrip()), "not an object")
    return cast("SettingsDocument", values)


def dump_document(values: SettingsDocument) -> bytes:
    r"""Write a settings file.

    Args:
        values: The whole document.

    Returns:
        Indented JSON in UTF-8, keys in their order.

    Example:
        >>> dump_document({"ui": {"theme": "dark"}})
        b'{\n  "ui": {\n    "theme": "dark"\n  }\n}\n'
    """
    try:
        return f"{json.dumps(values, indent=2, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8; an escape keeps it.
        return f"{json.dumps(values, indent=2)}\n".encode()


def _refuse_what_is_lost(path: Path, text: str) -> None:
    keys_of_open: list[set[str] | None] = []
    before = ""
    for match in _TOKEN.finditer(text):
        word = match.group()
        problem = None
        if word in {"{", "["}:
            keys_of_open.append(set() if word == "{" else None)
            problem = "nested too deep" if len(keys_of_open) > _DEPTH_LIMIT else None
        elif word in {"}", "]"}:
            keys_of_open.pop()
        elif word.startswith('"'):
            keys = keys_of_open[-1] if keys_of_open and before in {"{", ","} else None
            problem = None if keys is None else _add_key(keys, word)
        elif word not in {",", ":"}:
            problem = _problem_of_number(word)
        if problem is not None:
            raise _unparsable(path, text, match.start(), problem)
        before = word


def _add_key(keys: set[str], word: str) -> str | None:
    key = cast("str", json.loads(word))
    if key in keys:
        return f"the key {quoted(key)} stands here twice"
    keys.add(key)
    return None


def _problem_of_number(word: str) -> str | None:
    if word in _LITERALS:
        return None
    if len(word) > _NUMBER_LIMIT_CHARACTERS:
        return "a number too long"
    return None if math.isfinite(float(word)) else f"{quoted(word)} is not a finite number"


def _unparsable(path: Path, text: str, position: int, problem: str) -> ConfigError:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return ConfigError(
        f"{quoted(str(path))}, line {line}, column {column}: {problem}; "
        "correct the file by hand or move it away, it was left as it is",
        path=path,
    )
