"""Two texts that differ: cut to where they part, the changed words lit, written in full."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from openprogram.providers.comparison import MISSING
from openprogram_recordings_tui.cells import measured, width_of
from openprogram_recordings_tui.presentation.lines import Line, Role, Span
from openprogram_recordings_tui.presentation.trees import scalar_text, what_is_in

if TYPE_CHECKING:
    from collections.abc import Sequence

Json: TypeAlias = Any
"""Any JSON value, or `MISSING`."""
Side: TypeAlias = Literal["recorded", "incoming"]

_CONTEXT_CHARACTERS = 24
_LIST_CONTEXT_CHARACTERS = 9
_SHORT_CHARACTERS = 300
_COMPARED_CHARACTERS = 6000
_WORDS_COMPARED = 400
_ODD_SPACE = re.compile(r"[^\S \t\r\n\v\f\x1c-\x1f\x85\u2028\u2029]")
"""White space that looks like a space and is none; control characters have marks of their own."""
_WORD_CHARACTERS = re.compile(r"\w\w")
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
FIELD_ROLES: dict[Side, Role] = {"recorded": "lit_recorded", "incoming": "lit_incoming"}
WORD_ROLES: dict[Side, Role] = {"recorded": "lit_word_recorded", "incoming": "lit_word_incoming"}


def short_text(value: Json) -> str:
    """Write a value in a few words.

    Args:
        value: Any JSON value, or `MISSING`.

    Returns:
        Bounded raw text.
    """
    if value is MISSING:
        return "not there"
    if isinstance(value, dict | list) and value:
        return f"{'object' if isinstance(value, dict) else 'array'}, {what_is_in(value)}"
    if isinstance(value, str):
        return f'"{value[:_SHORT_CHARACTERS]}"'
    return scalar_text(value)


def parting_text(own: Json, other: Json) -> str:
    """Write a value in a few words, a text from where it parts from another.

    Args:
        own: Any JSON value, or `MISSING`.
        other: What it is compared with, likewise.

    Returns:
        Bounded raw text, with an ellipsis for what both begin with.

    Example:
        >>> parting_text("read the file a.txt", "read the file b.txt")
        '"…the file a.txt"'
    """
    if not (isinstance(own, str) and isinstance(other, str)):
        return short_text(own)
    shared = _shared_length(own, other)
    if shared <= _LIST_CONTEXT_CHARACTERS + 1:
        return short_text(own)
    start = shared - _LIST_CONTEXT_CHARACTERS
    return f'"…{own[start : start + _SHORT_CHARACTERS]}"'


def window(spans: Sequence[Span], width: int) -> Line:
    """Bring the first change into view: what stands far before it becomes an ellipsis.

    Args:
        spans: A text, as `changed_spans` gives it.
        width: How many cells there are for all of it.

    Returns:
        The spans, the first of them cut where it is long.
    """
    kept: list[Span] = []
    for number, span in enumerate(spans):
        is_head = number == 0 and len(spans) > 1 and span.role.startswith("lit_")
        if is_head and "word" not in span.role and len(span.text) > width // 2:
            tail = min(_CONTEXT_CHARACTERS, width // 3)
            kept.append(Span("…" + span.text[-tail:], span.role))
        else:
            kept.append(span)
    return tuple(kept)


def _without_early_lines(spans: list[Span], kept_feeds: int) -> list[Span]:
    """Leave out the lines long before the first change: they would take all the room."""
    head, *others = spans or [Span("")]
    if not others or "word" in head.role:
        return spans
    lines = head.text.rsplit("\n", kept_feeds + 1)
    if len(lines) <= kept_feeds + 1:
        return spans
    return [Span("…" + "\n".join(lines[1:]), head.role), *others]


def changed_spans(own: str, other: str, side: Side) -> list[Span]:
    """Light the words in which a text differs from another.

    Args:
        own: The text to draw.
        other: The text it is compared with.
        side: Whose colours.

    Returns:
        Spans that together are `own`, as far as it is shown; equal parts in the field's role,
        changed ones in the word's.
    """
    return [
        Span(text, (WORD_ROLES if is_changed else FIELD_ROLES)[side])
        for text, is_changed in _changes(own, other)
    ]


@lru_cache(maxsize=64)
def _changes(own: str, other: str) -> tuple[tuple[str, bool], ...]:
    """Split a text into what stands in another too and what does not; a move asks again."""
    start = _shared_length(own, other)
    while start and _is_inside_word(own, start) | _is_inside_word(other, start):
        start -= 1
    end = _shared_length(own[start:][::-1], other[start:][::-1])
    while end and _is_inside_word(own, len(own) - end) | _is_inside_word(other, len(other) - end):
        end -= 1
    parts = [
        (own[:start], False),
        *_changed_words(own[start : len(own) - end], other[start : len(other) - end]),
        (own[len(own) - end :], False),
    ]
    return tuple(part for part in parts if part[0])


def _is_inside_word(text: str, place: int) -> bool:
    return _WORD_CHARACTERS.fullmatch(text[place - 1 : place + 1]) is not None


def _changed_words(own: str, other: str) -> list[tuple[str, bool]]:
    if max(len(own), len(other)) > _COMPARED_CHARACTERS:
        return [(_visible_spaces(own[:_COMPARED_CHARACTERS]), True)]
    tokens, others = _TOKEN.findall(own), _TOKEN.findall(other)
    if max(len(tokens), len(others)) > _WORDS_COMPARED:
        return [(_visible_spaces(own), True)]
    parts: list[tuple[str, bool]] = []
    matcher = SequenceMatcher(None, tokens, others, autojunk=False)
    for tag, first, last, _, _ in matcher.get_opcodes():
        text = "".join(tokens[first:last])
        if text:
            parts.append((text, False) if tag == "equal" else (_visible_spaces(text), True))
    return parts


def _visible_spaces(text: str) -> str:
    """Show white space that is all of a change, and spaces that only look like one."""
    if not text.strip():
        text = text.replace(" ", "·")
    return _ODD_SPACE.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def _shared_length(one: str, other: str) -> int:
    """Measure the common beginning of two texts, by halves: slices compare at memory speed."""
    if one.startswith(other) or other.startswith(one):
        return min(len(one), len(other))
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def value_lines(own: Json, other: Json, side: Side, width: int, limit_lines: int) -> list[Line]:
    """Write one value of a difference in full, wrapped, with the changed words lit.

    Args:
        own: The value to draw.
        other: The value it is compared with.
        side: Whose colours.
        width: In cells.
        limit_lines: The most lines.

    Returns:
        The lines under a heading.
    """
    lines: list[Line] = [(Span("▌ ", side), Span(side.upper(), side))]
    if isinstance(own, str) and isinstance(other, str):
        shown_lines = max(limit_lines - 1, 1)
        spans = list(window(changed_spans(own, other, side), width * shown_lines))
        spans = _without_early_lines(spans, shown_lines // 3)
    else:
        spans = [Span(short_text(own), WORD_ROLES[side])]
    lines += wrap_spans(spans, Span("▌ ", side), width, limit_lines - 1)
    return lines


def wrap_spans(spans: Sequence[Span], bar: Span, width: int, limit_lines: int) -> list[Line]:
    """Break spans into lines at the width and at line feeds.

    Args:
        spans: Raw spans.
        bar: What stands at the left of every line.
        width: In cells, the bar included.
        limit_lines: The most lines.

    Returns:
        The lines.
    """
    lines: list[Line] = []
    current, run = [bar], list[str]()
    room = whole_room = width - width_of(bar.text)
    for span in spans:
        for piece, _, cells in measured(span.text[: width * (limit_lines + 1)]):
            is_feed = piece == "\n"
            if is_feed and room:
                run.append(piece)
            if is_feed or cells > room:
                lines.append((*current, Span("".join(run), span.role)))
                if len(lines) >= limit_lines:
                    return lines
                current, run, room = [bar], [], whole_room
            if not is_feed:
                run.append(piece)
                room -= cells
        current.append(Span("".join(run), span.role))
        run = []
    return [*lines, tuple(current)][:limit_lines]
