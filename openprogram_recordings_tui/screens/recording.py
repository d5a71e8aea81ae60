"""One recording: its calls, and the chosen one as conversation, request, events and raw rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Horizontal, Vertical

from openprogram.errors import OpenProgramError
from openprogram_recordings_tui.bindings import LIST_KEYS, RECORDING_KEYS, bindings_of
from openprogram_recordings_tui.messages import (
    FileChanged,
    NoticeRaised,
    ReadingFailed,
    RecordingInspected,
    RowsFound,
)
from openprogram_recordings_tui.presentation.blocks import ConversationLines
from openprogram_recordings_tui.presentation.chrome import (
    Tab,
    changed_banner,
    facts_line,
    fault_banner,
    unreadable_banner,
)
from openprogram_recordings_tui.presentation.lines import EMPTY_LINE, FixedLines, Line, Span
from openprogram_recordings_tui.presentation.rows import call_heading, event_heading
from openprogram_recordings_tui.presentation.trees import TreeLines
from openprogram_recordings_tui.screens.base import BaseScreen
from openprogram_recordings_tui.screens.recording_reading import RecordingReading
from openprogram_recordings_tui.sources.call_views import CallViews
from openprogram_recordings_tui.sources.lists import CallLines, EventLines, RawLines
from openprogram_recordings_tui.sources.open_recording import OpenRecording
from openprogram_recordings_tui.widgets.bars import Bar, TabBar
from openprogram_recordings_tui.widgets.virtual_lines import VirtualLines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.timer import Timer

    from openprogram.providers.management import RecordReplayStatus
    from openprogram.providers.row_index import FileChange

BOTH_PANES_FROM_WIDTH = 100
"""From this width on, the calls stand beside the chosen one."""
WIDE_FROM_WIDTH = 160
"""From this width on, the calls show more of themselves."""

_VIEWS = (
    Tab("conversation", "Conversation"),
    Tab("request", "Request"),
    Tab("events", "Events"),
    Tab("raw", "Raw"),
)
_SETTLING_SECONDS = 0.03
_LOOKING_SECONDS = 1.0
"""How often it is looked whether the file is still what was read."""


class RecordingScreen(BaseScreen):
    """Look into a recording, sound or not.

    Args:
        path: The recording.
        status: The mode for the next start.
        is_read_only: Whether keys that write are gone.
        call_index: The call to begin with.
        field: The path of a request field to begin with.

    Raises:
        RecordingFileError: The file cannot be opened.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_of(RECORDING_KEYS))
    help_name = "recording"
    keys = (LIST_KEYS[-1], *RECORDING_KEYS)

    def __init__(
        self,
        path: Path,
        status: RecordReplayStatus | None,
        *,
        is_read_only: bool,
        call_index: int | None = None,
        field: str = "",
    ) -> None:
        super().__init__(status, is_read_only=is_read_only)
        self._path = path
        self._recording = OpenRecording(path)
        self._reading = RecordingReading(0, self._recording, self.post_message)
        self._wanted_call = call_index
        self._wanted_field = field
        self._is_whole = False
        self._change: FileChange | None = None
        self._shown_call: int | None = None
        self._views: CallViews | None = None
        self._cursors: dict[str, int] = {}
        self._settling: Timer | None = None
        self._banner = Bar(id="banner")
        self._facts = Bar(self._facts_line, id="facts")
        self._calls = VirtualLines(CallLines(self._recording), id="calls")
        self._tabs = TabBar(_VIEWS, chosen="conversation", id="views")
        self._place = Bar(self._place_line, id="place")
        self._detail = VirtualLines(id="detail", has_cursor=False)

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self.title_bar
        yield self._banner
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield self._facts
                yield Bar(call_heading, id="heading")
                yield self._calls
            with Vertical(id="right"):
                yield self._tabs
                yield self._place
                yield self._detail
        yield self.hint_bar

    @property
    def is_busy(self) -> bool:
        """Whether something that was asked for is not on the screen yet."""
        return super().is_busy or self._shown_call != self._calls.cursor

    def on_mount(self) -> None:
        """Begin to read."""
        self._banner.display = False
        self._calls.focus()
        self._read()
        self.set_interval(_LOOKING_SECONDS, self.look_for_change)

    def on_unmount(self) -> None:
        """Let go of the file."""
        super().on_unmount()
        self._recording.close()

    def on_resize(self, event: events.Resize) -> None:
        """One pane or two."""
        self.set_class(event.size.width < BOTH_PANES_FROM_WIDTH, "narrow")
        self.set_class(event.size.width >= WIDE_FROM_WIDTH, "wide")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to go to the faulty row, or to another call, only where there is one."""
        is_idle = {
            "fault": self._recording.faulty_row() is None,
            "call": self._recording.call_count < 2,  # noqa: PLR2004 - another than the one shown
        }
        return not is_idle.get(action, False) and super().check_action(action, parameters)

    def trail(self) -> Sequence[str]:
        """Name the recording."""
        return (self._path.name.removesuffix(".jsonl"),)

    def position(self) -> str:
        """Say where we are in the list that has the focus."""
        lines = self._detail if self._detail.has_focus else self._calls
        if not lines.source.line_count or not lines.has_cursor:
            return ""
        return f"{lines.cursor + 1:,} of {lines.source.line_count:,}"

    def reload(self) -> None:
        """Read the file again; when it is gone, what was read stays."""
        try:
            recording = OpenRecording(self._path)
        except (OSError, OpenProgramError) as error:
            # Whatever became of it is said by this; looking again has nothing to add.
            self._change = self._recording.index.find_change()
            self._show_banner(unreadable_banner(str(error)))
            self._facts.refresh()
            return
        self._wanted_call = self._calls.cursor if self._shown_call is not None else None
        self._wanted_field = ""
        self._cursors[self._tabs.chosen] = self._detail.cursor
        self._shown_call = None
        self._is_whole = False
        self._change = None
        self._banner.display = False
        before, self._recording = self._recording, recording
        self._calls.show(CallLines(recording), cursor=self._calls.cursor)
        before.close()
        self._read()

    def look_for_change(self) -> None:
        """Look, in a thread, whether the file is still what was read."""
        reading, known = self._reading, self._change
        self.background.start("change", lambda _: reading.look(known))

    @on(FileChanged)
    def file_changed(self, message: FileChanged) -> None:
        """Say so: what the strict reader found holds no longer, or again."""
        if message.reading != self._reading.number:
            return
        self._change = message.change
        if message.change is None:
            self._show_fault()
        else:
            self._show_banner(changed_banner(message.change))
        self._facts.refresh()

    def _read(self) -> None:
        number = self._reading.number + 1
        self._reading = RecordingReading(number, self._recording, self.post_message)
        self.background.start("rows", self._reading.scan)

    def reading_broke(self, kind: str, words: str) -> None:
        """Say it, and show what there is."""
        super().reading_broke(kind, words)
        if kind == "rows":
            self.post_message(ReadingFailed(self._reading.number, words))

    @on(RowsFound)
    def rows_found(self, message: RowsFound) -> None:
        """Show what there is so far."""
        if message.reading != self._reading.number:
            return
        self._is_whole = message.is_whole
        self._calls.update_count()
        self._detail.update_count()
        self._facts.refresh()
        self.hint_bar.refresh()
        wanted = self._wanted_call or 0
        if self._shown_call is None and (self._recording.call_count > wanted or message.is_whole):
            self._begin_at(wanted)

    def _begin_at(self, call_index: int) -> None:
        """Show the call that was asked for, or the last when there are fewer."""
        count = self._recording.call_count
        self._calls.move_to(call_index)
        self._show_call()
        if self._wanted_call is not None and call_index >= count:
            words = f"There is no call {call_index}: this recording has {count}, from 0."
            self.post_message(NoticeRaised("Another call is shown", words))
        elif self._wanted_field:
            self._show_field(self._wanted_field)

    @on(RecordingInspected)
    def inspected(self, message: RecordingInspected) -> None:
        """Show what the strict reader found."""
        if message.reading != self._reading.number:
            return
        self._recording.inspection = message.inspection
        if self._views is not None:
            self._views.renew_end()
        if self._change is None:
            self._show_fault()
        self._calls.forget()
        self._detail.forget()
        self._facts.refresh()
        self.hint_bar.refresh()

    @on(ReadingFailed)
    def reading_failed(self, message: ReadingFailed) -> None:
        """Say why nothing more will come."""
        if message.reading != self._reading.number:
            return
        self._show_banner(unreadable_banner(message.reason))
        if self._shown_call is None:
            self._begin_at(min(self._wanted_call or 0, max(self._recording.call_count - 1, 0)))

    def _show_fault(self) -> None:
        """Say what makes the recording unsound; a sound one needs no banner."""
        inspection = self._recording.inspection
        self._banner.display = False
        if inspection is not None and inspection.error is not None:
            self._show_banner(fault_banner(inspection.error, len(inspection.calls)))

    def _show_banner(self, line: Line) -> None:
        self._banner.show(lambda _: line)
        self._banner.display = True

    @on(VirtualLines.Moved, "#calls")
    def call_moved(self) -> None:
        """Show the chosen call once the cursor rests on it."""
        self.hint_bar.refresh()
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(_SETTLING_SECONDS, self._show_call)

    @on(VirtualLines.Moved, "#detail")
    def detail_moved(self) -> None:
        """Say where we are."""
        self.hint_bar.refresh()
        self._place.refresh()

    @on(VirtualLines.Chosen, "#calls")
    def call_chosen(self) -> None:
        """Go into the chosen call."""
        self._show_call()
        self._open_detail()

    @on(VirtualLines.Chosen, "#detail")
    def detail_chosen(self, message: VirtualLines.Chosen) -> None:
        """Fold or unfold; from an event go to its row."""
        source = self._detail.source
        if isinstance(source, ConversationLines | TreeLines | RawLines):
            self._go_to_line(source.toggle(message.index))
        elif isinstance(source, EventLines):
            self._show_row(source.physical_row(message.index))

    @on(TabBar.Picked)
    def view_picked(self, message: TabBar.Picked) -> None:
        """Open the view that was clicked."""
        self.action_view(message.name)

    def on_descendant_focus(self) -> None:
        """Show the pane that the keys go to."""
        self.set_class(self._detail.has_focus, "inside")
        self.hint_bar.refresh()

    def action_view(self, name: str) -> None:
        """Show the call in another way."""
        if self._tabs.chosen != name:
            self._cursors[self._tabs.chosen] = self._detail.cursor
        self._tabs.choose(name)
        self._show_view()
        self._open_detail()

    def action_other_pane(self) -> None:
        """Go to the other pane."""
        if self._detail.has_focus:
            self._calls.focus()
        else:
            self._open_detail()

    def action_back(self) -> None:
        """Close a branch, else go out of the call, else out of the recording."""
        source = self._detail.source
        if not self._detail.has_focus:
            super().action_back()
            return
        if isinstance(source, TreeLines) and source.line_count:
            above = source.close_branch(self._detail.cursor)
            if above is not None:
                self._go_to_line(above)
                return
        self._calls.focus()

    def action_out(self) -> None:
        """Go out of the call, else out of the recording."""
        if self._detail.has_focus:
            self._calls.focus()
        else:
            super().action_back()

    def action_call(self, step: int) -> None:
        """Go to the next call, or the one before."""
        self._calls.action_move(step)

    def action_fault(self) -> None:
        """Go to the row where the strict reader stopped."""
        row = self._recording.faulty_row()
        if row is not None:
            self._show_row(row)

    def _open_detail(self) -> None:
        self.add_class("inside")
        self._detail.focus()

    def _show_call(self) -> None:
        chosen = self._calls.cursor
        if chosen == self._shown_call:
            return
        if self._views is not None and self._views.call_index != chosen:
            self._cursors = {}
        self._shown_call = chosen
        self._views = CallViews(self._recording, chosen)
        self._show_view()

    def _show_view(self) -> None:
        if self._views is None:
            return
        name = self._tabs.chosen
        source = self._views.source(name)
        cursor = self._cursors.get(name)
        self._detail.has_cursor = not isinstance(source, FixedLines)
        self._detail.show(
            source, cursor=self._views.first_cursor(name) if cursor is None else cursor
        )
        self._place.refresh()
        self.hint_bar.refresh()

    def _show_row(self, row: int) -> None:
        """Go to a row of the file."""
        self.action_view("raw")
        source = self._detail.source
        if isinstance(source, RawLines):
            self._detail.move_to(source.line_of(row), is_jump=True)

    def _show_field(self, field: str) -> None:
        self.action_view("request")
        source = self._detail.source
        if not isinstance(source, TreeLines):
            return
        line = source.reveal(field)
        self._go_to_line(line or 0)
        if line is None or source.node(line).path != field:
            words = f"The request has no {field}; the nearest field is shown."
            self.post_message(NoticeRaised("Another field is shown", words))

    def _go_to_line(self, line: int | None) -> None:
        """Draw the detail anew after it was folded or unfolded."""
        if line is not None:
            self._detail.forget()
            self._detail.update_count()
            self._detail.move_to(line)
            self._place.refresh()

    def _facts_line(self, width: int) -> Line:
        recording = self._recording
        return facts_line(
            recording.inspection,
            recording.row_count,
            is_whole=self._is_whole,
            width=width,
            change=self._change,
        )

    def _place_line(self, width: int) -> Line:
        source = self._detail.source
        if isinstance(source, EventLines):
            return event_heading(width)
        if isinstance(source, TreeLines) and source.line_count:
            return (Span(" " + source.node(self._detail.cursor).path, "accent"),)
        return EMPTY_LINE
