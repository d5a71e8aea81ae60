from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from openprogram import __version__
from openprogram.cli import app as app_module
from openprogram.cli import recordings
from openprogram.cli._commands import LazyGroup

if TYPE_CHECKING:
    from cli.conftest import RunCli


def test_version(run_cli: RunCli) -> None:
    assert run_cli("--version").out == f"openprogram {__version__}\n"


def test_without_words_it_teaches(run_cli: RunCli) -> None:
    ended = run_cli()
    assert ended.exit_code == 0
    assert "Examples:" in ended.out
    assert "private content is not" in " ".join(ended.out.split())


@pytest.mark.parametrize("typer_app", [app_module.app, recordings.app])
def test_the_table_says_what_the_commands_say_of_themselves(typer_app: typer.Typer) -> None:
    group: Any = typer.main.get_command(typer_app)
    assert isinstance(group, LazyGroup)
    for name, (_, line) in group.table.items():
        command: Any = group.get_command(None, name)
        assert command.name in (name, None, "")
        assert command.help.split("\n")[0] == line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["recording"], "no such command 'recording'; did you mean 'recordings'?"),
        (["--nonsense"], "no such option: --nonsense"),
        (["--profil", "x"], "no such option '--profil'; did you mean '--profile'? see "),
        (["config", "get", "--jsn"], "did you mean '--json'? see 'openprogram config get --help'"),
        (["--profile", "../x", "recordings", "status"], "profile '../x'"),
        (
            ["recordings", "record", "first"],
            "unexpected argument 'first'; did you mean '--name first'? ",
        ),
        (
            ["recordings", "record", "a b\x1b"],
            r"did you mean '--name 'a b\x1b''? see 'openprogram rec",
        ),
        (
            ["recordings", "off", "now"],
            "unexpected argument 'now'; see 'openprogram recordings off -",
        ),
        (["run", "what", "is", "it"], "unexpected argument 'is'; write the prompt as one word"),
        (["config", "set", "ui.theme", "a", "b"], "argument 'b'; write the value as one word"),
        (["recordings", "record", "--name"], "; see 'openprogram recordings record --help'"),
        (["--profile"], "option '--profile' requires an argument; see 'openprogram --help'"),
        (
            ["recordings", "--profile", "x", "list"],
            "write: openprogram --profile x recordings list",
        ),
        (["recordings", "list", "--profile=x y"], "openprogram '--profile=x y' recordings list"),
        (["recordings", "list", "--profile"], "write: openprogram --profile NAME recordings list"),
        (["recordings", "show"], "missing argument 'SELECTOR'; see 'openprogram recordings show"),
        (["recordings", "prune", "--older-than-days", "0"], "'--older-than-days'"),
        (["recordings", "prune", "--older-than-days", "9" * 400], "'--older-than-days'"),
        (["recordings", "prune", "--older-than-days", "1.5"], "'--older-than-days'"),
        (["recordings", "prune", "--older-than-days", "1_0"], "is not a whole number from 1 to"),
        (["recordings", "tui", "--call", "-1"], "'-1' is not a whole number from 0 to"),
        (["recordings", "\x1b[2J\n"], r"no such command '\x1b[2J\n'"),
    ],
)
def test_wrong_words_are_one_line_and_exit_2(
    run_cli: RunCli, words: list[str], message: str
) -> None:
    ended = run_cli(*words)
    assert ended.exit_code == 2
    assert ended.out == ""
    assert message in ended.err
    assert re.fullmatch(r"error: [^\n]+\n", ended.err)
    assert ended.err[:-1].isprintable()


def test_a_failure_with_json_is_one_json_document(run_cli: RunCli) -> None:
    ended = run_cli("recordings", "nonsense", "--json")
    assert json.loads(ended.out)["error"]["code"] == "usage"


def test_a_defect_is_one_line_and_no_traceback(
    run_cli: RunCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_words: list[str]) -> int:
        raise ZeroDivisionError("x\ny")

    monkeypatch.setattr(app_module, "_run_command", fail)
    ended = run_cli("recordings", "list", "--json")
    assert ended.exit_code == 1
    assert ended.err.startswith("error: a defect of this program: ZeroDivisionError: x\\ny;")
    assert ended.err.count("\n") == 1
    assert json.loads(ended.out)["error"]["code"] == "defect"


def test_a_profile_has_a_state_of_its_own(
    run_cli: RunCli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENPROGRAM_PROFILE", "")
    monkeypatch.delenv("OPENPROGRAM_STATE_DIR")
    assert run_cli("--profile", "work", "config", "set", "ui.theme", "light").exit_code == 0
    assert (tmp_path / "home" / ".openprogram-work" / "config.json").is_file()
    assert not (tmp_path / "home" / ".openprogram").exists()


def test_a_profile_that_changes_nothing_says_so(
    run_cli: RunCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENPROGRAM_PROFILE", "")
    assert "OPENPROGRAM_STATE_DIR is set" in run_cli("--profile", "work", "config", "get").err


def test_a_reader_that_went_away_is_no_error() -> None:
    command = f"{sys.executable} -m openprogram config get | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output_is_said_once() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "openprogram", "config", "get"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "error: no space left on device\n"


def test_all_standard_streams_closed_is_no_crash() -> None:
    command = f"exec {sys.executable} -m openprogram config get <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0


def test_ctrl_c_ends_with_130_and_one_line() -> None:
    code = (
        "import time, sys; from openprogram.cli import app; from openprogram.__main__ import main\n"
        "def wait(words):\n    print('ready', flush=True); time.sleep(60)\n"
        "app._run_command = wait\nsys.exit(main(['x']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "error: interrupted\n")


@pytest.mark.parametrize("words", [["--help"], ["recordings", "--help"], ["recordings", "status"]])
def test_looking_loads_no_sdk_no_toolkit_and_no_validator(words: list[str]) -> None:
    code = (
        "import sys; from openprogram.__main__ import main; main(sys.argv[1:]);"
        "heavy = {'anthropic', 'textual', 'pydantic', 'rich', 'httpx', 'asyncio'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]\n"
