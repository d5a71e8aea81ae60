"""`openprogram recordings tui`: opens the terminal UI, the one command that imports it."""

from __future__ import annotations

from typing import Annotated

import typer

from openprogram.cli._commands import Command, examples
from openprogram.cli._completion import complete_recording_id

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_HIGHEST_INDEX = 999_999_999


@app.command(
    cls=Command,
    epilog=examples(
        ("openprogram recordings tui", "all recordings"),
        ("openprogram recordings tui first --call 2", "the third call of one"),
        ("openprogram recordings tui --mismatch ID", "what a replay reported"),
    ),
)
def tui(
    selector: Annotated[
        str | None,
        typer.Argument(
            metavar="SELECTOR",
            help="A recording to open: an ID, or a path with a slash in it. "
            "The list of all when none is named.",
            autocompletion=complete_recording_id,
        ),
    ] = None,
    call: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=_HIGHEST_INDEX, help="Open this call of it, counted from 0."
        ),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="Open the call's request at this field, such as model.id."
        ),
    ] = None,
    mismatch: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Open this mismatch report, both requests side by side."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Take away every key that changes something.")
    ] = False,
) -> int:
    """Look around in the terminal.

    Where no screen can be drawn, it prints the list instead and exits 2. Inside, ? shows the keys
    and q leaves.
    """
    if selector is not None:
        from openprogram.providers import management  # late: help needs none of it

        management.require_present(management.resolve_selector(selector).path)
    from openprogram_recordings_tui.__main__ import main  # late: it loads the UI's toolkit

    options = {
        "--call": None if call is None else str(call),
        "--path": path,
        "--mismatch": mismatch,
    }
    # Joined by '=', so that no value is taken for an option of its own.
    words = [f"{name}={value}" for name, value in options.items() if value is not None]
    words += ["--read-only"] if read_only else []
    words = words if selector is None else [*words, "--", selector]
    return main(words, write_list=_write_list)


def _write_list() -> None:
    from openprogram.cli.recordings.reading import write_list  # late: a screen needs none of it

    write_list()
