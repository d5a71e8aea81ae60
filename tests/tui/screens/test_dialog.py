"""Every dialog on low and narrow screens: it shows what it asks, or agrees to nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from openprogram.providers import management
from openprogram_recordings_tui.messages import NoticeRaised

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


@pytest.mark.parametrize("size", [(60, 15), (40, 10)])
async def test_what_is_asked_and_the_field_are_seen(
    victim: Path, open_ui: OpenUi, size: tuple[int, int]
):
    async with open_ui(size=size) as ui:
        await ui.press("j", "d")
        await ui.type("wrong")
        await ui.press("enter")

        # One by one: the list behind the box shows at its sides.
        for words in (VICTIM, "that is not its ID.", "Type it", "wrong", "Cancel", "Delete"):
            assert words in ui.words
        assert exists(victim)


@pytest.mark.parametrize("keys", [("j", "d"), ("j", "p"), ("R",)])
async def test_nobody_agrees_to_what_cannot_be_read(
    victim: Path, open_ui: OpenUi, keys: tuple[str, ...]
):
    before = management.read_status()
    async with open_ui() as ui:
        await ui.press(*keys)
        if keys[-1] != "p":
            await ui.press("tab")
            await ui.type(VICTIM if keys[-1] == "d" else "other")
        await ui.resize(20, 5)
        said = re.search(r"terminal too small: (\d+) x (\d+) needed", ui.words)
        assert said is not None
        columns, rows = int(said[1]), int(said[2])
        for size, is_enough in (((columns, rows - 1), False), ((columns, rows), True)):
            await ui.resize(*size)
            assert ("too small" not in ui.words) == is_enough
        await ui.resize(20, 5)
        await ui.type("x")
        await ui.press("enter", "tab", "enter")
        await ui.resize(80, 24)
        assert management.read_status() == before
        assert exists(victim)


async def test_the_longest_id_is_deleted_on_the_smallest_screen(demo: Path, open_ui: OpenUi):
    name = "long-" * 12 + "name"
    source = demo / f"{VICTIM}.jsonl"
    source.rename(demo / f"{name}.jsonl")
    async with open_ui(size=(40, 10)) as ui:
        await ui.press("j", "d")
        assert name in ui.words.replace(" ", "")
        assert "Nothing else is touched" in ui.words
        await ui.type(name)
        await ui.press("enter")
        assert "Enter once more deletes it" in ui.words
        assert name in ui.words.replace(" ", "")
        await ui.press("enter")
        assert not exists(demo / f"{name}.jsonl")


async def test_a_long_notice_scrolls(open_ui: OpenUi):
    async with open_ui(size=(40, 10)) as ui:
        words = " ".join(f"word{number}" for number in range(60))
        ui.app.post_message(NoticeRaised("Said", words))
        await ui.settle()
        assert "word0 " in ui.words
        assert "word59" not in ui.words
        await ui.press("down", "pagedown", "down")
        assert "word59" in ui.words
        await ui.press("up", "pageup", "pageup")
        assert "word0 " in ui.words


async def test_a_small_box_says_what_goes_and_takes_the_id(victim: Path, open_ui: OpenUi):
    async with open_ui(size=(40, 10)) as ui:
        await ui.press("j", "d")
        assert VICTIM in ui.words
        assert "It is gone for good" in ui.words
        await ui.type(VICTIM)
        assert ui.words.count(VICTIM) >= 2
        await ui.press("enter", "enter")
        assert not exists(victim)


@pytest.mark.parametrize("size", [(60, 15), (40, 10)])
async def test_typed_text_survives_a_change_of_size(
    victim: Path, open_ui: OpenUi, size: tuple[int, int]
):
    async with open_ui() as ui:
        await ui.press("j", "d", "tab")
        await ui.type(VICTIM)
        await ui.resize(*size)

        assert VICTIM in ui.text
        await ui.press("enter", "enter")
        assert not exists(victim)


def exists(path: Path) -> bool:
    return path.exists()
