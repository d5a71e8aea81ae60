"""Every key of the UI, once: what it does, where, and what the help screen says about it.

Screens and widgets take their bindings from here. Letters never act while a field has the focus,
because the field takes them first; no key means two things on one screen (a test walks them all).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.binding import Binding

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One action and the keys that run it."""

    id: str
    """A stable name, such as `recordings.delete`."""
    keys: str
    """Textual's names of the keys, by comma; the first is the one that hints show."""
    action: str
    """What runs."""
    hint: str
    """One or two words for the footer; empty for what goes without saying."""
    help: str
    """A sentence for the help screen."""
    cap: str = ""
    """How the keys are written; made from `keys` when empty."""
    hint_cap: str = ""
    """How they are written in the footer; the first of `caps` when empty."""
    keeps_hint: bool = False
    """Whether its hint gets its room before those of other keys of the screen."""
    always: bool = False
    """Whether it acts even while a dialog is open or a field has the focus."""
    writes: bool = False
    """Whether it changes something on disk: gone with `--read-only`."""

    @property
    def caps(self) -> str:
        """The keys as people write them."""
        return self.cap or " ".join(_CAPS.get(key, key) for key in self.keys.split(","))

    def binding(self) -> Binding:
        """Make Textual's binding."""
        return Binding(
            self.keys,
            self.action,
            self.hint or self.help,
            id=self.id,
            tooltip=self.help,
            priority=self.always,
        )


_CAPS = {
    "question_mark": "?",
    "slash": "/",
    "escape": "esc",
    "ctrl+q": "^q",
    "ctrl+c": "^c",
    "ctrl+p": "^p",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "shift+tab": "⇧tab",
}

APP_KEYS = (
    Key(id="app.help", keys="question_mark,f1", action="help", hint="help", cap="?",
        help="Show the keys of this screen"),
    Key(id="app.theme", keys="T", action="toggle_theme", hint="",
        help="Change between the dark and the light theme"),
    Key(id="app.refresh", keys="ctrl+l,f5", action="reload", hint="", cap="^l",
        help="Read everything again and draw it anew"),
    Key(id="app.quit", keys="ctrl+q,ctrl+c", action="leave", hint="", cap="^q ^c",
        always=True, help="Leave from anywhere"),
)  # fmt: skip

LIST_KEYS = (
    Key(id="list.down", keys="down,j", action="move(1)", hint="", cap="↓ j", help="Go down"),
    Key(id="list.up", keys="up,k", action="move(-1)", hint="", cap="↑ k", help="Go up"),
    Key(id="list.page_down", keys="pagedown", action="page(1)", hint="", cap="PgDn",
        help="Go a screen down"),
    Key(id="list.page_up", keys="pageup", action="page(-1)", hint="", cap="PgUp",
        help="Go a screen up"),
    Key(id="list.half_down", keys="ctrl+d", action="half_page(1)", hint="", cap="^d",
        help="Go half a screen down"),
    Key(id="list.half_up", keys="ctrl+u", action="half_page(-1)", hint="", cap="^u",
        help="Go half a screen up"),
    Key(id="list.first", keys="home,g", action="first", hint="", cap="g Home",
        help="Go to the first line"),
    Key(id="list.last", keys="end,G", action="last", hint="", cap="G End",
        help="Go to the last line"),
    Key(id="list.choose", keys="enter,right,l", action="choose", hint="open", cap="enter",
        hint_cap="↵",
        help="Go into the chosen line"),
)  # fmt: skip

HOME_KEYS = (
    Key(id="home.filter", keys="slash", action="filter", hint="filter", cap="/",
        help="Show only what holds the words typed; escape clears"),
    Key(id="home.replay", keys="p", action="replay", hint="replay", writes=True,
        help="Replay this recording from the next start on"),
    Key(id="home.record", keys="R", action="record", hint="record", writes=True,
        help="Record from the next start on"),
    Key(id="home.off", keys="o", action="off", hint="off", writes=True, keeps_hint=True,
        help="Neither record nor replay from the next start on"),
    Key(id="home.delete", keys="d", action="delete", hint="delete", writes=True,
        keeps_hint=True,
        help="Delete this recording, once its ID is typed"),
    Key(id="home.recordings", keys="1", action="tab('recordings')", hint="", cap="1",
        help="Show the recordings"),
    Key(id="home.mismatches", keys="2", action="tab('mismatches')", hint="", cap="2",
        help="Show the mismatch reports"),
    Key(id="home.tapes", keys="3", action="tab('tapes')", hint="", cap="3",
        help="Say how things stand with tapes"),
    Key(id="home.next_tab", keys="tab", action="next_tab(1)", hint="", cap="tab",
        help="Go to the next tab"),
    Key(id="home.previous_tab", keys="shift+tab", action="next_tab(-1)", hint="", cap="⇧tab",
        help="Go to the tab before"),
    Key(id="home.clear", keys="escape", action="clear", hint="", cap="esc",
        help="Clear the filter"),
    Key(id="home.leave", keys="q", action="leave", hint="quit", help="Leave"),
)  # fmt: skip

