"""The dialogs: each says what happens, what stays and when it takes effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.widgets import Button, Input

from openprogram.errors import InvalidSelectorError
from openprogram.providers.file_safety import validate_recording_id
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.lines import Span
from openprogram_recordings_tui.presentation.recordings import name_of
from openprogram_recordings_tui.screens.dialog import Dialog
from openprogram_recordings_tui.widgets.fields import PRINTABLE_ASCII

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openprogram.providers.management import RecordingSummary

_FULL_ID = Span("Type its full ID to delete it:")
_RIGHT_ID = Span("The ID is right. Enter once more deletes it for good.", "warning")
_OTHER_ID = Span("Nothing is deleted: that is not its ID. Type it in full:", "bad")
_ANY_NAME = Span("Name, or nothing for the time and a random ending:")
_AT_NEXT_START = "It takes effect at the next start of the agent or worker."


class DeleteDialog(Dialog):
    """Ask for the full ID before a recording goes."""

    title_text = "Delete a recording"
    asks = (_FULL_ID, _RIGHT_ID)

    def __init__(self, summary: RecordingSummary) -> None:
        super().__init__()
        self._id = name_of(summary)
        self._summary = summary

    def body(self) -> Sequence[Span]:
        """Name what would go."""
        summary = self._summary
        facts = (
            f"{figures.plural(summary.call_count, 'call')} · "
            f"{figures.plural(summary.event_count, 'event')} · {figures.size(summary.size_bytes)}"
        )
        return (
            Span(self._id, "strong"),
            Span(facts, "dim"),
            Span(""),
            Span("It is gone for good: there is no trash. Nothing else is touched."),
        )

    def field(self) -> Input:
        """Take the ID."""
        return Input(
            id="confirmation",
            placeholder="the full ID",
            restrict=PRINTABLE_ASCII,
            select_on_focus=False,
        )

    def agree_button(self) -> Button:
        """Off until the ID fits."""
        return Button("Delete", id="agree", variant="error", disabled=True)

    @on(Input.Changed, "#confirmation")
    def typed(self, message: Input.Changed) -> None:
        """Allow the deletion once the ID is there in full."""
        self.query_one("#agree", Button).disabled = message.value != self._id
        self.query_one("#confirmation", Input).remove_class("-bad")
        if message.value != self._id:
            self.ask_for(_FULL_ID)

    @on(Input.Submitted, "#confirmation")
    def submitted(self, message: Input.Submitted) -> None:
        """Enter goes on to the button, and says so; it does not delete."""
        if message.value != self._id:
            self.query_one("#confirmation", Input).add_class("-bad")
            self.ask_for(_OTHER_ID)
            return
        agree = self.query_one("#agree", Button)
        # Keys may come faster than the news that the ID is complete.
        agree.disabled = False
        agree.focus()
        self.ask_for(_RIGHT_ID)

    @on(Button.Pressed, "#agree")
    def agreed(self) -> None:
        """The ID was typed in full."""
        if self.query_one("#confirmation", Input).value == self._id:
            self.agree(self._id)


class RecordDialog(Dialog):
    """Ask for the name of a new recording."""

    title_text = "Record from the next start on"
    asks = (_ANY_NAME,)

    def body(self) -> Sequence[Span]:
        """Say what is made and changed."""
        return (
            Span("A new recording is made now, and provider calls go into it."),
            Span("Credentials are removed before writing; private content is not.", "warning"),
            Span(_AT_NEXT_START, "dim"),
            Span(""),
        )

    def field(self) -> Input:
        """Take the name."""
        return Input(
            id="name",
            placeholder="letters, digits, . _ -",
            max_length=64,
            restrict=PRINTABLE_ASCII,
            select_on_focus=False,
        )

    def agree_button(self) -> Button:
        """On while the name can be one."""
        return Button("Record", id="agree", variant="primary")

    @on(Input.Changed, "#name")
    def typed(self, message: Input.Changed) -> None:
        """Check the name while it is typed."""
        broken_rule = _broken_rule(message.value)
        self.query_one("#agree", Button).disabled = broken_rule is not None
        self.query_one("#name", Input).set_class(broken_rule is not None, "-bad")
        if broken_rule is None:
            self.ask_for(_ANY_NAME)
        else:
            self.ask_for(Span(f"Not a name: {broken_rule}", "bad"))

    @on(Input.Submitted, "#name")
    @on(Button.Pressed, "#agree")
    def agreed(self) -> None:
        """The name was agreed to."""
        name = self.query_one("#name", Input).value
        if _broken_rule(name) is None:
            self.agree(name)


def _broken_rule(name: str) -> str | None:
    """Say what keeps a name from being one; nothing at all is allowed."""
    try:
        if name:
            validate_recording_id(name)
    except InvalidSelectorError as error:
        return error.rule
    return None


class ReplayDialog(Dialog):
    """Ask before the next start replays a recording."""

    title_text = "Replay from the next start on"

    def __init__(self, summary: RecordingSummary) -> None:
        super().__init__()
        self._name = name_of(summary)

    def body(self) -> Sequence[Span]:
        """Say what is checked and changed."""
        return (
            Span(self._name, "strong"),
            Span(""),
            Span("The file is checked strictly first; if it is not sound nothing is set."),
            Span("Then provider calls are answered from it, and nothing goes live."),
            Span(_AT_NEXT_START, "dim"),
        )

    def agree_button(self) -> Button:
        """Agree to it."""
        return Button("Replay", id="agree", variant="primary")

    @on(Button.Pressed, "#agree")
    def agreed(self) -> None:
        """It was agreed to."""
        self.agree(self._name)


class NoticeDialog(Dialog):
    """Say what was done, or why it was not, until someone has read it."""

    def __init__(self, title: str, words: str, *, is_bad: bool) -> None:
        super().__init__()
        self.title_text = title
        self._said = words
        self._is_bad = is_bad

    def body(self) -> Sequence[Span]:
        """Give the words."""
        return (Span(self._said, "bad" if self._is_bad else "text"),)
