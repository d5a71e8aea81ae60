"""What every dialog shares: a box that says no at once, and takes no yes that could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input

from openprogram_recordings_tui.bindings import DIALOG_KEYS, bindings_of
from openprogram_recordings_tui.cells import wrap
from openprogram_recordings_tui.presentation.lines import EMPTY_LINE, Line, Span, cells_of
from openprogram_recordings_tui.widgets.bars import Bar, TextBlock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

_PARAGRAPH_LINES = 40
_ROOMY_FROM_HEIGHT = 18
"""From this height on, in lines, there is room for margins, and for what is good to know."""
_FRAME_LINES = 2
_FRAME_CELLS = 6
_SHARE_OF_SCREEN = 0.96
"""How much of a screen a box with a frame takes; the style says the same."""
_WIDEST_BOX_CELLS = 70
_BARE_CELLS = 2
"""What the edges take of a box that fills the screen; the style says the same."""
_LEAST_COLUMNS = 32
"""Both buttons stand beside each other in this."""
_SHAPES = ("low", "bare", "tiny")


class Dialog(ModalScreen[str | None]):
    """A box over the screen; it returns the text that was agreed to, or None for no."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_of(DIALOG_KEYS))

    title_text: str = ""
    """What the box is about."""

    asks: tuple[Span, ...] = ()
    """What can be asked for above the field while agreeing is possible."""

    def __init__(self) -> None:
        super().__init__()
        self._ask = self.asks[0] if self.asks else None

    def body(self) -> Sequence[Span]:
        """Say what happens and what stays, a paragraph each; `dim` is only good to know."""
        return ()

    def ask_for(self, ask: Span) -> None:
        """Say above the field what it wants, or what is wrong with what stands in it.

        Args:
            ask: The words; raw.
        """
        self._ask = ask
        self.query_one("#words", TextBlock).refresh(layout=True)
        # What is asked, the field and the buttons are at the end of a box that scrolls.
        self.call_after_refresh(self.query_one("#dialog").scroll_end, animate=False)

    def field(self) -> Input | None:
        """Give the field to fill in, where there is one."""
        return None

    def agree_button(self) -> Button | None:
        """Give the button that agrees; None when there is nothing to agree to."""
        return None

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        with Vertical(id="dialog"):
            yield TextBlock(self._words, id="words")
            field = self.field()
            if field is not None:
                yield field
            with Horizontal(id="buttons"):
                yield Bar(self._hint, id="dialog-hint")
                agree = self.agree_button()
                yield Button("Close" if agree is None else "Cancel", id="cancel")
                if agree is not None:
                    yield agree

    def _words(self, width: int) -> Sequence[Line]:
        if self.has_class("tiny"):
            columns, rows = self._needed_size(self.size.width)
            words = f"terminal too small: {columns} x {rows} needed"
            return _wrapped((Span(words, "bad"),), width)
        asked = () if self._ask is None else (self._ask,)
        title: Line = (Span(self.title_text, "title"),)
        if self.has_class("low"):
            return [title, *_wrapped((*self._essentials(), *asked), width)]
        return [title, EMPTY_LINE, *_wrapped((*self.body(), *asked), width)]

    def _essentials(self) -> Sequence[Span]:
        """Leave out of the body what is only good to know."""
        return [span for span in self.body() if span.text and span.role != "dim"]

    def _line_count(self, width: int) -> int:
        """Count the lines that must be seen at once before anyone can agree."""
        asked = max((len(_wrapped((ask,), width)) for ask in self.asks), default=0)
        field = 1 if self.asks else 0
        title_and_buttons = 2
        return title_and_buttons + len(_wrapped(self._essentials(), width)) + asked + field

    def _needed_size(self, columns: int) -> tuple[int, int]:
        """Say how many columns and rows are needed; no more columns than there are, if those do."""
        columns = max(columns, _LEAST_COLUMNS)
        return columns, self._line_count(columns - _BARE_CELLS)

    def _fits_framed(self, columns: int, rows: int) -> bool:
        width = min(int(columns * _SHARE_OF_SCREEN), _WIDEST_BOX_CELLS) - _FRAME_CELLS
        is_wide = width >= _LEAST_COLUMNS - _BARE_CELLS
        lines_needed = self._line_count(max(width, 1)) + _FRAME_LINES
        return is_wide and lines_needed <= int(rows * _SHARE_OF_SCREEN)

    def _fits_bare(self, columns: int, rows: int) -> bool:
        needed_columns, needed_rows = self._needed_size(columns)
        return needed_columns <= columns and needed_rows <= rows

    def agree(self, text: str) -> None:
        """Close it with what was agreed to; where that could not be read nothing happens.

        Args:
            text: What to return.
        """
        if not self.has_class("tiny"):
            self.dismiss(text)

    def _hint(self, width: int) -> Line:
        closing = (Span("esc", "key_cap"), Span(" means no", "dim"))
        whole = (Span("tab", "key_cap"), Span(" goes round  ", "dim"), *closing)
        if self.agree_button() is None or cells_of(closing) > width:
            return EMPTY_LINE
        return whole if cells_of(whole) <= width else closing

    def on_mount(self) -> None:
        """Begin on the safe side, and at the beginning of what is said."""
        self.query_one("#cancel", Button).focus(scroll_visible=False)

    def on_resize(self, event: events.Resize) -> None:
        """Do without margins, then without a frame, and at last without agreeing."""
        columns, rows = event.size
        is_low = rows < _ROOMY_FROM_HEIGHT
        is_bare = not self._fits_framed(columns, rows)
        is_tiny = is_bare and self.agree_button() is not None and not self._fits_bare(columns, rows)
        for name, is_on in zip(_SHAPES, (is_low or is_bare, is_bare, is_tiny), strict=True):
            self.set_class(is_on, name)
        if is_tiny:
            self.query_one("#cancel", Button).focus()
        self.query_one("#words", TextBlock).refresh(layout=True)

    def on_key(self, event: events.Key) -> None:
        """Take what is typed into the field, wherever the focus is."""
        fields = self.query(Input)
        takes_text = bool(fields) and not self.has_class("tiny")
        if event.is_printable and event.character and takes_text and not fields.first().has_focus:
            fields.first().focus()
            fields.first().insert_text_at_cursor(event.character)
            event.stop()

    def action_scroll(self, step: int) -> None:
        """Show more of what does not fit."""
        self.query_one("#dialog").scroll_relative(y=step, animate=False, immediate=True)

    def action_cancel(self) -> None:
        """Close it; nothing happens."""
        self.dismiss(None)

    @on(Button.Pressed, "#cancel")
    def cancelled(self) -> None:
        """Close it; nothing happens."""
        self.dismiss(None)


def _wrapped(spans: Sequence[Span], width: int) -> list[Line]:
    lines: list[Line] = []
    for span in spans:
        wrapped = wrap(span.text, max(width, 1), limit_lines=_PARAGRAPH_LINES)
        lines += [(Span(text, span.role),) for text in wrapped]
    return lines
