"""Streams and signals as other programs meet them, command by command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import RunCli

_PROGRAM = f'"{sys.executable}" -m openprogram'


@pytest.fixture
def recordings_dir(state_dir: Path) -> Path:
    directory = state_dir / "recordings"
    directory.mkdir(parents=True, mode=0o700)
    state_dir.chmod(0o700)
    return directory


@pytest.fixture
def first(recordings_dir: Path) -> Path:
    path = recordings_dir / "first.jsonl"
    path.write_text('{"type":"header","format_version":1}\n')
    path.chmod(0o600)
    return path


@pytest.mark.usefixtures("first")
def test_a_reader_that_reads_nothing_is_answered_by_silence() -> None:
    for words in ("recordings list", "recordings show first --content", "recordings --help"):
        done = subprocess.run(
            ["bash", "-c", f"{_PROGRAM} {words} | head -n 0; exit ${{PIPESTATUS[0]}}"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, ""), words
        assert "Traceback" not in done.stderr
        assert "roken pipe" not in done.stderr


_COMMANDS: list[tuple[str, ...]] = [
    ("recordings", "status"),
    ("recordings", "record", "--name", "second"),
    ("recordings", "record", "--name", "CON"),
    ("recordings", "record", "stray"),
    ("recordings", "replay", "first"),
    ("recordings", "replay", "nothing"),
    ("recordings", "off"),
    ("recordings", "list"),
    ("recordings", "list", "stray"),
    ("recordings", "show", "first"),
    ("recordings", "show", "nothing"),
    ("recordings", "show"),
    ("recordings", "diff", "first", "first"),
    ("recordings", "diff", "first", "nothing"),
    ("recordings", "diff", "first", "first", "--call", "9"),
    ("recordings", "verify"),
    ("recordings", "verify", "nothing"),
    ("recordings", "prune", "--older-than-days", "1", "--dry-run"),
    ("recordings", "prune", "--older-than-days", "0"),
    ("recordings", "delete", "nothing", "--yes"),
    ("recordings", "delete", "./first", "--yes"),
    ("recordings", "delete", "first", "--yes"),
    ("recordings", "nonsense"),
    ("config", "get"),
    ("config", "get", "nonsense"),
    ("config", "set", "ui.theme", "light"),
    ("config", "set", "record_replay.ignore", "x"),
    ("run", ""),
    ("run", "hi", "--max-turns", "0"),
]


@pytest.mark.usefixtures("first")
@pytest.mark.parametrize("settings", ["{}", "{broken"])
def test_with_json_every_command_writes_one_document_and_nothing_else(
    run_cli: RunCli, state_dir: Path, settings: str
) -> None:
    (state_dir / "config.json").write_text(settings)
    for words in _COMMANDS:
        ended = run_cli(*words, "--json")
        document: dict[str, object] = json.loads(ended.out)
        assert ended.out.isascii(), words
        assert "\x1b" not in ended.err, words
        has_error_only = list(document) == ["error"]
        assert not has_error_only or ended.exit_code in (1, 2, 3), words


def test_ctrl_c_in_a_command_that_waits_ends_with_130(recordings_dir: Path) -> None:
    path = recordings_dir / "config.json"
    os.mkfifo(path)
    code = (
        "import sys; from openprogram.__main__ import main; from openprogram.providers import "
        "management\n"
        "def wait(*_, **__):\n"
        f"    print('ready', flush=True); open({str(path)!r}).read()\n"
        "management.verify_recordings = wait\nsys.exit(main(['recordings', 'verify', '--json']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "error: interrupted\n")
    assert json.loads(out)["error"]["code"] == "interrupted"


_ASK = {
    "bash": (
        'eval "$(_OPENPROGRAM_COMPLETE=source_bash openprogram)"\n'
        "COMP_WORDS=(openprogram recordings {command} fi) COMP_CWORD=3\n"
        '_openprogram_completion openprogram; echo "${{COMPREPLY[@]}}"\n'
    ),
    "fish": (
        "_OPENPROGRAM_COMPLETE=source_fish openprogram | source\n"
        "complete --do-complete 'openprogram recordings {command} fi'\n"
    ),
    # The completion system wants a line editor; what it would be told is asked for instead.
    "zsh": (
        'eval "$(_TYPER_COMPLETE_ARGS="openprogram recordings {command} fi" '
        "_OPENPROGRAM_COMPLETE=complete_zsh openprogram | "
        'sed -n "s/.*\\(first\\).*/echo \\1/p")"\n'
    ),
}


@pytest.mark.usefixtures("first")
@pytest.mark.parametrize("shell", sorted(_ASK))
def test_a_real_shell_completes_recordings_for_every_command_that_takes_one(
    tmp_path: Path, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    program = tmp_path / "openprogram"
    program.write_text(f'#!/bin/sh\nexec {_PROGRAM} "$@"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for command in ("show", "replay", "verify", "diff", "delete", "tui"):
        done = subprocess.run(
            [shell, "-c", _ASK[shell].format(command=command)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout.split()[:1], done.stderr) == (["first"], ""), command
