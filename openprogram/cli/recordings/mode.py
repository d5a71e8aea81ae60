"""`recordings status`, `record`, `replay` and `off`: what the next start does."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from openprogram.cli import _diagnostics, _output
from openprogram.cli._commands import Command, JsonOption, examples
from openprogram.cli._completion import complete_recording_id
from openprogram.cli._tables import format_bytes, layout_fields
from openprogram.providers import management
from openprogram.worker.status import read_status_with_worker

app = typer.Typer(rich_markup_mode=None)

_RESTART = "Programs that already run keep their mode until they are restarted."


@app.command(
    cls=Command,
    epilog=examples(
        ("openprogram recordings status", "for people"),
        ("openprogram recordings status --json", "for programs"),
    ),
)
def status(as_json: JsonOption = False) -> int:
    """Say what the next start does with provider calls.

    Looks at the settings and at whether the chosen file is there; never at what a recording holds.
    Exits 1 when the settings are not valid: provider calls are blocked until they are.
    """
    found = read_status_with_worker()
    if as_json:
        _output.write_json(found.to_json())
    else:
        _output.write_lines(layout_fields(_status_fields(found)))
    if found.valid:
        return _diagnostics.DONE
    _diagnostics.say_error(found.reason or "the settings are not valid")
    return _diagnostics.FAILED


def _status_fields(found: management.RecordReplayStatus) -> list[tuple[str, str]]:
    fields = [("Next start", found.mode if found.valid else _blocked(found.mode))]
    if found.file:
        fields.append(("Recording", found.file))
    if found.path is not None:
        size = "not there"
        if found.size_bytes is not None:
            size = format_bytes(found.size_bytes)
        fields.append(("File", f"{found.path} ({size})"))
    if found.ignore:
        fields.append(("Not compared", ", ".join(found.ignore)))
    fields.append(("Setting from", found.source))
    if found.worker is not None:
        fields.append(("Worker", _worker_in_words(found.worker)))
    if found.restart_required:
        fields.append(("", "still uses other settings; restart it"))
    return fields


def _worker_in_words(worker: dict[str, Any]) -> str:
    doing = f"process {worker['pid']}, {worker['mode']}"
    if worker["path"] is not None:
        doing += f" {worker['path']}"
    if worker["total"] is not None:
        doing += f", {worker['consumed']} of {worker['total']} calls served"
    return doing


def _blocked(mode: str) -> str:
    return "blocked" if mode == "blocked" else f"blocked; the settings say {mode}"


class _Record(Command):
    stray_remedy = "did you mean '--name {}'?"


@app.command(
    cls=_Record,
    epilog=examples(
        ("openprogram recordings record", "under the time as its name"),
        ("openprogram recordings record --name first", "under a name of yours"),
    ),
)
def record(
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The new recording's ID: letters, digits, '.', '_', '-', at most 64. "
            "Without it, the time in UTC and eight random digits.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Record from the next start on, into a new recording.

    The file is owner-only. Credentials are removed before anything is written; private content,
    such as prompts, files that tools read and answers, is not.
    """
    selection = management.prepare_record(name)
    _say_mode(selection, as_json=as_json, verb="records into")
    return _diagnostics.DONE


@app.command(
    cls=Command,
    epilog=examples(
        ("openprogram recordings replay first", "by ID"),
        ("openprogram recordings replay ./bug.jsonl", "a file of yours, mode 0600"),
    ),
)
def replay(
    selector: Annotated[
        str,
        typer.Argument(
            metavar="SELECTOR",
            help="The recording: an ID, or a path with a slash in it.",
            autocompletion=complete_recording_id,
        ),
    ],
    as_json: JsonOption = False,
) -> int:
    """Answer from a recording from the next start on, offline.

    The file is checked strictly first; when it is not sound, nothing changes. Replay never goes
    online: a request that differs from the recorded one ends the run and names the field.
    """
    selection = management.prepare_replay(selector)
    _say_mode(selection, as_json=as_json, verb="replays")
    return _diagnostics.DONE


@app.command(
    cls=Command,
    epilog=examples(("openprogram recordings off", "back to live calls")),
)
def off(as_json: JsonOption = False) -> int:
    """Neither record nor replay from the next start on.

    The chosen recording stays chosen and is not touched.
    """
    management.turn_off()
    if as_json:
        _output.write_json(management.read_status().to_json())
    else:
        _output.write_line("The next start neither records nor replays; provider calls go live.")
        _output.write_line(_RESTART)
    return _diagnostics.DONE


def _say_mode(selection: management.Selection, *, as_json: bool, verb: str) -> None:
    if as_json:
        recording_id = {"recording_id": selection.recording_id}
        _output.write_json(management.read_status().to_json() | recording_id)
        return
    _output.write_line(f"The next start {verb} {selection.recording_id or selection.path}.")
    if selection.recording_id:
        _output.write_line(f"File: {selection.path}")
    _output.write_line(_RESTART)
    _output.write_line("To end it: openprogram recordings off")
