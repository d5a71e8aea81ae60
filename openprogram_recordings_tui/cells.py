"""Text measured in the cells of a terminal: cut, fit, cropped, padded, wrapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from openprogram_recordings_tui.text import TAB_CELLS, clean, clusters

if TYPE_CHECKING:
    from collections.abc import Iterator

ELLIPSIS = "…"
"""Stands for what is left out at the end of a line."""

_CHARACTERS_PER_CELL = 10


def cut(text: str, cells: int) -> str:
    """Bound a text by the width it is shown in, before anything walks over it.

    Args:
        text: Any text, of any length.
        cells: The width it will be shown in.

    Returns:
        At most a small multiple of `cells` characters; at least as many as fit.

    Example:
        >>> len(cut("x" * 1_000_000, 80))
        800
    """
    limit = _longest(cells)
    return text if len(text) <= limit else text[:limit]


def fit(text: str, cells: int) -> str:
    """Shorten a text to a width, with an ellipsis where something is left out.

    The text stays raw, but for its tabs: what draws it cleans it. Width is judged as it will be
    after cleaning.

    Args:
        text: Any text, of any length.
        cells: The most cells it may take.

    Returns:
        Its longest beginning of at most `cells` cells, whole clusters only.

    Example:
        >>> fit("recording", 6)
        'recor…'
        >>> fit("日本語", 4)
        '日…'
    """
    if cells <= 0:
        return ""
    if text.isascii() and text[: cells + 1].isprintable():
        return text if len(text) <= cells else text[: cells - 1] + ELLIPSIS
    bounded = cut(text, cells + 1)
    kept: list[str] = []
    used = kept_count = 0
    for piece, _, width in measured(bounded):
        used += width
        if used > cells:
            return "".join(kept[:kept_count]) + ELLIPSIS
        kept.append(piece)
        if used < cells:
            kept_count = len(kept)
    return "".join(kept) if len(bounded) == len(text) else "".join(kept[:kept_count]) + ELLIPSIS


def fit_middle(text: str, cells: int) -> str:
    """Shorten a text to a width, with an ellipsis in its middle where something is left out.

    Args:
        text: Any text, of any length.
        cells: The most cells it may take.

    Returns:
        Its beginning and its end, whole clusters only; raw as from `fit`.

    Example:
        >>> fit_middle("20261130T091412Z-5be7a1c9", 11)
        '20261…7a1c9'
        >>> fit_middle("日本語", 4)
        '日…'
    """
    shown = fit(text, cells)
    if not shown.endswith(ELLIPSIS) or shown == text:
        return shown
    tail: list[str] = []
    room = (cells - 1) // 2
    for piece, _, width in reversed(list(measured(text[-_longest(cells) :]))):
        if width > room:
            break
        tail.insert(0, piece)
        room -= width
    end = "".join(tail)
    whole = fit(text, cells - width_of(end)) + end
    # A tail that was torn out of a cluster may be wider than it was in it.
    return whole if width_of(whole) <= cells else shown


def width_of(text: str) -> int:
    r"""Measure a text as it will be drawn.

    Args:
        text: Any text, already cut to about a screen.

    Returns:
        How many cells it takes once it is clean.

    Example:
        >>> width_of("a\x1b"), width_of("日\u200b")
        (2, 10)
    """
    return len(text) if text.isascii() and text.isprintable() else cell_len(clean(text))


def crop(cleaned: str, cells: int) -> str:
    """Keep what fits of a cleaned text, whole clusters only.

    Args:
        cleaned: Text that passed `clean`.
        cells: The most cells it may take.

    Returns:
        Its longest beginning that is no wider.

    Example:
        >>> crop("日本", 3)
        '日'
    """
    if cells <= 0:
        return ""
    if cleaned.isascii():
        return cleaned[:cells]
    length, room = 0, cells
    for raw, shown, _ in clusters(cleaned):
        width = cell_len(shown)
        if width > room:
            return cleaned[: length + room] if raw.isascii() else cleaned[:length]
        length += len(raw)
        room -= width
    return cleaned


def pad(text: str, cells: int, *, align: str = "left") -> str:
    """Fill a text with spaces up to a width.

    Args:
        text: Any text that is no wider than `cells`, such as one that was made to fit.
        cells: The width.
        align: `left` or `right`.

    Returns:
        Text of exactly `cells` cells once it is clean.

    Example:
        >>> pad("7", 3, align="right")
        '  7'
    """
    fill = " " * (cells - width_of(text))
    return fill + text if align == "right" else text + fill


def wrap(text: str, cells: int, *, limit_lines: int) -> list[str]:
    r"""Break a text into lines no wider than a screen, at spaces where there are some.

    The text stays raw, but for its tabs: what draws the lines cleans them. Width is judged as it
    will be after cleaning.

    Args:
        text: Any text; line feeds begin a new line.
        cells: The most cells a line may take, at least 1.
        limit_lines: The most lines that are made.

    Returns:
        The lines, without their line feeds; one more than `limit_lines` at most, so that a caller
        can see that there was more. A cluster wider than `cells` has a line of its own.

    Example:
        >>> wrap("one two three\nfour", 8, limit_lines=9)
        ['one two', 'three', 'four']
    """
    lines: list[str] = []
    place = 0
    while len(lines) <= limit_lines:
        feed = text.find("\n", place)
        end = len(text) if feed < 0 else feed
        for line in _wrapped(text, place, end, cells):
            lines.append(line)
            if len(lines) > limit_lines:
                return lines
        if feed < 0:
            break
        place = feed + 1
    return lines


def _wrapped(text: str, start: int, end: int, cells: int) -> Iterator[str]:
    """Break what stands between two places of a text."""
    place = start
    while True:
        if text.isascii() and end - place <= cells and text[place:end].isprintable():
            yield text[place:end]
            return
        line, place = _first_line(text, place, end, cells)
        yield line.rstrip(" ") or line
        if place >= end:
            return


def _first_line(text: str, start: int, end: int, cells: int) -> tuple[str, int]:
    """Take the longest beginning that fits, up to a space if one is near; at least a cluster."""
    shown: list[str] = []
    used = taken = 0
    at_space = (0, 0)
    for piece, length, width in measured(text[start : min(end, start + _longest(cells))]):
        if used + width > cells and shown:
            break
        shown.append(piece)
        used += width
        taken += length
        if piece.isspace():
            at_space = (len(shown), taken)
    place = start + taken
    if place >= end:
        return "".join(shown), end
    if text[place] not in " \t" and at_space[1] > taken // 3:
        shown, place = shown[: at_space[0]], start + at_space[1]
    while place < end and text[place] == " ":
        place += 1
    return "".join(shown), place


def measured(text: str) -> Iterator[tuple[str, int, int]]:
    r"""Give what must stay together, with tabs as spaces.

    Args:
        text: Any text, already cut to what is shown.

    Yields:
        A piece as it is to be drawn, raw; how many characters of `text` it stands for; and how
        many cells it will take.

    Example:
        >>> list(measured("a\x1b"))
        [('a', 1, 1), ('\x1b', 1, 1)]
    """
    column = 0
    for raw, shown, is_mark in clusters(text):
        if raw == "\t":
            width = TAB_CELLS - column % TAB_CELLS
            yield " " * width, 1, width
        elif raw.isascii() and not is_mark:
            width = len(raw)
            for character in raw:
                yield character, 1, 1
        else:
            width = cell_len(shown)
            yield raw, len(raw), width
        column += width


def _longest(cells: int) -> int:
    return cells * _CHARACTERS_PER_CELL
