from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cli.conftest import OpenTerminal, RunCli


@pytest.fixture(autouse=True)
def recordings_dir(state_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording `first`, and a file here that is called like an option."""
    folder = state_dir / "recordings"
    folder.mkdir(parents=True)
    (folder / "first.jsonl").touch()
    (tmp_path / "--help").mkdir()
    (tmp_path / "--help" / "x").touch()
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def passed_on(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Stand in for the terminal UI, and return the words that it was started with."""
    seen: list[Sequence[str]] = []

    def main(argv: Sequence[str], *, write_list: object) -> int:
        assert callable(write_list)
        seen.append(argv)
        return 2

    monkeypatch.setattr("openprogram_recordings_tui.__main__.main", main)
    return seen


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], []),
        (["first"], ["--", "first"]),
        (["first", "--call", "0"], ["--call=0", "--", "first"]),
        (["--path", "model.id", "first"], ["--path=model.id", "--", "first"]),
        (["--mismatch", "--x", "--read-only"], ["--mismatch=--x", "--read-only"]),
        (["--", "--help/x"], ["--", "--help/x"]),
    ],
)
def test_words_reach_the_ui_as_what_they_were_meant(
    run_cli: RunCli, passed_on: list[Sequence[str]], words: list[str], expected: list[str]
) -> None:
    assert run_cli("recordings", "tui", *words).exit_code == 2
    assert passed_on == [expected]


def test_what_is_wrong_never_reaches_the_ui(
    run_cli: RunCli, passed_on: list[Sequence[str]]
) -> None:
    assert run_cli("recordings", "tui", "first", "--call", "x").exit_code == 2
    assert run_cli("recordings", "tui", "first", "second").exit_code == 2
    assert passed_on == []


def test_its_help_does_not_load_the_ui() -> None:
    code = (
        "import sys; from openprogram.__main__ import main; main(['recordings', 'tui', '-h']);"
        "print([n for n in sys.modules if n.startswith(('textual', 'openprogram_rec'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--mismatch ID" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_without_a_terminal_the_list_is_printed(run_process: RunCli) -> None:
    ended = run_process("recordings", "tui")
    assert ended.exit_code == 2
    assert "must be a terminal" in ended.err
    assert ended.err.count("\n") == 1
    assert ended.out == run_process("recordings", "list").out
    assert ended.out.startswith("ID ")


@pytest.mark.terminal
def test_a_dumb_terminal_gets_the_list_as_it_gets_it_from_list(
    open_terminal: OpenTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    terminal, listing = open_terminal("recordings", "tui"), open_terminal("recordings", "list")
    assert (terminal.end(), listing.end()) == (2, 0)
    reason, _, table = terminal.seen.partition("\r\n")
    assert "TERM is dumb" in reason
    assert table == listing.seen
    assert all(len(line) <= 80 for line in table.split("\r\n"))
