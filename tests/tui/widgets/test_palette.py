"""The look: every role has one in each theme, and what must be told apart can be."""

from __future__ import annotations

from typing import get_args

import pytest
from rich.color import Color

from openprogram_recordings_tui.presentation.lines import Role
from openprogram_recordings_tui.widgets.palette import (
    DARK_INKS,
    DARK_THEME_NAME,
    LIGHT_INKS,
    LIGHT_THEME_NAME,
    PLAIN_THEME_NAME,
    Inks,
    palette_of,
)

THEMES = (DARK_THEME_NAME, LIGHT_THEME_NAME, PLAIN_THEME_NAME)
LEGIBLE_CONTRAST = 4.5
FAINT_CONTRAST = 3.0


def luminance(color: str) -> float:
    triplet = Color.parse(color).get_truecolor()
    parts = [value / 255 for value in triplet]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_every_role_has_a_look(theme: str):
    assert set(palette_of(theme).styles) == set(get_args(Role))


def test_without_colour_no_role_has_one():
    palette = palette_of(PLAIN_THEME_NAME)

    for style in (*palette.styles.values(), palette.cursor, palette.cursor_blurred):
        assert style.color is None
        assert style.bgcolor is None


@pytest.mark.parametrize("theme", THEMES)
def test_a_changed_word_and_a_mark_look_unlike_what_is_around_them(theme: str):
    styles = palette_of(theme).styles

    assert styles["lit_word_recorded"] != styles["lit_recorded"]
    assert styles["lit_word_incoming"] != styles["lit_incoming"]
    assert styles["mark"] != styles["text"]


@pytest.mark.parametrize("inks", [DARK_INKS, LIGHT_INKS])
@pytest.mark.parametrize(
    "name", ["text", "strong", "dim", "accent", "good", "warning", "bad", "violet", "warm"]
)
def test_ink_is_legible_on_every_ground_it_stands_on(inks: Inks, name: str):
    ink = getattr(inks, name)

    assert contrast(ink, inks.background) >= LEGIBLE_CONTRAST
    assert contrast(ink, inks.cursor) >= FAINT_CONTRAST


@pytest.mark.parametrize("inks", [DARK_INKS, LIGHT_INKS])
def test_what_is_faint_can_still_be_read(inks: Inks):
    assert contrast(inks.faint, inks.background) >= FAINT_CONTRAST
    for field in (inks.recorded_word, inks.incoming_word, inks.recorded_field):
        assert contrast(inks.strong, field) >= LEGIBLE_CONTRAST
    assert contrast(inks.accent_ink, inks.accent) >= LEGIBLE_CONTRAST
    assert contrast(inks.bad, inks.mark_field) >= FAINT_CONTRAST
