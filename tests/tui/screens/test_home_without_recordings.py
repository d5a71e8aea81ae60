"""The first screen when there is nothing yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from tests.tui.conftest import Ui

    OpenUi = Callable[..., AbstractAsyncContextManager[Ui]]


async def test_an_empty_state_says_how_to_begin(open_ui: OpenUi):
    async with open_ui(size=(80, 24)) as ui:
        assert "No recordings yet." in ui.text
        assert "openprogram recordings record" in ui.text
        assert "○ OFF" in ui.lines[0]

        await ui.press("enter", "d", "p")
        assert ui.screen_name == "HomeScreen"

        await ui.press("2")
        assert "No replay has gone another way." in ui.text
        await ui.press("enter")
        assert ui.screen_name == "HomeScreen"
