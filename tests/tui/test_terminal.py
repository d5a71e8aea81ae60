"""The UI in a real terminal: what it sends, and how it gives the terminal back."""

from __future__ import annotations

import re
import signal
import sys
import termios
import unicodedata
from typing import TYPE_CHECKING

import pytest

from examples import demo_state
from tests.tui.terminals import SEQUENCE, Terminal, shapes

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.terminal

_WALK = ("j", "\t", "1", "2", "G", "3", "G", "4", "G", "\r", "\x1b")
_USUAL_MODES = {"7", "25"}
"""Wrapping and the cursor: on is how a terminal has them."""
_KEYS_PUSHED = re.compile(r"\x1b\[>\d+u")
_SGR = re.compile(r"\x1b\[([\d;:]*)m")


def test_it_starts_answers_keys_and_leaves_the_terminal_as_it_was(demo: Path):
    with Terminal(size=(80, 24)) as terminal:
        terminal.wait_for("review-pull-request")
        terminal.type("j\r")
        terminal.wait_for("✓ sound")
        terminal.resize(120, 40)
        terminal.wait_for("Conversation")
        terminal.type("\x1b")
        terminal.wait_for("1 Recordings")
        terminal.type("q")

        assert terminal.wait_for_end() == 0
        assert_given_back(terminal)
    assert demo.exists()


def test_a_recording_is_deleted_by_hand(demo: Path):
    with Terminal(size=(80, 24)) as terminal:
        terminal.wait_for("review-pull-request")
        terminal.type("jd")
        terminal.wait_for("Type its full ID")
        terminal.press("review-pull-request", "\r")
        terminal.resize(60, 20)
        terminal.press("\r")
        terminal.wait_until_gone("Delete a recording")
        terminal.wait_until_gone("review-pull-request")
        terminal.type("\x03")

        assert terminal.wait_for_end() == 0
        assert_given_back(terminal)
    assert not (demo / "review-pull-request.jsonl").exists()


def test_nothing_but_the_ui_s_own_sequences_leaves_the_process(demo: Path):
    demo_state.hostile().write(demo)
    sent: dict[str, str] = {}
    for name in ("fix-flaky-test", "hostile"):
        with Terminal(name, size=(120, 30)) as terminal:
            terminal.wait_for("✓ sound")
            terminal.press(*_WALK)
            terminal.wait_for("ANSWER")
            terminal.press("\x1b")
            terminal.wait_for("Mismatches")
            terminal.press("2")
            terminal.wait_for("INCOMING")
            terminal.press("G", "\r")
            terminal.wait_for("RECORDED  hostile")
            terminal.type("\x11")
            assert terminal.wait_for_end() == 0
            sent[name] = terminal.sent

    assert shapes(sent["hostile"]) <= shapes(sent["fix-flaky-test"])
    text = SEQUENCE.sub("", sent["hostile"])
    assert {c for c in text if unicodedata.category(c) == "Cc"} <= set("\r\n\b\x1b")
    assert not set("\u202e\u202c\u200b\ufeff\u2028\x9b") & set(text)
    assert "␛]52;c;AAAA␇" in text


def test_the_size_is_that_of_the_terminal_whatever_the_environment_says(demo: Path):
    environment = {"COLUMNS": "80", "LINES": "24"}
    with Terminal("fix-flaky-test", size=(120, 40), environment=environment) as terminal:
        # Both panes fit only into the whole width.
        terminal.wait_for("Conversation")
        terminal.type("\x11")
        assert terminal.wait_for_end() == 0
    assert demo.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("demo")
def test_a_signal_ends_it_with_the_terminal_restored(number: signal.Signals):
    with Terminal() as terminal:
        terminal.wait_for("review-pull-request")
        terminal.process.send_signal(number)

        assert terminal.wait_for_end() == 128 + number
        assert_given_back(terminal)


def test_a_loop_that_hangs_is_ended_with_the_terminal_restored(tmp_path: Path):
    script = tmp_path / "hang.py"
    script.write_text(
        "import asyncio, time\n"
        "from openprogram_recordings_tui import terminal\n"
        "terminal._PATIENCE_SECONDS = 0.1\n"
        "async def main():\n"
        "    terminal.leave_on_signals(print)\n"
        "    print('\\x1b[?1049h\\x1b[?1000h hangs', flush=True)\n"
        "    time.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    with Terminal(command=(str(script),)) as terminal:
        terminal.wait_for("hangs")
        terminal.process.send_signal(signal.SIGTERM)

        assert terminal.wait_for_end() == 128 + signal.SIGTERM
        assert terminal.modes_on == _USUAL_MODES
        assert terminal.sent.endswith("\x1b[?25h\x1b[0m")


@pytest.mark.usefixtures("demo")
def test_no_color_sends_no_colour():
    with Terminal("hostile", environment={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for("✓ sound")
        terminal.type("2\x11")
        assert terminal.wait_for_end() == 0

    numbers = {part for found in _SGR.findall(terminal.sent) for part in re.split("[;:]", found)}
    assert numbers & {"1", "7"}
    assert not {n for n in numbers if n.isdigit() and 30 <= int(n) <= 107 and n not in {"39", "49"}}


@pytest.mark.parametrize(
    ("environment", "size", "reason"),
    [
        ({"TERM": "dumb"}, (80, 24), "TERM is dumb"),
        ({"TERM": ""}, (80, 24), "TERM is dumb or not set"),
        ({}, (39, 24), "39 columns"),
        ({}, (80, 9), "9 rows"),
    ],
)
@pytest.mark.usefixtures("demo")
def test_where_nothing_can_be_drawn_it_prints_the_table_and_refuses(
    environment: dict[str, str], size: tuple[int, int], reason: str
):
    with Terminal(size=size, environment=environment) as terminal:
        assert terminal.wait_for_end() == 2

    assert reason in terminal.sent.replace("\r\n", "")
    assert "review-pull-request" in terminal.sent
    assert "\x1b" not in terminal.sent


def assert_given_back(terminal: Terminal) -> None:
    assert terminal.modes_on == _USUAL_MODES
    assert terminal.sent.rindex("\x1b[?25h") > terminal.sent.rindex("\x1b[?25l")
    assert "\x1b[?1049l" in terminal.sent
    assert len(_KEYS_PUSHED.findall(terminal.sent)) == terminal.sent.count("\x1b[<u")
    assert termios.tcgetattr(terminal.slave) == terminal.modes_before
    assert sys.exc_info() == (None, None, None)
