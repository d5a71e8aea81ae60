from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest
import typer

from openprogram.cli import app as app_module
from openprogram.cli import config, recordings
from openprogram.cli._commands import LazyGroup, examples

if TYPE_CHECKING:
    from cli.conftest import RunCli


def _pages() -> list[tuple[str, ...]]:
    """List what has a help page, without importing the commands."""
    pages: list[tuple[str, ...]] = []
    for words, group in (
        ((), app_module.app),
        (("recordings",), recordings.app),
        (("config",), config.app),
    ):
        command: Any = typer.main.get_command(group)
        pages += [words, *((*words, name) for name in command.list_commands(None))]
    return list(dict.fromkeys(pages))


PAGES = _pages()


def test_the_pages_are_all_there() -> None:
    assert ("recordings", "prune") in PAGES
    assert len(PAGES) > 14


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_help_teaches_within_80_columns(run_cli: RunCli, words: tuple[str, ...]) -> None:
    ended = run_cli(*words, "--help")
    assert (ended.exit_code, ended.err) == (0, "")
    assert ended == run_cli(*words, "-h")
    lines = ended.out.splitlines()
    assert lines[0].startswith(" ".join(("Usage: openprogram", *words)))
    assert not set(lines[0]) & set("{}<>")
    assert "Examples:" in ended.out
    assert max(map(len, lines)) <= 80
    assert "--install-completion" not in ended.out or words == ()


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_examples_are_words_that_the_parser_takes(run_cli: RunCli, words: tuple[str, ...]) -> None:
    lines = run_cli(*words, "--help").out.split("Examples:\n")[1].split("\n\n")[0].splitlines()
    assert lines
    for line in lines:
        command = line.strip().split("  ")[0].split(" | ")[0].split(" < ")[0]
        program, *argv = shlex.split(command)
        assert program == "openprogram"
        group: Any = typer.main.get_command(app_module.app)
        _parse(group, argv)


def _parse(command: Any, argv: list[str]) -> None:
    """Read the words as far as a command would before it runs; raises when they do not fit."""
    context = command.make_context("openprogram", list(argv))
    if isinstance(command, LazyGroup):
        # The context is a private class of Typer's, and its parts are named so.
        _, inner, rest = command.resolve_command(context, context._protected_args + context.args)
        _parse(inner, rest)


@pytest.mark.parametrize("words", [[], ["recordings"], ["config"]])
def test_a_group_without_words_shows_its_help(run_cli: RunCli, words: list[str]) -> None:
    assert run_cli(*words) == run_cli(*words, "--help")


def test_the_usage_names_what_must_be_there(run_cli: RunCli) -> None:
    def usage(*words: str) -> str:
        return run_cli("recordings", *words, "-h").out.splitlines()[0]

    assert usage("show").endswith("show [OPTIONS] SELECTOR")
    assert usage("verify").endswith("verify [OPTIONS] [SELECTOR]...")
    assert usage("prune").endswith("prune --older-than-days N [OPTIONS]")


def test_every_recordings_command_but_the_ui_takes_json(run_cli: RunCli) -> None:
    for words in PAGES:
        if len(words) == 2 and words[1] != "tui":
            assert "--json" in run_cli(*words, "--help").out


def test_examples_are_aligned() -> None:
    assert examples(("a", "one"), ("abc", "two")) == "\b\nExamples:\n  a    one\n  abc  two"
