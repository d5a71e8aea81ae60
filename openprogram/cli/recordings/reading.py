"""`recordings list`, `show` and `verify`: look at recordings, and change nothing."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from openprogram.cli import _diagnostics, _output
from openprogram.cli._commands import Command, JsonOption, examples
from openprogram.cli._completion import complete_recording_id
from openprogram.cli._progress import ProgressLine
from openprogram.cli._tables import (
    Column,
    count_of,
    fit,
    format_bytes,
    format_cost,
    format_instant,
    layout_fields,
    layout_table,
)
from openprogram.errors import ascii_if_unprintable
from openprogram.providers import file_safety, management

if TYPE_CHECKING:
    from openprogram.errors import RecordingFileError
    from openprogram.providers.inspection import CallInspection
    from openprogram.providers.management import RecordingSummary

app = typer.Typer(rich_markup_mode=None)

_NAME_CELLS = 60
_NONE_YET = "No recordings yet. To make one: openprogram recordings record"
_PRIVATE_CONTENT = (
    "what follows may hold private content: redaction removes credentials, "
    "not prompts, files that tools read, or answers"
)


@app.command(
    name="list",
    cls=Command,
    epilog=examples(
        ("openprogram recordings list", "for people"),
        ("openprogram recordings list --json", "for programs"),
    ),
)
def list_(as_json: JsonOption = False) -> int:
    """List the recordings, newest first.

    Shows no request and no answer. A file that is not sound is listed as invalid, with its reason.
    """
    if as_json:
        summaries = _list_recordings()
        _output.write_json({"recordings": [summary.to_json() for summary in summaries]})
    else:
        write_list()
    return _diagnostics.DONE


def write_list() -> None:
    """Write the table of the recordings, or how to make one where there is none."""
    summaries = _list_recordings()
    if summaries:
        _write_rows(summaries)
    else:
        _output.write_line(_NONE_YET)


def _list_recordings() -> list[RecordingSummary]:
    with ProgressLine("listing") as line:
        return management.list_recordings(on_progress=line.update)


def _write_rows(summaries: list[RecordingSummary]) -> None:
    columns = [
        Column(title="ID"),
        Column(title="CREATED"),
        Column(title="CALLS", align="right"),
        Column(title="SIZE", align="right"),
        Column(title="STATE"),
    ]
    rows = [
        [
            summary.recording_id or str(summary.path),
            format_instant(summary.created_at),
            f"{summary.call_count:,}",
            format_bytes(summary.size_bytes),
            _state_of(summary),
        ]
        for summary in summaries
    ]
    _write_table(columns, rows)


def _write_table(columns: list[Column], rows: list[list[str]]) -> None:
    width = shutil.get_terminal_size().columns if _output.is_terminal(sys.stdout) else None
    head, *lines = layout_table(columns, rows, width=width)
    _output.write_lines([_output.paint(head, "dim"), *lines])


def _state_of(summary: RecordingSummary) -> str:
    if summary.error is not None:
        state = f"invalid: {_reason_of(summary.error)}"
    elif not summary.call_count:
        state = "empty"
    else:
        state = _state_of_calls(summary)
    return f"active, {state}" if summary.active else state


def _state_of_calls(summary: RecordingSummary) -> str:
    """Say whether calls have their end, and how many of them failed with it."""
    failed = f"{summary.failed_count:,} of {count_of(summary.call_count, 'call')} failed"
    states = [] if summary.complete else ["incomplete"]
    states += [failed] if summary.failed_count else []
    return ", ".join(states) or "complete"


def _reason_of(error: RecordingFileError) -> str:
    where = f"line {error.line_number}: " if error.line_number is not None else ""
    return f"{where}{error.reason} ({error.code})"


@app.command(
    cls=Command,
    epilog=examples(
        ("openprogram recordings show first", "calls, tokens and cost"),
        ("openprogram recordings show ./bug.jsonl", "a file of yours"),
        ("openprogram recordings show first --content | less", "all it holds"),
    ),
)
def show(
    selector: Annotated[
        str,
        typer.Argument(
            metavar="SELECTOR",
            help="The recording: an ID, or a path with a slash in it.",
            autocompletion=complete_recording_id,
        ),
    ],
    content: Annotated[
        bool,
        typer.Option(
            "--content",
            help="Print the redacted rows themselves. Redaction removes credentials, "
            "not private content.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Show one recording, call by call.

    Exits 1 when the recording is not sound; whatever stands before the fault is shown all the same.
    """
    if content and as_json:
        raise _diagnostics.UsageError(
            "show: --content and --json exclude each other; --content alone prints JSON Lines"
        )
    path = management.resolve_selector(selector).path
    management.require_present(path)
    summary = management.summarize_recording(path)
    if summary.warning is not None:
        _diagnostics.warn(summary.warning)
    if content:
        _write_content(summary)
    elif as_json:
        _output.write_json(summary.to_json(include_calls=True))
    else:
        _write_summary(summary)
    if summary.error is None:
        return _diagnostics.DONE
    return _diagnostics.report(summary.error).exit_code


