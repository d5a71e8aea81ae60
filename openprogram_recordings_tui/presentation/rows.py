"""Physical rows, events and calls as lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from openprogram_recordings_tui.cells import cut
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.lines import (
    Cell,
    Column,
    Line,
    Role,
    Span,
    heading_line,
    table_line,
)
from openprogram_recordings_tui.presentation.marks import UNKNOWN_MARK, Mark
from openprogram_recordings_tui.presentation.values import Json, is_object, whole_of

if TYPE_CHECKING:
    from collections.abc import Mapping

EVENT_ROLES: dict[str, Role] = {
    "start": "dim",
    "done": "good",
    "error": "bad",
    "text_start": "dim",
    "text_delta": "text",
    "text_end": "dim",
    "thinking_start": "dim",
    "thinking_delta": "thinking",
    "thinking_end": "dim",
    "toolcall_start": "dim",
    "toolcall_delta": "info",
    "toolcall_end": "dim",
}
"""How the name of each event looks; one that is not here is shown as odd."""

_EVENT_COLUMNS = (
    Column(title="#", width=7, align="right"),
    Column(title="EVENT", width=15),
    Column(title="BLOCK", width=5, align="right", worth=1),
    Column(title="TEXT", width=0),
)
_CALL_COLUMNS = (
    Column(title="", width=1),
    Column(title="#", width=6, align="right"),
    Column(title="ANSWER", width=0, least=20),
    Column(title="MODEL", width=20, worth=3),
    Column(title="EVENTS", width=6, align="right", worth=2),
    Column(title="TOKENS", width=6, align="right", worth=4),
    Column(title="COST", width=7, align="right", worth=5),
    Column(title="OUTCOME", width=9, worth=6),
)
_LARGE_ROW_BYTES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """What the list of calls shows of one; None where it is not read."""

    call_index: int
    model: str | None = None
    event_count: int | None = None
    token_count: int | None = None
    cost_usd: float | None = None
    about: str | None = None
    mark: Mark = UNKNOWN_MARK


def call_line(row: CallRow, width: int) -> Line:
    """Draw a call.

    Args:
        row: The call.
        width: In cells.

    Returns:
        Its row of the table.
    """
    cells = (
        Cell(row.mark.sign, row.mark.role),
        Cell(str(row.call_index), "dim"),
        Cell(row.about or figures.NOTHING),
        Cell(row.model or figures.NOTHING, "dim"),
        Cell(figures.count(row.event_count), "dim"),
        Cell(figures.count(row.token_count), "dim"),
        Cell(figures.cost(row.cost_usd), "dim"),
        Cell(row.mark.word, row.mark.role),
    )
    return (Span(" "), *table_line(_CALL_COLUMNS, cells, width - 2))


def call_heading(width: int) -> Line:
    """Give the line above the calls.

    Args:
        width: In cells.

    Returns:
        The titles of the columns.
    """
    return (Span(" "), *heading_line(_CALL_COLUMNS, width - 2))


def event_line(
    event_index: int, event: Mapping[str, Json] | None, size_bytes: int, width: int
) -> Line:
    """Draw an event of a stream.

    Args:
        event_index: Its number in the call.
        event: The row's `event`; None when it cannot be read, or not for one line.
        size_bytes: Of the row.
        width: In cells.

    Returns:
        Its row of the table.
    """
    if event is None:
        name, role, block = "not taken apart", "warning", ""
        text = f"a row of {figures.size(size_bytes)}; enter goes to it"
    else:
        name = str(event.get("type"))
        role = EVENT_ROLES.get(name, "warning")
        place = whole_of(event.get("content_index"))
        block = "" if place is None else str(place)
        text = event_text(event)
    cells = (
        Cell(str(event_index), "faint"),
        Cell(name, role),
        Cell(block, "faint"),
        Cell(cut(text, width), role if role in ("thinking", "bad") else "text"),
    )
    return (Span(" "), *table_line(_EVENT_COLUMNS, cells, width - 2))


def event_heading(width: int) -> Line:
    """Give the line above the events.

    Args:
        width: In cells.

    Returns:
        The titles of the columns.
    """
    return (Span(" "), *heading_line(_EVENT_COLUMNS, width - 2))


def event_text(event: Mapping[str, Json]) -> str:
    """Find what an event brought.

    Args:
        event: The event, as it stood in its row.

    Returns:
        The delta, the text, the call or the reason; raw.
    """
    delta = event.get("delta", event.get("content"))
    if isinstance(delta, str):
        return delta
    call = event.get("tool_call")
    if is_object(call):
        return f"{call.get('name')}  {call.get('id')}"
    message = event.get("error")
    if is_object(message):
        return f"{event.get('reason')}  {message.get('error_message') or ''}"
    return str(event.get("reason") or "")


def raw_line(
    line_number: int, text: str, *, digits: int, size_bytes: int, is_faulty: bool, is_open: bool
) -> Line:
    """Draw a physical row.

    Args:
        line_number: From 1.
        text: The beginning of the row, decoded; raw.
        digits: How wide the line numbers are.
        size_bytes: Of the row; said when it is large.
        is_faulty: Whether the strict reader stopped here.
        is_open: Whether the row is shown in full beneath.

    Returns:
        The line.
    """
    role: Role = "bad" if is_faulty else "faint"
    head = (
        Span("▌" if is_faulty else " ", "bad"),
        Span(f"{line_number:>{digits}} ", role),
        Span("▾ " if is_open else "  ", "faint"),
    )
    if size_bytes < _LARGE_ROW_BYTES:
        return (*head, Span(text))
    return (*head, Span(f"{figures.size(size_bytes)}  ", "warning"), Span(text))


def raw_part_line(text: str, *, digits: int) -> Line:
    """Draw a line of a row that is shown in full.

    Args:
        text: The part; raw.
        digits: How wide the line numbers are.

    Returns:
        The line.
    """
    return (Span(f"{'│':>{digits + 1}} ", "accent"), Span("  "), Span(text, "string"))
