"""The one gate between text from outside and the terminal.

Whatever a file, a name, a model or a path holds is cut to about a viewport, passes `clean` or
`pieces`, and only then becomes a `Strip` or a `Content`. Nothing is dropped: an auditor must see
what is there, so what a terminal could act on is replaced by a visible mark at least one cell wide.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterator

TAB_CELLS = 4
"""How far apart tab stops are, in cells."""

NEWLINE_MARK = "⏎"
"""How a line feed looks in a cell that has one line."""

_JOINER = "\u200d"
_EMOJI_SELECTOR = "\ufe0f"
_KEYCAP = "\u20e3"
_KEYCAP_BASES = frozenset("0123456789#*")
_SKIN_TONES = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_MOST_COMBINING = 4
"""How many combining marks one character may carry; more would climb over other lines."""
_MOST_JOINS = 3
"""The longest sequences in use join four emoji; a longer one has no width terminals agree on."""

_EXTENDING = ""
"""Stands, where a mark is expected, for what may only follow another character."""
_PLAIN_RUN = re.compile(r"[ -~]+")
_MARKED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})
_COMBINING_CATEGORIES = frozenset({"Mn", "Mc", "Me"})
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks by category that draw nothing: fillers and joiners."""
_VARIATION_SELECTORS = ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
_FLAG_LETTERS = ((0x1F1E6, 0x1F1FF),)
_EMOJI = (
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

_LAST_C0 = 0x1F
_DELETE = 0x7F
_LAST_C1 = 0x9F
_CONTROL_PICTURES = 0x2400


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
    run: list[str] = []
    column = 0
    for raw, shown, is_mark in clusters(text):
        if raw == "\t":
            blank = " " * (tab_cells - column % tab_cells)
            run.append(blank)
            column += len(blank)
            continue
        column += cell_len(shown)
        if not is_mark:
            run.append(shown)
            continue
        if run:
            yield "".join(run), False
            run = []
        yield shown, True
    if run:
        yield "".join(run), False


def clusters(text: str) -> Iterator[tuple[str, str, bool]]:
    r"""Split a text into what must not be torn apart, and say how each part is shown.

    Args:
        text: Any text.

    Yields:
        The part as it stands in `text`, the part as it is shown, and whether that is a mark. Plain
        ASCII comes in runs that may be torn anywhere: each character is one cell. A tab is given
        as it is: its width depends on where it stands.

    Example:
        >>> list(clusters("two\u200b"))
        [('tw', 'tw', False), ('o', 'o', False), ('\u200b', '<U+200B>', True)]
    """
    place, end = 0, len(text)
    while place < end:
        plain = _PLAIN_RUN.match(text, place)
        if plain is not None:
            # The last character may carry what follows it.
            after = plain.end() if plain.end() == end else plain.end() - 1
            if after > place:
                yield text[place:after], text[place:after], False
                place = after
                continue
        character = text[place]
        mark = _mark_of(character)
        if mark == _EXTENDING:
            mark = _code_point(character)
        if mark is not None:
            yield character, mark, True
            place += 1
            continue
        after = _cluster_end(text, place)
        yield text[place:after], text[place:after], False
        place = after


@lru_cache(maxsize=8192)
def _mark_of(character: str) -> str | None:
    """Give the mark of a character, `_EXTENDING`, or None for one that may stay as it is."""
    if character == "\t":
        return None
    code = ord(character)
    if code <= _LAST_C1:
        return _mark_of_control(code)
    category = unicodedata.category(character)
    if character in (_JOINER, _EMOJI_SELECTOR) or character in _SKIN_TONES:
        return _EXTENDING
    if (
        category in _MARKED_CATEGORIES
        or character in _INVISIBLE
        or _is_in(code, _VARIATION_SELECTORS)
    ):
        return _code_point(character)
    if category in _COMBINING_CATEGORIES:
        return _EXTENDING
    return None if cell_len(character) else _code_point(character)


def _mark_of_control(code: int) -> str | None:
    if code == ord("\n"):
        return NEWLINE_MARK
    if code <= _LAST_C0:
        return chr(_CONTROL_PICTURES + code)
    if code < _DELETE:
        return None
    return "␡" if code == _DELETE else f"<{code:02X}>"


def _code_point(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def _cluster_end(text: str, start: int) -> int:
    """Find the end of a character and of all that it carries."""
    if text[start] == "\t":
        return start + 1
    end = start + 1
    if _is_in(ord(text[start]), _FLAG_LETTERS) and _is_in(_code_at(text, end), _FLAG_LETTERS):
        end += 1
    combining_count = join_count = 0
    while end < len(text) and _mark_of(text[end]) == _EXTENDING:
        character = text[end]
        if character == _JOINER:
            if join_count == _MOST_JOINS or not _joins_emoji(text, end):
                break
            join_count += 1
            end += 2
        elif character == _EMOJI_SELECTOR or character in _SKIN_TONES:
            if not _changes_emoji(text, end):
                break
            end += 1
        elif combining_count == _MOST_COMBINING:
            break
        else:
            combining_count += 1
            end += 1
    return end


def _joins_emoji(text: str, place: int) -> bool:
    before, after = text[place - 1], _code_at(text, place + 1)
    is_emoji = before == _EMOJI_SELECTOR or _is_in(ord(before), _EMOJI)
    return is_emoji and _is_in(after, _EMOJI) and _mark_of(chr(after)) is None


def _changes_emoji(text: str, place: int) -> bool:
    """Say whether an emoji selector or a skin tone stands behind something it can change."""
    before = text[place - 1]
    if text[place] == _EMOJI_SELECTOR and before in _KEYCAP_BASES:
        return text[place + 1 : place + 2] == _KEYCAP
    return _is_in(ord(before), _EMOJI) and before not in _SKIN_TONES


def _code_at(text: str, place: int) -> int:
    return ord(text[place]) if place < len(text) else 0


def _is_in(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    place = bisect_right(ranges, code, key=_first_of) - 1
    return place >= 0 and code <= ranges[place][1]


def _first_of(bounds: tuple[int, int]) -> int:
    return bounds[0]
