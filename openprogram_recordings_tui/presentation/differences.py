"""Two requests side by side: one tree, of which only the branches that differ are open."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from openprogram.providers.comparison import MISSING, join_path
from openprogram_recordings_tui.cells import measured, width_of
from openprogram_recordings_tui.presentation.lines import Line, LineSource, Role, Span
from openprogram_recordings_tui.presentation.trees import scalar_text, value_spans, what_is_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from openprogram.providers.comparison import Difference

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
_FIELD: dict[Side, Role] = {"recorded": "lit_recorded", "incoming": "lit_incoming"}
_WORD: dict[Side, Role] = {"recorded": "lit_word_recorded", "incoming": "lit_word_incoming"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRow:
    """One line of both sides."""

    path: str
    """Where it stands, as comparison writes it."""
    key: str
    """The last step of the path."""
    depth: int
    """How far in, from 0."""
    recorded: Json
    """The recorded value; `MISSING` when there is none."""
    incoming: Json
    """The incoming value; `MISSING` when there is none."""
    is_open: bool
    """Whether its children follow."""
    difference_index: int | None
    """Which difference it is, from 0; None for what is equal or only leads to one."""


def difference_rows(
    recorded: Mapping[str, Json],
    incoming: Mapping[str, Json],
    differences: Sequence[Difference],
    *,
    include_equal: bool = False,
) -> list[DifferenceRow]:
    """Walk two requests together.

    Args:
        recorded: The recorded request.
        incoming: The incoming request.
        differences: What comparison found, with their paths.
        include_equal: Open what is equal, too.

    Returns:
        The rows from top to bottom; what is equal is one folded row each.
    """
    walk = _Walk(differences, include_equal=include_equal)
    return list(walk.children("", recorded, incoming, 0))


class _Walk:
    def __init__(self, differences: Sequence[Difference], *, include_equal: bool) -> None:
        self._numbers = {d.path: i for i, d in enumerate(differences)}
        self._sorted = sorted(self._numbers)
        self._include_equal = include_equal

    def children(
        self, path: str, recorded: Json, incoming: Json, depth: int
    ) -> Iterator[DifferenceRow]:
        for step in _steps(recorded, incoming):
            key = step if isinstance(step, str) else f"[{step}]"
            one, other = _child(recorded, step), _child(incoming, step)
            yield from self._node(join_path(path, step), key, one, other, depth)

    def _node(
        self, path: str, key: str, recorded: Json, incoming: Json, depth: int
    ) -> Iterator[DifferenceRow]:
        number = self._numbers.get(path)
        opens = number is None and _are_branches(recorded, incoming)
        opens = opens and (self._include_equal or self._leads_to_difference(path))
        yield DifferenceRow(
            path=path,
            key=key,
            depth=depth,
            recorded=recorded,
            incoming=incoming,
            is_open=opens,
            difference_index=number,
        )
        if opens:
            yield from self.children(path, recorded, incoming, depth + 1)

    def _leads_to_difference(self, path: str) -> bool:
        for separator in (".", "["):
            place = bisect_left(self._sorted, path + separator)
            if place < len(self._sorted) and self._sorted[place].startswith(path + separator):
                return True
        return False


def _are_branches(recorded: Json, incoming: Json) -> bool:
    """Say whether two values can be walked together; one may be absent and count as its default."""
    there = [value for value in (recorded, incoming) if value is not MISSING]
    for kind in (dict, list):
        if all(isinstance(value, kind) for value in there):
            return any(there)
    return False


def _steps(recorded: Json, incoming: Json) -> Iterator[str | int]:
    if isinstance(recorded, list) or isinstance(incoming, list):
        yield from range(max(_length(recorded), _length(incoming)))
        return
    yield from dict.fromkeys((*_keys(recorded), *_keys(incoming)))


def _keys(value: Json) -> Iterator[str]:
    return iter(()) if value is MISSING else iter(value)


def _length(value: Json) -> int:
    return 0 if value is MISSING else len(value)


def _child(value: Json, step: str | int) -> Json:
    if value is MISSING:
        return MISSING
    try:
        return value[step]
    except (KeyError, IndexError):
        return MISSING


class SideLines(LineSource):
    """One side of a comparison, a source of lines; both sides have the same rows."""

    def __init__(self, rows: Sequence[DifferenceRow], side: Side) -> None:
        self._rows = rows
        self._side: Side = side

    @property
    def line_count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def line(self, index: int, width: int) -> Line:
        """Draw this side of a row.

        Args:
            index: From 0.
            width: In cells.

        Returns:
            Its line, lit when it differs.
        """
        return side_line(self._rows[index], self._side, width)


def side_line(row: DifferenceRow, side: Side, width: int) -> Line:
    """Draw one side of a row.

    Args:
        row: The row.
        side: Which side.
        width: In cells.

    Returns:
        The line; a difference has a bar at its left and a field of its own.
    """
    own, other = (
        (row.recorded, row.incoming) if side == "recorded" else (row.incoming, row.recorded)
    )
    indent = "  " * row.depth
    if row.difference_index is None:
        arrow = "▾ " if row.is_open else ("▸ " if isinstance(own, dict | list) and own else "  ")
        key_role: Role = "dim" if row.key.startswith("[") else "key"
        head = (Span("  " + indent + arrow, "faint"), Span(row.key, key_role), Span("  "))
        if row.is_open and own is not MISSING:
            return (*head, Span(what_is_in(own), "faint"))
        same = f"{what_is_in(own)}, equal" if isinstance(own, dict | list) and own else ""
        return (*head, Span(same, "faint")) if same else (*head, *_equal(own))
    lit = _FIELD[side]
    head = (Span("▌ ", side), Span(indent + "  ", lit), Span(row.key + "  ", lit))
    filler = Span(" " * width, lit)
    return (*head, *_lit_value(own, other, side, width - 6 - len(indent) - len(row.key)), filler)


def _equal(value: Json) -> Line:
    if value is MISSING:
        return (Span("not there", "faint"),)
    return tuple(Span(s.text, "dim") for s in value_spans(value))


def _lit_value(own: Json, other: Json, side: Side, width: int) -> Line:
    word = _WORD[side]
    if own is MISSING:
        return (Span("not there", word),)
    if isinstance(own, str) and isinstance(other, str):
        spans = _window(changed_spans(own, other, side), max(width, 16))
        return (Span('"', _FIELD[side]), *spans, Span('"', _FIELD[side]))
    return (Span(short_text(own), word),)


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


def _window(spans: Sequence[Span], width: int) -> Line:
    """Bring the first change into view: what stands far before it becomes an ellipsis."""
    kept: list[Span] = []
    for number, span in enumerate(spans):
        is_head = number == 0 and len(spans) > 1 and span.role.startswith("lit_")
        if is_head and "word" not in span.role and len(span.text) > width // 2:
            tail = min(_CONTEXT_CHARACTERS, width // 3)
            kept.append(Span("…" + span.text[-tail:], span.role))
        else:
            kept.append(span)
    return tuple(kept)


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
        Span(text, (_WORD if is_changed else _FIELD)[side])
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
        spans = list(_window(changed_spans(own, other, side), width * max(limit_lines - 1, 1)))
    else:
        spans = [Span(short_text(own), _WORD[side])]
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
