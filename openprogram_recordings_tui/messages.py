"""What screens and widgets say happened; `app.py` decides what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.providers.mismatches import MismatchReport

    from openprogram.providers.inspection import RecordingInspection
    from openprogram.providers.management import RecordingSummary


class RecordingOpened(Message):
    """Someone chose a recording to look into."""

    def __init__(self, path: Path, *, call_index: int | None = None, field: str = "") -> None:
        super().__init__()
        self.path = path
        """The file."""
        self.call_index = call_index
        """The call to begin with."""
        self.field = field
        """The path of a request field to begin with."""


class MismatchOpened(Message):
    """Someone chose a mismatch report to look into."""

    def __init__(self, report: MismatchReport) -> None:
        super().__init__()
        self.report = report
        """The report."""


class DeletionAsked(Message):
    """Someone asked to delete a recording; nothing has happened yet."""

    def __init__(self, summary: RecordingSummary) -> None:
        super().__init__()
        self.summary = summary
        """The recording."""


class ModeAsked(Message):
    """Someone asked for another mode at the next start."""

    def __init__(self, mode: str, summary: RecordingSummary | None = None) -> None:
        super().__init__()
        self.mode = mode
        """`off`, `record` or `replay`."""
        self.summary = summary
        """What to replay."""


class RefreshAsked(Message):
    """Someone wants the lists read again."""


class LeaveAsked(Message):
    """Someone wants to leave the UI."""


class BackAsked(Message):
    """Someone wants to go back to the screen before."""


class FirstTextRead(Message):
    """A worker read what a recording is about."""

    def __init__(self, path: Path, text: str | None) -> None:
        super().__init__()
        self.path = path
        """The recording."""
        self.text = text
        """Raw; None when there is none."""


class RowsFound(Message):
    """A worker found more rows of an open recording."""

    def __init__(self, *, is_whole: bool) -> None:
        super().__init__()
        self.is_whole = is_whole
        """Whether these were the last."""

    def can_replace(self, message: Message) -> bool:
        """Only the newest matters."""
        return isinstance(message, RowsFound)


class RecordingInspected(Message):
    """A worker asked the strict reader about an open recording."""

    def __init__(self, inspection: RecordingInspection) -> None:
        super().__init__()
        self.inspection = inspection
        """What it said."""


class ReadingFailed(Message):
    """A worker could not read on."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason
        """Why; raw."""
