"""One sign, one word and one role for each state: never colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

OPEN_CALL_MARK = Mark("…", "open", "warning")
"""A call that has no end in the file, yet or for ever."""

UNKNOWN_MARK = Mark("·", "unknown", "faint")
"""Not read yet."""


def outcome_mark(outcome: str | None) -> Mark:
    """Give the mark of an outcome.

    Args:
        outcome: As it stands in the file; None for a call that has no end.

    Returns:
        Its mark; a word that is no outcome is shown as bad.
    """
    if outcome is None:
        return OPEN_CALL_MARK
    return OUTCOME_MARKS.get(outcome, Mark("!", outcome, "bad"))
