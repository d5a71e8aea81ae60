"""Recordings as rows, the filter, and the preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from examples.demo_state import NOW_AT, flaky_test
from openprogram.providers import management
from openprogram_recordings_tui.cells import width_of
from openprogram_recordings_tui.presentation.recordings import (
    RecordingLines,
    cost_of,
    matching,
    models_of,
    name_of,
    preview,
    recording_state,
    token_count_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.providers.management import RecordingSummary
    from openprogram_recordings_tui.presentation.lines import Line


def words(line: Line) -> str:
    return "".join(span.text for span in line)


@pytest.fixture
def summaries(demo: Path) -> dict[str, RecordingSummary]:
    """Give the demo's recordings by name."""
    assert demo.exists()
    return {name_of(summary): summary for summary in management.list_recordings()}


@pytest.mark.parametrize(
    ("name", "sign", "word"),
    [
        ("fix-flaky-test", "●", "next start"),
        ("broken-by-an-editor", "✗", "invalid utf8"),
        ("prepared-not-used", "○", "empty"),
        ("hostile", "◐", "has error"),
        ("ask-for-a-plan", "◐", "has cancelled"),
        ("nightly-triage", "◐", "has abandoned"),
        ("port-to-python-3.13", "✓", "complete"),
    ],
)
def test_every_state_has_a_sign_and_a_word(
    summaries: dict[str, RecordingSummary], name: str, sign: str, word: str
):
    state = recording_state(summaries[name])

    assert (state.sign, state.word) == (sign, word)


def test_a_call_that_the_vendor_failed_is_said_though_its_stream_is_whole(demo: Path):
    author = flaky_test("vendor-failed")
    for row in author.rows:
        if row["type"] == "call_end":
            row["outcome"] = "complete"
    summary = management.summarize_recording(author.write(demo))

    assert summary.complete
    assert recording_state(summary).word == "has error"
    lines = [words(line) for line in preview(summary, None, NOW_AT, 60)]
    assert "✓✓✓✗✓✓" in lines
    assert "  1 ✗ error" in lines
    assert matching([summary], "vendor-failed error") == [summary]


def test_a_recording_that_is_not_read_yet_shows_what_stat_knows(
    summaries: dict[str, RecordingSummary],
):
    big = summaries["port-to-python-3.13"]
    lines = RecordingLines([big], NOW_AT, frozenset({big.path}))

    row = words(lines.line(0, 140))

    assert row.split()[:2] == ["…", "port-to-python-3.13"]
    assert "reading" in row
    assert "38" not in row


def test_figures_are_summed_over_the_calls(summaries: dict[str, RecordingSummary]):
    flaky, empty = summaries["fix-flaky-test"], summaries["prepared-not-used"]

    assert token_count_of(flaky) == sum(c.usage.total_tokens for c in flaky.calls if c.usage)
    assert cost_of(flaky) == sum(c.cost_usd for c in flaky.calls if c.cost_usd is not None)
    assert (token_count_of(empty), cost_of(empty), models_of(empty)) == (None, None, "–")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("", 11),
        ("  ", 11),
        ("FLAKY", 1),
        ("gpt abandoned", 1),
        ("error", 2),
        ("invalid", 1),
        ("[/x] \x1b", 1),
        ("nothing has this", 0),
    ],
)
def test_all_words_must_occur_in_any_case(
    summaries: dict[str, RecordingSummary], typed: str, found: int
):
    assert len(matching(list(summaries.values()), typed)) == found


@pytest.mark.parametrize("width", [20, 42, 66])
def test_a_preview_keeps_to_its_width_where_it_can_wrap(
    summaries: dict[str, RecordingSummary], width: int
):
    for summary in summaries.values():
        lines = preview(summary, "first words " * 50, NOW_AT, width)
        texts = [words(line) for line in lines]
        start = texts.index("FIRST WORDS") + 1
        assert all(width_of(text) <= width for text in texts[start : start + 6])


def test_a_preview_says_what_is_wrong(summaries: dict[str, RecordingSummary]):
    lines = [words(line) for line in preview(summaries["broken-by-an-editor"], None, NOW_AT, 60)]

    assert "✗ NOT SOUND AT LINE 28" in lines
    assert "byte 59 of the row is not UTF-8" in lines
    assert "FIRST WORDS" not in lines


def test_a_preview_has_one_mark_a_call_and_says_what_they_mean(
    summaries: dict[str, RecordingSummary],
):
    lines = [words(line) for line in preview(summaries["fix-flaky-test"], None, NOW_AT, 60)]

    assert "✓✓✓✗✓✓" in lines
    assert "  5 ✓ complete" in lines
    assert "  1 ✗ error" in lines
