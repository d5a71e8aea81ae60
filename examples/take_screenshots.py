"""Draws the screens of the terminal UI on the demo state as SVG.

Words choose scenes by name; `--png` makes PNG too, where `rsvg-convert` is installed.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

sys.path.insert(0, str(Path(__file__).parent.parent))

from examples import demo_state
from openprogram_recordings_tui.app import RecordingsApp

if TYPE_CHECKING:
    from textual.pilot import Pilot

OUTPUT = Path(__file__).parent.parent / "screenshots"
SIZES = ((80, 24), (120, 40), (200, 60))
_FONTS = "'Fira Code', 'JetBrains Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_FONT_FAMILY = re.compile(r"font-family: [^;]*monospace;")
_BLANK = "&#160;"
_CELL_WIDTH = 12.2
"""In the units of the picture."""
_INDENTED = re.compile(
    r'(<text [^>]*\bx=")([\d.]+)(" y="[\d.]+" textLength=")([\d.]+)("[^>]*>)'
    rf"((?:{_BLANK})+)(?=[^<&]|&(?!#160;))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A screen, and the way to it."""

    name: str
    """What the file is called, but for size and suffix."""
    keys: tuple[str, ...] = ()
    """What is pressed after the start."""
    sizes: tuple[tuple[int, int], ...] = SIZES
    """Columns and rows."""
    recording: str | None = None
    """The recording to open at the start."""
    is_colourless: bool = False
    """Whether it is drawn as under `NO_COLOR`."""


SCENES = (
    Scene(name="recordings", keys=("down",)),
    Scene(name="recordings-light", keys=("down", "T"), sizes=SIZES[1:2]),
    Scene(name="recordings-no-color", keys=("down",), sizes=SIZES[1:2], is_colourless=True),
    Scene(name="filter", keys=("slash", *"error"), sizes=SIZES[:1]),
    Scene(name="conversation", recording="fix-flaky-test", keys=("down", "down", "down", "1")),
    Scene(name="calls", recording="fix-flaky-test", keys=("down",), sizes=SIZES[:1]),
    Scene(name="request", recording="fix-flaky-test", keys=("down", "2", "down", "down")),
    Scene(name="events", recording="fix-flaky-test", keys=("3", "down", "down")),
    Scene(name="raw", recording="fix-flaky-test", keys=("4",), sizes=SIZES[1:2]),
    Scene(name="broken", recording="broken-by-an-editor", keys=("b",)),
    Scene(name="hostile", recording="hostile", keys=("1",)),
    Scene(name="mismatch", keys=("2", "enter")),
    Scene(name="mismatch-light", keys=("2", "enter", "T"), sizes=SIZES[1:2]),
    Scene(name="mismatch-no-color", keys=("2", "enter"), sizes=SIZES[:1], is_colourless=True),
    Scene(name="delete", keys=("down", "d", "tab")),
    Scene(name="help", keys=("question_mark",), sizes=SIZES[:2]),
)


async def draw(scene: Scene, size: tuple[int, int], recordings: Path) -> str:
    """Draw a scene.

    Args:
        scene: What to show.
        size: In columns and rows.
        recordings: Where the recordings are.

    Returns:
        The picture as SVG.
    """
    app = RecordingsApp(
        recording=None if scene.recording is None else recordings / f"{scene.recording}.jsonl",
        is_colourless=scene.is_colourless,
        now=lambda: demo_state.NOW_AT,
    )
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key in scene.keys:
            await pilot.press(key)
            await settle(pilot)
        svg = app.export_screenshot(title="openprogram recordings tui")
    svg = _FONT_FAMILY.sub(f"font-family: {_FONTS};", _FONT_FACE.sub("", svg))
    return _INDENTED.sub(_move, svg)


def _move(match: re.Match[str]) -> str:
    """Place a text where its first letter is: some programs leave out spaces at its beginning."""
    start, x, middle, length, rest, blanks = match.groups()
    moved = len(blanks) // len(_BLANK) * _CELL_WIDTH
    return f"{start}{float(x) + moved:g}{middle}{float(length) - moved:g}{rest}"


async def settle(pilot: Pilot[None]) -> None:
    """Wait until every worker is done and its news are on the screen."""
    app = cast("RecordingsApp", pilot.app)
    for _ in range(2):
        await pilot.pause(0.05)
        while app.is_busy:
            await pilot.pause(0.02)


def main() -> int:
    """Draw every scene at each of its sizes; names in the arguments choose some."""
    wanted = set(sys.argv[1:]) - {"--png"}
    OUTPUT.mkdir(exist_ok=True)
    converter = shutil.which("rsvg-convert") if "--png" in sys.argv else None
    if "--png" in sys.argv and converter is None:
        print("no PNG: rsvg-convert is not installed")
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        demo_state.write_state(state)
        os.environ["OPENPROGRAM_STATE_DIR"] = str(state)
        for scene in SCENES:
            if wanted and scene.name not in wanted:
                continue
            for size in scene.sizes:
                path = OUTPUT / f"{scene.name}-{size[0]}x{size[1]}.svg"
                path.write_text(asyncio.run(draw(scene, size, state / "recordings")))
                if converter is not None:
                    words = [converter, str(path), "-o", str(path.with_suffix(".png"))]
                    subprocess.run(words, check=True)
                print(path.relative_to(OUTPUT.parent))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
