"""Dialogs: nothing is destroyed by accident, and what fails is said."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from openprogram import _compat
from openprogram.providers import management

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.tui.conftest import Ui

    OpenUi = Callable[..., AbstractAsyncContextManager[Ui]]

VICTIM = "review-pull-request"


@pytest.fixture
def victim(demo: Path) -> Path:
    """Give the recording that the tests try to delete: the second of the list."""
    return demo / f"{VICTIM}.jsonl"


async def test_the_right_id_and_the_button_delete(victim: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("j", "d")
        assert ui.screen_name == "DeleteDialog"
        assert VICTIM in ui.text
        assert "9 calls" in ui.text

        await ui.press("tab")
        await ui.type(VICTIM)
        await ui.press("enter")
        assert exists(victim)
        assert "The ID is right. Enter once more deletes it for good." in ui.words
        assert ui.app.screen.focused is ui.app.screen.query_one("#agree")

        await ui.press("enter")
        assert not exists(victim)
        assert ui.screen_name == "HomeScreen"
        assert VICTIM not in ui.text
        assert "2 of 10" in ui.lines[-1]


@pytest.mark.parametrize("typed", ["", "review-pull-reques", VICTIM.upper()])
async def test_any_other_id_deletes_nothing(victim: Path, open_ui: OpenUi, typed: str):
    async with open_ui() as ui:
        await ui.press("j", "d", "tab")
        await ui.type(typed)
        await ui.press("enter")
        assert "that is not its ID. Type it in full:" in ui.words
        await ui.type("x")
        assert "Type its full ID to delete it:" in ui.words
        await ui.press("enter", "tab", "enter")

        assert exists(victim)
        await ui.press("escape")
        assert ui.screen_name == "HomeScreen"


@pytest.mark.parametrize("keys", [("escape",), ("enter",), ("tab", *VICTIM[:3], "escape")])
async def test_focus_begins_on_cancel_and_escape_means_no(
    victim: Path, open_ui: OpenUi, keys: tuple[str, ...]
):
    async with open_ui() as ui:
        await ui.press("j", "d", *keys)

        assert ui.screen_name == "HomeScreen"
        assert exists(victim)
        assert "2 of 11" in ui.lines[-1]


async def test_the_active_recording_is_refused_with_the_remedy(demo: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("d")

        assert ui.screen_name == "NoticeDialog"
        assert "Not deleted" in ui.text
        assert "Press o" in ui.text
        await ui.press("enter")
        assert exists(demo / "fix-flaky-test.jsonl")


async def test_a_locked_recording_is_refused_and_stays_chosen(victim: Path, open_ui: OpenUi):
    fd = os.open(victim, os.O_RDONLY)
    try:
        _compat.lock_shared(fd, timeout_seconds=0)
        async with open_ui() as ui:
            await ui.press("j", "d", "tab")
            await ui.type(VICTIM)
            await ui.press("enter", "enter")

            assert ui.screen_name == "NoticeDialog"
            assert "in use by" in ui.words
            await ui.press("escape")
            assert "2 of 11" in ui.lines[-1]
    finally:
        os.close(fd)
    assert exists(victim)


async def test_a_recording_that_became_active_meanwhile_is_refused(victim: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("j", "d")
        await ui.type(VICTIM)
        management.prepare_replay(VICTIM)
        await ui.press("enter", "enter")

        assert "Not deleted" in ui.text
        assert exists(victim)


async def test_a_link_is_refused_and_what_it_leads_to_stays(
    demo: Path, victim: Path, open_ui: OpenUi
):
    link(demo / "a-link.jsonl", victim)
    async with open_ui() as ui:
        await ui.press("slash")
        await ui.type("a-link")
        await ui.press("enter", "d", "tab")
        await ui.type("a-link")
        await ui.press("enter", "enter")

        assert "Not deleted" in ui.text
        assert exists(victim)


async def test_replay_is_set_after_a_question(victim: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("j", "p")
        assert "nothing goes live" in ui.text
        await ui.press("tab", "enter")

        assert management.read_status().file == VICTIM
        assert "next start" in ui.line_with(f"●  {VICTIM}")
    assert exists(victim)


async def test_a_recording_that_is_not_sound_is_not_replayed(demo: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press(*["j"] * 5, "p", "tab", "enter")

        assert "Not set" in ui.text
        assert "line 28" in ui.words
        assert management.read_status().file == "fix-flaky-test"
    assert exists(demo)


async def test_a_new_recording_gets_the_name_that_was_typed(demo: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("R")
        assert "private content is not" in ui.text
        await ui.type("my-run")
        await ui.press("enter")

        assert exists(demo / "my-run.jsonl")
        assert management.read_status().mode == "record"
        assert "● RECORD" in ui.lines[0]


async def test_a_name_that_can_be_none_is_not_taken(demo: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("R")
        await ui.type("../x")
        await ui.press("enter")

        assert ui.screen_name == "RecordDialog"
        assert "Not a name: an ID is 1 to 64 of the letters" in ui.words
        await ui.press(*["backspace"] * 4)
        await ui.type("nul")
        assert "Not a name: some systems take this name for a device" in ui.words
        await ui.press("enter")
        assert ui.screen_name == "RecordDialog"
        await ui.press("escape")
        assert management.read_status().mode == "replay"
    assert exists(demo)


async def test_a_name_that_is_taken_is_said(victim: Path, open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("R")
        await ui.type(VICTIM)
        await ui.press("enter")

        assert "Not set" in ui.text
        assert management.read_status().mode == "replay"
    assert exists(victim)


async def test_nothing_can_be_written_when_it_is_read_only(demo: Path, open_ui: OpenUi):
    async with open_ui(is_read_only=True) as ui:
        assert "delete" not in ui.lines[-1]
        await ui.press("j", "d", "p", "R", "o")

        assert ui.screen_name == "HomeScreen"
        assert management.read_status().mode == "replay"
        assert len(names(demo)) == 11


def exists(path: Path) -> bool:
    return path.exists()


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def link(path: Path, target: Path) -> None:
    path.symlink_to(target)
