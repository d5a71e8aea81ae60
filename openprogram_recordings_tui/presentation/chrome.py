"""The lines around the lists: title and mode, tabs, hints, banners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from openprogram_recordings_tui.cells import cut, fit_middle, width_of, wrap
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.lines import (
    EMPTY_LINE,
    Line,
    Role,
    Span,
    cells_of,
    spread,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from openprogram.errors import RecordingFileError
    from openprogram.providers.inspection import RecordingInspection
    from openprogram.providers.management import RecordReplayStatus
    from openprogram.providers.row_index import FileChange
    from openprogram_recordings_tui.bindings import Key

PRODUCT: Line = (
    Span(" ◉ ", "accent"),
    Span("OpenProgram", "strong"),
    Span(" Recordings", "accent"),
)
"""The name in the top left corner."""

_BADGES: dict[str, tuple[str, Role]] = {
    "off": ("○ OFF", "badge_off"),
    "record": ("● RECORD", "badge_record"),
    "replay": ("▶ REPLAY", "badge_replay"),
    "blocked": ("✗ BLOCKED", "badge_blocked"),
}
_CHANGES: Mapping[FileChange, str] = {
    "gone": "nothing has its name any more; what was read of it is shown",
    "replaced": "another file has its name now",
    "shortened": "it was cut",
    "rewritten": "it was written over",
    "grown": "there is more in it now",
}
"""What became of a file, in words."""
_LABEL_FROM_WIDTH = 60
_LEAST_NAME_CELLS = 12
_MARK_CELLS = 3
_REASON_LINES = 5
_LEAST_WORD_CELLS = 40
"""Below this a sentence is not put beside something else."""
_ARROW_CELLS = 3


def title_line(trail: Sequence[str], status: RecordReplayStatus | None, width: int) -> Line:
    """Give the top line: where we are, and what the next start will do.

    Args:
        trail: Where in the UI, from outside to inside; raw.
        status: The mode for the next start; None while it is not read.
        width: Of the screen, in cells.

    Returns:
        The line.
    """
    names = [cut(name, width) for name in trail]
    badge = EMPTY_LINE if status is None else mode_badge(status, width)
    if cells_of(badge) + _least_trail(names) > width and status is not None:
        badge = mode_badge(status, 0)
    room = width - cells_of(badge) - 1
    left = _trail_line(PRODUCT, names)
    file = "" if status is None else _file_of(status)
    if cells_of(left) + min(width_of(file), _LEAST_NAME_CELLS) > room:
        left = _trail_line(PRODUCT[:1], _shortened(names, room - _MARK_CELLS))
    right = badge
    file_room = room - cells_of(left)
    if status is not None and file and file_room >= _LEAST_NAME_CELLS:
        right = mode_badge(status, width, file=fit_middle(file, file_room - 1))
    return spread(left, right if cells_of(right) < width else badge, width)


def _trail_line(head: Line, names: Sequence[str]) -> Line:
    spans = [span for name in names for span in (Span(" › ", "faint"), Span(name, "strong"))]
    # Behind the bare mark the first name needs no arrow.
    return (*head, *(spans if len(head) > 1 else spans[1:]))


def _least_trail(names: Sequence[str]) -> int:
    """Measure the trail with its longest name cut as far as that says anything."""
    widths = sorted(width_of(name) for name in names)
    if not widths:
        return _MARK_CELLS
    longest = min(widths.pop(), _LEAST_NAME_CELLS)
    return _MARK_CELLS + sum(widths) + longest + _ARROW_CELLS * len(widths)


def _shortened(names: list[str], room: int) -> list[str]:
    """Cut the longest name in its middle, until all fit."""
    over = sum(map(width_of, names)) + _ARROW_CELLS * (len(names) - 1) - room
    if over <= 0 or not names:
        return names
    place = max(range(len(names)), key=lambda i: width_of(names[i]))
    names = list(names)
    names[place] = fit_middle(names[place], max(width_of(names[place]) - over, 1))
    return names


def _file_of(status: RecordReplayStatus) -> str:
    return f"{status.file}" if status.mode in ("record", "replay") else ""


def mode_badge(status: RecordReplayStatus, width: int, *, file: str = "") -> Line:
    """Say what the next start does with provider calls.

    Args:
        status: The mode for the next start.
        width: Of the screen, in cells.
        file: The recording it uses, as far as there is room for its name; raw.

    Returns:
        A few spans for the right edge.
    """
    mode = status.mode if status.valid or status.mode == "blocked" else "blocked"
    word, role = _BADGES.get(mode, _BADGES["blocked"])
    badge = Span(f" {word} ", role)
    spans = [Span("next start ", "dim")] if width >= _LABEL_FROM_WIDTH else []
    spans.append(badge)
    if file:
        spans.append(Span(f" {file}", "dim"))
    if status.restart_required:
        spans.append(Span(" restart the worker", "warning"))
    spans.append(Span(" "))
    return tuple(spans)


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab of a screen."""

    name: str
    """How code calls it."""
    label: str
    """How people call it."""
    count: str = ""
    """A figure behind the label."""


