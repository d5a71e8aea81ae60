"""The app: reads the lists, opens screens, and alone asks management to change anything."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import App, SystemCommand
from textual.worker import Worker, WorkerState

from openprogram.errors import OpenProgramError
from openprogram_recordings_tui.background import Background, describe
from openprogram_recordings_tui.bindings import APP_KEYS, KEY_GROUPS, bindings_of
from openprogram_recordings_tui.messages import (
    BackAsked,
    DeletionAsked,
    LeaveAsked,
    ListsFailed,
    ListsRead,
    MismatchOpened,
    ModeAsked,
    NoticeRaised,
    RecordingOpened,
    RequestsCompared,
    StatusRead,
)
from openprogram_recordings_tui.presentation.recordings import name_of
from openprogram_recordings_tui.screens.base import BaseScreen
from openprogram_recordings_tui.screens.home import HomeScreen
from openprogram_recordings_tui.terminal import leave_on_signals
from openprogram_recordings_tui.widgets.palette import (
    DARK_INKS,
    DARK_THEME_NAME,
    LIGHT_INKS,
    LIGHT_THEME_NAME,
    PLAIN_THEME_NAME,
    plain_theme,
    theme_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path, PurePath

    from textual.binding import BindingType
    from textual.screen import Screen

    from openprogram.providers.management import RecordingSummary, RecordReplayStatus
    from openprogram.providers.mismatches import MismatchReport
    from openprogram_recordings_tui.background import IsCancelled
    from openprogram_recordings_tui.screens.dialogs import Dialog


def utc_now() -> datetime:
    """Give the present instant.

    Returns:
        Aware UTC.
    """
    return datetime.now(UTC)


_STYLES: list[str | PurePath] = [
    "styles/app.tcss",
    "styles/home.tcss",
    "styles/recording.tcss",
    "styles/mismatch.tcss",
    "styles/dialogs.tcss",
]


class RecordingsApp(App[None]):
    """The terminal UI of OpenProgram Recordings."""

    TITLE = "OpenProgram Recordings"

    CSS_PATH = _STYLES
    BINDINGS: ClassVar[list[BindingType]] = list(bindings_of(APP_KEYS))

    def __init__(
        self,
        *,
        recording: Path | None = None,
        call_index: int | None = None,
        field: str = "",
        mismatch: MismatchReport | None = None,
        is_read_only: bool = False,
        is_colourless: bool = False,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__(ansi_color=True if is_colourless else None)
        self._first_recording = recording
        self._first_call_index = call_index
        self._first_field = field
        self._first_mismatch = mismatch
        self._is_read_only = is_read_only
        self._is_colourless = is_colourless
        self._now = now
        self._status: RecordReplayStatus | None = None
        self.background = Background(self._reading_broke)
        """Reads for the whole app."""
        self._home = HomeScreen(None, is_read_only=is_read_only)
        self.register_theme(theme_of(DARK_THEME_NAME, DARK_INKS, dark=True))
        self.register_theme(theme_of(LIGHT_THEME_NAME, LIGHT_INKS, dark=False))
        self.register_theme(plain_theme())
        self.theme = PLAIN_THEME_NAME if self._is_colourless else DARK_THEME_NAME

    @property
    def is_busy(self) -> bool:
        """Whether anything is still being read or changed."""
        is_changing = any(not worker.is_finished for worker in self.workers)
        is_reading = any(screen.is_busy for screen in self._full_screens())
        return is_changing or is_reading or self.background.is_busy

    def _full_screens(self) -> list[BaseScreen]:
        return [screen for screen in self.screen_stack if isinstance(screen, BaseScreen)]

    def get_default_screen(self) -> Screen[None]:
        """Begin with the lists."""
        return self._home

    def on_mount(self) -> None:
        """Show the first screen at once; what is on disk follows."""
        leave_on_signals(self.exit_with)
        if self._first_recording is not None:
            self._open(self._first_recording, self._first_call_index, self._first_field)
        if self._first_mismatch is not None:
            self._compare(self._first_mismatch)
        self._read_lists()

    def exit_with(self, code: int) -> None:
        """Leave in order: the terminal is restored.

        Args:
            code: The exit code.
        """
        self.exit(return_code=code)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer every action of the screen in the palette."""
        name = screen.help_name if isinstance(screen, BaseScreen) else "home"
        groups = KEY_GROUPS[name][:1]
        for key in (*(key for group in groups for key in group.keys), *APP_KEYS):
            if key.writes and self._is_read_only:
                continue
            yield SystemCommand(
                f"{key.help}", f"{key.caps}", lambda action=key.action: self._run(action)
            )

    async def _run(self, action: str) -> None:
        in_app = action in {key.action for key in APP_KEYS}
        await self.run_action(action, self if in_app else self.screen)

    def _reading_broke(self, kind: str, words: str) -> None:
        """Say that something was raised that nobody foresaw, in the reading's thread."""
        self.post_message(NoticeRaised(f"Reading the {kind} failed", words))
        if kind == "lists":
            self.post_message(ListsFailed())

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say that a change raised what nobody foresaw."""
        worker = cast("Worker[object]", event.worker)  # pyright: ignore[reportUnknownMemberType] - Textual's event leaves it open
        if event.state is WorkerState.ERROR and worker.error is not None:
            self._say("Something failed", describe(worker.error), is_bad=True)
            self._read_lists()

    def _read_lists(self) -> None:
        self.background.start("lists", self._read_all)

    def _read_all(self, is_cancelled: IsCancelled) -> None:
        """Read status, recordings and reports, in a thread; what cannot be read is said."""
        # late, here and below: the first paint needs none of the core, and that saves 0.1 s of it
        from openprogram.worker.status import read_status_with_worker
        from openprogram_recordings_tui.sources.recording_list import read_recordings

        summaries: Sequence[RecordingSummary] = ()
        reports: Sequence[MismatchReport] | None = None
        try:
            self.post_message(StatusRead(read_status_with_worker()))
            for summaries, unread in read_recordings(is_cancelled, self._home.summaries):
                if is_cancelled():
                    return
                self.post_message(ListsRead(summaries, unread, reports))
                reports = _list_reports() if reports is None else reports
        except (OSError, OpenProgramError) as error:
            self.post_message(NoticeRaised("The lists cannot be read", str(error)))
            self.post_message(ListsFailed())
            return
        self.post_message(ListsRead(summaries, frozenset(), reports))

    @on(ListsRead)
    def lists_read(self, message: ListsRead) -> None:
        """Show the lists."""
        self._home.show_lists(message.summaries, message.unread, message.reports, self._now())

    @on(ListsFailed)
    def lists_failed(self) -> None:
        """Wait for them no longer."""
        self._home.show_failed()

    @on(StatusRead)
    def status_read(self, message: StatusRead) -> None:
        """Show the mode for the next start everywhere."""
        self._status = message.status
        for screen in self._full_screens():
            screen.show_status(message.status)

    def action_help(self) -> None:
        """Show the keys of the screen."""
        from openprogram_recordings_tui.screens.help import HelpScreen  # late: not for first paint

        if isinstance(self.screen, BaseScreen):
            self.push_screen(HelpScreen(self.screen.help_name, is_read_only=self._is_read_only))

    def action_toggle_theme(self) -> None:
        """Change between dark and light."""
        if not self._is_colourless:
            is_dark = self.theme == DARK_THEME_NAME
            self.theme = LIGHT_THEME_NAME if is_dark else DARK_THEME_NAME

    def action_reload(self) -> None:
        """Read everything again, and draw it anew."""
        self._read_lists()
        for screen in self._full_screens():
            screen.reload()
        self.refresh(layout=True)

    def action_leave(self) -> None:
        """Leave in order."""
        self.exit_with(0)

    @on(LeaveAsked)
    def leave_asked(self) -> None:
        """Leave in order."""
        self.exit_with(0)

    @on(BackAsked)
    def back_asked(self) -> None:
        """Go back to the screen before."""
        if len(self.screen_stack) > 1:
            self.pop_screen()

    @on(RecordingOpened)
    def recording_opened(self, message: RecordingOpened) -> None:
        """Look into a recording."""
        self._open(message.path, message.call_index, message.field)

    @on(MismatchOpened)
    def mismatch_opened(self, message: MismatchOpened) -> None:
        """Look at a mismatch."""
        self._compare(message.report)

    @on(NoticeRaised)
    def notice_raised(self, message: NoticeRaised) -> None:
        """Say something until someone has read it."""
        self._say(message.title, message.words, is_bad=message.is_bad)

    @on(DeletionAsked)
    async def deletion_asked(self, message: DeletionAsked) -> None:
        """Refuse what is in use, else ask for the ID."""
        from openprogram_recordings_tui.screens.dialogs import DeleteDialog  # late, as above

        summary = message.summary
        if summary.active:
            words = (
                f"The settings use {name_of(summary)} for the next start. "
                "Press o to turn recording and replay off, then delete it."
            )
            self._say("Not deleted", words, is_bad=True)
        elif summary.recording_id is None:
            self._say("Not deleted", "Only managed recordings can be deleted here.", is_bad=True)
        else:
            self._ask(DeleteDialog(summary), self._delete)

    @on(ModeAsked)
    def mode_asked(self, message: ModeAsked) -> None:
        """Ask before the mode for the next start changes; off needs no question."""
        from openprogram_recordings_tui.screens.dialogs import RecordDialog, ReplayDialog

        if message.mode == "off":
            self._turn_off()
        elif message.mode == "record":
            self._ask(RecordDialog(), self._record)
        elif message.summary is not None:
            path = message.summary.recording_id or str(message.summary.path)
            self._ask(ReplayDialog(message.summary), lambda _: self._replay(path))

    @work(thread=True, group="change", exit_on_error=False)
    def _delete(self, recording_id: str) -> None:
        from openprogram.providers import management  # late, as above

        self._change("Not deleted", lambda: management.delete_recording(recording_id))

    @work(thread=True, group="change", exit_on_error=False)
    def _record(self, name: str) -> None:
        from openprogram.providers import management  # late, as above

        self._change("Not set", lambda: management.prepare_record(name or None))

    @work(thread=True, group="change", exit_on_error=False)
    def _replay(self, selector: str) -> None:
        from openprogram.providers import management  # late, as above

        self._change("Not set", lambda: management.prepare_replay(selector))

    @work(thread=True, group="change", exit_on_error=False)
    def _turn_off(self) -> None:
        from openprogram.providers import management  # late, as above

        self._change("Not set", management.turn_off)

    def _change(self, failure: str, change: Callable[[], object]) -> None:
        """Change something, in a worker; what fails is said, and the lists are read again."""
        try:
            change()
        except (OSError, OpenProgramError) as error:
            self.call_from_thread(self._say_failed, failure, error)
        self.call_from_thread(self._read_lists)

    def _open(self, path: Path, call_index: int | None, field: str) -> None:
        # late: the readers are not needed for first paint
        from openprogram_recordings_tui.screens.recording import RecordingScreen

        try:
            screen = RecordingScreen(
                path,
                self._status,
                is_read_only=self._is_read_only,
                call_index=call_index,
                field=field,
            )
        except (OSError, OpenProgramError) as error:
            self._say_failed("The recording cannot be opened", error)
            self._read_lists()
            return
        self.push_screen(screen)

    def _compare(self, report: MismatchReport) -> None:
        self.background.start("requests", lambda dropped: self._compare_requests(report, dropped))

    def _compare_requests(self, report: MismatchReport, is_cancelled: IsCancelled) -> None:
        """Read the requests of a report and compare them, in a thread; they may be large."""
        # late: comparison is not needed for first paint
        from openprogram_recordings_tui.sources.request_differences import list_differences

        try:
            differences = list_differences(report)
        except (OSError, OpenProgramError) as error:
            self.post_message(NoticeRaised("The mismatch report cannot be read", str(error)))
            return
        if not is_cancelled():
            self.post_message(RequestsCompared(report, differences))

    @on(RequestsCompared)
    def requests_compared(self, message: RequestsCompared) -> None:
        """Show a mismatch side by side."""
        from openprogram_recordings_tui.screens.mismatch import MismatchScreen  # late, as above

        screen = MismatchScreen(
            message.report, message.differences, self._status, is_read_only=self._is_read_only
        )
        self.push_screen(screen)

    def _ask(self, dialog: Dialog, agreed: Callable[[str], object]) -> None:
        def answered(answer: str | None) -> None:
            if answer is not None:
                agreed(answer)

        self.push_screen(dialog, answered)

    def _say_failed(self, title: str, error: Exception) -> None:
        self._say(title, str(error), is_bad=True)

    def _say(self, title: str, words: str, *, is_bad: bool) -> None:
        from openprogram_recordings_tui.screens.dialogs import NoticeDialog  # late, as above

        self.push_screen(NoticeDialog(title, words, is_bad=is_bad))


def _list_reports() -> Sequence[MismatchReport]:
    # later than the recordings: the list need not wait for this import
    from openprogram.providers.mismatches import list_mismatch_reports

    return list_mismatch_reports()
