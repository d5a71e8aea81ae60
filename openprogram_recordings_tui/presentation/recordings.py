"""Recordings as rows of a table, and one of them as a preview."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from openprogram_recordings_tui.cells import cut, wrap
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.lines import (
    EMPTY_LINE,
    Cell,
    Column,
    Line,
    LineSource,
    Span,
    heading_line,
    table_line,
)
from openprogram_recordings_tui.presentation.marks import OUTCOME_MARKS, Mark, call_mark

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from openprogram.providers.management import RecordingSummary

_COLUMNS = (
    Column(title="", width=1),
    Column(title="RECORDING", width=0, least=26, most=48),
    Column(title="WHEN", width=9),
    Column(title="CALLS", width=5, align="right"),
    Column(title="EVENTS", width=6, align="right", worth=2),
    Column(title="SIZE", width=7, align="right", worth=1),
    Column(title="TOKENS", width=6, align="right", worth=4),
    Column(title="COST", width=7, align="right", worth=5),
    Column(title="MODEL", width=20, worth=3),
    Column(title="STATE", width=15),
)
_SHOWN_OUTCOMES = 400

READING_MARK = Mark("…", "reading", "dim")
"""A recording of which only stat has told something yet."""
_FIRST_TEXT_LINES = 6


NOT_READ_REASON = "was not read yet"
"""Why a recording that nobody has read yet is not valid; no reader says this."""


def recording_state(summary: RecordingSummary) -> Mark:
    """Say in one mark how a recording stands.

    Args:
        summary: The recording.

    Returns:
        Unsound before active before incomplete: the worst is said; of one that was not read, that.
    """
    if _is_unread(summary):
        return READING_MARK
    if summary.error is not None:
        return Mark("✗", summary.error.code.replace("_", " "), "bad")
    if summary.active:
        return Mark("●", "next start", "accent")
    if not summary.call_count:
        return Mark("○", "empty", "dim")
    complete = OUTCOME_MARKS["complete"]
    for mark in map(call_mark, summary.calls):
        if mark != complete:
            return Mark("◐", f"has {mark.word}", "warning")
    return complete


def name_of(summary: RecordingSummary) -> str:
    """Give the name people know a recording by.

    Args:
        summary: The recording.

    Returns:
        Its ID, or its path when it is not managed; raw.
    """
    return summary.recording_id or str(summary.path)


def models_of(summary: RecordingSummary) -> str:
    """Name the models of a recording, the most used first.

    Args:
        summary: The recording.

    Returns:
        One name and how many others there are; raw.
    """
    names = [name for name, _ in Counter(c.model or "?" for c in summary.calls).most_common()]
    if not names:
        return figures.NOTHING
    return names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1}"


def token_count_of(summary: RecordingSummary) -> int | None:
    """Add up the tokens of a recording.

    Args:
        summary: The recording.

    Returns:
        All tokens in and out; None when no call says.
    """
    counts = [c.usage.total_tokens for c in summary.calls if c.usage is not None]
    return sum(counts) if counts else None


def cost_of(summary: RecordingSummary) -> float | None:
    """Add up what a recording cost.

    Args:
        summary: The recording.

    Returns:
        In USD; None when no call says.
    """
    costs = [c.cost_usd for c in summary.calls if c.cost_usd is not None]
    return sum(costs) if costs else None


class RecordingLines(LineSource):
    """The table of recordings, a source of lines."""

    def __init__(
        self,
        summaries: Sequence[RecordingSummary],
        now_at: datetime,
        unread: frozenset[Path] = frozenset(),
    ) -> None:
        self.summaries = summaries
        """What is shown, in this order."""
        self._now_at = now_at
        self._unread = unread

    @property
    def line_count(self) -> int:
        """How many recordings there are."""
        return len(self.summaries)

    def line(self, index: int, width: int) -> Line:
        """Give the row of one recording.

        Args:
            index: From 0.
            width: Of the list, in cells.

        Returns:
            Its row.
        """
        summary = self.summaries[index]
        if summary.path in self._unread:
            return self._unread_line(summary, width)
        state = recording_state(summary)
        cells = (
            Cell(state.sign, state.role),
            Cell(name_of(summary), "strong"),
            Cell(figures.age(_told(summary.created_at), self._now_at), "dim"),
            Cell(figures.count(summary.call_count)),
            Cell(figures.count(summary.event_count), "dim"),
            Cell(figures.size(summary.size_bytes), "dim"),
            Cell(figures.count(token_count_of(summary)), "dim"),
            Cell(figures.cost(cost_of(summary)), "dim"),
            Cell(models_of(summary)),
            Cell(state.word, state.role),
        )
        return (Span(" "), *table_line(_COLUMNS, cells, width - 2))

    def _unread_line(self, summary: RecordingSummary, width: int) -> Line:
        """Show what stat alone knows."""
        unknown = Cell(figures.NOTHING, "faint")
        cells = (
            Cell(READING_MARK.sign, READING_MARK.role),
            Cell(name_of(summary), "strong"),
            Cell(figures.age(_told(summary.modified_at), self._now_at), "dim"),
            *(unknown, unknown),
            Cell(figures.size(summary.size_bytes), "dim"),
            *(unknown, unknown, unknown),
            Cell(READING_MARK.word, READING_MARK.role),
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


def matching(summaries: Sequence[RecordingSummary], words: str) -> list[RecordingSummary]:
    """Keep the recordings in which every word typed occurs.

    Args:
        summaries: All of them.
        words: Separated by spaces; ID, models, providers and state are searched, in any case.

    Returns:
        Those that match, in their order.
    """
    wanted = words.casefold().split()
    if not wanted:
        return list(summaries)
    return [s for s in summaries if all(word in _searched(s) for word in wanted)]


def _searched(summary: RecordingSummary) -> str:
    parts = {name_of(summary), recording_state(summary).word}
    for call in summary.calls:
        parts.update((call.model or "", call.provider or "", call_mark(call).word))
    return "\n".join(parts).casefold()


def preview(
    summary: RecordingSummary, first_text: str | None, now_at: datetime, width: int
) -> list[Line]:
    """Show what is known of a recording beside the list.

    Args:
        summary: The recording.
        first_text: What the user said first; None while it is not read, or when there is none.
        now_at: Aware.
        width: Of the preview, in cells.

    Returns:
        Its lines.
    """
    state = recording_state(summary)
    created_at = _told(summary.created_at)
    lines: list[Line] = [
        (Span(name_of(summary), "title"),),
        (Span(f"{state.sign} {state.word}", state.role),),
        EMPTY_LINE,
    ]
    if _is_unread(summary):
        lines.append(_fact("written", figures.instant(created_at)))
        return [*lines, _fact("size", figures.size(summary.size_bytes))]
    lines += [
        _fact("created", figures.instant(created_at)),
        _fact("", figures.age(created_at, now_at), "dim"),
        _fact("holds", figures.plural(summary.call_count, "call")),
        _fact("", figures.plural(summary.event_count, "event")),
        _fact("size", figures.size(summary.size_bytes)),
        _fact("tokens", _tokens_in_words(summary)),
        _fact("cost", figures.cost(cost_of(summary))),
        _fact("format", f"version {summary.format_version or figures.NOTHING}"),
    ]
    lines += _models(summary)
    lines += _outcomes(summary, width)
    if first_text:
        lines += [EMPTY_LINE, (Span("FIRST WORDS", "heading"),)]
        shown = cut(first_text, width * _FIRST_TEXT_LINES)
        wrapped = wrap(shown, width, limit_lines=_FIRST_TEXT_LINES)
        lines += [(Span(text),) for text in wrapped]
    lines += _troubles(summary, width)
    return lines


def _is_unread(summary: RecordingSummary) -> bool:
    return summary.error is not None and summary.error.reason == NOT_READ_REASON


def _told(instant_at: datetime) -> datetime | None:
    # late: the first paint has no recording to draw, and must not wait for the core
    from openprogram.providers.management import UNTELLABLE_TIMES

    return None if instant_at in UNTELLABLE_TIMES else instant_at


def _fact(name: str, value: str, role: str = "text") -> Line:
    return (Span(f"{name:<9}", "dim"), Span(value, "dim" if role == "dim" else "text"))


def _tokens_in_words(summary: RecordingSummary) -> str:
    usages = [c.usage for c in summary.calls if c.usage is not None]
    if not usages:
        return figures.NOTHING
    read = sum(u.input + u.cache_read + u.cache_write for u in usages)
    return f"{figures.count(read)} in · {figures.count(sum(u.output for u in usages))} out"


def _models(summary: RecordingSummary) -> list[Line]:
    counted = Counter((c.provider or "?", c.model or "?") for c in summary.calls).most_common(4)
    lines: list[Line] = [EMPTY_LINE, (Span("MODELS", "heading"),)] if counted else []
    for (provider, model), number in counted:
        lines.append((Span(f"{number:>3} × ", "dim"), Span(model), Span(f"  {provider}", "dim")))
    return lines


def _outcomes(summary: RecordingSummary, width: int) -> list[Line]:
    """Draw one mark a call, and say in words what the marks mean."""
    if not summary.calls:
        return []
    all_marks = [call_mark(call) for call in summary.calls]
    marks = all_marks[:_SHOWN_OUTCOMES]
    lines: list[Line] = [EMPTY_LINE, (Span("OUTCOMES", "heading"),)]
    lines += [
        tuple(Span(m.sign, m.role) for m in marks[start : start + width])
        for start in range(0, len(marks), max(width, 1))
    ]
    for mark, number in Counter(all_marks).most_common():
        lines.append((Span(f"{number:>3} ", "dim"), Span(f"{mark.sign} {mark.word}", mark.role)))
    return lines


def _troubles(summary: RecordingSummary, width: int) -> list[Line]:
    lines: list[Line] = []
    if summary.error is not None:
        place = f"line {summary.error.line_number}" if summary.error.line_number else "the file"
        lines += [EMPTY_LINE, (Span(f"✗ NOT SOUND AT {place.upper()}", "bad"),)]
        wrapped = wrap(cut(summary.error.reason, width * 4), width, limit_lines=4)
        lines += [(Span(text),) for text in wrapped]
    if summary.warning is not None:
        lines += [EMPTY_LINE, (Span("! PERMISSIONS", "warning"),)]
        wrapped = wrap(cut(summary.warning, width * 4), width, limit_lines=4)
        lines += [(Span(text),) for text in wrapped]
    return lines
