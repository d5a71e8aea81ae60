"""Differences of a report: those that the replay saw, no more."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from openprogram.errors import MismatchReportError
from openprogram.providers.mismatches import list_mismatch_reports
from openprogram_recordings_tui.sources.request_differences import list_differences

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.providers.mismatches import MismatchReport


@pytest.fixture
def report(demo: Path) -> MismatchReport:
    """Give the report of the demo's first mismatch."""
    assert demo.exists()
    return list_mismatch_reports()[0]


def test_the_first_difference_is_the_one_that_the_report_names(report: MismatchReport):
    differences = list_differences(report)

    assert differences[0].path == report.field_path
    assert [d.path for d in differences[1:]] == [
        "context.tools[1]",
        'options.headers["x-trace"]',
        "options.temperature",
    ]


def test_what_the_replay_ignored_is_no_difference(report: MismatchReport):
    ignoring = dataclasses.replace(report, ignore=("options.temperature", "not [a path"))

    assert "options.temperature" not in [d.path for d in list_differences(ignoring)]


def test_a_report_that_is_gone_is_an_error(report: MismatchReport):
    report.path.unlink()

    with pytest.raises(MismatchReportError):
        list_differences(report)