def _write_summary(summary: RecordingSummary) -> None:
    version = summary.format_version if summary.format_version is not None else "unknown"
    redaction = summary.redaction_version if summary.redaction_version is not None else "unknown"
    fields = [
        ("Recording", summary.recording_id or "not managed"),
        ("File", f"{summary.path} ({format_bytes(summary.size_bytes)})"),
        ("Created", format_instant(summary.created_at)),
        ("Format", f"version {version}, redaction {redaction}"),
        ("State", _state_of(summary)),
        (
            "Holds",
            f"{count_of(summary.call_count, 'call')}, {count_of(summary.event_count, 'event')}",
        ),
    ]
    models = sorted({_model_of(call) for call in summary.calls})
    if len(models) == 1:
        model, provider, api = models[0]
        fields.append(("Model", f"{model} from {provider} over {api}"))
    cost_usd = _total_cost_usd(summary)
    if cost_usd is not None:
        fields.append(("Cost", format_cost(cost_usd)))
    _output.write_lines(layout_fields(fields))
    if summary.calls:
        _output.write_line()
        _write_calls(summary, with_model=len(models) > 1)


def _model_of(call: CallInspection) -> tuple[str, str, str]:
    return _name(call.model), _name(call.provider), _name(call.api)


def _name(text: str | None) -> str:
    """Show a name as it was recorded; nothing says that it is short, or a name."""
    return fit(ascii_if_unprintable(text), _NAME_CELLS) if text else "-"


def _total_cost_usd(summary: RecordingSummary) -> float | None:
    costs = [call.cost_usd for call in summary.calls if call.cost_usd is not None]
    return sum(costs) if costs else None


def _write_calls(summary: RecordingSummary, *, with_model: bool) -> None:
    columns = [
        Column(title="CALL", align="right"),
        Column(title="EVENTS", align="right"),
        Column(title="IN", align="right"),
        Column(title="OUT", align="right"),
        Column(title="COST", align="right"),
        Column(title="OUTCOME"),
    ]
    if with_model:
        columns[1:1] = [Column(title="MODEL"), Column(title="PROVIDER"), Column(title="API")]
    rows = [
        [
            str(call.call_index),
            *(_model_of(call) if with_model else ()),
            f"{call.event_count:,}",
            "-" if call.usage is None else f"{call.usage.input:,}",
            "-" if call.usage is None else f"{call.usage.output:,}",
            format_cost(call.cost_usd),
            _ending_of(call),
        ]
        for call in summary.calls
    ]
    _write_table(columns, rows)


def _ending_of(call: CallInspection) -> str:
    """Say how a call ended; a stream that came to its end with an error failed all the same."""
    stop = f" ({call.stop_reason})" if call.stop_reason else ""
    outcome = call.outcome or "not ended"
    if outcome == "complete" and management.is_failed(call):
        outcome = "failed"
    return f"{outcome}{stop}"


def _write_content(summary: RecordingSummary) -> None:
    _diagnostics.warn(_PRIVATE_CONTENT)
    end_line = _first_unsound_line(summary.error)
    fd = file_safety.open_recording_for_reading(summary.path, require_private=False)
    with os.fdopen(fd, "rb") as file:
        for line_number, line in enumerate(file, start=1):
            if end_line is not None and line_number >= end_line:
                break
            if not _output.write_bytes(_escaped(line)):
                break


def _first_unsound_line(error: RecordingFileError | None) -> int | None:
    """Say where the sound part ends; a call without an end leaves every row sound."""
    if error is None or error.code == "missing_call_end":
        return None
    return 0 if error.line_number is None else error.line_number


def _escaped(line: bytes) -> bytes:
    """Escape within JSON what a terminal could act on: C1 codes and the like stand raw in a row.

    So it is in a pipe too, for there stands a pager, or `head`; the JSON value is the same.
    """
    text = line.decode(errors="replace").removesuffix("\n")
    if text.isprintable():
        return line
    safe = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    return f"{safe}\n".encode()


@app.command(
    cls=Command,
    epilog=examples(
        ("openprogram recordings verify", "all recordings"),
        ("openprogram recordings verify first ./bug.jsonl", "these two"),
    ),
)
def verify(
    selectors: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SELECTOR",
            help="Recordings: IDs, or paths with a slash in them. All of them when none is named.",
            autocompletion=complete_recording_id,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Check that recordings are sound and owner-only.

    Exits 1 when one is not. Changes nothing.
    """
    with ProgressLine("verifying") as line:
        summaries = management.verify_recordings(selectors or (), on_progress=line.update)
    bad = [summary for summary in summaries if summary.error is not None]
    if as_json:
        _output.write_json({"recordings": [summary.to_json() for summary in summaries]})
    elif not summaries:
        _output.write_line(_NONE_YET)
    else:
        columns = [Column(title="ID"), Column(title="RESULT")]
        rows = [
            [
                summary.recording_id or str(summary.path),
                "ok" if summary.error is None else f"invalid: {_reason_of(summary.error)}",
            ]
            for summary in summaries
        ]
        _write_table(columns, rows)
    if not bad:
        return _diagnostics.DONE
    _diagnostics.say_error(
        f"{count_of(len(bad), 'recording')} of {len(summaries):,} not valid; "
        "'openprogram recordings show SELECTOR' says what to do about one"
    )
    return _diagnostics.FAILED
