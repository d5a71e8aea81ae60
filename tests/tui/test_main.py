"""The command line: words, refusals, exit codes; one line for what is wrong."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from openprogram_recordings_tui.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _no_reason(_: object) -> None:
    return None


@pytest.fixture
def terminal_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it think that a screen can be drawn; only what ends before that is tested here."""
    monkeypatch.setattr("openprogram_recordings_tui.__main__.reason_to_refuse", _no_reason)


def test_help_names_every_word(capsys: pytest.CaptureFixture[str]):
    assert main(["--help"]) == 0

    shown = capsys.readouterr().out
    for word in ("SELECTOR", "--call N", "--path P", "--mismatch ID", "--read-only", "--help"):
        assert word in shown


@pytest.mark.parametrize(
    "words",
    [
        ["--no-such"],
        ["--\x1b[2J"],
        ["--call", "x"],
        ["--call", "-1"],
        ["--call", "\uff19"],
        ["a", "b"],
        ["--call", "1"],
        ["--path", "model.id"],
    ],
)
def test_wrong_words_exit_2_and_say_why(words: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(words) == 2

    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.endswith("; see 'openprogram recordings tui --help'\n")
    assert said.count("\n") == 1
    assert said.rstrip("\n").isprintable()


@pytest.mark.usefixtures("terminal_at_hand", "demo")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no-such-recording"], "no-such-recording"),
        (["bad id!"], "bad id!"),
        (["./none.jsonl"], "none.jsonl"),
        (["--mismatch", "none"], "'none' is no name of a mismatch report"),
        (["--mismatch", "20260101T000000000000Z-00000000"], "there is no such mismatch report"),
        (["--mismatch", "\x1b]52;c;AAAA\x07"], "is no name of a mismatch report"),
        (["\x1b[2J"], "recording"),
        (["fix-flaky-test", "--call", "99"], "no call 99; give one from 0 to"),
        (["fix-flaky-test", "--path", "model.nothing"], "no field 'model.nothing'"),
    ],
)
def test_what_is_not_there_exits_1_with_one_harmless_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
):
    assert main(words) == 1

    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.startswith("error: ")
    assert shown.err.count("\n") == 1
    assert shown.err.rstrip("\n").isprintable()


@pytest.mark.usefixtures("demo")
def test_without_a_terminal_the_plain_table_is_printed(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 2

    shown = capsys.readouterr()
    assert "must be a terminal" in shown.err
    lines = shown.out.splitlines()
    assert lines[0].split()[:3] == ["RECORDING", "WHEN", "CALLS"]
    assert len(lines) == 12
    assert "20261130T091412Z-5be7a1c9" in shown.out
    assert "gemini-2.5-pro" in shown.out
    assert all(line.isprintable() for line in lines)


def test_without_a_terminal_and_recordings_it_says_so(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 2

    assert "no recordings" in capsys.readouterr().out


def test_starting_reads_nothing_of_the_core_before_the_first_paint():
    code = (
        "import sys; import openprogram_recordings_tui.app; "
        "print([m for m in sys.modules if m.startswith('openprogram.providers')])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_closed_output_is_an_answer(demo: Path, run_closed: Callable[[], int]):
    assert demo.exists()
    assert run_closed() == 2


@pytest.fixture
def run_closed() -> Callable[[], int]:
    """Give a function that runs the command with a reader that goes away at once."""

    def run() -> int:
        process = subprocess.Popen(
            [sys.executable, "-m", "openprogram_recordings_tui"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        assert b"Traceback" not in said
        return process.wait()

    return run
