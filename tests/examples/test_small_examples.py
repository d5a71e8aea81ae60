"""The small examples run as they stand, without a key; and what they did replays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from openprogram.auth.resolver import environment_variable_for
from openprogram.providers.registry import PROVIDERS

CHECKOUT = Path(__file__).resolve().parents[2]
KEYS = {environment_variable_for(name) for name in PROVIDERS}


def _run(*words: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in KEYS}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=CHECKOUT,
        env=kept,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_plain_streaming() -> None:
    printed = _run("examples/plain_streaming.py", "Why?")
    assert printed.startswith("Blue light is scattered more than red.\n[stop, ")


def test_the_tool_loop_and_its_replay() -> None:
    _run("-m", "openprogram", "recordings", "record", "--name", "loop")
    printed = _run("examples/tool_loop.py")
    assert printed.splitlines() == [
        "> read_file: result.is_error=False",
        "> days_until: result.is_error=False",
        "The notes plan the release; Friday is in 2 days.",
    ]
    _run("-m", "openprogram", "recordings", "replay", "loop")
    assert _run("examples/tool_loop.py") == printed


def test_tools_of_a_server() -> None:
    first, *results, last = _run("examples/mcp_tools.py").splitlines()
    assert first == "tools: count, list_items"
    assert ["tea: 4" in results[0], "sugar: 0" in results[1], len(results)] == [True, True, 2]
    assert last == "There are 4 packets of tea, and sugar has run out."


def test_the_recorded_test_replays_and_fails_when_its_question_changes(tmp_path: Path) -> None:
    copy = tmp_path / "pytest_recording"
    shutil.copytree(CHECKOUT / "examples" / "pytest_recording", copy)
    arguments = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", f"{copy}/pytest.ini")
    assert "1 passed" in _run(*arguments, str(copy))
    test = copy / "test_sky.py"
    test.write_text(test.read_text().replace("sky blue", "sky red"))
    changed = subprocess.run(
        [sys.executable, *arguments, str(copy)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert changed.returncode == 1
    assert "recorded  Why is the sky blue?" in changed.stdout
    assert "incoming  Why is the sky red?" in changed.stdout


def test_each_fits_on_a_page() -> None:
    for name in ("plain_streaming", "tool_loop", "mcp_tools", "mcp_server", "pretend_model"):
        lines = (CHECKOUT / "examples" / f"{name}.py").read_text().splitlines()
        assert len(lines) < 60, name
