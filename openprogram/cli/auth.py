"""`openprogram auth`: the keys of providers, which are stored and removed, and never shown."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openprogram import paths
from openprogram.auth import store
from openprogram.auth.adapters import (
    BUILTIN_ADAPTERS,
    KEYLESS_PROVIDERS,
    KNOWN_PROVIDERS,
    get_credential_adapter,
    register_credential_adapters,
)
from openprogram.auth.resolver import KeySource, find_key_source
from openprogram.cli import _diagnostics, _output
from openprogram.cli._commands import Command, JsonOption, LazyGroup, examples
from openprogram.cli._completion import use_profile_of
from openprogram.cli._secret_input import read_secret
from openprogram.cli._tables import Column, layout_table
from openprogram.errors import ConfigError, OpenProgramError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

_NO_KEY_HERE = (
    "only the provider is named here, never a key, which the shell's history and the list of "
    "processes would keep; type it at the prompt or pipe it in, and replace at its vendor a key "
    "that was just written here"
)


def _is_about_option(error: typer.TyperException) -> bool:
    return getattr(error, "option_name", None) is not None


class _AuthGroup(LazyGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; an option that is none may be a key, and is not repeated."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if not _is_about_option(error):
                raise
        # Outside of the handler: a traceback would show the error with the option's text.
        return ctx.fail(_NO_KEY_HERE)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the sub-command; a word that is none may be a key, and is not repeated."""
        if args[0] not in self.list_commands(ctx):
            ctx.fail(f"No such command; there are {', '.join(self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_AuthGroup,
    rich_markup_mode=None,
    add_completion=False,
    epilog=examples(
        ("openprogram auth set anthropic", "ask for the key, without echo"),
        ("openprogram auth set openai < key.txt", "take it from a file or a pipe"),
        ("openprogram auth list", "where each provider's key comes from"),
    ),
)


@app.callback()
def auth() -> None:
    """Store, list and remove the keys of providers.

    Keys are kept in a file that only you can read. They are asked for at a prompt or read from
    standard input, never taken from the command line, and never shown again.
    """
    register_credential_adapters(BUILTIN_ADAPTERS)


def complete_provider(incomplete: str) -> list[str]:
    """Offer the names of the providers.

    Args:
        incomplete: The beginning of the word.

    Returns:
        The names that begin so.
    """
    return [name for name in KNOWN_PROVIDERS if name.startswith(incomplete)]


def complete_stored(ctx: Any, incomplete: str) -> list[str]:
    """Offer the names of the providers that have something stored.

    Args:
        ctx: The command line so far; its `--profile` counts.
        incomplete: The beginning of the word.

    Returns:
        The known names that begin so; none when the store cannot be read.
    """
    use_profile_of(ctx)
    try:
        stored = store.read_credentials()
    except (OpenProgramError, OSError):
        return []
    return [name for name in complete_provider(incomplete) if name in stored]


class _Keyless(Command):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; what is neither provider nor option may be a key: never repeated."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if not _is_about_option(error):
                raise
        # Outside of the handler, as above.
        return ctx.fail(_NO_KEY_HERE)

    def describe_stray(self, word: str) -> str:
        """Refuse a word too many without a word of it."""
        del word
        return _NO_KEY_HERE


@app.command(
    name="set",
    cls=_Keyless,
    epilog=examples(
        ("openprogram auth set anthropic", "type the key at a prompt"),
        ("openprogram auth set openai < key.txt", "read it from a file"),
    ),
)
def set_(
    provider: Annotated[
        str,
        typer.Argument(
            metavar="PROVIDER",
            help="Whose key it is, such as anthropic.",
            autocompletion=complete_provider,
        ),
    ],
    as_json: JsonOption = False,
) -> int:
    """Store a provider's key.

    On a terminal it is asked for and not shown; else it is all that standard input holds. It comes
    before the vendor's environment variable, from the next call on.
    """
    _require_known(provider, KNOWN_PROVIDERS)
    key = read_secret(f"Key of {provider} (not shown): ")
    had_entry = store.store_credential(
        provider, get_credential_adapter(provider).credential_of(key)
    )
    path = str(paths.credentials_path())
    if as_json:
        _output.write_json({"provider": provider, "path": path, "replaced": had_entry})
    else:
        done = "replaced" if had_entry else "stored"
        _output.write_line(f"The key of {provider} is {done} in {path}.")
        _output.write_line("It counts from the next call on.")
    return _diagnostics.DONE


