"""One recording: its calls, and the chosen one as conversation, request, events and raw rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.containers import Horizontal, Vertical
from textual.worker import get_current_worker

from openprogram.errors import OpenProgramError
from openprogram.providers.inspection import inspect_recording
from openprogram_recordings_tui.bindings import LIST_KEYS, RECORDING_KEYS, bindings_of
from openprogram_recordings_tui.messages import (
    BackAsked,
    LeaveAsked,
    ReadingFailed,
    RecordingInspected,
    RowsFound,
)
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.blocks import ConversationLines
from openprogram_recordings_tui.presentation.chrome import Tab, fault_banner
from openprogram_recordings_tui.presentation.lines import EMPTY_LINE, FixedLines, Line, Span, spread
from openprogram_recordings_tui.presentation.rows import call_heading, event_heading
from openprogram_recordings_tui.presentation.trees import TreeLines
from openprogram_recordings_tui.screens.base import BaseScreen
from openprogram_recordings_tui.sources.call_views import CallViews
from openprogram_recordings_tui.sources.lists import CallLines, EventLines
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

BOTH_PANES_FROM_WIDTH = 100
"""From this width on, the calls stand beside the chosen one."""

_VIEWS = (
    Tab("conversation", "Conversation"),
    Tab("request", "Request"),
    Tab("events", "Events"),
    Tab("raw", "Raw"),
)
_SETTLING_SECONDS = 0.03
_BATCH_SECONDS = 0.1


class RecordingScreen(BaseScreen):
    """Look into a recording, sound or not."""

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
        self._wanted_call = call_index
        self._wanted_field = field
        self._is_whole = False
        self._shown_call: int | None = None
        self._views: CallViews | None = None
        self._cursors: dict[str, int] = {}
        self._settling: Timer | None = None
        self._banner = Bar(id="banner")
        self._facts = Bar(self._facts_line, id="facts")
        self._calls = VirtualLines(CallLines(self._recording), id="calls")
        self._tabs = TabBar(_VIEWS, chosen="conversation", id="views")
        self._place = Bar(self._place_line, id="place")
        self._detail = VirtualLines(id="detail")

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

    def on_mount(self) -> None:
        """Begin to read."""
        self._banner.display = False
        self._calls.focus()
        self._read()

    def on_unmount(self) -> None:
        """Let go of the file."""
        self.workers.cancel_node(self)
        self._recording.close()

    def on_resize(self, event: events.Resize) -> None:
        """One pane or two."""
        self.set_class(event.size.width < BOTH_PANES_FROM_WIDTH, "narrow")

    def trail(self) -> Sequence[str]:
        """Name the recording."""
        return (self._path.name.removesuffix(".jsonl"),)

    def position(self) -> str:
        """Say where we are in the list that has the focus."""
        lines = self._detail if self._detail.has_focus else self._calls
        if not lines.source.line_count:
            return ""
        return f"{lines.cursor + 1:,} of {lines.source.line_count:,}"

    @work(thread=True, exclusive=True, group="read")
    def _read(self) -> None:
        """Find the rows, then ask the strict reader; the screen shows what there is meanwhile."""
        from time import monotonic

        worker = get_current_worker()
        last_told = 0.0

        def tell() -> None:
            nonlocal last_told
            if monotonic() - last_told >= _BATCH_SECONDS:
                last_told = monotonic()
                self.post_message(RowsFound(is_whole=False))

        try:
            self._recording.scan(tell, lambda: worker.is_cancelled)
            if worker.is_cancelled:
                return
            self.post_message(RowsFound(is_whole=True))
            inspection = inspect_recording(self._path)
        except (OSError, OpenProgramError) as error:
            self.post_message(ReadingFailed(str(error)))
            return
        if not worker.is_cancelled:
            self.post_message(RecordingInspected(inspection))

    @on(RowsFound)
    def rows_found(self, message: RowsFound) -> None:
        """Show what there is so far."""
        self._is_whole = message.is_whole
        self._calls.update_count()
        self._detail.update_count()
        self._facts.refresh()
        self.hint_bar.refresh()
        wanted = self._wanted_call or 0
        if self._shown_call is None and (self._recording.call_count > wanted or message.is_whole):
            self._calls.move_to(wanted)
            self._show_call()
            if self._wanted_field:
                self._show_field(self._wanted_field)

    @on(RecordingInspected)
    def inspected(self, message: RecordingInspected) -> None:
        """Show what the strict reader found."""
        self._recording.inspection = message.inspection
        error = message.inspection.error
        if error is not None:
            sound_count = len(message.inspection.calls)
            self._banner.show(lambda _: fault_banner(error, sound_count))
            self._banner.display = True
        self._calls.forget()
        self._detail.forget()
        self._facts.refresh()

    @on(ReadingFailed)
    def reading_failed(self, message: ReadingFailed) -> None:
        """Say why nothing more will come."""
        reason = message.reason
        self._banner.show(lambda _: (Span(" ✗ unreadable ", "badge_blocked"), Span(" " + reason)))
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
        if isinstance(source, ConversationLines | TreeLines):
            line = source.toggle(message.index)
            if line is not None:
                self._detail.forget()
                self._detail.update_count()
                self._detail.move_to(line)
        elif isinstance(source, EventLines):
            self._cursors["raw"] = source.physical_row(message.index)
            self.action_view("raw")

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
        if self._detail.has_focus and isinstance(source, TreeLines):
            above = source.close_branch(self._detail.cursor)
            if above is not None:
                self._detail.forget()
                self._detail.update_count()
                self._detail.move_to(above)
                return
        if self._detail.has_focus:
            self._calls.focus()
        else:
            self.post_message(BackAsked())

    def action_call(self, step: int) -> None:
        """Go to the next call, or the one before."""
        self._calls.action_move(step)

    def action_fault(self) -> None:
        """Go to the row where the strict reader stopped."""
        row = self._recording.faulty_row()
        if row is not None:
            self._cursors["raw"] = row
            self.action_view("raw")

    def action_leave(self) -> None:
        """Ask to leave."""
        self.post_message(LeaveAsked())

    def _open_detail(self) -> None:
        self.add_class("inside")
        self._detail.focus()

    def _show_call(self) -> None:
        chosen = self._calls.cursor
        if chosen == self._shown_call:
            return
        self._shown_call = chosen
        self._views = CallViews(self._recording, chosen)
        kept = self._cursors.get("raw") if self._tabs.chosen == "raw" else None
        self._cursors = {}
        if kept is not None:
            self._cursors["raw"] = self._recording.request_row(chosen) or 0
        self._show_view()

    def _show_view(self) -> None:
        if self._views is None:
            return
        name = self._tabs.chosen
        source = self._views.source(name)
        cursor = self._cursors.get(name)
        self._detail.has_cursor = not isinstance(source, FixedLines)
        self._detail.show(source)
        if cursor is None:
            cursor = self._views.first_cursor(name)
        self._detail.move_to(cursor)
        self._place.refresh()

    def _show_field(self, field: str) -> None:
        self.action_view("request")
        source = self._detail.source
        if isinstance(source, TreeLines):
            line = source.reveal(field)
            self._detail.forget()
            self._detail.update_count()
            self._detail.move_to(line or 0)

    def _facts_line(self, width: int) -> Line:
        recording = self._recording
        inspection = recording.inspection
        if inspection is None:
            word = "asking the strict reader…" if self._is_whole else "reading…"
            rows = figures.plural(recording.row_count, "row")
            return (Span(f"  {rows} · {word}", "dim"),)
        left: Line = (
            (Span("  ✓ sound", "good"),) if inspection.valid else (Span("  ✗ not sound", "bad"),)
        )
        facts = (
            figures.plural(inspection.event_count, "event"),
            figures.size(inspection.size_bytes),
            f"format {inspection.format_version or figures.NOTHING} ",
        )
        return spread(left, (Span(" · ".join(facts), "dim"),), width)

    def _place_line(self, width: int) -> Line:
        source = self._detail.source
        if isinstance(source, EventLines):
            return event_heading(width)
        if isinstance(source, TreeLines) and source.line_count:
            return (Span(" " + source.node(self._detail.cursor).path, "accent"),)
        return EMPTY_LINE