def tabs_line(tabs: Sequence[Tab], chosen: str) -> Line:
    """Draw the tabs of a screen, each with the digit that opens it.

    Args:
        tabs: In order.
        chosen: The name of the open one.

    Returns:
        The line.
    """
    spans: list[Span] = [Span(" ")]
    for digit, tab in enumerate(tabs, start=1):
        is_chosen = tab.name == chosen
        spans.append(Span(f" {digit} ", "accent" if is_chosen else "faint"))
        spans.append(Span(tab.label, "tab_on" if is_chosen else "tab"))
        if tab.count:
            spans.append(Span(f" {tab.count}", "dim" if is_chosen else "faint"))
        spans.append(Span("  "))
    return tuple(spans)


def tab_at(tabs: Sequence[Tab], chosen: str, column: int) -> str | None:
    """Say which tab is drawn at a column.

    Args:
        tabs: As given to `tabs_line`.
        chosen: As given to `tabs_line`.
        column: From the left edge, in cells.

    Returns:
        Its name; None when there is none.
    """
    edge = 1
    for digit, tab in enumerate(tabs, start=1):
        alone = tabs_line((tab,), chosen)[1:]
        edge += cells_of(alone) + len(str(digit)) - 1
        if column < edge:
            return tab.name if column >= 1 else None
    return None


def hints_line(keys: Sequence[Key], right: str, width: int, *, first: Sequence[Key] = ()) -> Line:
    """Write the hints that fit, in their order.

    Args:
        keys: In the order to show, which is that of worth.
        right: What stands at the right edge, such as a position; raw.
        width: Of the screen, in cells.
        first: Those of `keys` that get their room before all others.

    Returns:
        The bottom line; where not all hints fit, what is at the right edge is written shorter.
    """
    shown = [key for key in keys if key.hint]
    end: Line = (Span(f"{right} ", "dim"),) if right else EMPTY_LINE
    if sum(map(_hint_cells, shown)) + cells_of(end) + 1 > width:
        end = (Span(right.replace(" of ", "/") + " ", "dim"),) if right else EMPTY_LINE
    if sum(_hint_cells(key) for key in first) + cells_of(end) + 1 > width:
        end = EMPTY_LINE
    # The gap behind the last hint may stand for the one before the right edge.
    room = width - cells_of(end)
    fitting: set[str] = set()
    for key in (*first, *shown):
        if key.id not in fitting and _hint_cells(key) <= room:
            room -= _hint_cells(key)
            fitting.add(key.id)
    spans: list[Span] = []
    for key in shown:
        if key.id in fitting:
            spans += [Span(f" {_hint_cap(key)} ", "key_cap"), Span(f"{key.hint} ", "dim")]
    if spans:
        spans[-1] = Span(spans[-1].text.rstrip(), spans[-1].role)
    return spread(tuple(spans), end, width)


