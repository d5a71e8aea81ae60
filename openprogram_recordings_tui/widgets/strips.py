"""Lines become strips: the one place where text meets the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from openprogram_recordings_tui.cells import ELLIPSIS, crop, cut
from openprogram_recordings_tui.text import pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openprogram_recordings_tui.presentation.lines import Line
    from openprogram_recordings_tui.widgets.palette import Palette

_CHARACTERS_SEEN = 200
"""How far past the edge is looked for something that is left out."""


def strip_of(
    line: Line, width: int, palette: Palette, base: Style, over: Style | None = None
) -> Strip:
    """Draw a line: cut, clean, colour, crop and fill it to exactly a width.

    Args:
        line: Spans of raw text.
        width: In cells.
        palette: How roles look.
        base: What lies beneath every span.
        over: Laid over the whole line, such as the cursor's field; None for nothing.

    Returns:
        A strip of `width` cells; an ellipsis is its last cell where something is left out.
    """
    if width <= 0:
        return Strip([], 0)
    segments: list[Segment] = []
    room = width
    for text, style in _styled_pieces(line, width, palette, base):
        shown = text if cell_len(text) <= room else crop(text, room)
        room -= cell_len(shown)
        if shown:
            segments.append(Segment(shown, style))
        if text[len(shown) :].strip():
            _end_with_ellipsis(segments, room, base + palette.styles["faint"])
            room = 0
            break
    if room > 0:
        segments.append(Segment(" " * room, base))
    if over is not None:
        segments = [Segment(s.text, _overlaid(s.style, over, base)) for s in segments]
    return Strip(segments, width)


def _styled_pieces(
    line: Line, width: int, palette: Palette, base: Style
) -> Iterator[tuple[str, Style]]:
    mark = base + palette.styles["mark"]
    for span in line:
        style = base + palette.styles[span.role]
        bounded = cut(span.text, width + 1)
        for piece, is_mark in pieces(bounded):
            yield piece, mark if is_mark else style
        if len(bounded) < len(span.text):
            yield span.text[len(bounded) : len(bounded) + _CHARACTERS_SEEN].strip()[:1], style


def _end_with_ellipsis(segments: list[Segment], room: int, style: Style) -> None:
    """Make the last cell of a full line an ellipsis; a wide character there becomes two cells."""
    while room < 1 and segments:
        last = segments.pop()
        kept = crop(last.text, cell_len(last.text) - 1)
        room += cell_len(last.text) - cell_len(kept)
        if kept:
            segments.append(Segment(kept, last.style))
    segments.append(Segment(" " * (room - 1) + ELLIPSIS, style))


def _overlaid(style: Style | None, over: Style, base: Style) -> Style:
    """Lay a style over another, but keep a field that a span brought itself."""
    if style is None:
        return base + over
    if style.reverse and over.reverse:
        # Two reversals look like none of them: the field stands out of the reversed line.
        return style + Style(reverse=False, underline=True)
    return style + over if style.bgcolor == base.bgcolor else style
