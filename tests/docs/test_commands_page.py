"""The page on commands names everything there is, and its transcripts are what is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from openprogram.cli import app as app_module
from openprogram.cli import auth, config, recordings
from openprogram.cli._commands import LazyGroup
from openprogram.testing import LoopbackVendor
from page_transcripts import Stage, answers_about, without_what_varies

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"
TEXT = PAGE.read_text(encoding="utf-8")
EVERYWHERE = {"--help", "-h", "--json", "--profile"}

VENDOR_SCRIPT = [
    *answers_about("Tea is at four.", input_tokens=538),
    *answers_about("There is no tea.", input_tokens=546),
]


def _commands() -> dict[str, Any]:
    """Find every command by the words that name it."""
    found: dict[str, Any] = {"openprogram": typer.main.get_command(app_module.app)}
    for words, group in (
        ("openprogram", app_module.app),
        ("openprogram recordings", recordings.app),
        ("openprogram auth", auth.app),
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


def test_the_transcripts_are_what_is_printed(tmp_path: Path) -> None:
    with LoopbackVendor(VENDOR_SCRIPT) as vendor:
        played = Stage(tmp_path, vendor).play(TEXT)
        assert len(vendor.requests) == len(VENDOR_SCRIPT)
    assert len(played) > 15
    for command, printed, found in played:
        assert without_what_varies(found) == without_what_varies(printed), command
