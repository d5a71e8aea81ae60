"""The app: reads the lists, opens screens, and alone asks management to change anything."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from openprogram.providers.mismatches import list_mismatch_reports, read_mismatch_report
from textual import on, work
from textual.app import App, SystemCommand

from openprogram.errors import OpenProgramError
from openprogram.providers import management
from openprogram_recordings_tui.bindings import APP_KEYS, KEY_GROUPS, bindings_of
from openprogram_recordings_tui.messages import (
    BackAsked,
    DeletionAsked,
    LeaveAsked,
    MismatchOpened,
    ModeAsked,
    RecordingOpened,
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
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from textual.binding import BindingType
    from textual.screen import Screen

    from openprogram.providers.management import RecordReplayStatus
    from openprogram_recordings_tui.screens.dialogs import Dialog


def utc_now() -> datetime:
    """Give the present instant.

    Returns:
        Aware UTC.
    """
    return datetime.now(UTC)


class RecordingsApp(App[None]):
    """The terminal UI of OpenProgram Recordings."""

    TITLE = "OpenProgram Recordings"

    CSS_PATH: ClassVar[list[str]] = [
        "styles/app.tcss",
        "styles/home.tcss",
        "styles/recording.tcss",
        "styles/mismatch.tcss",
        "styles/dialogs.tcss",
    ]
    BINDINGS: ClassVar[list[BindingType]] = list(bindings_of(APP_KEYS))

    def __init__(
        self,
        *,
        recording: Path | None = None,
        call_index: int | None = None,
        field: str = "",
        mismatch_id: str | None = None,
        is_read_only: bool = False,
        is_colourless: bool = False,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__(ansi_color=True if is_colourless else None)
        self._first_recording = recording
        self._first_call_index = call_index
        self._first_field = field
        self._mismatch_id = mismatch_id
        self._is_read_only = is_read_only
        self._is_colourless = is_colourless
        self._now = now
        self._status: RecordReplayStatus | None = None
        self._home = HomeScreen(None, is_read_only=is_read_only)
        self.register_theme(theme_of(DARK_THEME_NAME, DARK_INKS, dark=True))
        self.register_theme(theme_of(LIGHT_THEME_NAME, LIGHT_INKS, dark=False))
        self.register_theme(plain_theme())
        self.theme = PLAIN_THEME_NAME if self._is_colourless else DARK_THEME_NAME

    def on_mount(self) -> None:
        """Show the first screen at once; what is on disk follows."""
        leave_on_signals(self.exit_with)
        self.push_screen(self._home)
        if self._first_recording is not None:
            self._open(self._first_recording, self._first_call_index, self._first_field)
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

    @work(thread=True, exclusive=True, group="lists")
    def _read_lists(self) -> None:
        """Read status, recordings and reports; each is shown even when another cannot be read."""
        status = management.read_status()
        self.call_from_thread(self._show_status, status)
        try:
            summaries = management.list_recordings()
            reports = list_mismatch_reports()
        except (OSError, OpenProgramError) as error:
            self.call_from_thread(self._say_failed, "The lists cannot be read", error)
            return
        self.call_from_thread(self._home.show_lists, summaries, reports, self._now())
        if self._mismatch_id is not None:
            self._mismatch_id = None
            self.call_from_thread(self._open_first_mismatch)

    def _show_status(self, status: RecordReplayStatus) -> None:
        self._status = status
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen):
                screen.show_status(status)

    def action_help(self) -> None:
        """Show the keys of the screen."""
        from openprogram_recordings_tui.screens.help import HelpScreen  # late: not for first paint

        if isinstance(self.screen, BaseScreen):
            self.push_screen(HelpScreen(self.screen.help_name))

    def action_toggle_theme(self) -> None:
        """Change between dark and light."""
        if not self._is_colourless:
            is_dark = self.theme == DARK_THEME_NAME
            self.theme = LIGHT_THEME_NAME if is_dark else DARK_THEME_NAME

    def action_reload(self) -> None:
        """Read everything again."""
        self._read_lists()
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
        if len(self.screen_stack) > 2:  # noqa: PLR2004 - the blank one beneath, and home
            self.pop_screen()

    @on(RecordingOpened)
    def recording_opened(self, message: RecordingOpened) -> None:
        """Look into a recording."""
        self._open(message.path, message.call_index, message.field)

    @on(MismatchOpened)
    def mismatch_opened(self, message: MismatchOpened) -> None:
        """Look at a mismatch."""
        # late: comparison is not needed for first paint
        from openprogram_recordings_tui.screens.mismatch import MismatchScreen

        try:
            screen = MismatchScreen(message.report, self._status, is_read_only=self._is_read_only)
        except (OSError, OpenProgramError) as error:
            self._say_failed("The mismatch report cannot be read", error)
            return
        self.push_screen(screen)

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

    @work(thread=True, group="change")
    def _delete(self, recording_id: str) -> None:
        self._change("Not deleted", lambda: management.delete_recording(recording_id))

    @work(thread=True, group="change")
    def _record(self, name: str) -> None:
        self._change("Not set", lambda: management.prepare_record(name or None))

    @work(thread=True, group="change")
    def _replay(self, selector: str) -> None:
        self._change("Not set", lambda: management.prepare_replay(selector))

    @work(thread=True, group="change")
    def _turn_off(self) -> None:
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
            return
        self.push_screen(screen)

    def _open_first_mismatch(self) -> None:
        try:
            report = read_mismatch_report(str(self._mismatch_id))
        except (OSError, OpenProgramError) as error:
            self._say_failed("The mismatch report cannot be read", error)
            return
        self.post_message(MismatchOpened(report))

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
