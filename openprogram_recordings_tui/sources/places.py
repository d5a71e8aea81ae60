"""Where the UI is asked to begin: a recording, a call, a field; found before a screen is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram.errors import OpenProgramError, quoted
from openprogram.providers.management import require_present, resolve_selector
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.trees import TreeLines
from openprogram_recordings_tui.sources.call_views import CallViews
from openprogram_recordings_tui.sources.open_recording import OpenRecording

if TYPE_CHECKING:
    from pathlib import Path


class NoSuchPlaceError(OpenProgramError):
    """The recording has no such call, or its request no such field; begin elsewhere."""


def find_place(selector: str, call_index: int | None, field: str) -> Path:
    """Find a recording, and see that it has the place to begin at.

    Args:
        selector: As on the command line.
        call_index: A call, from 0; None for any.
        field: The path of a field of its request, or of that of call 0; empty for any.

    Returns:
        The file. It can be opened, which says nothing of its being sound.

    Raises:
        InvalidSelectorError: The selector can name no recording.
        RecordingNotFoundError: There is none of this name.
        RecordingFileError: It cannot be opened.
        NoSuchPlaceError: It has no such call or field.
        OSError: It cannot be read.
    """
    path = resolve_selector(selector).path
    require_present(path)
    recording = OpenRecording(path)
    try:
        if call_index is not None or field:
            _require_call(recording, call_index or 0)
        if field:
            _require_field(recording, call_index or 0, field)
    finally:
        recording.close()
    return path


def _require_call(recording: OpenRecording, call_index: int) -> None:
    # Only as far as the call: a file may be large.
    recording.scan(lambda: None, lambda: recording.call_count > call_index)
    count = recording.call_count
    if count > call_index:
        return
    there = "open it without --call" if not count else f"give one from 0 to {count - 1} to --call"
    words = f"it has {figures.plural(count, 'call')}, so there is no call {call_index}"
    raise NoSuchPlaceError(f"{quoted(str(recording.path))}: {words}; {there}")


def _require_field(recording: OpenRecording, call_index: int, field: str) -> None:
    tree = CallViews(recording, call_index).source("request")
    if not isinstance(tree, TreeLines):
        return  # too large to be taken apart: the screen says so
    line = tree.reveal(field)
    nearest = None if line is None else tree.node(line).path
    if nearest == field:
        return
    near = "" if nearest is None else f"{quoted(nearest)} is the nearest; "
    place = f"{quoted(str(recording.path))}, call {call_index}"
    words = f"its request has no field {quoted(field)}"
    raise NoSuchPlaceError(f"{place}: {words}; {near}give --path a field of it, such as 'model.id'")
