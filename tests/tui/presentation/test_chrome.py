"""Title, tabs, hints, banners: what matters fits at every width."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.errors import RecordingFileError
from openprogram.providers.inspection import RecordingInspection
from openprogram.providers.management import RecordReplayStatus
from openprogram_recordings_tui.bindings import HOME_KEYS, LIST_KEYS
from openprogram_recordings_tui.cells import fit, fit_middle, width_of
from openprogram_recordings_tui.presentation.chrome import (
    Tab,
    facts_line,
    fault_banner,
    hints_line,
    mode_badge,
    tab_at,
    tabs_line,
    title_line,
)
from openprogram_recordings_tui.presentation.lines import cells_of
from openprogram_recordings_tui.screens.home import HomeScreen

if TYPE_CHECKING:
    from openprogram_recordings_tui.presentation.lines import Line

TABS = (Tab("one", "Recordings", "11"), Tab("two", "Mismatches"), Tab("three", "Tapes"))


def words(line: Line) -> str:
    return "".join(span.text for span in line)


def status(mode: str, *, valid: bool = True, restart_required: bool = False) -> RecordReplayStatus:
    return RecordReplayStatus(
        mode=mode,
        file="first-run",
        path="/x/first-run.jsonl",
        source="/x/config.json",
        valid=valid,
        file_exists=True,
        size_bytes=1,
        reason=None if valid else "why",
        restart_required=restart_required,
    )


@given(
    st.lists(st.text(max_size=30), max_size=3),
    st.sampled_from(["off", "record", "replay", "blocked", "odd"]),
    st.integers(min_value=1, max_value=200),
)
def test_the_title_is_as_wide_as_the_screen(trail: list[str], mode: str, width: int):
    assert cells_of(title_line(trail, status(mode), width)) == width


@pytest.mark.parametrize(
    ("mode", "valid", "badge"),
    [
        ("off", True, "○ OFF"),
        ("record", True, "● RECORD"),
        ("replay", True, "▶ REPLAY"),
        ("replay", False, "✗ BLOCKED"),
        ("blocked", False, "✗ BLOCKED"),
        ("odd", False, "✗ BLOCKED"),
    ],
)
def test_the_mode_is_a_sign_and_a_word(mode: str, valid: bool, badge: str):
    assert badge in words(mode_badge(status(mode, valid=valid), 80))


def test_a_worker_that_must_be_restarted_is_said():
    assert "restart the worker" in words(mode_badge(status("off", restart_required=True), 80))


def test_a_deep_trail_pushes_the_name_of_the_product_out():
    line = words(title_line(("mismatch", "fix-flaky-test", "call 4"), status("replay"), 80))

    assert "mismatch › fix-flaky-test › call 4" in line
    assert "OpenProgram" not in line


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_name_is_kept_as_long_as_there_is_room(width: int):
    name = "20261130T091412Z-5be7a1c9"

    inside, home = (words(title_line(trail, status("replay"), width)) for trail in ((name,), ()))

    assert "▶ REPLAY" in inside
    assert name in inside
    assert "▶ REPLAY  first-run" in home
    long = words(title_line(("mismatch", "run-" * 16, "call 4"), status("replay"), width))
    assert "› ru" in long
    assert ("…" in long) is (width < 120)
    assert "› call 4" in long


@given(st.text(max_size=40), st.integers(min_value=0, max_value=30))
def test_a_text_cut_in_its_middle_fits(text: str, cells: int):
    shown = fit_middle(text, cells)

    assert width_of(shown) <= cells
    assert shown == fit(text, cells) or "…" in shown


@pytest.mark.parametrize(
    ("columns", "position"), [(80, "10 of 11"), (80, "999 of 999"), (40, "2 of 11")]
)
def test_the_keys_that_matter_are_never_left_out(columns: int, position: str):
    home = HomeScreen(None, is_read_only=False)
    home.position = lambda: position
    home.is_possible = lambda key: key.action != "clear"
    line = words(home._hints(columns))
    assert all(hint in line for hint in ("o off", "d delete", "? help", "q quit"))
    assert position.replace(" of ", "/") in line
    if columns == 80:
        assert all(hint in line for hint in ("↵ open", "/ filter", "p replay", "R record"))


def test_a_click_hits_the_tab_that_is_drawn_there():
    line = words(tabs_line(TABS, "one"))
    for tab in TABS:
        start = line.index(tab.label)
        assert tab_at(TABS, "one", start) == tab.name
        assert tab_at(TABS, "one", start + len(tab.label) - 1) == tab.name
    assert tab_at(TABS, "one", 0) is None
    assert tab_at(TABS, "one", len(line) + 5) is None


@given(st.integers(min_value=0, max_value=200))
def test_hints_that_do_not_fit_are_left_out_whole(width: int):
    line = hints_line((LIST_KEYS[-1], *HOME_KEYS), "2 of 11", width)

    assert cells_of(line) == width
    shown = words(line)
    assert "enter" not in shown or "enter open" in shown


def test_a_fault_says_line_code_and_reason():
    error = RecordingFileError(Path("x"), "invalid_utf8", "byte 7 is odd", 1234, 2)

    assert words(fault_banner(error, 2)).strip() == (
        "✗ line 1,234  invalid_utf8  byte 7 is odd  · 2 calls before it"
    )
    nowhere = RecordingFileError(Path("x"), "unreadable", "is gone")
    assert words(fault_banner(nowhere, 0)).strip() == "✗ the file  unreadable  is gone"


def test_what_is_still_read_is_said():
    assert "12 rows · reading…" in words(facts_line(None, 12, is_whole=False, width=80))
    assert "asking the strict reader" in words(facts_line(None, 12, is_whole=True, width=80))


@pytest.mark.parametrize("width", [12, 20, 30, 44])
def test_the_verdict_of_the_strict_reader_is_never_cut(width: int):
    inspection = RecordingInspection(
        path=Path("x"),
        size_bytes=252_000_000,
        header=None,
        calls=(),
        event_count=997_999,
        error=None,
    )

    line = facts_line(inspection, 1_000_000, is_whole=True, width=width)

    assert cells_of(line) == width
    assert "✓ sound" in words(line)
    assert ("997k events" in words(line)) is (width >= 30)
    assert ("format" in words(line)) is (width >= 44)
