"""What the full screens share: the title at the top, the hints at the bottom, the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from openprogram_recordings_tui.background import Background
from openprogram_recordings_tui.bindings import APP_KEYS
from openprogram_recordings_tui.messages import BackAsked, LeaveAsked, NoticeRaised
from openprogram_recordings_tui.presentation.chrome import hints_line, title_line
from openprogram_recordings_tui.widgets.bars import Bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openprogram.providers.management import RecordReplayStatus
    from openprogram_recordings_tui.bindings import Key
    from openprogram_recordings_tui.presentation.lines import Line


class BaseScreen(Screen[None]):
    """A screen with a title and hints."""

    help_name: str = ""
    """Which group of keys the help shows."""
    keys: Sequence[Key] = ()
    """The screen's own keys, in order of worth."""

    def __init__(self, status: RecordReplayStatus | None, *, is_read_only: bool) -> None:
        super().__init__()
        self.status = status
        """The mode for the next start; None while it is not read."""
        self.is_read_only = is_read_only
        """Whether keys that write are gone."""
        self.background = Background(self.reading_broke)
        """Reads for this screen."""
        self.title_bar = Bar(self._title, id="title")
        """The top line."""
        self.hint_bar = Bar(self._hints, id="hints")
        """The bottom line."""

    @property
    def is_busy(self) -> bool:
        """Whether something that was asked for is not on the screen yet."""
        return self.background.is_busy

    def on_unmount(self) -> None:
        """Let go of what is still read."""
        self.background.cancel()

    def reading_broke(self, kind: str, words: str) -> None:
        """Say that something was raised that nobody foresaw; called in the reading's thread.

        Args:
            kind: What was being read.
            words: What was raised; raw.
        """
        self.post_message(NoticeRaised(f"Reading the {kind} failed", words))

    def trail(self) -> Sequence[str]:
        """Say where we are, from outside to inside; raw."""
        return ()

    def position(self) -> str:
        """Say where in the list we are; raw."""
        return ""

    def show_status(self, status: RecordReplayStatus) -> None:
        """Show another mode for the next start.

        Args:
            status: As read just now.
        """
        self.status = status
        self.title_bar.refresh()

    def reload(self) -> None:
        """Read again what this screen shows, where it reads anything itself."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's signature
        """Take the keys that write away from a read-only UI."""
        writes = {key.action for key in self.keys if key.writes}
        return not (self.is_read_only and action in writes)

    def is_possible(self, key: Key) -> bool:
        """Say whether a key does anything now.

        Args:
            key: One of the screen's keys.

        Returns:
            Whether its hint is worth the room.
        """
        return self.check_action(key.action.partition("(")[0], ()) is not False

    def action_back(self) -> None:
        """Ask to go back."""
        self.post_message(BackAsked())

    def action_leave(self) -> None:
        """Ask to leave."""
        self.post_message(LeaveAsked())

    def _title(self, width: int) -> Line:
        return title_line(self.trail(), self.status, width)

    def _hints(self, width: int) -> Line:
        keys = [key for key in self.keys if self.is_possible(key)]
        leaving = [key for key in keys if key.action in ("back", "out", "leave") and key.hint]
        acting = [key for key in keys if key not in leaving]
        ordered = [*leaving[:-1], *acting, APP_KEYS[0], *leaving[-1:]]
        # Whatever else is left out: how to leave, how to go back, and where all keys are told.
        always = [*leaving[-1:], APP_KEYS[0], *leaving[:-1]]
        kept = [*always, *(key for key in acting if key.keeps_hint)]
        return hints_line(ordered, self.position(), width, first=kept)