RECORDING_KEYS = (
    Key(id="recording.out", keys="escape", action="out", hint="back", cap="esc",
        help="Go out: to the calls, then to the list"),
    Key(id="recording.back", keys="left,h", action="back", hint="", cap="← h",
        help="Close a branch of the request, else go out"),
    Key(id="recording.panes", keys="tab,shift+tab", action="other_pane", hint="pane", cap="tab",
        help="Go to the other pane"),
    Key(id="recording.conversation", keys="1", action="view('conversation')", hint="",
        help="Show what was said"),
    Key(id="recording.request", keys="2", action="view('request')", hint="",
        help="Show the request as a tree"),
    Key(id="recording.events", keys="3", action="view('events')", hint="",
        help="Show the events of the stream"),
    Key(id="recording.raw", keys="4", action="view('raw')", hint="views", cap="4", hint_cap="1-4",
        help="Show the physical rows of the file"),
    Key(id="recording.next_call", keys="right_square_bracket", action="call(1)", hint="call",
        cap="]", hint_cap="[ ]", help="Go to the next call"),
    Key(id="recording.previous_call", keys="left_square_bracket", action="call(-1)", hint="",
        cap="[", help="Go to the call before"),
    Key(id="recording.fault", keys="b", action="fault", hint="faulty row", cap="b",
        help="Go to the line that makes the recording unsound"),
    Key(id="recording.leave", keys="q", action="leave", hint="quit", help="Leave"),
)  # fmt: skip

MISMATCH_KEYS = (
    Key(id="mismatch.next", keys="n", action="difference(1)", hint="difference", hint_cap="n N",
        help="Go to the next difference"),
    Key(id="mismatch.previous", keys="N", action="difference(-1)", hint="",
        help="Go to the difference before"),
    Key(id="mismatch.fold", keys="z", action="fold", hint="all fields",
        help="Show the fields that are the same, or fold them"),
    Key(id="mismatch.open", keys="c", action="open_call", hint="recorded call",
        help="Open the recorded call"),
    Key(id="mismatch.back", keys="escape,left,h", action="back", hint="back", cap="esc",
        help="Go back to the list"),
    Key(id="mismatch.leave", keys="q", action="leave", hint="quit", help="Leave"),
)  # fmt: skip

DIALOG_KEYS = (
    Key(id="dialog.cancel", keys="escape", action="cancel", hint="cancel", cap="esc",
        help="Close it; nothing happens"),
    Key(id="dialog.down", keys="down,pagedown", action="scroll(4)", hint="", cap="↓ PgDn",
        help="Show what is further down"),
    Key(id="dialog.up", keys="up,pageup", action="scroll(-4)", hint="", cap="↑ PgUp",
        help="Show what is further up"),
)  # fmt: skip

HELP_KEYS = (
    Key(id="help.close", keys="escape,question_mark,q,left,h", action="close", hint="close",
        cap="esc", help="Close the help"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """A heading of the help screen and the keys under it."""

    title: str
    """The heading."""
    keys: tuple[Key, ...]
    """Its keys."""


KEY_GROUPS = {
    "home": (KeyGroup("This screen", HOME_KEYS), KeyGroup("In a list", LIST_KEYS)),
    "recording": (KeyGroup("This screen", RECORDING_KEYS), KeyGroup("In a list", LIST_KEYS)),
    "mismatch": (KeyGroup("This screen", MISMATCH_KEYS), KeyGroup("In a list", LIST_KEYS)),
}
"""What the help screen shows, by the name of a screen; the keys of the app follow."""


def bindings_of(keys: Iterable[Key]) -> list[Binding]:
    """Make Textual's bindings of some keys.

    Args:
        keys: From this table.

    Returns:
        One binding for each.
    """
    return [key.binding() for key in keys]


LIST_BINDINGS = tuple(bindings_of(LIST_KEYS))
"""The bindings of every list."""
