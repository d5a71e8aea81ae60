"""Puts a replay mismatch into lines that a person can read; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram.cli._tables import cell_width, fit
from openprogram.errors import ascii_if_unprintable, quoted

if TYPE_CHECKING:
    from openprogram.errors import ReplayMismatch

_LINE_CELLS = 78
_BEFORE_CHARACTERS = 24
_AFTER_CHARACTERS = 40
_LABELS = ("  recorded  ", "  incoming  ")


def explain_mismatch(error: ReplayMismatch) -> list[str]:
    """Say where a run differs from its recording, and what to do next.

    Args:
        error: The mismatch.

    Returns:
        Lines of printable text. The first names call and field, and both values where they are
        short; longer ones follow on lines of their own, cut to where they begin to differ. The
        hints come last.
    """
    head, *hints = (ascii_if_unprintable(line) for line in str(error).split("\n"))
    if cell_width(head) <= _LINE_CELLS * 2:
        return [head, *hints]
    place, field, _ = head.partition(f"field {ascii_if_unprintable(error.field_path)}:")
    named = fit(place + field, _LINE_CELLS * 4)
    return [named, *compare_values(error.recorded, error.incoming), *hints]


def compare_values(
    recorded: object, incoming: object, labels: tuple[str, str] = _LABELS
) -> list[str]:
    """Show two values below each other, texts cut to where they begin to differ.

    Args:
        recorded: One value.
        incoming: The other.
        labels: What stands before each; of one width.

    Returns:
        Two lines of printable text, and for texts one that points at the place.
    """
    if not (isinstance(recorded, str) and isinstance(incoming, str)):
        return [
            fit(label + quoted(value, limit=_LINE_CELLS), _LINE_CELLS)
            for label, value in zip(labels, (recorded, incoming), strict=True)
        ]
    index = _first_difference(recorded, incoming)
    line_number = recorded.count("\n", 0, index) + 1
    line_start = recorded.rfind("\n", 0, index) + 1
    start = max(line_start, index - _BEFORE_CHARACTERS)
    cut = "…" if start > line_start else ""
    shown = recorded[start:index]
    before = ascii_if_unprintable(shown.lstrip() if cut else shown)
    lines = [
        label + cut + before + _rest_of_line(value, index)
        for label, value in zip(labels, (recorded, incoming), strict=True)
    ]
    blanks = " " * cell_width(labels[0] + cut + before)
    return [*lines, f"{blanks}^ line {line_number}, column {index - line_start + 1}"]


def _first_difference(one: str, other: str) -> int:
    for index, (here, there) in enumerate(zip(one, other, strict=False)):
        if here != there:
            return index
    return min(len(one), len(other))


def _rest_of_line(text: str, index: int) -> str:
    """Show what stands from a place to the end of its line; the end itself where that differs."""
    end = text.find("\n", index)
    if end == index:
        return "\\n"
    rest = text[index : len(text) if end < 0 else end]
    if len(rest) > _AFTER_CHARACTERS:
        return ascii_if_unprintable(rest[:_AFTER_CHARACTERS]) + "…"
    return ascii_if_unprintable(rest) or "(ends here)"
