"""What screens and widgets say happened; `app.py` decides what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from openprogram.providers.comparison import Difference
    from openprogram.providers.inspection import RecordingInspection
    from openprogram.providers.management import RecordingSummary, RecordReplayStatus
    from openprogram.providers.mismatches import MismatchReport
    from openprogram.providers.row_index import FileChange


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


class NoticeRaised(Message):
    """Something went another way than was asked for, and someone should read why."""

    def __init__(self, title: str, words: str, *, is_bad: bool = True) -> None:
        super().__init__()
        self.title = title
        """What was not done."""
        self.words = words
        """Why; raw."""
        self.is_bad = is_bad
        """Whether it is a failure."""


class LeaveAsked(Message):
    """Someone wants to leave the UI."""


class BackAsked(Message):
    """Someone wants to go back to the screen before."""


class ListsRead(Message):
    """The lists were read, as far as it says."""

    def __init__(
        self,
        summaries: Sequence[RecordingSummary],
        unread: frozenset[Path],
        reports: Sequence[MismatchReport] | None,
    ) -> None:
        super().__init__()
        self.summaries = summaries
        """The recordings, newest first."""
        self.unread = unread
        """Those of which only stat has told something yet."""
        self.reports = reports
        """The mismatch reports, newest first; None while they are not read."""

    def can_replace(self, message: Message) -> bool:
        """Only the newest matters."""
        return isinstance(message, ListsRead)


class ListsFailed(Message):
    """The lists cannot be read; why is said elsewhere."""


class StatusRead(Message):
    """The mode for the next start was read."""

    def __init__(self, status: RecordReplayStatus) -> None:
        super().__init__()
        self.status = status
        """As settings and stat tell it."""


class RequestsCompared(Message):
    """The requests of a mismatch report were read and compared."""

    def __init__(self, report: MismatchReport, differences: Sequence[Difference]) -> None:
        super().__init__()
        self.report = report
        """The report."""
        self.differences = differences
        """Where its requests differ."""


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

    def __init__(self, reading: int, *, is_whole: bool) -> None:
        super().__init__()
        self.reading = reading
        """The how manieth reading of the file this is about."""
        self.is_whole = is_whole
        """Whether these were the last."""

    def can_replace(self, message: Message) -> bool:
        """Only the newest matters, and that it is the last."""
        return isinstance(message, RowsFound) and not self.is_whole


class RecordingInspected(Message):
    """A worker asked the strict reader about an open recording."""

    def __init__(self, reading: int, inspection: RecordingInspection) -> None:
        super().__init__()
        self.reading = reading
        """As in `RowsFound`."""
        self.inspection = inspection
        """What it said."""


class ReadingFailed(Message):
    """A worker could not read on."""

    def __init__(self, reading: int, reason: str) -> None:
        super().__init__()
        self.reading = reading
        """As in `RowsFound`."""
        self.reason = reason
        """Why; raw."""


class FileChanged(Message):
    """An open recording is no longer what was read, or is that again."""

    def __init__(self, reading: int, change: FileChange | None) -> None:
        super().__init__()
        self.reading = reading
        """As in `RowsFound`."""
        self.change: FileChange | None = change
        """What became of the file; None when it is again what was read."""
