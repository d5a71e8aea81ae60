"""Mismatch reports as rows, and what can be done about a difference."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from examples.demo_state import NOW_AT
from openprogram.providers.comparison import MISSING
from openprogram.providers.mismatches import list_mismatch_reports
from openprogram_recordings_tui.presentation.differences import parting_text
from openprogram_recordings_tui.presentation.lines import cells_of
from openprogram_recordings_tui.presentation.mismatches import (
    MismatchLines,
    ignoring_line,
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


@pytest.mark.usefixtures("demo")
def test_long_texts_are_shown_from_where_they_part():
    report = dataclasses.replace(
        list_mismatch_reports()[0],
        recorded="You are a careful engineer; read a.txt first",
        incoming="You are a careful engineer; read b.txt first",
    )

    row = words(MismatchLines([report], NOW_AT).line(0, 160))

    assert '"…er; read a.txt' in row
    assert '"…er; read b.txt' in row


@pytest.mark.parametrize(
    ("own", "other", "shown"),
    [
        ("short a", "short b", '"short a"'),
        ("0123456789 then a", "0123456789 then b", '"…789 then a"'),
        ("0123456789 the end", "0123456789 the end, more", '"…9 the end"'),
        ("0123456789 the end, more", "0123456789 the end", '"…9 the end, more"'),
        (["a"], "0123456789", "array, 1 item"),
        (MISSING, "text", "not there"),
    ],
)
def test_a_value_begins_a_little_before_the_difference(own: object, other: object, shown: str):
    text = parting_text(own, other)
    assert text == shown


def test_a_field_that_cannot_be_ignored_is_not_offered_to_be():
    assert '\'["model.cost", "options.temperature"]\'' in words(
        ignoring_line("options.temperature", ("model.cost",), 200)
    )
    assert words(ignoring_line("options.temperature", (), 70)).endswith("record_replay.ignore")
    assert not ignoring_line("context", (), 200)
    assert not ignoring_line("call_index", (), 200)
    assert cells_of(next_step_line(60)) <= 60


@pytest.mark.parametrize(
    ("recording", "name"), [("/x/run.jsonl", "run"), ("run", "run"), ("/x/odd.txt", "odd.txt")]
)
def test_a_recording_is_called_by_its_short_name(recording: str, name: str):
    assert recording_name(recording) == name
