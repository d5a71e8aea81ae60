"""The command classes of the command line: sub-commands load when they run, help costs little."""

from __future__ import annotations

import contextlib
import shlex
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from openprogram.errors import ascii_if_unprintable, quoted

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping


_SHORT_HELP_CHARACTERS = 60
_MOST_DIGITS = 15
_SHOWN_CHARACTERS = 60

JsonOption = Annotated[
    bool, typer.Option("--json", help="Write one JSON document to standard output instead.")
]
"""The option that every command takes."""


class _AsGiven:
    """Takes a word, a flag or a list of words as the shell gave it.

    Typer builds a pydantic validator for each option, which costs more than all else that
    `recordings status` does, and refuses paths whose bytes are not UTF-8.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value; an absent list is empty.

        Args:
            value: What the shell gave.
            param: The option or argument.
            ctx: Unused.

        Returns:
            The same value.
        """
        del ctx
        if value is None and (param.multiple or param.nargs == -1):
            return ()
        return value


class _AsWholeNumber:
    """Takes decimal digits, without what else Python would read as a number."""

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most

    def coerce(self, value: Any, param: Any, ctx: Any) -> int | None:
        """Return the number.

        Args:
            value: What the shell gave.
            param: The option or argument.
            ctx: The running command's context.

        Returns:
            The number; None when none was given.

        Raises:
            BadParameter: It is no whole number within the bounds.
        """
        if value is None:
            return None
        digits = value if isinstance(value, str) and value.isascii() and value.isdigit() else ""
        number = int(digits) if 0 < len(digits) <= _MOST_DIGITS else None
        if number is not None and self._least <= number <= self._most:
            return number
        bounds = f"from {self._least} to {self._most}"
        rule = f"{quoted(value, limit=40)} is not a whole number {bounds}"
        raise typer.BadParameter(rule, ctx=ctx, param=param)


def _take_words_as_given(params: list[Any]) -> list[Any]:
    for param in params:
        descriptor = param.type_descriptor
        annotation = descriptor.annotation
        if annotation in (str, bool, list[str]) and not descriptor.is_choice:
            param.get_runtime_param = _AsGiven
        elif annotation is int and param.max is not None:
            param.get_runtime_param = partial(_AsWholeNumber, param.min, param.max)
            # The bounds are in the help's own words, where they matter.
            param.min = param.max = None
    return params


