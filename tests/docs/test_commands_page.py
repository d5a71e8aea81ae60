"""The page on commands names everything there is, and its transcripts are what is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from openprogram.cli import app as app_module
from openprogram.cli import config, recordings
from openprogram.cli._commands import LazyGroup
from openprogram.testing import Answer, LoopbackVendor, Text, TokenCounts, ToolCall

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"
TEXT = PAGE.read_text(encoding="utf-8")
HOME = "/home/you"
EVERYWHERE = {"--help", "-h", "--json", "--profile"}

VENDOR_SCRIPT = [
    Answer(
        parts=[ToolCall("read_file", {"path": "notes.txt"}, id="toolu_1")],
        usage=TokenCounts(input=412, output=57),
    ),
    Answer(parts=[Text("Tea is at four.")], usage=TokenCounts(input=538, output=9)),
    Answer(
        parts=[ToolCall("read_file", {"path": "notes.txt"}, id="toolu_1")],
        usage=TokenCounts(input=412, output=57),
    ),
    Answer(parts=[Text("There is no tea.")], usage=TokenCounts(input=546, output=9)),
]


def _commands() -> dict[str, Any]:
    """Find every command by the words that name it."""
    found: dict[str, Any] = {"openprogram": typer.main.get_command(app_module.app)}
    for words, group in (
        ("openprogram", app_module.app),
        ("openprogram recordings", recordings.app),
        ("openprogram config", config.app),
    ):
        command: Any = typer.main.get_command(group)
        for name in command.list_commands(None):
            inner = command.get_command(None, name)
            if not isinstance(inner, LazyGroup):
                found[f"{words} {name}"] = inner
    return found


COMMANDS = _commands()
SECTIONS = dict(re.findall(r"(?ms)^## `([^`]+)`\n(.*?)(?=^## |\Z)", TEXT))


def _options_of(command: Any) -> set[str]:
    context = command.context_class(command, info_name="x")
    return {
        option
        for param in command.get_params(context)
        if param.param_type_name == "option"
        for option in (*param.opts, *param.secondary_opts)
    }


def test_each_command_has_a_section_and_each_section_a_command() -> None:
    assert set(SECTIONS) == set(COMMANDS)
    assert len(SECTIONS) > 13


@pytest.mark.parametrize("words", COMMANDS)
def test_each_option_is_named_and_each_named_option_is_there(words: str) -> None:
    options = _options_of(COMMANDS[words])
    prose = re.sub(r"(?s)```console\n.*?```", "", SECTIONS[words])
    named = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", prose))
    assert options - named <= {"--help", "-h"}
    assert named - options <= EVERYWHERE


@pytest.mark.parametrize("words", sorted(set(COMMANDS) - {"openprogram"}))
def test_each_section_says_how_it_is_called_and_how_it_ends(words: str) -> None:
    assert re.search(rf"(?m)^`{words}( [^`]+)?`$", SECTIONS[words])
    assert "Exit code" in SECTIONS[words]


def _transcripts() -> list[tuple[str, str]]:
    """Read every command on the page with what it prints, top to bottom."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"(?ms)^```console\n(.*?)^```$", TEXT):
        for chunk in re.split(r"(?m)^\$ ", block)[1:]:
            command, _, printed = chunk.partition("\n")
            found.append((command, printed))
    return found


def _stage(directory: Path, vendor: LoopbackVendor) -> dict[str, str]:
    """Lay out a home and a workspace, and put `openprogram` on the path."""
    for name in ("home", "bin", "work"):
        (directory / name).mkdir(mode=0o700, exist_ok=True)
    (directory / "work" / "notes.txt").write_text("Tea is at four.\n")
    program = directory / "bin" / "openprogram"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m openprogram "$@"\n')
    program.chmod(0o700)
    kept = {name: value for name, value in os.environ.items() if name != "OPENPROGRAM_STATE_DIR"}
    return kept | {
        "HOME": str(directory / "home"),
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "ANTHROPIC_API_KEY": "made-up-for-the-page",
        "OPENPROGRAM_ANTHROPIC_BASE_URL": vendor.base_url,
    }


def _run(command: str, directory: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=directory / "work",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.replace(str(directory / "home"), HOME)


def _without_what_varies(printed: str) -> str:
    """Replace instants, sizes and IDs of mismatch reports, and the blanks that they push around."""
    printed = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\dZ", "INSTANT", printed)
    printed = re.sub(r"\d{8}T\d+Z-[0-9a-f]+", "ID", printed)
    printed = re.sub(r"[\d.]+ k?B\b", "SIZE", printed)
    return re.sub(r" +", " ", printed)


def test_the_transcripts_are_what_is_printed(tmp_path: Path) -> None:
    transcripts = _transcripts()
    assert len(transcripts) > 15
    with LoopbackVendor(VENDOR_SCRIPT) as vendor:
        environment = _stage(tmp_path, vendor)
        for command, printed in transcripts:
            found = _run(command, tmp_path, environment)
            assert _without_what_varies(found) == _without_what_varies(printed), command
        assert len(vendor.requests) == len(VENDOR_SCRIPT)