def _hint_cap(key: Key) -> str:
    return key.hint_cap or key.caps.split(" ")[0]


def _hint_cells(key: Key) -> int:
    return len(_hint_cap(key)) + len(key.hint) + 3


def fault_banner(error: RecordingFileError, sound_call_count: int) -> Line:
    """Say above a broken recording what is wrong with it, and what can be seen all the same.

    Args:
        error: What the strict reader said.
        sound_call_count: How many calls began before the fault.

    Returns:
        The line.
    """
    if error.line_number is None:
        return (
            Span(" ✗ the file ", "badge_blocked"),
            Span(f" {error.code}", "bad"),
            Span(f"  {error.reason}"),
        )
    before = figures.plural(sound_call_count, "call")
    return (
        Span(f" ✗ line {error.line_number:,} ", "badge_blocked"),
        Span(f" {error.code}", "bad"),
        Span(f"  {error.reason}"),
        Span(f"  · {before} before it", "dim"),
    )


def unreadable_banner(reason: str) -> Line:
    """Say above a recording that it cannot be read any further.

    Args:
        reason: Why; raw.

    Returns:
        The line.
    """
    return (
        Span(" ✗ unreadable ", "badge_blocked"),
        Span("  what was read before is shown", "dim"),
        Span(f"  {reason}"),
    )


def blocked_lines(reason: str, width: int) -> list[Line]:
    """Say below the title why calls are blocked.

    Args:
        reason: As the status gives it; raw.
        width: In cells.

    Returns:
        The words, and below them what does not fit.
    """
    badge = Span(" ✗ blocked ", "badge_blocked")
    room = width - cells_of((badge,)) - 2
    if room < _LEAST_WORD_CELLS:
        words = wrap(reason, max(width - 2, 1), limit_lines=_REASON_LINES)
        return [(badge,), *((Span(f" {each}", "bad"),) for each in words)]
    first, *others = wrap(reason, room, limit_lines=_REASON_LINES)
    indent = Span(" " * (width - room))
    return [(badge, Span(f"  {first}", "bad")), *((indent, Span(each, "bad")) for each in others)]


def changed_banner(change: FileChange) -> Line:
    """Say above a recording that its file is no longer what is shown.

    Args:
        change: What became of it.

    Returns:
        The line.
    """
    return (
        Span(f" {change} ", "badge_off" if change == "grown" else "badge_blocked"),
        Span(f"  {_CHANGES[change]}"),
        *((Span("  ^l", "key_cap"), Span(" reads it again")) if change != "gone" else ()),
    )


def facts_line(
    inspection: RecordingInspection | None,
    row_count: int,
    *,
    is_whole: bool,
    width: int,
    change: FileChange | None = None,
) -> Line:
    """Say above the calls how far the file was read, and what the strict reader thinks of it.

    Args:
        inspection: What it said; None while it reads.
        row_count: How many rows were found so far.
        is_whole: Whether those are all.
        width: In cells.
        change: What became of the file since.

    Returns:
        The line.
    """
    if change is not None:
        return (Span(f"  ! {change} since it was read", "warning"),)
    if inspection is None:
        word = "asking the strict reader…" if is_whole else "reading…"
        return (Span(f"  {figures.plural(row_count, 'row')} · {word}", "dim"),)
    verdict = Span("  ✓ sound", "good") if inspection.valid else Span("  ✗ not sound", "bad")
    facts = [
        f"{figures.count(inspection.event_count)} events",
        figures.size(inspection.size_bytes),
        f"format {inspection.format_version or figures.NOTHING}",
    ]
    # The verdict stays whole; the least of the facts goes first.
    while facts and cells_of((verdict,)) + len(" · ".join(facts)) + 2 > width:
        facts.pop()
    return spread((verdict,), (Span(" · ".join(facts) + " ", "dim"),), width)
