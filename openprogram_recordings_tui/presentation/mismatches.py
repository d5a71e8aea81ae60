"""Mismatch reports as rows of a table."""

from __future__ import annotations

import json
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING

from openprogram.providers.ignored_paths import can_be_ignored
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.differences import parting_text
from openprogram_recordings_tui.presentation.lines import (
    EMPTY_LINE,
    Cell,
    Column,
    Line,
    LineSource,
    Span,
    cells_of,
    heading_line,
    table_line,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from openprogram.providers.mismatches import MismatchReport

_COLUMNS = (
    Column(title="", width=1),
    Column(title="WHEN", width=9),
    Column(title="RECORDING", width=26),
    Column(title="CALL", width=4, align="right"),
    Column(title="FIELD", width=0),
    Column(title="RECORDED", width=22, worth=1),
    Column(title="INCOMING", width=22, worth=1),
)


class MismatchLines(LineSource):
    """The table of mismatch reports, a source of lines."""

    def __init__(self, reports: Sequence[MismatchReport], now_at: datetime) -> None:
        self.reports = reports
        """What is shown, in this order."""
        self._now_at = now_at

    @property
    def line_count(self) -> int:
        """How many reports there are."""
        return len(self.reports)

    def line(self, index: int, width: int) -> Line:
        """Give the row of one report.

        Args:
            index: From 0.
            width: Of the list, in cells.

        Returns:
            Its row.
        """
        report = self.reports[index]
        cells = (
            Cell("≠", "bad"),
            Cell(figures.age(report.created_at, self._now_at), "dim"),
            Cell(recording_name(report.recording), "strong"),
            Cell(str(report.call_index), "dim"),
            Cell(report.field_path),
            Cell(parting_text(report.recorded, report.incoming), "recorded"),
            Cell(parting_text(report.incoming, report.recorded), "incoming"),
        )
        return (Span(" "), *table_line(_COLUMNS, cells, width - 2))

    @staticmethod
    def heading(width: int) -> Line:
        """Give the line above the table.

        Args:
            width: Of the list, in cells.

        Returns:
            The titles of the columns.
        """
        return (Span(" "), *heading_line(_COLUMNS, width - 2))


def next_step_line(width: int) -> Line:
    """Say what can be done about a difference.

    Args:
        width: In cells.

    Returns:
        The line.
    """
    head = (Span(" what next ", "badge_off"), Span("  ask the same again, or record anew"))
    whole = (*head, Span(": "), Span("openprogram recordings record", "accent"))
    return whole if cells_of(whole) <= width else head


def ignoring_line(path: str, ignored: Sequence[str], width: int) -> Line:
    """Say how a field is left out of the comparison.

    Args:
        path: Where it is, as comparison writes it.
        ignored: What is left out by now; the setting is replaced as a whole.
        width: In cells.

    Returns:
        The line; nothing where the field cannot be left out.
    """
    if not can_be_ignored(path):
        return EMPTY_LINE
    paths = shlex.quote(json.dumps([*ignored, path]))
    head = (Span("             where it may differ: ", "dim"),)
    whole = (*head, Span(f"openprogram config set record_replay.ignore {paths}", "accent"))
    if cells_of(whole) <= width:
        return whole
    return (*head, Span("record_replay.ignore", "accent"))


def recording_name(recording: object) -> str:
    """Give the short name of the recording of a report.

    Args:
        recording: Its ID or path.

    Returns:
        The ID, or the file's name; raw.
    """
    return PurePath(str(recording)).name.removesuffix(".jsonl")
