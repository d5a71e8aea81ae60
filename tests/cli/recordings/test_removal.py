from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from openprogram.cli import _output

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import OpenTerminal, RunCli
    from cli.recordings.conftest import WriteRecording

_DAY_SECONDS = 86_400


def _never(_stream: object) -> bool:
    return False


@pytest.fixture
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_output, "is_terminal", _never)


def _age(path: Path, days: float) -> None:
    then = time.time() - days * _DAY_SECONDS
    os.utime(path, (then, then))


@pytest.mark.usefixtures("no_terminal")
def test_delete_without_a_terminal_needs_yes(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    path = write_recording("first")
    ended = run_cli("recordings", "delete", "first")
    assert (ended.exit_code, ended.out) == (2, "")
    assert "--yes" in ended.err
    assert path.exists()
    assert run_cli("recordings", "delete", "first", "--yes").exit_code == 0
    assert not path.exists()


@pytest.mark.usefixtures("no_terminal")
def test_delete_json_is_one_document_even_when_refused(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    write_recording("first")
    assert json.loads(run_cli("recordings", "delete", "first", "--json").out)["error"]["code"] == (
        "usage"
    )
    document = json.loads(run_cli("recordings", "delete", "first", "--yes", "--json").out)
    assert document["recording_id"] == "first"


def test_delete_refuses_the_active_recording_and_paths(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    path = write_recording("first")
    run_cli("recordings", "replay", str(path))
    ended = run_cli("recordings", "delete", "first", "--yes")
    assert ended.exit_code == 1
    assert "recordings off" in ended.err
    for place, remedy in (
        (str(path), "run 'openprogram recordings delete first'"),
        ("./x", "remove a file elsewhere yourself"),
    ):
        ended = run_cli("recordings", "delete", place, "--yes")
        assert ended.exit_code == 1
        assert ended.err == (
            f"error: recording '{place}': delete takes an ID, not a path; {remedy}\n"
        )
    assert path.exists()


@pytest.mark.terminal
@pytest.mark.parametrize(
    ("typed", "exit_code", "is_gone"),
    [("first\n", 0, True), ("firs\n", 1, False), ("y\n", 1, False), ("\x04", 1, False)],
)
def test_delete_in_a_terminal_wants_the_whole_id(
    open_terminal: OpenTerminal,
    write_recording: WriteRecording,
    typed: str,
    exit_code: int,
    is_gone: bool,
) -> None:
    path = write_recording("first")
    terminal = open_terminal("recordings", "delete", "first")
    terminal.wait_for("Type its ID to go on: ")
    terminal.type(typed)
    assert terminal.end() == exit_code
    assert path.exists() is not is_gone
    assert ("nothing was deleted" in terminal.seen) is not is_gone


@pytest.mark.terminal
def test_ctrl_c_at_the_question_deletes_nothing(
    open_terminal: OpenTerminal, write_recording: WriteRecording
) -> None:
    path = write_recording("first")
    terminal = open_terminal("recordings", "delete", "first")
    terminal.wait_for("Type its ID to go on: ")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert path.exists()


@pytest.mark.usefixtures("no_terminal")
def test_prune_goes_by_the_last_write(run_cli: RunCli, write_recording: WriteRecording) -> None:
    old = write_recording("old", created_at="2030-01-01T00:00:00Z")
    _age(old, 3)
    new = write_recording("new", created_at="2001-01-01T00:00:00Z")
    words = ["recordings", "prune", "--older-than-days", "2"]
    assert run_cli(*words).exit_code == 2
    dry = run_cli(*words, "--dry-run")
    assert dry.exit_code == 0
    assert "would delete old" in dry.out
    assert old.exists()
    document = json.loads(run_cli(*words, "--yes", "--json").out)
    assert (document["matched"], document["deleted"], document["failed"]) == (1, 1, 0)
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.terminal
def test_prune_in_a_terminal_shows_what_goes_and_wants_the_count(
    open_terminal: OpenTerminal, write_recording: WriteRecording
) -> None:
    for name in ("a", "b"):
        _age(write_recording(name), 3)
    terminal = open_terminal("recordings", "prune", "--older-than-days", "2")
    terminal.wait_for("Type 2 to go on: ")
    assert "  a (" in terminal.seen
    terminal.type("2\n")
    assert terminal.end() == 0
    assert "2 matched, 2 deleted" in terminal.seen
