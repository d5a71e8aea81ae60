"""The look: two themes of one design, and a third for terminals without colour.

Cool is what was recorded, warm is what came in; everything else is ink and paper. A role is
resolved here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.style import Style
from textual.app import App
from textual.theme import Theme

if TYPE_CHECKING:
    from openprogram_recordings_tui.presentation.lines import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Inks:
    """The colours of one theme, as hexadecimal RGB."""

    background: str
    surface: str
    panel: str
    line: str
    text: str
    strong: str
    dim: str
    faint: str
    accent: str
    accent_ink: str
    """Text on a field of the accent."""
    good: str
    warning: str
    bad: str
    violet: str
    warm: str
    recorded_field: str
    recorded_word: str
    incoming_field: str
    incoming_word: str
    mark_field: str
    cursor: str
    cursor_blurred: str


DARK_INKS = Inks(
    background="#0d1117",
    surface="#121821",
    panel="#1a222d",
    line="#28323f",
    text="#cdd6e0",
    strong="#f2f6fa",
    dim="#8693a3",
    faint="#6a7787",
    accent="#6cb6ff",
    accent_ink="#07121f",
    good="#6fcf97",
    warning="#e6c05c",
    bad="#ff7b84",
    violet="#b9a4f0",
    warm="#f5a662",
    recorded_field="#12304d",
    recorded_word="#1f5c94",
    incoming_field="#45290f",
    incoming_word="#8a4d14",
    mark_field="#4b2030",
    cursor="#203a58",
    cursor_blurred="#1b2531",
)

LIGHT_INKS = Inks(
    background="#fbfaf7",
    surface="#f4f2ed",
    panel="#e9e6df",
    line="#d2cdc2",
    text="#2b3138",
    strong="#0d1117",
    dim="#626c78",
    faint="#7a838d",
    accent="#0b62b8",
    accent_ink="#ffffff",
    good="#1a7f47",
    warning="#8a6100",
    bad="#c02637",
    violet="#6a4bc4",
    warm="#a8520a",
    recorded_field="#d9e9fa",
    recorded_word="#a5cdf5",
    incoming_field="#fbe6d0",
    incoming_word="#f5c08d",
    mark_field="#f6d3da",
    cursor="#cfe2f7",
    cursor_blurred="#e4e1da",
)

DARK_THEME_NAME = "recordings-dark"
LIGHT_THEME_NAME = "recordings-light"
PLAIN_THEME_NAME = "recordings-plain"


def theme_of(name: str, inks: Inks, *, dark: bool) -> Theme:
    """Make the Textual theme of a set of inks.

    Args:
        name: The theme's name.
        inks: Its colours.
        dark: Whether it is light on dark.

    Returns:
        A theme to register.
    """
    return Theme(
        name=name,
        dark=dark,
        primary=inks.accent,
        secondary=inks.violet,
        accent=inks.accent,
        success=inks.good,
        warning=inks.warning,
        error=inks.bad,
        foreground=inks.text,
        background=inks.background,
        surface=inks.surface,
        panel=inks.panel,
        variables={
            "line": inks.line,
            "dim": inks.dim,
            "accent-ink": inks.accent_ink,
            "cursor": inks.cursor,
            "cursor-blurred": inks.cursor_blurred,
            "footer-background": inks.surface,
        },
    )


def plain_theme() -> Theme:
    """Make the theme for `NO_COLOR`: the terminal's own two colours.

    Returns:
        A theme to register.
    """
    default = "ansi_default"
    return Theme(
        name=PLAIN_THEME_NAME,
        dark=True,
        ansi=True,
        primary=default,
        secondary=default,
        accent=default,
        success=default,
        warning=default,
        error=default,
        foreground=default,
        background=default,
        surface=default,
        panel=default,
        boost=default,
        variables={
            "line": default,
            "dim": default,
            "accent-ink": default,
            "cursor": default,
            "cursor-blurred": default,
            "ansi-background": default,
            "ansi-foreground": default,
        },
    )


def _coloured_styles(inks: Inks) -> dict[Role, Style]:
    def ink(
        color: str,
        field: str | None = None,
        *,
        bold: bool | None = None,
        italic: bool | None = None,
        underline: bool | None = None,
    ) -> Style:
        return Style(color=color, bgcolor=field, bold=bold, italic=italic, underline=underline)

    return {
        "text": Style(),
        "strong": ink(inks.strong, bold=True),
        "dim": ink(inks.dim),
        "faint": ink(inks.faint),
        "accent": ink(inks.accent),
        "title": ink(inks.accent, bold=True),
        "heading": ink(inks.faint, bold=True),
        "good": ink(inks.good),
        "warning": ink(inks.warning),
        "bad": ink(inks.bad),
        "info": ink(inks.violet),
        "user": ink(inks.accent, bold=True),
        "assistant": ink(inks.good, bold=True),
        "thinking": ink(inks.dim, italic=True),
        "tool": ink(inks.violet, bold=True),
        "key": ink(inks.accent),
        "string": ink(inks.text),
        "number": ink(inks.warm),
        "redacted": ink(inks.violet, italic=True),
        "recorded": ink(inks.accent, bold=True),
        "incoming": ink(inks.warm, bold=True),
        "lit_recorded": ink(inks.strong, inks.recorded_field),
        "lit_incoming": ink(inks.strong, inks.incoming_field),
        "lit_word_recorded": ink(inks.strong, inks.recorded_word, bold=True),
        "lit_word_incoming": ink(inks.strong, inks.incoming_word, bold=True),
        "badge_off": ink(inks.text, inks.panel, bold=True),
        "badge_record": ink(inks.background, inks.bad, bold=True),
        "badge_replay": ink(inks.accent_ink, inks.accent, bold=True),
        "badge_blocked": ink(inks.background, inks.warning, bold=True),
        "tab": ink(inks.dim),
        "tab_on": ink(inks.accent, bold=True, underline=True),
        "key_cap": ink(inks.accent, bold=True),
        "mark": ink(inks.bad, inks.mark_field),
    }


def _plain_styles() -> dict[Role, Style]:
    bold, dim, reverse = Style(bold=True), Style(dim=True), Style(reverse=True)
    underline = Style(underline=True)
    plain = Style()
    return {
        "text": plain,
        "strong": bold,
        "dim": plain,
        "faint": dim,
        "accent": plain,
        "title": bold,
        "heading": dim,
        "good": plain,
        "warning": bold,
        "bad": bold,
        "info": plain,
        "user": bold,
        "assistant": bold,
        "thinking": dim,
        "tool": bold,
        "key": plain,
        "string": plain,
        "number": plain,
        "redacted": Style(italic=True),
        "recorded": bold,
        "incoming": bold,
        "lit_recorded": bold,
        "lit_incoming": bold,
        "lit_word_recorded": reverse,
        "lit_word_incoming": reverse,
        "badge_off": reverse,
        "badge_record": reverse,
        "badge_replay": reverse,
        "badge_blocked": reverse,
        "tab": plain,
        "tab_on": bold + underline,
        "key_cap": bold,
        "mark": underline,
    }


@dataclass(frozen=True, slots=True)
class Palette:
    """How each role looks in one theme."""

    styles: dict[Role, Style]
    """Foreground styles, some with a field of their own."""
    cursor: Style
    """The chosen line of the list that has the focus."""
    cursor_blurred: Style
    """The chosen line of another list."""


@lru_cache(maxsize=4)
def palette_of(theme_name: str) -> Palette:
    """Give the palette of a theme.

    Args:
        theme_name: A name from this module; any other theme gets the dark one.

    Returns:
        The palette.
    """
    if theme_name == PLAIN_THEME_NAME:
        return Palette(_plain_styles(), Style(reverse=True), Style(underline=True))
    inks = LIGHT_INKS if theme_name == LIGHT_THEME_NAME else DARK_INKS
    return Palette(
        _coloured_styles(inks),
        Style(bgcolor=inks.cursor),
        Style(bgcolor=inks.cursor_blurred),
    )


def any_app() -> type[App[object]]:
    """Name the type of the app for widgets that know no other.

    Returns:
        The base of every app.
    """
    return App
