"""Lines of styled spans: what every part of the UI hands to the widget that draws.

A span says what it means (a role), not how it looks; the palette of the theme decides that. Spans
hold raw text: the drawing widget cuts and cleans it, so that there is one place to get it right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from openprogram_recordings_tui.cells import ELLIPSIS, cut, fit, pad, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

Role: TypeAlias = Literal[
    "text",
    "strong",
    "dim",
    "faint",
    "accent",
    "title",
    "heading",
    "good",
    "warning",
    "bad",
    "info",
    "user",
    "assistant",
    "thinking",
    "tool",
    "key",
    "string",
    "number",
    "redacted",
    "recorded",
    "incoming",
    "lit_recorded",
    "lit_incoming",
    "lit_word_recorded",
    "lit_word_incoming",
    "badge_off",
    "badge_record",
    "badge_replay",
    "badge_blocked",
    "tab",
    "tab_on",
    "key_cap",
    "mark",
]
"""What a span means; `mark` is given by the drawing widget to what stands for something else."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line."""

    text: str
    """Raw text; it may come from anywhere."""
    role: Role = "text"
    """What it means."""


Line: TypeAlias = tuple[Span, ...]
"""One line of the screen."""

EMPTY_LINE: Line = ()


class LineSource(Protocol):
    """What a virtual list shows: a count, and any line of it at any width.

    Only lines on the screen are asked for, so a source reads and formats lazily.
    """

    @property
    def line_count(self) -> int:
        """How many lines there are now."""
        ...

    def line(self, index: int, width: int) -> Line:
        """Give one line.

        Args:
            index: From 0.
            width: Of the screen, in cells.

        Returns:
            The spans; what does not fit is cropped by the widget.
        """
        ...

    def reflow(self, width: int) -> None:
        """Take notice of a width, before lines are asked for at it.

        Args:
            width: Of the screen, in cells; sources that do not wrap text need not care.
        """


class FixedLines(LineSource):
    """A source of lines that are there already."""

    def __init__(self, lines: Sequence[Line] = ()) -> None:
        self._lines = lines

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def line(self, index: int, width: int) -> Line:  # noqa: ARG002 - the protocol's signature
        """Give one line.

        Args:
            index: From 0.
            width: Not used: the lines are made.

        Returns:
            The line.
        """
        return self._lines[index]


@dataclass(frozen=True, slots=True)
class Cell:
    """The content of one column in one row."""

    text: str
    """Raw text."""
    role: Role = "text"
    """What it means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table."""

    title: str
    """The word above it."""
    width: int
    """In cells; 0 takes what the others leave."""
    least: int = 10
    """In cells: what a column of width 0 wants at least."""
    most: int = 10_000
    """In cells: what such a column takes at most; what is left stays empty."""
    align: Literal["left", "right"] = "left"
    """Where its content stands."""
    worth: int = 0
    """Columns of the highest number go first when the screen is narrow; 0 always stays."""


_GAP = "  "


def choose_columns(columns: Sequence[Column], width: int) -> list[tuple[int, int]]:
    """Decide which columns fit, and how wide each is.

    Args:
        columns: All columns, in order; one may be flexible.
        width: Of the screen, in cells.

    Returns:
        Position and width of each column that is shown.

    Example:
        >>> a, b = Column(title="A", width=0), Column(title="B", width=8, worth=1)
        >>> choose_columns([a, b], 30)
        [(0, 20), (1, 8)]
        >>> choose_columns([a, b], 12)
        [(0, 12)]
    """
    chosen = list(range(len(columns)))
    while True:
        fixed = sum(columns[i].width for i in chosen) + len(_GAP) * (len(chosen) - 1)
        flexible = [i for i in chosen if columns[i].width == 0]
        needed = fixed + sum(columns[i].least for i in flexible)
        least = max(chosen, key=lambda i: columns[i].worth)
        if needed <= width or columns[least].worth == 0:
            break
        chosen.remove(least)
    return [(i, columns[i].width or _flexible(columns[i], width - fixed)) for i in chosen]


def _flexible(column: Column, rest: int) -> int:
    return min(max(rest, column.least), column.most)


def table_line(columns: Sequence[Column], cells: Sequence[Cell], width: int) -> Line:
    """Lay cells out in the columns that fit.

    Args:
        columns: All columns.
        cells: One for each column.
        width: Of the screen, in cells.

    Returns:
        The line, one span a column.
    """
    spans: list[Span] = []
    for place, (i, cells_wide) in enumerate(choose_columns(columns, width)):
        if place:
            spans.append(Span(_GAP))
        shown = fit(cells[i].text, cells_wide)
        spans.append(Span(pad(shown, cells_wide, align=columns[i].align), cells[i].role))
    return tuple(spans)


def heading_line(columns: Sequence[Column], width: int) -> Line:
    """Lay the titles of the columns out.

    Args:
        columns: All columns.
        width: Of the screen, in cells.

    Returns:
        The line above a table.
    """
    return table_line(columns, [Cell(c.title, "heading") for c in columns], width)


def spread(left: Line, right: Line, width: int) -> Line:
    """Put one group of spans at the left edge and one at the right; the left one yields.

    Args:
        left: Spans from the left edge.
        right: Spans up to the right edge.
        width: Of the screen, in cells.

    Returns:
        A line of exactly `width` cells, or the right group alone when nothing else fits.
    """
    right = shorten(right, width)
    room = width - cells_of(right)
    shown = shorten(left, max(room - 1, 0))
    return (*shown, Span(" " * (room - cells_of(shown))), *right)


def cells_of(line: Line) -> int:
    """Measure a line.

    Args:
        line: Its spans, bounded in length.

    Returns:
        Its width in cells.
    """
    return sum(width_of(span.text) for span in line)


def shorten(line: Line, width: int) -> Line:
    """Crop a line to a width, with an ellipsis where it is cut.

    Args:
        line: Its spans; of any length.
        width: The most cells.

    Returns:
        Spans of at most that width.
    """
    bounded = tuple(Span(cut(span.text, width + 1), span.role) for span in line)
    room = width
    if cells_of(bounded) <= room:
        return bounded
    kept: list[Span] = []
    for span in bounded:
        cells = width_of(span.text)
        if cells >= room:
            kept.append(Span(fit(f"{span.text}{ELLIPSIS}{ELLIPSIS}", room), span.role))
            break
        kept.append(span)
        room -= cells
    return tuple(kept)
