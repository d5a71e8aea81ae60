"""Pictures of the main screens: a change of look is seen, and agreed to or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from examples import demo_state
from openprogram.providers.mismatches import list_mismatch_reports
from openprogram_recordings_tui.app import RecordingsApp
from tests.tui.conftest import Ui

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from textual.app import App
    from textual.pilot import Pilot

    class Compare(Protocol):
        """What the plug-in's fixture gives."""

        def __call__(
            self,
            app: App[None],
            *,
            terminal_size: tuple[int, int],
            run_before: Callable[[Pilot[None]], Awaitable[None]],
        ) -> bool:
            """Compare the screen with the picture that was agreed to."""
            ...


SIZES = ((80, 24), (120, 40), (200, 60))
SCENES: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "home": (None, ("down",)),
    "conversation": ("fix-flaky-test", ("right_square_bracket", "1")),
    "request": ("fix-flaky-test", ("2", "down")),
    "hostile": ("hostile", ("1",)),
    "broken": ("broken-by-an-editor", ("b",)),
    "delete": (None, ("down", "d", "r")),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("scene", SCENES)
def test_a_screen_looks_as_agreed(
    demo: Path, snap_compare: Compare, scene: str, size: tuple[int, int]
):
    name, keys = SCENES[scene]
    app = RecordingsApp(
        recording=None if name is None else demo / f"{name}.jsonl",
        now=lambda: demo_state.NOW_AT,
    )
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.usefixtures("demo")
def test_a_mismatch_looks_as_agreed(snap_compare: Compare, size: tuple[int, int]):
    app = RecordingsApp(mismatch=list_mismatch_reports()[0], now=lambda: demo_state.NOW_AT)

    assert snap_compare(app, terminal_size=size, run_before=pressing())


@pytest.mark.parametrize("look", ["light", "colourless"])
@pytest.mark.usefixtures("demo")
def test_another_look_is_as_agreed(snap_compare: Compare, look: str):
    app = RecordingsApp(
        mismatch=list_mismatch_reports()[0],
        is_colourless=look == "colourless",
        now=lambda: demo_state.NOW_AT,
    )

    assert snap_compare(app, terminal_size=(100, 30), run_before=pressing("T"))


def pressing(*keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def run(pilot: Pilot[None]) -> None:
        ui = Ui(pilot)
        await ui.settle()
        await ui.press(*keys)

    return run
