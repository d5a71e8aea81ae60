"""Two requests side by side: one tree, of which only the branches that differ are open."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from openprogram.providers.comparison import MISSING, join_path
from openprogram_recordings_tui.presentation.changed_texts import (
    FIELD_ROLES,
    WORD_ROLES,
    Json,
    Side,
    changed_spans,
    short_text,
    window,
)
from openprogram_recordings_tui.presentation.lines import Line, LineSource, Role, Span
from openprogram_recordings_tui.presentation.trees import value_spans, what_is_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from openprogram.providers.comparison import Difference


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
    lit = FIELD_ROLES[side]
    head = (Span("▌ ", side), Span(indent + "  ", lit), Span(row.key + "  ", lit))
    filler = Span(" " * width, lit)
    return (*head, *_lit_value(own, other, side, width - 6 - len(indent) - len(row.key)), filler)


def _equal(value: Json) -> Line:
    if value is MISSING:
        return (Span("not there", "faint"),)
    return tuple(Span(s.text, "dim") for s in value_spans(value))


def _lit_value(own: Json, other: Json, side: Side, width: int) -> Line:
    word = WORD_ROLES[side]
    if own is MISSING:
        return (Span("not there", word),)
    if isinstance(own, str) and isinstance(other, str):
        spans = window(changed_spans(own, other, side), max(width, 16))
        return (Span('"', FIELD_ROLES[side]), *spans, Span('"', FIELD_ROLES[side]))
    return (Span(short_text(own), word),)
