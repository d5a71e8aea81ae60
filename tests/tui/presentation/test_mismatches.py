"""Mismatch reports as rows, and what can be done about a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from examples.demo_state import NOW_AT
from openprogram.providers.mismatches import list_mismatch_reports
from openprogram_recordings_tui.presentation.mismatches import (
    MismatchLines,
    next_step_line,
    recording_name,
)

if TYPE_CHECKING:
    from openprogram_recordings_tui.presentation.lines import Line


def words(line: Line) -> str:
    return "".join(span.text for span in line)


@pytest.mark.usefixtures("demo")
def test_a_report_is_a_row_with_both_values_in_short():
    lines = MismatchLines(list_mismatch_reports(), NOW_AT)

    row, heading = words(lines.line(1, 160)), words(lines.heading(160))

    assert row.split()[:5] == ["≠", "2h", "ago", "review-pull-request", "0"]
    assert heading.index("FIELD") == row.index("model.id")
    assert heading.index("RECORDED") == row.index('"claude-sonnet')
    assert heading.index("INCOMING") == row.index('"claude-opus')


def test_a_field_that_cannot_be_ignored_is_not_offered_to_be():
    assert "ignore" in words(next_step_line("options.temperature", 200))
    assert "ignore" not in words(next_step_line("context", 200))
    assert "ignore" not in words(next_step_line("call_index", 200))


@pytest.mark.parametrize(
    ("recording", "name"), [("/x/run.jsonl", "run"), ("run", "run"), ("/x/odd.txt", "odd.txt")]
)
def test_a_recording_is_called_by_its_short_name(recording: str, name: str):
    assert recording_name(recording) == name
