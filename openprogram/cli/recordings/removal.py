"""`recordings delete` and `prune`: take managed recordings away, after asking."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from openprogram.cli import _diagnostics, _output
from openprogram.cli._commands import Command, JsonOption, examples
from openprogram.cli._completion import complete_recording_id
from openprogram.cli._progress import ProgressLine
from openprogram.cli._tables import count_of, format_bytes
from openprogram.providers import file_safety, management

if TYPE_CHECKING:
    from openprogram.providers.management import PrunedRecording, PruneReport

app = typer.Typer(rich_markup_mode=None)

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.command(
    cls=Command,
    epilog=examples(
        ("openprogram recordings delete first", "asks for the ID once more"),
        ("openprogram recordings delete first --yes", "does not ask"),
    ),
)
def delete(
    recording_id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="The recording's ID; never a path.",
            autocompletion=complete_recording_id,
        ),
    ],
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> int:
    """Delete one recording.

    Refuses the recording that the settings use, and one that is being written to. In a terminal
    the whole ID must be typed again; elsewhere --yes is needed.
    """
    path = management.resolve_id(recording_id)
    name = path.name.removesuffix(file_safety.SUFFIX)
    if not yes:
        _require_terminal("delete")
        try:
            size = format_bytes(path.lstat().st_size)
        except FileNotFoundError as error:
            raise management.not_found(path) from error
        _require_answer(f"This deletes {name} ({size}) for good. Type its ID to go on: ", name)
    deleted = management.delete_recording(recording_id)
    if as_json:
        _output.write_json(deleted.to_json())
    else:
        _output.write_line(f"Deleted {deleted.recording_id} ({format_bytes(deleted.size_bytes)}).")
    return _diagnostics.DONE


def _require_terminal(command: str) -> None:
    if not _output.is_terminal(sys.stdin):
        raise _diagnostics.UsageError(
            f"{command}: nobody can be asked, standard input is not a terminal; add --yes"
        )


def _require_answer(question: str, expected: str) -> None:
    answer = _diagnostics.ask(question)
    if answer is None or answer.strip() != expected:
        raise _diagnostics.NotConfirmedError("not confirmed; nothing was deleted")


@app.command(
    cls=Command,
    epilog=examples(
        ("openprogram recordings prune --older-than-days 30 --dry-run", "what would go"),
        ("openprogram recordings prune --older-than-days 30", "asks first"),
    ),
)
def prune(
    older_than_days: Annotated[
        int,
        typer.Option(
            min=1,
            max=1_000_000,
            metavar="N",
            help="Whole days since the last write to the file, at least 1.",
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go, and delete nothing.")
    ] = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> int:
    """Delete recordings nobody has written to for a while.

    Skips the recording that the settings use, those being written to, and whatever is not a plain
    file. Goes on after a failure, and then exits 1.
    """
    if not (dry_run or yes):
        _require_terminal("prune")
        _confirm_prune(older_than_days)
    report = _prune(older_than_days, dry_run=dry_run)
    if as_json:
        _output.write_json(report.to_json())
    else:
        _write_report(report, dry_run=dry_run)
    if not report.failed_count:
        return _diagnostics.DONE
    _diagnostics.say_error(f"{count_of(report.failed_count, 'recording')} could not be deleted")
    return _diagnostics.FAILED


def _confirm_prune(older_than_days: int) -> None:
    """Show what would go and ask, again when the set has changed while the person read it."""
    confirmed: list[PrunedRecording] = []
    while (expected := _preview(older_than_days)) and expected != confirmed:
        for row in expected:
            _diagnostics.say(f"  {row.recording_id} ({format_bytes(row.size_bytes)})")
        count = count_of(len(expected), "recording")
        question = f"This deletes {count} for good. Type {len(expected)} to go on: "
        _require_answer(question, str(len(expected)))
        confirmed = expected


def _preview(older_than_days: int) -> list[PrunedRecording]:
    report = _prune(older_than_days, dry_run=True)
    return [row for row in report.recordings if row.action == "would_delete"]


def _prune(older_than_days: int, *, dry_run: bool) -> PruneReport:
    with ProgressLine("pruning") as line:
        return management.prune_recordings(
            older_than_days=older_than_days, dry_run=dry_run, on_progress=line.update
        )


def _write_report(report: PruneReport, *, dry_run: bool) -> None:
    words = {"would_delete": "would delete"}
    for row in report.recordings:
        reason = f": {row.reason}" if row.reason else ""
        _output.write_line(f"{words.get(row.action, row.action)} {row.recording_id}{reason}")
    freed = "would free" if dry_run else "freed"
    _output.write_line(
        f"{report.matched_count:,} matched, {report.deleted_count:,} deleted, "
        f"{report.failed_count:,} failed, {report.skipped_count:,} skipped; "
        f"{freed} {format_bytes(report.freed_bytes)}"
    )
