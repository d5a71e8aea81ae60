"""The app: help, themes, palette, leaving; screens that are too small; text that is hostile."""

from __future__ import annotations

import pathlib
import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

import openprogram_recordings_tui
from examples.demo_state import HOSTILE_TEXT, flaky_test, hostile
from openprogram.cli.app import app
from openprogram.providers import management
from openprogram.providers.mismatches import list_mismatch_reports
from openprogram_recordings_tui.bindings import KEY_GROUPS
from openprogram_recordings_tui.widgets.palette import (
    DARK_THEME_NAME,
    LIGHT_THEME_NAME,
    PLAIN_THEME_NAME,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.tui.conftest import Ui

    OpenUi = Callable[..., AbstractAsyncContextManager[Ui]]

pytestmark = pytest.mark.usefixtures("demo")


async def test_help_is_made_from_the_keys_of_the_screen(open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("question_mark")
        assert "Keys · home" in ui.text
        assert "Delete this recording, once its ID is typed" in ui.text
        await ui.press("question_mark")
        assert ui.screen_name == "HomeScreen"

        await ui.press("enter", "question_mark")
        assert "Show the events of the stream" in ui.text
        await ui.press("escape")
        assert ui.screen_name == "RecordingScreen"


async def test_help_is_wrapped_and_leaves_out_what_read_only_takes_away(open_ui: OpenUi):
    async with open_ui(size=(40, 24), is_read_only=True) as ui:
        await ui.press("question_mark", "G", "g")
        assert "Show only what holds the words typed; escape clears" in ui.words
        assert "Delete this" not in ui.text
        assert "Record from" not in ui.text


async def test_help_scrolls_to_its_end_on_a_small_screen(open_ui: OpenUi):
    async with open_ui(size=(60, 15)) as ui:
        await ui.press("question_mark", "G")

        assert "Hold shift or option" in ui.text


async def test_the_theme_changes_and_lines_are_drawn_anew(open_ui: OpenUi):
    async with open_ui() as ui:
        assert ui.app.theme == DARK_THEME_NAME
        before = ui.list("recordings").render_line(3)
        await ui.press("T")

        assert ui.app.theme == LIGHT_THEME_NAME
        after = ui.list("recordings").render_line(3)
        assert before.text == after.text
        assert [s.style for s in before] != [s.style for s in after]


async def test_without_colour_no_colour_is_drawn(open_ui: OpenUi):
    async with open_ui(is_colourless=True) as ui:
        assert ui.app.theme == PLAIN_THEME_NAME
        await ui.press("T")
        assert ui.app.theme == PLAIN_THEME_NAME

        for keys in ([], ["enter"], ["2"], ["escape", "escape", "d"]):
            await ui.press(*keys)
            for strip in ui.app.screen._compositor.render_strips():
                for segment in strip:
                    assert (
                        segment.style is None
                        or segment.style.color is None
                        or (segment.style.color.is_default)
                    )


async def test_every_action_of_the_screen_is_in_the_palette(open_ui: OpenUi):
    async with open_ui() as ui:
        titles = [command.title for command in ui.app.get_system_commands(ui.app.screen)]
        assert "Delete this recording, once its ID is typed" in titles
        assert "Show the keys of this screen" in titles

        await ui.press("ctrl+p")
        await ui.type("mismatch")
        await ui.press("enter", "enter")
        assert "INCOMING" in ui.text


async def test_the_palette_offers_nothing_that_writes_when_it_is_read_only(open_ui: OpenUi):
    async with open_ui(is_read_only=True) as ui:
        titles = [command.title for command in ui.app.get_system_commands(ui.app.screen)]

        assert not any("next start" in title or "Delete" in title for title in titles)


@pytest.mark.parametrize(
    ("key", "way"), [("q", ()), ("q", ("enter",)), ("ctrl+q", ()), ("ctrl+c", ("enter",))]
)
async def test_the_keys_that_leave_leave(open_ui: OpenUi, key: str, way: tuple[str, ...]):
    async with open_ui() as ui:
        await ui.press(*way)
        await ui.pilot.press(key)
        await ui.pilot.pause()

        assert not ui.app.is_running or ui.app._exit
        assert ui.app.return_code == 0


@pytest.mark.parametrize("key", ["ctrl+q", "ctrl+c"])
async def test_a_dialog_does_not_hold_anyone_back(open_ui: OpenUi, key: str):
    async with open_ui() as ui:
        await ui.press("j", "d", "tab")
        await ui.pilot.press(key)
        await ui.pilot.pause()

        assert ui.app._exit


async def test_a_source_that_breaks_is_said_and_nothing_waits_for_it(
    open_ui: OpenUi, monkeypatch: pytest.MonkeyPatch
):
    def find() -> list[object]:
        raise ZeroDivisionError("\x1b[2J odd")

    monkeypatch.setattr(management, "find_recordings", find)
    async with open_ui() as ui:
        assert ui.screen_name == "NoticeDialog"
        assert "Reading the lists failed" in ui.text
        assert "ZeroDivisionError: ␛[2J odd" in ui.words
        await ui.press("enter")
        assert "The recordings cannot be read." in ui.text
        assert "reading the recordings" not in ui.text

        monkeypatch.undo()


async def test_a_change_that_breaks_is_said_and_the_lists_stay(
    open_ui: OpenUi, monkeypatch: pytest.MonkeyPatch
):
    def turn_off() -> None:
        raise ZeroDivisionError("odd")

    monkeypatch.setattr(management, "turn_off", turn_off)
    async with open_ui() as ui:
        await ui.press("o")
        assert "ZeroDivisionError: odd" in ui.words
        await ui.press("enter")
        assert "1 of 11" in ui.lines[-1] or "1/11" in ui.lines[-1]


@pytest.mark.parametrize("size", [(20, 6), (1, 1)])
async def test_no_size_ends_the_ui(open_ui: OpenUi, size: tuple[int, int]):
    async with open_ui(size=size) as ui:
        await ui.press("j", "enter", "1", "2", "3", "4", "G", "enter", "escape", "escape")
        await ui.press("2", "enter", "n", "z", "G", "escape", "question_mark", "escape", "1", "d")
        await ui.resize(80, 24)
        await ui.press("escape")

        assert ui.screen_name == "HomeScreen"
        assert "review-pull-request" in ui.text


@pytest.mark.parametrize("size", [(20, 5), (40, 10)])
async def test_every_key_of_every_screen_acts_on_small_screens(
    open_ui: OpenUi, size: tuple[int, int]
):
    places = {"home": (), "recording": ("enter",), "mismatch": ("2", "enter")}
    for name, way in places.items():
        for group in KEY_GROUPS[name]:
            async with open_ui(size=size) as ui:
                for key in group.keys:
                    if key.action == "leave":
                        continue
                    while len(ui.app.screen_stack) > 1:
                        ui.app.pop_screen()
                    await ui.press("1", *way, key.keys.split(",")[0])
                assert ui.app.is_running
                assert not ui.app._exit
                if name != "home" and size == (40, 10):
                    while len(ui.app.screen_stack) > 1:
                        ui.app.pop_screen()
                    await ui.press("1", *way)
                    for hint in ("esc back", "? help", "q quit"):
                        assert hint in ui.lines[-1]


def test_every_command_the_ui_names_is_there():
    named: set[str] = set()
    for path in pathlib.Path(next(iter(openprogram_recordings_tui.__path__))).rglob("*.py"):
        named.update(re.findall(r"openprogram ([a-z]+(?: [a-z]+)*)", path.read_text("utf-8")))
    assert "recordings record" in named
    for words in named:
        assert CliRunner().invoke(app, [*words.split(), "--help"]).exit_code == 0, words


async def test_hostile_text_is_visible_and_harmless_on_every_screen(demo: Path, open_ui: OpenUi):
    hostile().write(demo)
    async with open_ui(recording=demo / "hostile.jsonl", size=(160, 50)) as ui:
        assert_harmless(ui)
        assert "␛]52;c;AAAA␇" in ui.text
        assert "[/x]" in ui.text
        assert "[@click=app.quit]y[/]" in ui.text
        assert "<U+202E>gnp.exe<U+202C>" in ui.text
        for keys in (["j", "1"], ["2", "G"], ["3", "G"], ["4", "G", "enter"], ["escape"]):
            await ui.press(*keys)
            assert_harmless(ui)
            assert "␛]52;c;AAAA␇" in ui.text or "\\u001b]52;c;AAAA" in ui.text

    async with open_ui(mismatch=list_mismatch_reports()[-1]) as ui:
        assert_harmless(ui)
        assert "␛]52" in ui.lines[2] or "u001b]52" in ui.lines[2]
        await ui.press("escape", "2")
        assert_harmless(ui)


async def test_a_hostile_path_is_shown_as_what_it_is(tmp_path: Path, open_ui: OpenUi):
    folder = tmp_path / "日本\x1b[31m[x]"
    folder.mkdir()
    author = flaky_test("\x1b]0;title\x07 [/bold] 日本")
    author.name = "\x1b]0;title\x07 [bold] 日本"
    path = author.write(folder)

    async with open_ui(recording=path) as ui:
        assert_harmless(ui)
        assert "␛]0;title␇ [bold] 日本" in ui.lines[0]
        path.unlink()
        await ui.press("ctrl+l")
        assert_harmless(ui)
        assert "unreadable" in ui.lines[1]


async def test_a_row_is_as_wide_as_the_screen_whatever_is_in_it(demo: Path, open_ui: OpenUi):
    hostile().write(demo)
    async with open_ui(recording=demo / "hostile.jsonl", size=(97, 33)) as ui:
        for keys in ([], ["1"], ["2"], ["3"], ["4"]):
            await ui.press(*keys)
            assert {cell_len(line) for line in ui.lines} == {97}


async def test_what_is_pasted_into_a_field_cannot_act_either(open_ui: OpenUi):
    async with open_ui() as ui:
        await ui.press("slash")
        await ui.type("p")
        await ui.type("r\x9b31m\u202ex")
        assert_harmless(ui)

        await ui.press("escape", "j", "d")
        await ui.type("r\x1b[2J\u202e")
        assert_harmless(ui)


def assert_harmless(ui: Ui) -> None:
    for line in ui.lines:
        bad = {c for c in line if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")}
        bad |= set(line) & set("\u202e\u202c\u200b\ufeff")
        assert not bad, (bad, line)
    assert HOSTILE_TEXT not in ui.text
