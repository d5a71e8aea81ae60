"""Dialogs: each says what happens, what stays and when it takes effect; escape always means no."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input

from openprogram.errors import InvalidSelectorError
from openprogram.providers.file_safety import validate_recording_id
from openprogram_recordings_tui.bindings import DIALOG_KEYS, bindings_of
from openprogram_recordings_tui.cells import wrap
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.lines import EMPTY_LINE, Line, Role, Span, cells_of
from openprogram_recordings_tui.presentation.recordings import name_of
from openprogram_recordings_tui.widgets.bars import Bar, TextBlock
from openprogram_recordings_tui.widgets.fields import PRINTABLE_ASCII

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from openprogram.providers.management import RecordingSummary

_PARAGRAPH_LINES = 8
_ROOMY_FROM_HEIGHT = 18
"""From this height on, in lines, there is room for margins, and for what is good to know."""
_FRAME_LINES = 2
_FRAME_CELLS = 6
_SHARE_OF_SCREEN = 0.96
"""How much of a small screen a box takes; the style says the same."""
_WIDEST_BOX_CELLS = 70
_LEAST_WORD_CELLS = 24
"""Below this no sentence can be read."""
_FULL_ID = Span("Type its full ID to delete it:")
_AT_NEXT_START = "It takes effect at the next start of the agent or worker."


class Dialog(ModalScreen[str | None]):
    """A box over the screen; it returns the text that was agreed to, or None for no."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_of(DIALOG_KEYS))

    title_text: str = ""
    """What the box is about."""

    ask: Span = Span("")
    """What the field wants, or what is wrong with what stands in it."""

    def body(self) -> Sequence[Span]:
        """Say what happens and what stays, a paragraph each."""
        return ()

    def ask_for(self, text: str, role: Role = "text") -> None:
        """Say above the field what it wants.

        Args:
            text: The words; raw.
            role: `bad` when something is wrong with what stands there.
        """
        self.ask = Span(text, role)
        self.query_one("#words", TextBlock).refresh(layout=True)
        # On a low screen the box scrolls: what is asked, the field and the buttons are at its end.
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
            return _wrapped((Span("This terminal is too small to agree here.", "bad"),), width)
        title: Line = (Span(self.title_text, "title"),)
        if self.has_class("low"):
            return [title, *_wrapped(self._essentials(), width)]
        return [title, EMPTY_LINE, *_wrapped(self.body(), width)]

    def _essentials(self) -> Sequence[Span]:
        """Leave out of the body what is only good to know."""
        return [span for span in self.body() if span.text and span.role != "dim"]

    def _fits(self, columns: int, rows: int) -> bool:
        """Say whether all that must be read before agreeing is seen at once with the field."""
        width = min(int(columns * _SHARE_OF_SCREEN), _WIDEST_BOX_CELLS) - _FRAME_CELLS
        if width < _LEAST_WORD_CELLS:
            return False
        asked = 1 if self.field() is None else 2
        line_count = 1 + len(_wrapped(self._essentials(), width)) + asked + _FRAME_LINES
        return line_count <= int(rows * _SHARE_OF_SCREEN)

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
        """Begin on the safe side."""
        self.query_one("#cancel", Button).focus()

    def on_resize(self, event: events.Resize) -> None:
        """Do without margins where they would push the field out, and at last without agreeing."""
        self.set_class(event.size.height < _ROOMY_FROM_HEIGHT, "low")
        can_agree = self.agree_button() is None or self._fits(*event.size)
        self.set_class(not can_agree, "tiny")
        if not can_agree:
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


class DeleteDialog(Dialog):
    """Ask for the full ID before a recording goes."""

    title_text = "Delete a recording"

    def __init__(self, summary: RecordingSummary) -> None:
        super().__init__()
        self._id = name_of(summary)
        self.ask = _FULL_ID
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
            self.ask,
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
            self.ask_for(_FULL_ID.text)

    @on(Input.Submitted, "#confirmation")
    def submitted(self, message: Input.Submitted) -> None:
        """Enter goes on to the button, and says so; it does not delete."""
        if message.value != self._id:
            self.query_one("#confirmation", Input).add_class("-bad")
            self.ask_for(f"Nothing is deleted: that is not its ID. Type {self._id} in full:", "bad")
            return
        agree = self.query_one("#agree", Button)
        # Keys may come faster than the news that the ID is complete.
        agree.disabled = False
        agree.focus()
        self.ask_for("The ID is right. Enter once more deletes it for good.", "warning")

    @on(Button.Pressed, "#agree")
    def agreed(self) -> None:
        """The ID was typed in full."""
        if self.query_one("#confirmation", Input).value == self._id:
            self.agree(self._id)


class RecordDialog(Dialog):
    """Ask for the name of a new recording."""

    title_text = "Record from the next start on"
    ask = Span("Name, or nothing for the time and a random ending:")

    def body(self) -> Sequence[Span]:
        """Say what is made and changed."""
        return (
            Span("A new recording is made now, and provider calls go into it."),
            Span("Credentials are removed before writing; private content is not.", "warning"),
            Span(_AT_NEXT_START, "dim"),
            Span(""),
            self.ask,
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
            self.ask_for(RecordDialog.ask.text)
        else:
            self.ask_for(f"Not a name: {broken_rule}", "bad")

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
