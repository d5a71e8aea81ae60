"""A mismatch: the recorded request and the incoming one, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Container, Vertical

from openprogram.errors import OpenProgramError
from openprogram.providers.management import resolve_selector
from openprogram_recordings_tui.bindings import MISMATCH_KEYS, bindings_of
from openprogram_recordings_tui.messages import NoticeRaised, RecordingOpened
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.changed_texts import value_lines
from openprogram_recordings_tui.presentation.differences import SideLines, difference_rows
from openprogram_recordings_tui.presentation.lines import FixedLines, Line, Span, spread
from openprogram_recordings_tui.presentation.mismatches import (
    next_step_lines,
    recording_name,
)
from openprogram_recordings_tui.screens.base import BaseScreen
from openprogram_recordings_tui.widgets.bars import Bar, TextBlock
from openprogram_recordings_tui.widgets.virtual_lines import VirtualLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from openprogram.providers.comparison import Difference
    from openprogram.providers.management import RecordReplayStatus
    from openprogram.providers.mismatches import MismatchReport
    from openprogram_recordings_tui.presentation.changed_texts import Side
    from openprogram_recordings_tui.presentation.differences import DifferenceRow

BESIDE_FROM_WIDTH = 100
"""From this width on, the sides stand beside each other; else one above the other."""
SIDES_FROM_HEIGHT = 20
"""From this height on there is room for both requests; below it, for the values that differ."""
ADVICE_FROM_HEIGHT = 14
"""From this height on there is room for what to do next."""


class MismatchScreen(BaseScreen):
    """Walk the differences of a mismatch report."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_of(MISMATCH_KEYS))
    help_name = "mismatch"
    keys = MISMATCH_KEYS

    def __init__(
        self,
        report: MismatchReport,
        differences: Sequence[Difference],
        status: RecordReplayStatus | None,
        *,
        is_read_only: bool,
    ) -> None:
        super().__init__(status, is_read_only=is_read_only)
        self._report = report
        self._differences = differences
        self._shows_equal = False
        self._current = 0
        self._rows: Sequence[DifferenceRow] = ()
        self._recorded = VirtualLines(id="recorded")
        self._incoming = VirtualLines(id="incoming")
        self._recorded.link(self._incoming)
        self._path = Bar(self._path_line, id="path")
        self._value = VirtualLines(id="value", has_cursor=False)
        self._value.can_focus = False
        self._next_step = TextBlock(self._next_step_lines, id="next-step")

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self.title_bar
        yield self._path
        with Container(id="sides"):
            with Vertical(classes="side"):
                yield Bar(self._recorded_heading, classes="side-heading")
                yield self._recorded
            with Vertical(classes="side"):
                yield Bar(self._incoming_heading, classes="side-heading")
                yield self._incoming
        yield self._value
        yield self._next_step
        yield self.hint_bar

    def on_mount(self) -> None:
        """Begin at the field that the report names."""
        self._show_rows()
        self._recorded.focus()
        named = [i for i, d in enumerate(self._differences) if d.path == self._report.field_path]
        self.call_after_refresh(self._go_to, named[0] if named else 0)

    def on_resize(self, event: events.Resize) -> None:
        """Beside each other, or one above the other."""
        self.set_class(event.size.width < BESIDE_FROM_WIDTH, "narrow")
        self.set_class(event.size.height < SIDES_FROM_HEIGHT, "low")
        self.set_class(event.size.height < ADVICE_FROM_HEIGHT, "short")
        self.call_after_refresh(self._show_value)

    def trail(self) -> Sequence[str]:
        """Name the recording and the call."""
        name = recording_name(self._report.recording)
        return ("mismatch", name, f"call {self._report.call_index}")

    def position(self) -> str:
        """Say which difference of how many."""
        if not self._differences:
            return "no difference left"
        return f"difference {self._current + 1} of {len(self._differences)}"

    @on(VirtualLines.Moved, "#recorded")
    @on(VirtualLines.Moved, "#incoming")
    def moved(self, message: VirtualLines.Moved) -> None:
        """Follow the cursor: on a difference, that one is the current."""
        if message.index < len(self._rows):
            number = self._rows[message.index].difference_index
            if number is not None:
                self._current = number
        self._refresh_words()

    def action_difference(self, step: int) -> None:
        """Go to the next difference, or the one before; past the last comes the first."""
        if self._differences:
            self._go_to((self._current + step) % len(self._differences))

    def action_fold(self) -> None:
        """Show what is equal, or fold it."""
        self._shows_equal = not self._shows_equal
        self._show_rows()
        self._go_to(self._current)

    def action_open_call(self) -> None:
        """Ask to look at the recorded call."""
        try:
            path = resolve_selector(str(self._report.recording)).path
        except OpenProgramError as error:
            self.post_message(NoticeRaised("The recording cannot be opened", str(error)))
            return
        self.post_message(
            RecordingOpened(path, call_index=self._report.call_index, field=self._current_path())
        )

    def _show_rows(self) -> None:
        self._rows = difference_rows(
            self._report.recorded_request,
            self._report.incoming_request,
            self._differences,
            include_equal=self._shows_equal,
        )
        self._recorded.show(SideLines(self._rows, "recorded"))
        self._incoming.show(SideLines(self._rows, "incoming"))

    def _go_to(self, number: int) -> None:
        self._current = number
        places = [i for i, row in enumerate(self._rows) if row.difference_index == number]
        if places:
            self._recorded.move_to(places[0], is_jump=True)
        self._refresh_words()

    def _refresh_words(self) -> None:
        self._path.refresh()
        self._next_step.refresh(layout=True)
        self.hint_bar.refresh()
        self._show_value()

    def _show_value(self) -> None:
        """Write both values of the current difference in full, as far as there is room."""
        if not self._differences:
            return
        difference = self._differences[self._current]
        width = max(self._value.scrollable_content_region.width, 20)
        each = max(self._value.scrollable_content_region.height // 2, 2)
        one, other = difference.recorded, difference.incoming
        lines = value_lines(one, other, "recorded", width, each)
        lines += value_lines(other, one, "incoming", width, each)
        self._value.show(FixedLines(lines))

    def _current_path(self) -> str:
        if self._differences:
            return self._differences[self._current].path
        return self._report.field_path

    def _path_line(self, width: int) -> Line:
        place = self._rows[self._recorded.cursor].path if self._rows else self._report.field_path
        is_named = place == self._report.field_path
        marks: Line = (Span("◀ replay stopped here ", "bad"),) if is_named else ()
        count = figures.plural(len(self._differences), "difference")
        if self.has_class("low"):
            # The path comes first; how many differ stands in the bottom line too.
            return (Span(" ≠ ", "bad"), Span(place, "strong"))
        return spread(
            (Span(" ≠ ", "bad"), Span(place, "strong"), Span("  "), *marks),
            (Span(f"{count} ", "dim"),),
            width,
        )

    def _recorded_heading(self, _: int) -> Line:
        return self._side_heading("RECORDED", "recorded", recording_name(self._report.recording))

    def _incoming_heading(self, _: int) -> Line:
        return self._side_heading("INCOMING", "incoming", "the run that was replayed")

    @staticmethod
    def _side_heading(word: str, side: Side, what: str) -> Line:
        return (Span("▌ ", side), Span(word, side), Span(f"  {what}", "dim"))

    def _next_step_lines(self, width: int) -> Sequence[Line]:
        return next_step_lines(self._current_path(), self._report.ignore, width)
