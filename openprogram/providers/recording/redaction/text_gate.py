"""Says, fast, where a text could hold a secret; decides nothing.

A gate that is too wide costs time, one that is too narrow leaks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from openprogram.providers.recording.redaction.secret_shapes import KNOWN_SHAPES, PRIVATE_KEYS
from openprogram.providers.recording.redaction.text_commands import COMMANDS
from openprogram.providers.recording.redaction.text_escapes import (
    ESCAPE_TRIGGERS,
    MOST_LAYERS,
    find_escaped_lines,
    find_lines_of_json,
    unescape_json_roughly,
    unescape_roughly,
)
from openprogram.providers.recording.redaction.text_fields import FIELDS
from openprogram.providers.recording.redaction.text_pairs import PAIRS
from openprogram.providers.recording.redaction.text_phrases import PHRASES
from openprogram.providers.recording.redaction.text_rules import TextViews
from openprogram.providers.recording.redaction.text_urls import URLS

if TYPE_CHECKING:
    from collections.abc import Iterable

RULES = (FIELDS, PAIRS, PHRASES, COMMANDS, URLS, KNOWN_SHAPES, PRIVATE_KEYS)
"""Every rule; each part of a text is judged by all of them."""

LONGEST_TRIGGER = 16
"""Characters of the longest match of `TRIGGER`."""

_COMMONEST_FIRST = "etaoinshrdlucmfygpbvwkxqjz"
_MOST_NESTED_TEXTS = 12
"""How deep JSON may be nested in strings of JSON before it is judged without a gate."""
_CONTINUED_LINE = re.compile(rb"\\\r?\n")


def _trigger_pattern(triggers: Iterable[str]) -> re.Pattern[str]:
    """Join patterns so that each is looked for from its rarest character."""
    by_rarest: dict[str, list[str]] = {}
    for trigger in sorted(set(triggers)):
        characters = re.findall(r"\\.|\[[^\]]*\]|.", trigger, re.DOTALL)
        at = max(range(len(characters)), key=lambda at: _rarity(characters[at]))
        beginning, rest = "".join(characters[: at + 1]), "".join(characters[at + 1 :])
        by_rarest.setdefault(characters[at], []).append(f"(?<={beginning}){rest}")
    return re.compile("|".join(f"{one}(?:{'|'.join(ways)})" for one, ways in by_rarest.items()))


def _rarity(character: str) -> int:
    """Rank a character: classes of them first, then letters by their frequency, then signs."""
    if character[0] == "[":
        return -1
    is_letter = character in _COMMONEST_FIRST
    return _COMMONEST_FIRST.index(character) if is_letter else len(_COMMONEST_FIRST)


TRIGGER = _trigger_pattern(
    (
        *(trigger for rule in RULES for trigger in rule.triggers),
        *ESCAPE_TRIGGERS,
        "\\\\\n",
        "\\\\\r\n",
    )
)
"""Every secret begins at a match of this in the lowered text, or behind one in its part."""


def find_candidates(text: str) -> list[int]:
    """Find the places that may belong to a secret; none means that there is no secret.

    Every candidate stands on the line that the part of its secret begins with.

    Args:
        text: Any text that is not JSON as a whole.

    Returns:
        Offsets in rising order.
    """
    views = TextViews(text)
    found = _find_candidates(views, 0)
    if b"\\" in views.raw:
        found += _find_json_lines(views)
    found.sort()
    return found


def might_be_secret_json(text: str) -> bool:
    """Say whether a JSON text could hold a secret, in its strings and in the JSON in them.

    Args:
        text: A text that is JSON, or begins as JSON does.
    """
    for _ in range(_MOST_NESTED_TEXTS):
        text, escaped = unescape_json_roughly(text), text
        if _find_candidates(TextViews(text), 0):
            return True
        if "\\" not in text or text == escaped:
            return False
    return True


def _find_candidates(views: TextViews, layer: int) -> list[int]:
    found = [place for rule in RULES for place in rule.find_candidates(views)]
    if b"\\" in views.raw:
        found += [match.start() for match in _CONTINUED_LINE.finditer(views.raw)]
    if layer < MOST_LAYERS:
        found += _find_escaped_candidates(views, layer)
    return found


def _find_json_lines(views: TextViews) -> list[int]:
    """Find the lines with JSON in them that has a candidate behind its escapes."""
    return [
        start
        for start in find_lines_of_json(views.raw)
        if might_be_secret_json(views.text[start : views.raw.find(b"\n", start) + 1 or None])
    ]


def _find_escaped_candidates(views: TextViews, layer: int) -> list[int]:
    raw = views.raw
    starts = find_escaped_lines(raw)
    if not starts:
        return []
    ends = (raw.find(b"\n", start) + 1 or len(raw) for start in starts)
    decoded = unescape_roughly(b"".join(map(raw.__getitem__, map(slice, starts, ends))))
    found: list[int] = []
    line = done = 0
    for place in sorted(_find_candidates(TextViews(decoded.decode("latin-1")), layer + 1)):
        line += decoded.count(b"\n", done, place)
        done = place
        found.append(starts[line])
    return found
