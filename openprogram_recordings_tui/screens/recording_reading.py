"""What a recording's screen asks of its file, in threads: rows, the strict verdict, changes."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from openprogram.errors import OpenProgramError
from openprogram.providers.inspection import inspect_recording
from openprogram_recordings_tui.messages import (
    FileChanged,
    ReadingFailed,
    RecordingInspected,
    RowsFound,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from openprogram.providers.row_index import FileChange
    from openprogram_recordings_tui.background import IsCancelled
    from openprogram_recordings_tui.sources.open_recording import OpenRecording

_BATCH_SECONDS = 0.1


class RecordingReading:
    """One reading of a file; the next one has another number.

    Args:
        number: Stands in every message, so that a late one is known.
        recording: The file.
        post: Takes the messages.
    """

    def __init__(
        self, number: int, recording: OpenRecording, post: Callable[[Message], object]
    ) -> None:
        self.number = number
        """The how manieth reading this is."""
        self._recording = recording
        self._post = post

    def scan(self, is_cancelled: IsCancelled) -> None:
        """Find the rows, then ask the strict reader; the screen shows what there is meanwhile.

        Args:
            is_cancelled: Asked often; True ends it.
        """
        told_at = 0.0

        def tell() -> None:
            nonlocal told_at
            if monotonic() - told_at >= _BATCH_SECONDS:
                told_at = monotonic()
                self._post(RowsFound(self.number, is_whole=False))

        try:
            self._recording.scan(tell, is_cancelled)
            if is_cancelled():
                return
            self._post(RowsFound(self.number, is_whole=True))
            inspection = inspect_recording(self._recording.path)
        except (OSError, OpenProgramError) as error:
            self._post(ReadingFailed(self.number, str(error)))
            return
        self._post(RecordingInspected(self.number, inspection))

    def look(self, known: FileChange | None) -> None:
        """Look whether the file is still what was read, or is that again.

        Args:
            known: What became of it, as far as it was said.
        """
        change = self._recording.index.find_change()
        if change != known:
            self._post(FileChanged(self.number, change))
