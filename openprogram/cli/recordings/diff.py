"""`recordings diff`: compare two recordings, and change nothing."""

from __future__ import annotations

import dataclasses
import os
import stat
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openprogram.cli import _diagnostics, _output
from openprogram.cli._commands import Command, JsonOption, examples
from openprogram.cli._completion import complete_recording_id
from openprogram.cli._differences import lay_out
from openprogram.cli._progress import ProgressLine
from openprogram.cli._tables import count_of
from openprogram.errors import (
    InvalidSelectorError,
    OpenProgramError,
    quoted,
)
from openprogram.providers import file_safety, management
from openprogram.providers.comparison import MISSING
from openprogram.providers.diffing import PAIR_STATES, diff_recordings

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.providers.comparison import Difference
    from openprogram.providers.diffing import CallPair, RecordingDiff
    from openprogram.providers.inspection import CallInspection
    from openprogram.providers.management import Selection

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_HIGHEST_INDEX = 999_999_999


@app.command(
    cls=Command,
    epilog=examples(
        ("openprogram recordings diff first second", "call by call"),
        ("openprogram recordings diff first second --call 3", "all of one call"),
        ("openprogram recordings diff first ./bug.jsonl --json", "for programs"),
    ),
)
def diff(
    first: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="One recording: an ID, or a path with a slash in it.",
            autocompletion=complete_recording_id,
        ),
    ],
    second: Annotated[
        str,
        typer.Argument(
            metavar="B",
            help="The other, likewise.",
            autocompletion=complete_recording_id,
        ),
    ],
    call: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=_HIGHEST_INDEX,
            metavar="N",
            help="Compare call N of A alone, counted from 0, and list all that differs in it.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Compare two recordings, call by call.

    A call of A and its counterpart in B are equal or changed; else it was removed, or inserted. The
    first difference is named first. Times, headers and how an answer was cut into events do not
    count. What is shown may be private content: redaction removes credentials only.

    Exits 0 when the calls are equal, 1 when they differ, 3 when a recording cannot be read.
    """
    try:
        selections = [management.resolve_selector(selector) for selector in (first, second)]
        for selection in selections:
            _warn_of_permissions(selection.path)
        first_path, second_path = (selection.path for selection in selections)
        with ProgressLine("comparing") as line:
            found = diff_recordings(first_path, second_path, on_progress=line.update)
        if call is not None:
            found = _about_one_call(found, call)
        if as_json:
            _output.write_json(_document(found, selections))
        else:
            _write(found, selections, is_about_one_call=call is not None)
    except InvalidSelectorError as error:
        return _end_with(error, _diagnostics.WRONG_USAGE, as_json=as_json)
    except _diagnostics.UsageError:
        raise
    except (OpenProgramError, OSError) as error:
        return _end_with(error, _diagnostics.UNREADABLE, as_json=as_json)
    return _diagnostics.DONE if found.is_equal else _diagnostics.FAILED


def _end_with(error: Exception, exit_code: int, *, as_json: bool) -> int:
    """End as any command does that fails, but never with 1: that would say that they differ."""
    _diagnostics.report(error)
    if as_json:
        _output.write_json(_diagnostics.to_json(error))
    return exit_code


def _warn_of_permissions(path: Path) -> None:
    management.require_present(path)
    found = os.lstat(path)
    problem = file_safety.permission_problem(found, path)
    if problem is not None and stat.S_ISREG(found.st_mode):
        _diagnostics.warn(f"{quoted(str(path))}: {problem}")


def _about_one_call(found: RecordingDiff, call_index: int) -> RecordingDiff:
    for pair in found.pairs:
        if pair.first is not None and pair.first.call_index == call_index:
            return dataclasses.replace(found, pairs=(pair,))
    held = count_of(len(found.first.calls), "call")
    raise _diagnostics.UsageError(
        f"--call {call_index}: A has {held}, counted from 0; name one of them"
    )


def _document(found: RecordingDiff, selections: list[Selection]) -> dict[str, Any]:
    calls = [_call_json(found, pair) for pair in found.pairs]
    return {
        "equal": found.is_equal,
        "a": _side_json(selections[0], len(found.first.calls)),
        "b": _side_json(selections[1], len(found.second.calls)),
        "counts": {state: found.count(state) for state in PAIR_STATES},
        "first_difference": next((_first_json(call) for call in calls if _differs(call)), None),
        "calls": calls,
    }


def _side_json(selection: Selection, call_count: int) -> dict[str, Any]:
    return {
        "recording_id": selection.recording_id,
        "path": str(selection.path),
        "call_count": call_count,
    }


def _call_json(found: RecordingDiff, pair: CallPair) -> dict[str, Any]:
    return {
        "state": pair.state,
        "call_index_a": _index_of(pair.first),
        "call_index_b": _index_of(pair.second),
        "twin_index": _index_of(pair.twin),
        "differences": [_difference_json(each) for each in found.iterate_differences(pair)],
    }


def _index_of(call: CallInspection | None) -> int | None:
    return None if call is None else call.call_index


def _difference_json(difference: Difference) -> dict[str, Any]:
    values = {"a": difference.recorded, "b": difference.incoming}
    return {
        "path": difference.path,
        **{side: value for side, value in values.items() if value is not MISSING},
    }


def _differs(call: dict[str, Any]) -> bool:
    return call["state"] != "equal"


def _first_json(call: dict[str, Any]) -> dict[str, Any]:
    """Name the first difference; for a call that stands alone it has no path."""
    where = {"call_index_a": call["call_index_a"], "call_index_b": call["call_index_b"]}
    return where | next(iter(call["differences"]), {"path": None})


def _write(found: RecordingDiff, selections: list[Selection], *, is_about_one_call: bool) -> None:
    names = [selection.recording_id or str(selection.path) for selection in selections]
    for text, style in lay_out(found, names, is_about_one_call=is_about_one_call):
        if not _output.write_raw(f"{_output.paint(text, style) if style else text}\n"):
            break