@app.command(
    name="list",
    cls=_Keyless,
    epilog=examples(("openprogram auth list", "every provider, and where its key comes from")),
)
def list_(as_json: JsonOption = False) -> int:
    """Show where each provider's key would come from.

    Nothing of a key itself is shown. The first of these that holds one counts: the store, the
    vendor's environment variable, the login of the vendor's own tool.
    """
    origins = [_find_origin(name) for name in sorted({*KNOWN_PROVIDERS, *store.read_credentials()})]
    if as_json:
        _output.write_json({"credentials": [origin.to_json() for origin in origins]})
        return _diagnostics.DONE
    columns = [Column(title="PROVIDER"), Column(title="KEY FROM")]
    head, *lines = layout_table(columns, [[origin.provider, str(origin)] for origin in origins])
    _output.write_lines([_output.paint(head, "bold"), *lines])
    return _diagnostics.DONE


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a provider's key would come from, in words and as JSON."""

    provider: str
    source: KeySource | None
    reason: str | None
    """Why the login of the vendor's tool cannot be read, where it is asked and cannot."""

    def __str__(self) -> str:
        if self.reason is not None:
            return f"nowhere: {self.reason}"
        if self.source is None:
            return "nowhere; none is needed" if self.provider in KEYLESS_PROVIDERS else "nowhere"
        if self.source.kind == "environment":
            return f"environment variable {self.source.variable}"
        return "the store" if self.source.kind == "store" else "the vendor's own tool"

    def to_json(self) -> dict[str, object]:
        return {
            "provider": self.provider,
            "source": self.source and self.source.kind,
            "variable": self.source and self.source.variable,
            "key_needed": self.provider not in KEYLESS_PROVIDERS,
            "reason": self.reason,
        }


def _find_origin(provider: str) -> _Origin:
    try:
        return _Origin(provider, find_key_source(provider), None)
    except ConfigError as error:
        # The store was read before: it is the vendor's tool that left something odd.
        return _Origin(provider, None, str(error))


@app.command(
    name="remove",
    cls=_Keyless,
    epilog=examples(("openprogram auth remove anthropic", "forget the stored key")),
)
def remove(
    provider: Annotated[
        str,
        typer.Argument(
            metavar="PROVIDER",
            help="Whose key it is, as 'auth list' shows it.",
            autocompletion=complete_stored,
        ),
    ],
    as_json: JsonOption = False,
) -> int:
    """Take a provider's key out of the store.

    Environment variables and the logins of vendors' tools are left alone, and may still give one.
    """
    _require_known(provider, {*KNOWN_PROVIDERS, *store.read_credentials()})
    if not store.remove_credential(provider):
        raise ConfigError(
            f"provider {quoted(provider)}: nothing is stored; "
            "'openprogram auth list' shows where its key comes from"
        )
    if as_json:
        _output.write_json({"provider": provider, "path": str(paths.credentials_path())})
        return _diagnostics.DONE
    origin = _find_origin(provider)
    _output.write_line(f"The key of {provider} is removed from the store.")
    if origin.source is not None:
        _output.write_line(f"Calls still find one: {origin}.")
    return _diagnostics.DONE


def _require_known(word: str, names: Iterable[str]) -> None:
    """Refuse what is no provider; the word may be a key, so it is not repeated."""
    known = sorted(names)
    if word in known:
        return
    close = get_close_matches(word.lower(), known, n=1)
    remedy = f"did you mean {quoted(close[0])}?" if close else f"there are {', '.join(known)}"
    raise _diagnostics.UsageError(f"the word given for PROVIDER is none; {remedy}")
