from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from openprogram.auth.store import Credential, store_credential

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cli.conftest import RunCli

    Complete = Callable[..., str]

SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture
def complete(run_process: RunCli) -> Complete:
    """Ask as a shell does, and return what it would be told."""

    def ask(line: str, *, shell: str = "bash") -> str:
        ended = run_process(
            env={
                "_OPENPROGRAM_COMPLETE": f"complete_{shell}",
                "_TYPER_COMPLETE_ARGS": line,
                "_TYPER_COMPLETE_FISH_ACTION": "get-args",
                "COMP_WORDS": line,
                "COMP_CWORD": str(len(line.split(" ")) - 1),
            },
        )
        assert (ended.exit_code, ended.err) == (0, "")
        return ended.out

    return ask


@pytest.fixture
def recordings_dir(state_dir: Path) -> Path:
    directory = state_dir / "recordings"
    directory.mkdir(parents=True)
    return directory


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_options_and_recordings_are_offered(
    complete: Complete, recordings_dir: Path, shell: str
) -> None:
    (recordings_dir / "first.jsonl").touch()
    (recordings_dir / "first.jsonl.lock").touch()
    assert "recordings" in complete("openprogram re", shell=shell)
    assert "verify" in complete("openprogram recordings ver", shell=shell)
    assert "--older-than-days" in complete("openprogram recordings prune --old", shell=shell)
    offered = complete("openprogram recordings show ", shell=shell)
    assert "first" in offered
    assert "lock" not in offered
    assert sorted(path.name for path in recordings_dir.iterdir()) == [
        "first.jsonl",
        "first.jsonl.lock",
    ]


def test_every_command_of_a_group_is_offered(complete: Complete) -> None:
    assert complete("openprogram ").split() == ["run", "recordings", "worker", "auth", "config"]
    assert complete("openprogram recordings ").split()[:2] == ["status", "record"]
    assert complete("openprogram config get record_replay.m").split() == ["record_replay.mode"]
    assert complete("openprogram auth set anth").split() == ["anthropic"]
    assert complete("openprogram auth remove anth").split() == []
    store_credential("anthropic", Credential(api_key="k"))
    assert complete("openprogram auth remove ").split() == ["anthropic"]


@pytest.mark.parametrize(
    "name", ["x;touch pwned", "$(touch pwned)", "`touch pwned`", "a b", "a\nb", "-rf", "\x1b[2J"]
)
def test_a_name_that_a_shell_could_act_on_is_not_offered(
    complete: Complete, recordings_dir: Path, name: str
) -> None:
    (recordings_dir / f"{name}.jsonl").touch()
    (recordings_dir / "good.jsonl").touch()
    assert complete("openprogram recordings show ") == "good\n"


def test_the_profile_on_the_line_counts(
    complete: Complete, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENPROGRAM_STATE_DIR")
    directory = tmp_path / "home" / ".openprogram-work" / "recordings"
    directory.mkdir(parents=True)
    (directory / "at-work.jsonl").touch()
    assert complete("openprogram --profile work recordings tui at") == "at-work\n"
    assert complete("openprogram recordings tui at").strip() == ""
    assert complete("openprogram --profile ../x recordings tui at").strip() == ""


def test_without_a_state_directory_nothing_is_offered_and_nothing_made(
    complete: Complete, state_dir: Path
) -> None:
    assert complete("openprogram recordings show ").strip() == ""
    assert not state_dir.exists()


def test_bash_takes_what_is_offered(recordings_dir: Path, tmp_path: Path) -> None:
    (recordings_dir / "first.jsonl").touch()
    program = tmp_path / "openprogram"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m openprogram "$@"\n')
    program.chmod(0o700)
    script = (
        f'eval "$(_OPENPROGRAM_COMPLETE=source_bash {program})"\n'
        f"COMP_WORDS=({program} recordings show fi) COMP_CWORD=3\n"
        f'_openprogram_completion {program}\necho "${{COMPREPLY[@]}}"\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("first\n", "")


def test_offering_a_groups_commands_imports_none_of_them() -> None:
    code = (
        "import sys; from openprogram.cli import recordings; import typer;"
        "group = typer.main.get_command(recordings.app);"
        "context = group.make_context('recordings', [], resilient_parsing=True);"
        "assert len(group.shell_complete(context, '')) > 5;"
        "print([name for name in sys.modules if name.startswith('openprogram.cli.recordings')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['openprogram.cli.recordings']\n"
