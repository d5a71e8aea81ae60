"""The one list of the UI: its cost is the screen's, whatever the length."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from textual.app import App

from openprogram_recordings_tui.presentation.lines import FixedLines, Line, LineSource, Span
from openprogram_recordings_tui.widgets.palette import DARK_INKS, DARK_THEME_NAME, theme_of
from openprogram_recordings_tui.widgets.virtual_lines import VirtualLines

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from textual.app import ComposeResult
    from textual.pilot import Pilot


class Numbers(LineSource):
    """As many lines as asked for; it remembers which were drawn."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.drawn: list[int] = []
        self.widths: set[int] = set()

    @property
    def line_count(self) -> int:
        return self.count

    def line(self, index: int, width: int) -> Line:
        self.drawn.append(index)
        self.widths.add(width)
        return (Span(f"line {index}"),)


class Stage(App[None]):
    """Two lists side by side."""

    CSS = "VirtualLines { width: 1fr; height: 1fr; } Screen { layout: horizontal; }"

    def __init__(self, *lists: VirtualLines) -> None:
        super().__init__()
        self._lists = lists
        self.register_theme(theme_of(DARK_THEME_NAME, DARK_INKS, dark=True))
        self.theme = DARK_THEME_NAME
        self.heard: list[tuple[str, int]] = []

    def compose(self) -> ComposeResult:
        yield from self._lists

    def on_virtual_lines_moved(self, message: VirtualLines.Moved) -> None:
        self.heard.append(("moved", message.index))

    def on_virtual_lines_chosen(self, message: VirtualLines.Chosen) -> None:
        self.heard.append(("chosen", message.index))


@asynccontextmanager
async def on_stage(*lists: VirtualLines) -> AsyncGenerator[tuple[Stage, Pilot[None]]]:
    app = Stage(*lists)
    async with app.run_test(size=(40, 10)) as pilot:
        lists[0].focus()
        await pilot.pause()
        yield app, pilot


async def test_a_million_lines_cost_as_much_as_a_screen_of_them():
    source = Numbers(1_000_000)
    lines = VirtualLines(source)
    async with on_stage(lines) as (_, pilot):
        assert set(source.drawn) <= set(range(11))
        source.drawn.clear()

        await pilot.press("G")
        await pilot.pause()
        assert lines.cursor == 999_999
        assert set(source.drawn) <= {0, *range(999_989, 1_000_000)}
        assert lines.render_line(9).text.strip() == "line 999999"

        source.drawn.clear()
        await pilot.press("k")
        await pilot.pause()
        assert set(source.drawn) <= {999_998, 999_999}


async def test_keys_move_by_lines_pages_and_ends():
    lines = VirtualLines(Numbers(100))
    async with on_stage(lines) as (_, pilot):
        seen: list[int] = []
        for key in ("j", "down", "k", "pagedown", "ctrl+d", "ctrl+u", "pageup", "G", "j", "g", "k"):
            await pilot.press(key)
            seen.append(lines.cursor)

        assert seen == [1, 2, 1, 10, 15, 10, 1, 99, 99, 0, 0]


async def test_what_is_chosen_is_always_on_the_screen():
    lines = VirtualLines(Numbers(1000))
    async with on_stage(lines) as (_, pilot):
        for index in (500, 3, 999, 490, 0):
            lines.move_to(index)
            await pilot.pause()
            assert lines.scroll_offset.y <= lines.cursor < lines.scroll_offset.y + 10

        lines.move_to(500, is_jump=True)
        await pilot.pause()
        assert lines.scroll_offset.y == 497


async def test_moves_and_choices_are_said():
    lines = VirtualLines(Numbers(5))
    async with on_stage(lines) as (app, pilot):
        await pilot.press("j", "enter", "l")
        await pilot.pause()

        assert app.heard == [("moved", 1), ("chosen", 1), ("chosen", 1)]


async def test_a_list_that_grows_keeps_what_is_chosen_and_one_that_shrinks_stays_within():
    source = Numbers(10)
    lines = VirtualLines(source)
    async with on_stage(lines) as (_, pilot):
        await pilot.press("G")
        source.count = 50
        lines.update_count()
        await pilot.pause()
        assert lines.cursor == 9
        assert lines.virtual_size.height == 50

        source.count = 3
        lines.update_count()
        await pilot.pause()
        assert lines.cursor == 2
        assert lines.render_line(3).text.strip() == ""


async def test_lines_are_drawn_again_only_when_they_may_have_changed():
    source = Numbers(5)
    lines = VirtualLines(source)
    async with on_stage(lines) as (_, pilot):
        await pilot.press("j")
        await pilot.pause()
        source.drawn.clear()

        lines.refresh()
        await pilot.pause()
        assert set(source.drawn) <= {lines.cursor}

        lines.forget()
        await pilot.pause()
        assert set(source.drawn) == {0, 1, 2, 3, 4}


async def test_linked_lists_never_scroll_apart():
    one, other = VirtualLines(Numbers(300)), VirtualLines(Numbers(300))
    one.link(other)
    async with on_stage(one, other) as (_, pilot):
        for key in ("G", "pageup", "tab", "g", "ctrl+d", "pagedown"):
            await pilot.press(key)
            await pilot.pause()
            assert one.cursor == other.cursor
            assert one.scroll_offset.y == other.scroll_offset.y


async def test_without_a_cursor_the_keys_scroll():
    lines = VirtualLines(Numbers(50), has_cursor=False)
    async with on_stage(lines) as (_, pilot):
        await pilot.press("j", "j")
        await pilot.pause()
        assert lines.scroll_offset.y == 2

        await pilot.press("G", "j")
        await pilot.pause()
        assert lines.scroll_offset.y == 40
        await pilot.press("g", "k")
        await pilot.pause()
        assert lines.scroll_offset.y == 0


@pytest.mark.parametrize("count", [0, 1])
async def test_an_empty_or_single_list_takes_every_key(count: int):
    lines = VirtualLines(Numbers(count))
    async with on_stage(lines) as (app, pilot):
        await pilot.press("j", "k", "G", "g", "pagedown", "pageup", "ctrl+d", "enter")
        await pilot.pause()

        assert lines.cursor == 0
        assert app.heard == [("chosen", 0)] * count


async def test_another_source_begins_where_it_is_told_to():
    lines = VirtualLines(Numbers(50))
    async with on_stage(lines) as (_, pilot):
        lines.show(FixedLines([(Span(f"fixed {i}"),) for i in range(20)]), cursor=15)
        await pilot.pause()

        assert lines.cursor == 15
        assert lines.render_line(15 - lines.scroll_offset.y).text.strip() == "fixed 15"


async def test_a_line_is_asked_for_at_the_width_it_is_drawn_in():
    source = Numbers(5)
    async with on_stage(VirtualLines(source)):
        assert source.widths == {40}
