"""What a recording is about: the first thing its user said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram_recordings_tui.presentation.conversations import first_words
from openprogram_recordings_tui.sources.open_recording import OpenRecording

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram_recordings_tui.background import IsCancelled

_SHOWN_CHARACTERS = 2000


def read_first_text(path: Path, is_cancelled: IsCancelled) -> str | None:
    """Read what the user said in the first call of a recording.

    Args:
        path: The recording; it need not be sound.
        is_cancelled: Asked often; True ends it.

    Returns:
        The beginning of the text, raw; None when there is none.

    Raises:
        OSError: The file cannot be read.
        RecordingFileError: It may not be opened.
    """
    recording = OpenRecording(path)
    try:
        recording.scan(lambda: None, lambda: recording.call_count > 0 or is_cancelled())
        request = recording.request(0)
    finally:
        recording.close()
    text = None if request is None else first_words(request)
    return None if text is None else text[:_SHOWN_CHARACTERS]