class Command(TyperCommand):
    """A command whose words are taken as given, and whose help calls arguments by their names."""

    stray_remedy: ClassVar[str] = ""
    """What to do about a word too many; `{}` stands for that word, as a shell wants it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; what is wrong with them is told by this command, with its remedy.

        Args:
            ctx: The running command's context.
            args: The words after the command's name.

        Returns:
            The words that are left.
        """
        ctx.allow_extra_args = True
        with _told_by(ctx):
            left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            ctx.fail(self.describe_stray(left[0]))
        return left

    def describe_stray(self, word: str) -> str:
        """Put a word too many into words.

        Args:
            word: As the shell gave it.

        Returns:
            The rule that it breaks, and the remedy where there is one.
        """
        shown = shlex.quote(ascii_if_unprintable(word[:_SHOWN_CHARACTERS]))
        remedy = f"; {self.stray_remedy.format(shown)}" if self.stray_remedy else ""
        return f"Unexpected argument {quoted(word, limit=_SHOWN_CHARACTERS)}{remedy}"

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments.

        Args:
            ctx: The running command's context.

        Returns:
            Each option and argument, `--help` last.
        """
        return _take_words_as_given(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Say what follows the command's name, in the usual way of writing it.

        Args:
            ctx: The running command's context.

        Returns:
            The options that must be there, `[OPTIONS]`, then each argument: in brackets when it
            may be left out.
        """
        pieces = [
            f"{param.opts[0]} {param.metavar}"
            for param in self.get_params(ctx)
            if param.param_type_name == "option" and param.required
        ]
        pieces += [self.options_metavar] if self.options_metavar else []
        for param in _arguments_of(self, ctx):
            piece = param.metavar if param.required else f"[{param.metavar}]"
            pieces.append(piece if param.nargs == 1 else f"{piece}...")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options with what they mean.

        Args:
            ctx: The running command's context.
            formatter: Where help is written.
        """
        arguments = [(param.metavar, param.help) for param in _arguments_of(self, ctx)]
        records = [
            param.get_help_record(ctx)
            for param in self.get_params(ctx)
            if param.param_type_name == "option"
        ]
        for title, rows in (("Arguments", arguments), ("Options", [r for r in records if r])):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _arguments_of(command: Command, ctx: Any) -> list[Any]:
    return [param for param in command.get_params(ctx) if param.param_type_name == "argument"]


@contextlib.contextmanager
def _told_by(ctx: Any) -> Generator[None]:
    """Let an error point to the help of this command; the parser knows none."""
    try:
        yield
    except typer.TyperException as error:
        if getattr(error, "ctx", ctx) is None:
            error.ctx = ctx  # pyright: ignore[reportAttributeAccessIssue]  # only usage errors have it
        raise


class LazyGroup(TyperGroup):
    """A group whose sub-commands are named in a table and imported when one of them runs."""

    table: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Name to module, and the line that help shows; the module's Typer is called `app`."""
    _offers_only = False

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options.

        Args:
            ctx: The running command's context.

        Returns:
            Each option, `--help` last.
        """
        return _take_words_as_given(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; a group that is called without any shows its help.

        Args:
            ctx: The running command's context.
            args: The words after the group's name.

        Returns:
            The words that are left.
        """
        if not args and not ctx.resilient_parsing:
            args = ["--help"]
        with _told_by(ctx):
            return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the sub-commands.

        Args:
            ctx: The running command's context.

        Returns:
            The names in the table's order.
        """
        return [*super().list_commands(ctx), *self.table]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a sub-command.

        Args:
            ctx: The running command's context.
            cmd_name: The word on the command line.

        Returns:
            The command, or None when there is none of that name.
        """
        if cmd_name not in self.table:
            return super().get_command(ctx, cmd_name)
        module, line = self.table[cmd_name]
        if self._offers_only:
            return TyperCommand(cmd_name, help=line)
        command = typer.main.get_command(import_module(module).app)
        if isinstance(command, TyperGroup) and cmd_name in command.commands:
            return command.commands[cmd_name]
        return command

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Offer sub-commands and options to a shell without importing a sub-command.

        Args:
            ctx: The command line so far.
            incomplete: The beginning of the word.

        Returns:
            What the word may become.
        """
        self._offers_only = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._offers_only = False

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the sub-command that the command line names.

        Args:
            ctx: The running command's context.
            args: The words from the sub-command's name on.

        Returns:
            Its name, itself, and the words after its name.
        """
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            close = get_close_matches(name, known, n=1)
            remedy = f"; did you mean '{close[0]}'?" if close else ""
            ctx.fail(f"No such command {quoted(name)}{remedy}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of sub-commands without importing one.

        Args:
            ctx: The running command's context.
            formatter: Where help is written.
        """
        lines = {name: line for name, (_, line) in self.table.items()}
        for name in super().list_commands(ctx):
            lines[name] = self.commands[name].get_short_help_str(_SHORT_HELP_CHARACTERS)
        with formatter.section("Commands"):
            formatter.write_dl(list(lines.items()))


def examples(*lines: tuple[str, str]) -> str:
    """Lay out the examples at the end of a help page.

    Args:
        lines: A command and what it does, each.

    Returns:
        An epilog.
    """
    widest = max(len(command) for command, _ in lines)
    shown = "\n".join(f"  {command:<{widest}}  {meaning}" for command, meaning in lines)
    return f"\b\nExamples:\n{shown}"
