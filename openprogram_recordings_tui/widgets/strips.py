"""Lines become strips: the one place where text meets the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from openprogram_recordings_tui.cells import crop, cut
from openprogram_recordings_tui.text import pieces

if TYPE_CHECKING:
    from rich.style import Style

    from openprogram_recordings_tui.presentation.lines import Line
    from openprogram_recordings_tui.widgets.palette import Palette


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
        A strip of `width` cells.
    """
    segments: list[Segment] = []
    room = width
    for span in line:
        if room <= 0:
            break
        style = base + palette.styles[span.role]
        mark = base + palette.styles["mark"]
        for piece, is_mark in pieces(cut(span.text, room)):
            shown = crop(piece, room)
            if not shown:
                room = 0
                break
            segments.append(Segment(shown, mark if is_mark else style))
            room -= cell_len(shown)
            if room <= 0:
                break
    used = sum(cell_len(segment.text) for segment in segments)
    if used < width:
        segments.append(Segment(" " * (width - used), base))
    if over is not None:
        segments = [Segment(s.text, _overlaid(s.style, over, base)) for s in segments]
    return Strip(segments, width)


def _overlaid(style: Style | None, over: Style, base: Style) -> Style:
    """Lay a style over another, but keep a field that a span brought itself."""
    if style is None:
        return base + over
    return style + over if style.bgcolor == base.bgcolor else style
