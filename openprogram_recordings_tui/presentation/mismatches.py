"""Mismatch reports as rows of a table."""

from __future__ import annotations

import json
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING

from openprogram.providers.ignored_paths import can_be_ignored
from openprogram_recordings_tui.cells import width_of
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.changed_texts import parting_text
from openprogram_recordings_tui.presentation.lines import (
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
_INDENT = "  "


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


def next_step_lines(path: str, ignored: Sequence[str], width: int) -> list[Line]:
    """Say what can be done about a difference, each time with the command to paste.

    Args:
        path: Where it is, as comparison writes it.
        ignored: What is left out of the comparison by now; the setting is replaced as a whole.
        width: In cells.

    Returns:
        The lines; a command that is broken over some ends each but the last in a backslash.
    """
    intro = (Span(" what next ", "badge_off"), Span("  ask the same again, or record anew:"))
    lines = _advice(intro, ("openprogram", "recordings", "record"), width)
    if not can_be_ignored(path):
        return lines
    intro = (Span(" " * 13), Span("where it may differ:", "dim"))
    paths = shlex.quote(json.dumps([*ignored, path]))
    words = ("openprogram", "config", "set", "record_replay.ignore", paths)
    advice = _advice(intro, words, width)
    if max(map(cells_of, advice)) > width:
        # Half a command is none: the setting is named, and the help of `config set` tells the rest.
        advice = [intro, (Span(f"{_INDENT}{words[-2]}", "accent"),)]
    return [*lines, *advice]


def _advice(intro: Line, words: Sequence[str], width: int) -> list[Line]:
    """Write a command behind what it is for, or below it where that is too long."""
    whole = (*intro, Span(" "), Span(" ".join(words), "accent"))
    if cells_of(whole) <= width:
        return [whole]
    lines = [intro] if cells_of(intro) <= width else [intro[:1], intro[1:]]
    line = _INDENT
    for number, word in enumerate(words, start=1):
        end = "" if number == len(words) else " \\"
        if line != _INDENT and width_of(f"{line}{word}{end}") > width:
            lines.append((Span(f"{line}\\", "accent"),))
            line = _INDENT
        line += f"{word} "
    return [*lines, (Span(line.rstrip(), "accent"),)]


def recording_name(recording: object) -> str:
    """Give the short name of the recording of a report.

    Args:
        recording: Its ID or path.

    Returns:
        The ID, or the file's name; raw.
    """
    return PurePath(str(recording)).name.removesuffix(".jsonl")
