"""The one gate between text from outside and the terminal.

Whatever a file, a name, a model or a path holds is cut to about a viewport, passes `clean` or
`pieces`, and only then becomes a `Strip` or a `Content`. Nothing is dropped: an auditor must see
what is there, so what a terminal could act on is replaced by a visible mark at least one cell wide.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterator

TAB_CELLS = 4
"""How far apart tab stops are, in cells."""

NEWLINE_MARK = "⏎"
"""How a line feed looks in a cell that has one line."""

_ZERO_WIDTH_JOINER = 0x200D
_EMOJI_PRESENTATION = 0xFE0F
_KEYCAP = 0x20E3
_LONGEST_COMBINING_RUN = 4
_MARKED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})
_COMBINING_CATEGORIES = frozenset({"Mn", "Me"})
_INVISIBLE = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0})
"""Letters and marks by category that draw nothing: fillers and joiners."""

_EMOJI_RANGES = (
    (0x00A9, 0x00A9),
    (0x00AE, 0x00AE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2190, 0x21FF),
    (0x2300, 0x23FF),
    (0x24C2, 0x24C2),
    (0x25A0, 0x25FF),
    (0x2600, 0x27BF),
    (0x2900, 0x297F),
    (0x2B00, 0x2BFF),
    (0x3030, 0x303D),
    (0x3297, 0x3299),
    (0x1F000, 0x1FAFF),
)


def clean(text: str, *, tab_cells: int = TAB_CELLS) -> str:
    r"""Make one line of any text visible and harmless.

    Args:
        text: Any text, already cut to what is shown; lone surrogates are welcome.
        tab_cells: The distance of tab stops, in cells.

    Returns:
        Text of the same meaning to a reader, in which no character acts on a terminal, hides
        another or has no width of its own.

    Example:
        >>> clean("a\x1b[2Jb\u202ec\n")
        'a␛[2Jb<U+202E>c⏎'
        >>> clean("a\tb")
        'a   b'
        >>> clean("\x9b31m")
        '<9B>31m'
    """
    return "".join(piece for piece, _ in pieces(text, tab_cells=tab_cells))


def pieces(text: str, *, tab_cells: int = TAB_CELLS) -> Iterator[tuple[str, bool]]:
    r"""Clean a text and say which parts are marks, so that they can be told from the real thing.

    Args:
        text: Any text, already cut to what is shown.
        tab_cells: The distance of tab stops, in cells.

    Yields:
        Cleaned pieces in order, each with True where it is a mark for something else.

    Example:
        >>> list(pieces("ok\x07"))
        [('ok', False), ('␇', True)]
    """
    if text.isascii() and text.isprintable():
        if text:
            yield text, False
        return
    plain: list[str] = []
    column = 0
    combining_count = 0
    for position, character in enumerate(text):
        if character == "\t":
            run = "".join(plain)
            column += cell_len(run)
            width = tab_cells - column % tab_cells
            column += width
            if run:
                yield run, False
            plain = []
            yield " " * width, False
            combining_count = 0
            continue
        mark = _mark_of(character)
        if mark == _JOINED:
            mark = None if _is_inside_emoji(text, position) else f"<U+{ord(character):04X}>"
        elif mark == _COMBINING:
            combining_count += 1
            too_many = combining_count > _LONGEST_COMBINING_RUN or not plain
            mark = f"<U+{ord(character):04X}>" if too_many else None
        else:
            combining_count = 0
        if mark is None:
            plain.append(character)
            continue
        if plain:
            run = "".join(plain)
            column += cell_len(run)
            yield run, False
            plain = []
        column += len(mark)
        yield mark, True
    if plain:
        yield "".join(plain), False


_JOINED = "\x00joined"
_COMBINING = "\x00combining"


@lru_cache(maxsize=8192)
def _mark_of(character: str) -> str | None:
    """Give the visible mark of a character; None for one that may stay as it is."""
    code = ord(character)
    if code in (_ZERO_WIDTH_JOINER, _EMOJI_PRESENTATION):
        return _JOINED
    if code == 0x0A:
        return NEWLINE_MARK
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0x80 <= code < 0xA0:
        return f"<{code:02X}>"
    category = unicodedata.category(character)
    if category in _MARKED_CATEGORIES or code in _INVISIBLE or _is_variation_selector(code):
        return f"<U+{code:04X}>"
    if code == _KEYCAP:
        return None
    if category in _COMBINING_CATEGORIES:
        return _COMBINING
    return None if cell_len(character) else f"<U+{code:04X}>"


def _is_variation_selector(code: int) -> bool:
    return 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F


def _is_inside_emoji(text: str, position: int) -> bool:
    """Say whether a joiner or an emoji selector stands where an emoji needs it."""
    before = ord(text[position - 1]) if position else 0
    after = ord(text[position + 1]) if position + 1 < len(text) else 0
    if ord(text[position]) == _EMOJI_PRESENTATION:
        return _is_emoji(before) or (after == _KEYCAP and chr(before) in "0123456789#*")
    return (before == _EMOJI_PRESENTATION or _is_emoji(before)) and _is_emoji(after)


def _is_emoji(code: int) -> bool:
    return any(first <= code <= last for first, last in _EMOJI_RANGES)


_ELLIPSIS = "…"
_CHARACTERS_PER_CELL = 6


def cut(text: str, cells: int) -> str:
    """Bound a text by the width it is shown in, before anything walks over it.

    Args:
        text: Any text, of any length.
        cells: The width it will be shown in.

    Returns:
        At most a small multiple of `cells` characters.

    Example:
        >>> len(cut("x" * 1_000_000, 80))
        480
    """
    limit = cells * _CHARACTERS_PER_CELL
    return text if len(text) <= limit else text[:limit]


def fit(text: str, cells: int) -> str:
    """Clean a text and shorten it to a width, with an ellipsis where something is left out.

    Args:
        text: Any text.
        cells: The most cells it may take.

    Returns:
        Cleaned text of at most `cells` cells.

    Example:
        >>> fit("recording", 6)
        'recor…'
        >>> fit("日本語", 4)
        '日…'
    """
    if cells <= 0:
        return ""
    cleaned = clean(cut(text, cells + 1))
    if cell_len(cleaned) <= cells:
        return cleaned
    return crop(cleaned, cells - 1) + _ELLIPSIS


def crop(cleaned: str, cells: int) -> str:
    """Keep what fits of a cleaned text, whole clusters only.

    Args:
        cleaned: Text that passed `clean`.
        cells: The most cells it may take.

    Returns:
        Its longest beginning that is no wider.
    """
    if cleaned.isascii():
        return cleaned[: max(cells, 0)]
    low, high = 0, len(cleaned)
    while low < high:
        middle = (low + high + 1) // 2
        if cell_len(cleaned[:middle]) <= cells:
            low = middle
        else:
            high = middle - 1
    return cleaned[:low].rstrip("\u200d")


def pad(cleaned: str, cells: int, *, align: str = "left") -> str:
    """Fill a cleaned text with spaces up to a width.

    Args:
        cleaned: Text that passed `clean` and is no wider than `cells`.
        cells: The width.
        align: `left` or `right`.

    Returns:
        Text of exactly `cells` cells.
    """
    fill = " " * (cells - cell_len(cleaned))
    return fill + cleaned if align == "right" else cleaned + fill


def wrap(text: str, cells: int, *, limit_lines: int) -> list[str]:
    r"""Break a text into lines no wider than a screen, at spaces where there are some.

    The text stays raw: what draws the lines cleans them. Width is judged after cleaning.

    Args:
        text: Any text; line feeds begin a new line.
        cells: The most cells a line may take, at least 1.
        limit_lines: The most lines that are made.

    Returns:
        The lines, without their line feeds; one more than `limit_lines` at most, so that a caller
        can see that there was more.

    Example:
        >>> wrap("one two three\nfour", 8, limit_lines=9)
        ['one two', 'three', 'four']
    """
    lines: list[str] = []
    for paragraph in text.split("\n", limit_lines + 1):
        rest = paragraph.split("\n", 1)[0].expandtabs(TAB_CELLS)
        while len(lines) <= limit_lines:
            head, rest = _break_line(rest, cells)
            lines.append(head)
            if not rest:
                break
        if len(lines) > limit_lines:
            break
    return lines[: limit_lines + 1]


def _break_line(text: str, cells: int) -> tuple[str, str]:
    """Split off the longest beginning that fits; at least one character."""
    window = text[: cells + 1]
    if len(window) <= cells and (window.isascii() or cell_len(clean(window)) <= cells):
        if window.isprintable() or cell_len(clean(window)) <= cells:
            return text, ""
    size = min(len(text), cells)
    while size > 1 and cell_len(clean(text[:size])) > cells:
        size -= 1
    size = max(size, 1)
    if size < len(text) and text[size] != " ":
        space = text.rfind(" ", 1, size)
        if space > size // 3:
            size = space
    return text[:size].rstrip(" ") or text[:size], text[size:].lstrip(" ")
