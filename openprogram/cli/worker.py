"""`openprogram worker`, and what `openprogram run --worker` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import typer

from openprogram import paths
from openprogram.cli import _diagnostics, _output
from openprogram.cli._commands import Command, JsonOption, examples
from openprogram.cli._streaming import ReaderLeftError, escaped_block
from openprogram.worker.client import run_on_worker
from openprogram.worker.protocol import Note, RunRequest, Text, TextEnd, Turn

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Unpack

    from openprogram.worker.protocol import Progress

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class _Choices(TypedDict):
    system_prompt: str | None
    provider: str | None
    model: str | None
    turns: int | None
    seconds: float | None
    usd: float | None


@app.command(
    cls=Command,
    epilog=examples(
        ("openprogram worker", "until Ctrl-C or SIGTERM"),
        ("openprogram run --worker 'When is tea?'", "ask it, elsewhere"),
        ("openprogram recordings status", "see what it does"),
    ),
)
def worker(as_json: JsonOption = False) -> int:
    """Answer the prompts of many clients in one process.

    It listens on a socket in the state directory that only you can use. What the settings say when
    it starts holds until it ends.
    """
    from openprogram.worker.server import serve  # late: help needs none of it

    def show_ready(path: Path) -> None:
        if as_json:
            _output.write_json({"socket": str(path)})
        else:
            _output.write_line(f"Listening on {path}.")
        _output.flush()

    serve(on_ready=show_ready)
    return _diagnostics.DONE


def run_there(prompt: str, *, root: str, as_json: bool, **choices: Unpack[_Choices]) -> int:
    """Let the running worker run a prompt, and show its answer as it comes.

    Args:
        prompt: The task.
        root: What the tools can see.
        as_json: Whether to write one JSON document instead.
        choices: What the command line says about the run; None where it says nothing.

    Returns:
        The exit code.
    """
    given = {name: value for name, value in choices.items() if value is not None}
    request = RunRequest(prompt=prompt, root=str(paths.absolute_path(root)), **given)  # pyright: ignore[reportArgumentType]  # names and types are those of the dictionary's type
    printer = _Printer(shows=not as_json)
    try:
        document = run_on_worker(request, on_progress=printer.take)
    except ReaderLeftError:
        return _diagnostics.DONE
    if as_json:
        _output.write_json({"answer": "".join(printer.pieces), **document})
    elif document.get("stop_reason") == "length":
        _diagnostics.warn("the answer was cut: it reached the model's limit")
    return _diagnostics.DONE


class _Printer:
    """Shows what comes, or gathers the last answer."""

    def __init__(self, *, shows: bool) -> None:
        self._shows = shows
        self._is_mid_line = False
        self.pieces: list[str] = []

    def take(self, message: Progress) -> None:
        match message:
            case Note(text):
                self._end_line()
                _diagnostics.warn(text)
            case Text(text):
                self.pieces.append(text)
                self._write(escaped_block(text))
            case Turn():
                self.pieces = []
            case TextEnd():
                self._end_line()

    def _end_line(self) -> None:
        if self._is_mid_line:
            self._write("\n")

    def _write(self, text: str) -> None:
        if not self._shows or not text:
            return
        if not (_output.write_raw(text) and _output.flush()):
            raise ReaderLeftError
        self._is_mid_line = not text.endswith("\n")
