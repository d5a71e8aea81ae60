"""Finds and replaces the credentials in a text; pure, total, and linear in its length.

A text that is JSON is read as JSON. Any other is searched by fast gates, and only the parts that
they name are judged: by every rule, by the JSON in them, and once more with their escapes undone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from openprogram.providers.recording.redaction.json_text import (
    JsonScanner,
    is_json_string,
    may_be_json,
)
from openprogram.providers.recording.redaction.text_escapes import MOST_LAYERS, decode
from openprogram.providers.recording.redaction.text_gate import RULES, TRIGGER, might_be_secret_json
from openprogram.providers.recording.redaction.text_parts import iterate_parts
from openprogram.providers.recording.redaction.text_rules import TextViews
from openprogram.providers.recording.redaction.text_values import Replacement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SHORT = 400
"""Up to that many characters, one search for a trigger is faster than all gates."""
_MOST_ROUNDS = 3
_JSON_OPENING = re.compile(r"(?a)\{\s*+\"|\[\s*+[\[{\"]")
_DATA_URL = re.compile(r"(?a)data:[\w/+.;=-]{0,100};base64,[A-Za-z0-9+/=\s]*+")


def remove_secrets_from_text(text: str) -> str:
    """Replace every credential in a text by the placeholder; all else stays byte for byte.

    Args:
        text: Any text, prose, code or JSON, lone surrogates included.

    Returns:
        The same object when nothing is secret.

    Example:
        >>> remove_secrets_from_text("Authorization: Basic dXNlcjpodW50ZXI=")
        'Authorization: [secret removed]'
    """
    replacements = find_replacements(text)
    return apply_replacements(text, replacements) if replacements else text


def apply_replacements(text: str, replacements: list[Replacement]) -> str:
    """Put each replacement in its place.

    Args:
        text: The text they were found in.
        replacements: In rising order, without overlap.

    Returns:
        The new text.
    """
    pieces: list[str] = []
    done = 0
    for start, end, new in replacements:
        pieces += (text[done:start], new)
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def find_replacements(text: str) -> list[Replacement]:
    """Find what is to be replaced in a text.

    Args:
        text: Any text.

    Returns:
        In rising order, without overlap.
    """
    if len(text) < _SHORT and not TRIGGER.search(text.lower()):
        return []
    if may_be_json(text) or is_json_string(text):
        return _until_stable(text, _find_in_json) if might_be_secret_json(text) else []
    if text.startswith("data:") and _DATA_URL.fullmatch(text):
        return []
    found: list[Replacement] = []
    for start, end in iterate_parts(text):
        found.extend(_shifted(find_in_part(text[start:end]), start))
    return found


def _find_in_json(text: str) -> list[Replacement]:
    found: list[Replacement] = []
    at = 0
    while at == 0 or may_be_json(text, at):
        scanner = JsonScanner(text, find_replacements, start=at)
        scanner.scan()
        found += scanner.found
        at = scanner.end if scanner.is_complete else scanner.open_at
        if not scanner.is_complete:
            break
    return merged(found + _shifted(find_in_part(text[at:]), at))


def _shifted(replacements: list[Replacement], by: int) -> list[Replacement]:
    if not by:
        return replacements
    return [Replacement(start + by, end + by, new) for start, end, new in replacements]


def find_in_part(part: str) -> list[Replacement]:
    """Find what is to be replaced in one part of a text, as `text_parts` cuts it.

    Args:
        part: A line, or several that belong together.

    Returns:
        In rising order, without overlap.
    """
    return _until_stable(part, _find_in_layer)


def _until_stable(text: str, find: Callable[[str], list[Replacement]]) -> list[Replacement]:
    """Find until the redacted text holds no secret; a placeholder may part what stood together."""
    found = find(text)
    for _ in range(_MOST_ROUNDS):
        again = find(apply_replacements(text, found)) if found else []
        if not again:
            break
        found = merged(found + _mapped_back(again, found))
    return found


def _mapped_back(later: list[Replacement], earlier: list[Replacement]) -> list[Replacement]:
    """Map places of a text with `earlier` replaced to the text before; a placeholder is whole."""
    starts: list[int] = []
    shift = 0
    for start, end, new in earlier:
        starts.append(start + shift)
        shift += len(new) - (end - start)

    def original(offset: int, *, is_end: bool) -> int:
        number = bisect_right(starts, offset - is_end) - 1
        if number < 0:
            return offset
        start, end, new = earlier[number]
        behind = offset - starts[number] - len(new)
        if behind >= 0:
            return end + behind
        return end if is_end else start

    return [
        Replacement(original(start, is_end=False), original(end, is_end=True), new)
        for start, end, new in later
    ]


def _find_in_layer(part: str, layer: int = 0) -> list[Replacement]:
    views = TextViews(part)
    found = [one for rule in RULES for one in rule.find_secrets(views)]
    if layer == 0:  # only there, because strings of JSON in layers of JSON would multiply the work
        found.extend(_find_in_embedded_json(part))
    decoded = decode(part) if layer < MOST_LAYERS else None
    if decoded is not None:
        found.extend(
            Replacement(decoded.raw_offset(start), decoded.raw_offset(end), new)
            for start, end, new in _find_in_layer(decoded.text, layer + 1)
        )
    return merged(found) if len(found) > 1 else found


def _find_in_embedded_json(part: str) -> Iterator[Replacement]:
    at = 0
    while opening := _JSON_OPENING.search(part, at):
        scanner = JsonScanner(part, find_replacements, start=opening.start())
        scanner.scan()
        yield from scanner.found
        at = max(scanner.end, opening.start() + 1)


def merged(replacements: list[Replacement]) -> list[Replacement]:
    """Join overlapping replacements: a place is replaced once, by the one that begins first.

    Args:
        replacements: In any order.

    Returns:
        In rising order, without overlap.
    """
    result: list[Replacement] = []
    for one in sorted(replacements, key=lambda one: (one.start, -one.end)):
        if result and (one.start < result[-1].end or one.start == result[-1].start):
            last = result[-1]
            if one.end > last.end:
                result[-1] = Replacement(last.start, one.end, last.text)
        else:
            result.append(one)
    return result
