"""`openprogram recordings tui`: opens the terminal UI, the one command that imports it."""

from __future__ import annotations

import typer

from openprogram.cli._commands import Command

app = typer.Typer(rich_markup_mode=None)


@app.command(
    cls=Command,
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],
    },
)
def tui(ctx: typer.Context) -> int:
    """Look around in the terminal.

    Its own options are described by 'openprogram recordings tui --help'.
    """
    from openprogram_recordings_tui.__main__ import main  # late: it loads the UI's toolkit

    return main(ctx.args)
