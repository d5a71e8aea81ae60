"""Lays out text in terminal cells; pure."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from openprogram.errors import ascii_if_unprintable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

_GAP = "  "
_KILOBYTE = 1000
_GIVE_WAY = ((0, 36), (-1, 16), (0, 25))
"""Which column is narrowed to how many cells; an ID made from the time has 25."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table."""

    title: str
    """Its head, in capitals."""
    align: Literal["left", "right"] = "left"
    """Numbers stand on the right."""


def cell_width(text: str) -> int:
    """Count the terminal cells that printable text takes.

    Args:
        text: Printable text, one line.

    Returns:
        Cells: two for a wide character, none for a combining mark.

    Example:
        >>> cell_width("日本"), cell_width("e\u0301")
        (4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def fit(text: str, cells: int) -> str:
    """Cut text to a width, and say so with an ellipsis.

    Args:
        text: Printable text, one line.
        cells: The most cells it may take, at least 1.

    Returns:
        The text, or its beginning and an ellipsis.

    Example:
        >>> fit("a long reason", 7)
        'a long…'
    """
    if cell_width(text) <= cells:
        return text
    used = 0
    for index, character in enumerate(text):
        used += cell_width(character)
        if used > cells - 1:
            return text[:index].rstrip() + "…"
    return text


def layout_table(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], *, width: int | None = None
) -> list[str]:
    """Align a table; the head is its first line.

    Args:
        columns: The columns, left to right.
        rows: One text per column; whatever a terminal could act on is escaped.
        width: Cells per line, for which the first and the last column give way. None for as wide
            as it gets.

    Returns:
        The lines, without trailing blanks.

    Example:
        >>> layout_table([Column(title="ID"), Column(title="N", align="right")], [["a", "12"]])
        ['ID   N', 'a   12']
    """
    table = [[column.title for column in columns]]
    table += [[ascii_if_unprintable(cell) for cell in row] for row in rows]
    widths = [max(cell_width(row[i]) for row in table) for i in range(len(columns))]
    if width is not None:
        _narrow(widths, width)
    lines: list[str] = []
    for row in table:
        cells: list[str] = []
        for column, text, cells_wide in zip(columns, row, widths, strict=True):
            cell = fit(text, cells_wide)
            padding = " " * (cells_wide - cell_width(cell))
            cells.append(padding + cell if column.align == "right" else cell + padding)
        line = _GAP.join(cells).rstrip()
        lines.append(line if width is None else fit(line, width))
    return lines


def _narrow(widths: list[int], width: int) -> None:
    """Take from a wide first column, then from the last one, what a line has too much."""
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    for index, least in _GIVE_WAY:
        taken = max(0, min(excess, widths[index] - least))
        widths[index] -= taken
        excess -= taken


def layout_fields(fields: Sequence[tuple[str, str]]) -> list[str]:
    """Align names and values, one pair a line.

    Args:
        fields: Names in our words; values from anywhere.

    Returns:
        The lines.

    Example:
        >>> layout_fields([("Mode", "off"), ("Recording", "none")])
        ['Mode       off', 'Recording  none']
    """
    widest = max((cell_width(name) for name, _ in fields), default=0)
    return [f"{name:<{widest}}{_GAP}{ascii_if_unprintable(value)}" for name, value in fields]


def format_bytes(size_bytes: int) -> str:
    """Write a size in the unit that people would choose.

    Args:
        size_bytes: In bytes.

    Returns:
        At most one decimal, in powers of a thousand.

    Example:
        >>> format_bytes(999), format_bytes(12_345), format_bytes(7_000_000_000)
        ('999 B', '12.3 kB', '7.0 GB')
    """
    size = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if round(size, 1) < _KILOBYTE:
            return f"{size_bytes} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= _KILOBYTE
    return f"{size:,.1f} TB"


def format_instant(instant_at: datetime) -> str:
    """Write an instant to the minute, in UTC.

    Args:
        instant_at: An aware instant in UTC.

    Returns:
        Such as `2026-08-11 13:45Z`.
    """
    return f"{instant_at:%Y-%m-%d %H:%M}Z"


def format_cost(cost_usd: float | None) -> str:
    """Write what a call cost.

    Args:
        cost_usd: In USD; None when the price is unknown, which is not zero.

    Returns:
        Dollars to a hundredth of a cent, or a dash.

    Example:
        >>> format_cost(0.01234), format_cost(None)
        ('$0.0123', '-')
    """
    return "-" if cost_usd is None else f"${cost_usd:,.4f}"


def count_of(count: int, noun: str) -> str:
    """Say how many, with the right ending.

    Args:
        count: How many.
        noun: The singular, of the kind that takes an s.

    Returns:
        Such as `1 call` or `1,200 calls`.

    Example:
        >>> count_of(1, "call"), count_of(1200, "call")
        ('1 call', '1,200 calls')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
