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
from openprogram_recordings_tui.presentation.lines import EMPTY_LINE, FixedLines, Line, Span, spread
from openprogram_recordings_tui.presentation.marks import OUTCOME_MARKS
from openprogram_recordings_tui.widgets.bars import Bar
from openprogram_recordings_tui.widgets.virtual_lines import VirtualLines

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

_CAPS_CELLS = 12


class HelpScreen(ModalScreen[None]):
    """The keys of the screen beneath, and what the marks mean."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_of(HELP_KEYS))

    def __init__(self, screen_name: str) -> None:
        super().__init__()
        self._screen_name = screen_name

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        with Vertical(id="help"):
            yield Bar(self._title)
            yield VirtualLines(FixedLines(help_lines(self._screen_name)), has_cursor=False)

    def _title(self, width: int) -> Line:
        name = Span(f"Keys · {self._screen_name}", "title")
        return spread((name,), (Span("esc", "key_cap"), Span(" closes ", "dim")), width)

    def on_mount(self) -> None:
        """Let the keys scroll."""
        self.query_one(VirtualLines).focus()

    def action_close(self) -> None:
        """Close the help."""
        self.dismiss(None)


def help_lines(screen_name: str) -> list[Line]:
    """Write the help of a screen.

    Args:
        screen_name: A key of `KEY_GROUPS`.

    Returns:
        Its lines.
    """
    lines: list[Line] = []
    for group in (*KEY_GROUPS[screen_name], KeyGroup("Everywhere", APP_KEYS)):
        lines += [EMPTY_LINE, (Span(group.title.upper(), "heading"),)]
        for key in group.keys:
            caps = Span(f"{key.caps:<{_CAPS_CELLS}}", "key_cap")
            lines.append((Span("  "), caps, Span(key.help)))
    lines += [EMPTY_LINE, (Span("MARKS", "heading"),)]
    for mark in OUTCOME_MARKS.values():
        lines.append((Span("  "), Span(f"{mark.sign:<{_CAPS_CELLS}}", mark.role), Span(mark.word)))
    example = Span("\x1b \u202e", "text")
    lines.append((Span("  "), example, Span("  characters that would act on the terminal")))
    lines += [EMPTY_LINE, (Span("Hold shift or option to select text with the mouse.", "dim"),)]
    return lines
