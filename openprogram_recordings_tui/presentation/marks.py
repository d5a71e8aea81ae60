"""One sign, one word and one role for each state: never colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openprogram.providers.inspection import CallInspection
    from openprogram_recordings_tui.presentation.lines import Role


@dataclass(frozen=True, slots=True)
class Mark:
    """How a state looks."""

    sign: str
    """One cell."""
    word: str
    """What it says."""
    role: Role
    """What it means."""


OUTCOME_MARKS = {
    "complete": Mark("✓", "complete", "good"),
    "error": Mark("✗", "error", "bad"),
    "cancelled": Mark("■", "cancelled", "warning"),
    "abandoned": Mark("◌", "abandoned", "dim"),
}
"""How a call ended."""

_FAILED_STREAM_MARKS = {
    "error": OUTCOME_MARKS["error"],
    "aborted": Mark("✗", "aborted", "bad"),
}
"""By stop reason: a stream that came to its end, with an error as its last event."""

OPEN_CALL_MARK = Mark("…", "open", "warning")
"""A call that has no end in the file, yet or for ever."""

UNKNOWN_MARK = Mark("·", "unknown", "faint")
"""Not read yet."""


def outcome_mark(outcome: str | None, stop_reason: str | None = None) -> Mark:
    """Give the mark of a call by how it ended.

    Args:
        outcome: As it stands in the file; None for a call that has no end.
        stop_reason: Of its last message; None when it is not known. `complete` says only that the
            stream came to its end, which may be an error of the vendor's.

    Returns:
        Its mark; a word that is no outcome is shown as bad.
    """
    if outcome is None:
        return OPEN_CALL_MARK
    if outcome == "complete" and stop_reason in _FAILED_STREAM_MARKS:
        return _FAILED_STREAM_MARKS[stop_reason]
    return OUTCOME_MARKS.get(outcome, Mark("!", outcome, "bad"))


def call_mark(call: CallInspection) -> Mark:
    """Give the mark of an inspected call.

    Args:
        call: The call.

    Returns:
        Its mark.
    """
    return outcome_mark(call.outcome, call.stop_reason)
