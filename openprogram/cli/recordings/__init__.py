"""`openprogram recordings`: what can be done with recordings; never starts the provider runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import typer

from openprogram.cli._commands import LazyGroup, examples

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Recordings(LazyGroup):
    table: ClassVar[Mapping[str, tuple[str, str]]] = {
        "status": (
            "openprogram.cli.recordings.mode",
            "Say what the next start does with provider calls.",
        ),
        "record": (
            "openprogram.cli.recordings.mode",
            "Record from the next start on, into a new recording.",
        ),
        "replay": (
            "openprogram.cli.recordings.mode",
            "Answer from a recording from the next start on, offline.",
        ),
        "off": (
            "openprogram.cli.recordings.mode",
            "Neither record nor replay from the next start on.",
        ),
        "list": (
            "openprogram.cli.recordings.reading",
            "List the recordings, newest first.",
        ),
        "show": (
            "openprogram.cli.recordings.reading",
            "Show one recording, call by call.",
        ),
        "diff": (
            "openprogram.cli.recordings.diff",
            "Compare two recordings, call by call.",
        ),
        "verify": (
            "openprogram.cli.recordings.reading",
            "Check that recordings are sound and owner-only.",
        ),
        "delete": (
            "openprogram.cli.recordings.removal",
            "Delete one recording.",
        ),
        "prune": (
            "openprogram.cli.recordings.removal",
            "Delete recordings nobody has written to for a while.",
        ),
        "tui": (
            "openprogram.cli.tui",
            "Look around in the terminal.",
        ),
    }


app = typer.Typer(
    cls=_Recordings,
    rich_markup_mode=None,
    add_completion=False,
    epilog=examples(
        ("openprogram recordings record --name first", "record from the next start on"),
        ("openprogram recordings list", "see what there is"),
        ("openprogram recordings show first", "its calls, tokens and cost"),
        ("openprogram recordings replay first", "answer from it, offline"),
        ("openprogram recordings tui first", "look around in it"),
    ),
)


@app.callback()
def recordings() -> None:
    """Record, replay, look at and delete recordings.

    A recording holds what an agent asked and what models answered, call by call. SELECTOR is a
    recording's ID, as 'list' shows it, or a path with a slash in it. Redaction removes credentials,
    not private content: treat a recording like the work it shows.
    """
