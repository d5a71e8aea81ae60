"""The root of the command line: what it offers, and how each command ends."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from openprogram import __version__
from openprogram.cli import _diagnostics, _output
from openprogram.cli._commands import LazyGroup, examples
from openprogram.errors import ConfigError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FIRST_OPTION = "--profile"


class _Root(LazyGroup):
    table: ClassVar[Mapping[str, tuple[str, str]]] = {
        "run": (
            "openprogram.cli.run",
            (
                "Give a task to an agent that can list and read files, and use the tools of "
                "MCP servers."
            ),
        ),
        "recordings": (
            "openprogram.cli.recordings",
            "Record, replay, look at and delete recordings.",
        ),
        "worker": (
            "openprogram.cli.worker",
            "Answer the prompts of many clients in one process.",
        ),
        "auth": ("openprogram.cli.auth", "Store, list and remove the keys of providers."),
        "config": ("openprogram.cli.config", "Read or change one setting."),
    }


_EXAMPLES = examples(
    ("openprogram recordings record", "record from the next start on"),
    ("openprogram run 'Summarize notes.txt'", "give the agent a task"),
    ("openprogram recordings list", "see what was recorded"),
    ("openprogram recordings replay ID", "answer from a recording, offline"),
    ("openprogram recordings tui", "look around in the terminal"),
    ("openprogram recordings off", "back to live calls"),
)

_EXIT_CODES = """\
\b
Exit codes: 0 done, 1 failed, 2 wrong usage or a missing confirmation,
3 'recordings diff' cannot read what to compare, 130 interrupted.
OPENPROGRAM_DEBUG=1 shows the traceback of an error."""

app = typer.Typer(
    cls=_Root,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=f"{_EXAMPLES}\n\n{_EXIT_CODES}",
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _show_version(*, wanted: bool) -> None:
    if wanted:
        _output.write_line(f"openprogram {__version__}")
        raise typer.Exit


@app.callback()
def root(
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Keep settings and recordings apart under this name, in ~/.openprogram-NAME.",
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Record what an AI agent did, replay it offline, see where a later run went another way.

    A recording holds every request to a model and every event of its answer. Credentials are
    removed before anything is written; private content is not: prompts, file contents and answers
    stay readable to whoever reads the file.
    """
    del version
    if profile is not None:
        use_profile(profile)


def use_profile(name: str) -> None:
    """Choose the state directory of this process.

    Args:
        name: The profile's name.

    Raises:
        UsageError: The name cannot be part of a directory's name.
    """
    from openprogram import paths  # late: costs nothing when no profile is named

    try:
        paths.validate_profile(name)
    except ConfigError as error:
        raise _diagnostics.UsageError(str(error)) from error
    os.environ["OPENPROGRAM_PROFILE"] = name
    if os.environ.get("OPENPROGRAM_STATE_DIR"):
        _diagnostics.warn("OPENPROGRAM_STATE_DIR is set and wins: --profile changes nothing")


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command line, and tell the person how it ended.

    Args:
        argv: The words after the program's name; those of this process when not given.

    Returns:
        The exit code.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    _output.prepare_streams()
    _diagnostics.show_log_warnings()
    try:
        exit_code = _run_command(words)
        _output.flush()
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else _diagnostics.DONE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last resort: no traceback
        if "_OPENPROGRAM_COMPLETE" in os.environ:
            # The shell asks between two key presses: a line here would land in the person's prompt.
            return _diagnostics.FAILED
        return _end_with(error, as_json="--json" in words)
    return exit_code


def _run_command(words: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        result = command.main(words, prog_name="openprogram", standalone_mode=False)
    except SystemExit as exit_:
        if not isinstance(exit_.__context__, BrokenPipeError):
            raise
        # Help that nobody reads to its end: Typer calls that a failure, here it is an answer.
        _output.discard()
        return _diagnostics.DONE
    except typer.TyperException as error:
        if getattr(error, "option_name", None) == _FIRST_OPTION and len(words) > 1:
            raise _diagnostics.UsageError(_say_where_it_goes(words)) from error
        raise
    if result == _diagnostics.INTERRUPTED:
        # Typer makes Ctrl-C inside a command an exit code, without a word to the person.
        raise KeyboardInterrupt
    return result if isinstance(result, int) else _diagnostics.DONE


def _say_where_it_goes(words: list[str]) -> str:
    """Show the command line with the option in its place, which is before the command's name."""
    at = next(i for i, word in enumerate(words) if word.partition("=")[0] == _FIRST_OPTION)
    count = 1 if "=" in words[at] else 2
    option = words[at : at + count]
    option += ["NAME"] if len(option) < count else []
    right = shlex.join(["openprogram", *option, *words[:at], *words[at + count :]])
    return f"{_FIRST_OPTION} goes before {quoted(words[0])}; write: {right}"


def _end_with(error: BaseException, *, as_json: bool) -> int:
    verdict = _diagnostics.report(error)
    try:
        if as_json:
            _output.write_json(_diagnostics.to_json(error))
        _output.flush()
    except OSError:
        # Standard output is what failed; the line on standard error has said so.
        _output.discard()
    return verdict.exit_code
