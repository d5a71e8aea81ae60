"""The UI on the demo state, driven by keys, read as text."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest
import textual.app
import textual.pilot
from textual import events
from textual._context import active_app
from textual.widget import Widget

from examples import demo_state
from openprogram_recordings_tui.app import RecordingsApp

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from textual.app import App
    from textual.pilot import Pilot

    from openprogram_recordings_tui.widgets.virtual_lines import VirtualLines


class Ui:
    """A running UI: press keys, and read the screen when all of it has settled."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.app = cast("RecordingsApp", pilot.app)

    async def settle(self) -> None:
        """Wait until nothing is read or changed any more, and all news are drawn."""
        calm_count = 0
        while calm_count < 2:
            await self.pilot.pause()
            calm_count = 0 if self.app.is_busy else calm_count + 1

    async def press(self, *keys: str) -> None:
        """Press keys one by one, each after the one before had its effect."""
        for key in keys:
            await self.pilot.press(key)
            if self.app.is_busy:
                await self.settle()
        await self.settle()

    async def type(self, text: str) -> None:
        """Type into the field: a key, and then the rest at once, as a terminal pastes it."""
        await self.pilot.press(*text[:1])
        focused = self.app.screen.focused
        if text[1:] and focused is not None:
            focused.post_message(events.Paste(text[1:]))
        await self.settle()

    async def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        await self.pilot.resize_terminal(columns, rows)
        await self.settle()

    @property
    def lines(self) -> list[str]:
        """What is on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return [strip.text for strip in strips]

    @property
    def text(self) -> str:
        """The same as one text."""
        return "\n".join(self.lines)

    @property
    def words(self) -> str:
        """The same without frames, as one line: where a text is wrapped does not matter."""
        return " ".join(re.sub(r"[│╭╮╰╯─]", " ", self.text).split())

    @property
    def screen_name(self) -> str:
        """What kind of screen is on top."""
        return type(self.app.screen).__name__

    def line_with(self, words: str) -> str:
        """Find the one line that holds some words."""
        found = [line for line in self.lines if words in line]
        assert found, f"{words!r} is not on the screen:\n{self.text}"
        return found[0]

    def list(self, name: str) -> VirtualLines:
        """Give a list of the screen by its ID."""
        return cast("VirtualLines", self.app.screen.query_one(f"#{name}"))


OpenUi = "Callable[..., AbstractAsyncContextManager[Ui]]"


_QUIET_TURNS = 25
"""How often others get their turn before nothing is taken to mean that nothing comes: what is being
handled stands in no queue."""


async def _wait_until_quiet(_least_seconds: float = 0, _most_seconds: float = 1) -> None:
    """Give way until, for some turns, nothing is left to be taken, laid out or drawn."""
    quiet_turn_count = 0
    while quiet_turn_count < _QUIET_TURNS:
        await asyncio.sleep(0)
        quiet_turn_count = 0 if _is_waiting(active_app.get()) else quiet_turn_count + 1


def _is_waiting(app: App[object]) -> bool:
    if app._resize_event is not None or not app.screen_stack:
        return app._resize_event is not None
    pumps = [app, *app.screen_stack, *app.screen.walk_children()]
    if any(pump.message_queue_size or pump._next_callbacks for pump in pumps):
        return True
    drawn = [app.screen, *app.screen.walk_children()]
    return bool(app.screen._callbacks) or any(
        widget._layout_required
        or widget._repaint_required
        or widget._scroll_required
        or widget._refresh_styles_required
        for widget in drawn
        if isinstance(widget, Widget)
    )


@pytest.fixture(autouse=True)
def wait_for_messages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what was asked for, and not for the processor: that is a third of all the time."""
    if "snap_compare" not in request.fixturenames:
        for module in (textual.app, textual.pilot):
            monkeypatch.setattr(module, "wait_for_idle", _wait_until_quiet)


@pytest.fixture
def demo(state_dir: Path) -> Path:
    """Write the demo state, and return its recordings directory."""
    demo_state.write_state(state_dir)
    return state_dir / "recordings"


@pytest.fixture
def open_ui() -> Callable[..., AbstractAsyncContextManager[Ui]]:
    """Give a function that runs the UI in a pretend terminal."""

    @asynccontextmanager
    async def run(size: tuple[int, int] = (120, 40), **options: Any) -> AsyncGenerator[Ui]:
        app = RecordingsApp(now=lambda: demo_state.NOW_AT, **options)
        async with app.run_test(size=size) as pilot:
            ui = Ui(pilot)
            await ui.settle()
            yield ui

    return run
