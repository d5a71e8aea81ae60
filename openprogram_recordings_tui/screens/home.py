"""The first screen: recordings, mismatch reports, and a word about tapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widgets import ContentSwitcher, Input

from openprogram.errors import OpenProgramError
from openprogram_recordings_tui.bindings import HOME_KEYS, LIST_KEYS, bindings_of
from openprogram_recordings_tui.messages import (
    DeletionAsked,
    FirstTextRead,
    MismatchOpened,
    ModeAsked,
    RecordingOpened,
)
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.chrome import Tab, blocked_lines
from openprogram_recordings_tui.presentation.lines import (
    EMPTY_LINE,
    FixedLines,
    Line,
    Span,
)
from openprogram_recordings_tui.presentation.recordings import RecordingLines, matching, preview
from openprogram_recordings_tui.screens.base import BaseScreen
from openprogram_recordings_tui.widgets.bars import Bar, MakeLine, TabBar, TextBlock
from openprogram_recordings_tui.widgets.fields import HARMLESS
from openprogram_recordings_tui.widgets.virtual_lines import VirtualLines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from openprogram.providers.management import RecordingSummary, RecordReplayStatus
    from openprogram.providers.mismatches import MismatchReport
    from openprogram_recordings_tui.background import IsCancelled

PREVIEW_FROM_WIDTH = 110
"""From this width on, a preview stands beside the list."""
WIDE_FROM_WIDTH = 160
"""From this width on, it is as wide as text is read best."""
ROOMY_FROM_HEIGHT = 14
"""From this height on there are blank lines between what is said and the list."""

_TAB_NAMES = ("recordings", "mismatches", "tapes")

_NO_RECORDINGS: tuple[Line, ...] = (
    EMPTY_LINE,
    (Span("   No recordings yet.", "strong"),),
    EMPTY_LINE,
    (Span("   Press "), Span("R", "key_cap"), Span(" to record from the next start on, or run:")),
    EMPTY_LINE,
    (Span("       openprogram recordings record --name first-run", "accent"),),
    (Span('       openprogram run "What is in this folder?"', "accent"),),
)
_NO_MISMATCHES: tuple[Line, ...] = (
    EMPTY_LINE,
    (Span("   No replay has gone another way.", "strong"),),
    EMPTY_LINE,
    (Span("   When one does, its report stands here: the recorded and the incoming request,"),),
    (Span("   side by side, with the first field that differs."),),
)
_TAPES: tuple[Line, ...] = (
    EMPTY_LINE,
    (Span("   Tapes cannot be read by this version yet.", "strong"),),
    EMPTY_LINE,
    (Span("   No command of it makes one, either. What it records are calls of models:"),),
    (Span("   those recordings are in tab "), Span("1", "key_cap"), Span(".")),
)
_UNREADABLE: tuple[Line, ...] = (
    EMPTY_LINE,
    (Span("   The recordings cannot be read.", "strong"),),
    (Span("   Press "), Span("^l", "key_cap"), Span(" to read them again.")),
)
_READING: tuple[Line, ...] = (EMPTY_LINE, (Span("   reading the recordings…", "dim"),))


class HomeScreen(BaseScreen):
    """Lists, and what can be done with what is in them."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_of(HOME_KEYS))
    help_name = "home"
    keys = (LIST_KEYS[-1], *HOME_KEYS)

    def __init__(self, status: RecordReplayStatus | None, *, is_read_only: bool) -> None:
        super().__init__(status, is_read_only=is_read_only)
        self._summaries: Sequence[RecordingSummary] | None = None
        self._reports: Sequence[MismatchReport] = ()
        self._are_reports_read = False
        self._now_at: datetime | None = None
        self._unread: frozenset[Path] = frozenset()
        self._first_texts: dict[Path, str | None] = {}
        self._headings: dict[str, MakeLine] = {"recordings": RecordingLines.heading}
        self._tabs = TabBar(self._tab_labels(), chosen="recordings", id="tabs")
        self._blocked = TextBlock(self._blocked_lines, id="blocked")
        self._blocked.display = False
        self._heading = Bar(RecordingLines.heading, id="heading")
        self._recordings = VirtualLines(FixedLines(_READING), id="recordings", has_cursor=False)
        self._mismatches = VirtualLines(FixedLines(_NO_MISMATCHES), id="mismatches")
        self._tapes = VirtualLines(FixedLines(_TAPES), id="tapes", has_cursor=False)
        self._preview = VirtualLines(id="preview", has_cursor=False)
        self._preview.can_focus = False
        self._filter = Input(
            id="filter", placeholder="words in ID, model, provider, state", restrict=HARMLESS
        )

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self.title_bar
        yield self._blocked
        yield self._tabs
        yield self._filter
        with Horizontal(id="body"):
            with Vertical(id="lists"):
                yield self._heading
                with ContentSwitcher(initial="recordings", id="switch"):
                    yield self._recordings
                    yield self._mismatches
                    yield self._tapes
            yield self._preview
        yield self.hint_bar

    def on_mount(self) -> None:
        """Begin in the list."""
        self._filter.display = False
        self._recordings.focus()

    def show_status(self, status: RecordReplayStatus) -> None:
        """Show another mode for the next start, and why it blocks calls where it does."""
        super().show_status(status)
        self._blocked.display = not status.valid
        self._blocked.refresh(layout=True)

    def on_resize(self, event: events.Resize) -> None:
        """Show the preview where there is room for it."""
        self.set_class(event.size.width >= WIDE_FROM_WIDTH, "wide")
        self.set_class(event.size.height < ROOMY_FROM_HEIGHT, "low")
        self._place_preview(event.size.width)

    def show_lists(
        self,
        summaries: Sequence[RecordingSummary],
        unread: frozenset[Path],
        reports: Sequence[MismatchReport] | None,
        now_at: datetime,
    ) -> None:
        """Show what was read; what was chosen stays chosen.

        Args:
            summaries: The recordings, in the order to show.
            unread: Those of which only stat has told something yet.
            reports: The mismatch reports, in the order to show; None while they are not read.
            now_at: When that was; aware.
        """
        self._summaries, self._unread, self._now_at = summaries, unread, now_at
        if reports is not None:
            self._show_reports(reports)
        self._tabs.retitle(self._tab_labels())
        self._show_recordings()

    def show_failed(self) -> None:
        """Say that the lists cannot be read; what was read before stays."""
        if self._summaries is None:
            self._recordings.show(FixedLines(_UNREADABLE))

    @property
    def summaries(self) -> Sequence[RecordingSummary]:
        """The recordings as they were read last."""
        return self._summaries or ()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer on each tab what does something there."""
        is_idle = {
            "choose": not self._current_list().has_cursor,
            "filter": self._tabs.chosen != "recordings" or not self._summaries,
            "clear": not self._filter.display,
            "replay": self.chosen_recording() is None,
            "delete": self.chosen_recording() is None,
        }
        return not is_idle.get(action, False) and super().check_action(action, parameters)

    def position(self) -> str:
        """Say which row of how many is chosen."""
        lines = self._current_list()
        if not lines.has_cursor:
            return ""
        return f"{lines.cursor + 1} of {lines.source.line_count}"

    def chosen_recording(self) -> RecordingSummary | None:
        """Give the chosen recording; None when there is none, or another tab is open."""
        source = self._recordings.source
        if self._tabs.chosen != "recordings" or not isinstance(source, RecordingLines):
            return None
        if not source.summaries:
            return None
        return source.summaries[min(self._recordings.cursor, len(source.summaries) - 1)]

    def action_tab(self, name: str) -> None:
        """Open a tab."""
        self._tabs.choose(name)
        self.query_one("#switch", ContentSwitcher).current = name
        self._heading.show(self._headings.get(name, lambda _: EMPTY_LINE))
        if name != "recordings":
            self.action_clear()
        self._current_list().focus()
        self._place_preview(self.size.width)
        self.hint_bar.refresh()

    def action_next_tab(self, step: int) -> None:
        """Open the next tab, or the one before."""
        place = _TAB_NAMES.index(self._tabs.chosen)
        self.action_tab(_TAB_NAMES[(place + step) % len(_TAB_NAMES)])

    def action_filter(self) -> None:
        """Let words be typed that the recordings must hold."""
        self._filter.display = True
        self._filter.focus()

    def action_clear(self) -> None:
        """Show all recordings again."""
        self._filter.value = ""
        self._filter.display = False
        self._current_list().focus()

    def action_delete(self) -> None:
        """Ask to delete the chosen recording."""
        chosen = self.chosen_recording()
        if chosen is not None:
            self.post_message(DeletionAsked(chosen))

    def action_replay(self) -> None:
        """Ask to replay the chosen recording from the next start on."""
        chosen = self.chosen_recording()
        if chosen is not None:
            self.post_message(ModeAsked("replay", chosen))

    def action_record(self) -> None:
        """Ask to record from the next start on."""
        self.post_message(ModeAsked("record"))

    def action_off(self) -> None:
        """Ask to do neither from the next start on."""
        self.post_message(ModeAsked("off"))

    @on(Input.Changed, "#filter")
    def filter_changed(self) -> None:
        """Filter while it is typed."""
        if self._summaries is not None:
            self._show_recordings()

    @on(Input.Submitted, "#filter")
    def filter_done(self) -> None:
        """Go to what was found."""
        self._filter.display = bool(self._filter.value)
        self._recordings.focus()

    @on(TabBar.Picked)
    def tab_picked(self, message: TabBar.Picked) -> None:
        """Open the tab that was clicked."""
        self.action_tab(message.name)

    @on(VirtualLines.Moved)
    def moved(self) -> None:
        """Show what is chosen now."""
        self.hint_bar.refresh()
        self._show_preview()

    @on(VirtualLines.Chosen, "#recordings")
    def recording_chosen(self) -> None:
        """Ask to look into the chosen recording."""
        chosen = self.chosen_recording()
        if chosen is not None:
            self.post_message(RecordingOpened(chosen.path))

    @on(VirtualLines.Chosen, "#mismatches")
    def mismatch_chosen(self, message: VirtualLines.Chosen) -> None:
        """Ask to see the chosen mismatch."""
        if self._reports:
            self.post_message(MismatchOpened(self._reports[message.index]))

    @on(FirstTextRead)
    def first_text_read(self, message: FirstTextRead) -> None:
        """Complete the preview."""
        self._first_texts[message.path] = message.text
        self._show_preview()

    def _blocked_lines(self, width: int) -> Sequence[Line]:
        reason = None if self.status is None else self.status.reason
        return blocked_lines(reason or "", width)

    def _current_list(self) -> VirtualLines:
        lists = {"recordings": self._recordings, "mismatches": self._mismatches}
        return lists.get(self._tabs.chosen, self._tapes)

    def _tab_labels(self) -> tuple[Tab, ...]:
        counts = (
            None if self._summaries is None else len(self._summaries),
            len(self._reports) if self._are_reports_read else None,
        )
        recordings, mismatches = ("" if n is None else figures.count(n) for n in counts)
        return (
            Tab("recordings", "Recordings", recordings),
            Tab("mismatches", "Mismatches", mismatches),
            Tab("tapes", "Tapes"),
        )

    def _show_reports(self, reports: Sequence[MismatchReport]) -> None:
        """Show the mismatch reports; the chosen one stays chosen when it is still there."""
        assert self._now_at is not None  # noqa: S101 - set before
        chosen = self._chosen_report()
        self._reports, self._are_reports_read = reports, True
        self._mismatches.has_cursor = bool(reports)
        if not reports:
            self._mismatches.show(FixedLines(_NO_MISMATCHES))
            return
        # late: comparison is not needed for first paint
        from openprogram_recordings_tui.presentation.mismatches import MismatchLines

        self._headings["mismatches"] = MismatchLines.heading
        same = [i for i, r in enumerate(reports) if chosen and r.report_id == chosen.report_id]
        place = same[0] if same else self._mismatches.cursor
        self._mismatches.show(MismatchLines(reports, self._now_at), cursor=place)

    def _chosen_report(self) -> MismatchReport | None:
        place = self._mismatches.cursor
        return self._reports[place] if place < len(self._reports) else None

    def _show_recordings(self) -> None:
        chosen = self.chosen_recording()
        found = matching(self._summaries or (), self._filter.value)
        assert self._now_at is not None  # noqa: S101 - set with the summaries
        self._recordings.has_cursor = bool(found)
        if not found:
            nothing = (EMPTY_LINE, (Span("   Nothing matches; escape clears the filter.", "dim"),))
            self._recordings.show(FixedLines(nothing if self._summaries else _NO_RECORDINGS))
        else:
            place = self._recordings.cursor
            same = [i for i, s in enumerate(found) if chosen is not None and s.path == chosen.path]
            self._recordings.show(
                RecordingLines(found, self._now_at, self._unread),
                cursor=same[0] if same else place,
            )
        self.hint_bar.refresh()
        self._place_preview(self.size.width)

    def _place_preview(self, width: int) -> None:
        shown = self.chosen_recording() is not None and width >= PREVIEW_FROM_WIDTH
        self._preview.display = shown
        self._show_preview()

    def _show_preview(self) -> None:
        chosen = self.chosen_recording()
        if chosen is None or not self._preview.display or self._now_at is None:
            return
        width = max(self._preview.scrollable_content_region.width, 20)
        text = self._first_texts.get(chosen.path)
        self._preview.show(FixedLines(preview(chosen, text, self._now_at, width)))
        if chosen.path not in self._first_texts:
            path = chosen.path
            self.background.start("text", lambda dropped: self._read_first_text(path, dropped))

    def _read_first_text(self, path: Path, is_cancelled: IsCancelled) -> None:
        from openprogram_recordings_tui.sources.first_text import read_first_text  # late, as above

        try:
            text = read_first_text(path, is_cancelled)
        except (OSError, OpenProgramError):
            text = None
        if not is_cancelled():
            self.post_message(FirstTextRead(path, text))
