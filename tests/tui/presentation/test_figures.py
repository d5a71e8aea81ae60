"""Figures: short, aligned, never more certain than what is known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram_recordings_tui.presentation import figures

NOW_AT = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@given(st.integers(min_value=0, max_value=10**15))
def test_sizes_take_seven_cells_at_most(byte_count: int):
    assert len(figures.size(byte_count)) <= 7


@pytest.mark.parametrize(
    ("byte_count", "words"),
    [
        (None, "–"),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9_999, "10.0 kB"),
        (999_400, "999 kB"),
        (999_600, "1.0 MB"),
        (104_857_600, "105 MB"),
        (5 * 10**12, "5.0 TB"),
    ],
)
def test_sizes_change_unit_in_time(byte_count: int | None, words: str):
    assert figures.size(byte_count) == words


@given(st.integers(min_value=0, max_value=10**12 - 1))
def test_counts_take_five_cells_at_most_and_never_round_up(number: int):
    words = figures.count(number)

    assert len(words) <= 5
    unit = {"k": 10**3, "M": 10**6, "G": 10**9}.get(words[-1], 1)
    assert float(words.rstrip("kMG")) * unit <= number * (1 + 1e-9)


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (None, "–"),
        (0, "$0"),
        (0.00004, "<$.0001"),
        (0.00031, "$0.0003"),
        (0.9, "$0.900"),
        (3, "$3.00"),
    ],
)
def test_an_unknown_price_is_not_zero(usd: float | None, words: str):
    assert figures.cost(usd) == words


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=-90), "later"),
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=119), "1m ago"),
        (timedelta(hours=23, minutes=59), "23h ago"),
        (timedelta(days=3, hours=23), "3d ago"),
        (timedelta(days=15), "2w ago"),
        (timedelta(days=100), "3mo ago"),
        (timedelta(days=366), "2025-11"),
    ],
)
def test_ages_are_rounded_down(passed: timedelta, words: str):
    assert figures.age(NOW_AT - passed, NOW_AT) == words


def test_instants_are_written_in_utc_whatever_their_zone():
    instant_at = datetime(2026, 8, 11, 15, 45, 2, tzinfo=timezone(timedelta(hours=2)))

    assert figures.instant(instant_at) == "2026-08-11 13:45:02 UTC"
    assert figures.instant(None) == figures.age(None, NOW_AT) == "–"
