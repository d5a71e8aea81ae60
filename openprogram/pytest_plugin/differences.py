"""Puts what differs between a test and its recording into lines that a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openprogram.cli._differences import lay_out
from openprogram.cli._mismatches import compare_values
from openprogram.errors import RecordingFileError, ascii_if_unprintable
from openprogram.providers.comparison import iterate_request_differences
from openprogram.providers.diffing import diff_recordings
from openprogram.providers.ignored_paths import parse_ignored_path
from openprogram.providers.inspection import inspect_recording, read_call

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SHOWN_COUNT = 20


def explain_request(
    path: Path, call_index: int, request: dict[str, Any], ignore: Sequence[str]
) -> list[str]:
    """Say everything that differs between a request and the recorded one.

    Args:
        path: The recording.
        call_index: The call that was expected.
        request: What was asked instead, as a recording would hold it.
        ignore: Field paths that are not compared.

    Returns:
        Printable lines: where the recorded request stands, then each path with both values and a
        mark where they part.
    """
    calls = inspect_recording(path).calls
    if call_index >= len(calls):
        return [f"the recording has {len(calls)} calls: {ascii_if_unprintable(str(path))}"]
    call = calls[call_index]
    place = f"{ascii_if_unprintable(str(path))}:{call.first_line_number}"
    lines = [f"the recorded request: {place}"]
    try:
        recorded = read_call(path, call).request
    except RecordingFileError as error:
        return [*lines, str(error)]
    ignored = tuple(parse_ignored_path(text) for text in ignore)
    count = 0
    for difference in iterate_request_differences(recorded, request, ignore=ignored):
        count += 1
        if count <= _SHOWN_COUNT:
            lines.append(f"  {ascii_if_unprintable(difference.path)}")
            lines += [
                f"  {line}" for line in compare_values(difference.recorded, difference.incoming)
            ]
    if count > _SHOWN_COUNT:
        lines.append(f"  ... and {count - _SHOWN_COUNT:,} more differences")
    return lines


def explain_differences(recorded: Path, today: Path) -> list[str]:
    """Say what differs between a recording and a new one of the same test.

    Args:
        recorded: The recording.
        today: The new one.

    Returns:
        Printable lines; none when the calls are the same.
    """
    found = diff_recordings(recorded, today)
    if found.is_equal:
        return []
    names = (str(recorded), "the vendor today")
    return [line for line, _ in lay_out(found, names, is_about_one_call=False)]
