"""Mismatch reports as rows, and what can be done about a difference."""

from __future__ import annotations

import dataclasses
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from examples.demo_state import NOW_AT
from openprogram.providers.mismatches import list_mismatch_reports
from openprogram_recordings_tui.presentation.lines import cells_of
from openprogram_recordings_tui.presentation.mismatches import (
    MismatchLines,
    next_step_lines,
    recording_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openprogram_recordings_tui.presentation.lines import Line


def words(line: Line) -> str:
    return "".join(span.text for span in line)


def pasted(lines: Sequence[Line]) -> str:
    """Give the lines as a shell takes them."""
    return "\n".join(map(words, lines)).replace("\\\n", "")


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


def test_a_field_that_cannot_be_ignored_is_not_offered_to_be():
    for path in ("context", "call_index"):
        assert "config set" not in pasted(next_step_lines(path, (), 200))


@pytest.mark.parametrize("width", [200, 80, 60, 56])
def test_what_next_is_a_command_to_paste_at_any_width(width: int):
    lines = next_step_lines("options.temperature", ("model.cost", "a b'c"), width)

    assert all(cells_of(line) <= width for line in lines)
    commands = [shlex.split(each) for each in re.findall("openprogram.*", pasted(lines))]
    paths = '["model.cost", "a b\'c", "options.temperature"]'
    assert commands == [
        ["openprogram", "recordings", "record"],
        ["openprogram", "config", "set", "record_replay.ignore", paths],
    ]


def test_half_a_command_is_not_shown():
    text = pasted(next_step_lines("options.temperature", ("a" * 80,), 60))

    assert "config set" not in text
    assert text.endswith("record_replay.ignore")


@pytest.mark.parametrize(
    ("recording", "name"), [("/x/run.jsonl", "run"), ("run", "run"), ("/x/odd.txt", "odd.txt")]
)
def test_a_recording_is_called_by_its_short_name(recording: str, name: str):
    assert recording_name(recording) == name
