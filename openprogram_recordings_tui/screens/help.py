"""The help: made from the table of keys, so it cannot be out of date."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.screen import ModalScreen

from openprogram_recordings_tui.bindings import (
    APP_KEYS,
    HELP_KEYS,
    KEY_GROUPS,
    KeyGroup,
    bindings_of,
)
from openprogram_recordings_tui.cells import wrap
from openprogram_recordings_tui.presentation.lines import (
    EMPTY_LINE,
    FixedLines,
    Line,
    Span,
    cells_of,
    spread,
)
from openprogram_recordings_tui.presentation.marks import OUTCOME_MARKS
from openprogram_recordings_tui.widgets.bars import Bar
from openprogram_recordings_tui.widgets.virtual_lines import VirtualLines

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

_CAPS_CELLS = 12
_INDENT_CELLS = 2
_LEAST_WORD_CELLS = 10
_ENTRY_LINES = 9


class HelpScreen(ModalScreen[None]):
    """The keys of the screen beneath, and what the marks mean."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_of(HELP_KEYS))

    def __init__(self, screen_name: str, *, is_read_only: bool) -> None:
        super().__init__()
        self._screen_name = screen_name
        self._is_read_only = is_read_only

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        with Vertical(id="help"):
            yield Bar(self._title)
            yield VirtualLines(has_cursor=False)

    def _title(self, width: int) -> Line:
        name = Span(f"Keys · {self._screen_name}", "title")
        return spread((name,), (Span("esc", "key_cap"), Span(" closes ", "dim")), width)

    def on_mount(self) -> None:
        """Let the keys scroll."""
        self.query_one(VirtualLines).focus()

    def on_resize(self) -> None:
        """Wrap the words to the width there is, once that is known."""
        self.call_after_refresh(self._show_lines)

    def _show_lines(self) -> None:
        lines = self.query_one(VirtualLines)
        width = lines.scrollable_content_region.width
        shown = help_lines(self._screen_name, width, is_read_only=self._is_read_only)
        lines.show(FixedLines(shown), cursor=lines.cursor)

    def action_close(self) -> None:
        """Close the help."""
        self.dismiss(None)


def help_lines(screen_name: str, width: int, *, is_read_only: bool = False) -> list[Line]:
    """Write the help of a screen.

    Args:
        screen_name: A key of `KEY_GROUPS`.
        width: In cells.
        is_read_only: Whether keys that write are gone.

    Returns:
        Its lines.
    """
    lines: list[Line] = []
    for group in (*KEY_GROUPS[screen_name], KeyGroup("Everywhere", APP_KEYS)):
        lines += [EMPTY_LINE, (Span(group.title.upper(), "heading"),)]
        for key in group.keys:
            if key.writes and is_read_only:
                continue
            lines += _entry(Span(f"{key.caps:<{_CAPS_CELLS}}", "key_cap"), key.help, width)
    lines += [EMPTY_LINE, (Span("MARKS", "heading"),)]
    for mark in OUTCOME_MARKS.values():
        lines += _entry(Span(f"{mark.sign:<{_CAPS_CELLS}}", mark.role), mark.word, width)
    example = Span("\x1b \u202e  ", "text")
    lines += _entry(example, "characters that would act on the terminal", width)
    selecting = wrap(
        "Hold shift or option to select text with the mouse.",
        max(width, 1),
        limit_lines=_ENTRY_LINES,
    )
    lines += [EMPTY_LINE, *((Span(text, "dim"),) for text in selecting)]
    return lines


def _entry(head: Span, words: str, width: int) -> list[Line]:
    """Write words behind what they explain, and below them what does not fit."""
    indent = _INDENT_CELLS + cells_of((head,))
    first, *rest = wrap(words, max(width - indent, _LEAST_WORD_CELLS), limit_lines=_ENTRY_LINES)
    blank = Span(" " * indent)
    return [(Span(" " * _INDENT_CELLS), head, Span(first)), *((blank, Span(each)) for each in rest)]
