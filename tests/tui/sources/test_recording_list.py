"""The list of recordings: what stat knows first, small files before large ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram.providers import management
from openprogram_recordings_tui.sources import recording_list
from openprogram_recordings_tui.sources.first_text import read_first_text
from openprogram_recordings_tui.sources.recording_list import read_recordings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from openprogram.providers.management import RecordingSummary


def never() -> bool:
    return False


def test_the_last_list_is_the_one_that_management_gives(demo: Path):
    assert demo.exists()

    *_, (summaries, unread) = read_recordings(never)

    assert [s.path for s in summaries] == [s.path for s in management.list_recordings()]
    assert [s.valid for s in summaries] == [s.valid for s in management.list_recordings()]
    assert unread == frozenset()


def test_before_a_large_file_is_read_the_others_are_shown(
    demo: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(recording_list, "_LARGE_BYTES", 500_000)
    seen: list[tuple[list[RecordingSummary], frozenset[Path]]] = list(read_recordings(never))

    large = demo / "port-to-python-3.13.jsonl"
    (first, unread), (last, _) = seen[-2:]
    assert unread == {large}
    assert {s.path for s in first} == {s.path for s in last}
    provisional = next(s for s in first if s.path == large)
    assert provisional.size_bytes == large.stat().st_size
    assert provisional.call_count == 0
    assert sum(s.call_count for s in first) > 0


def test_it_ends_when_nobody_waits_for_it(demo: Path):
    ((summaries, unread),) = read_recordings(lambda: True)

    assert len(summaries) == len(unread) == len(list(demo.iterdir()))


def test_no_folder_is_an_empty_list():
    assert list(read_recordings(never)) == [([], frozenset())]


def test_the_first_words_are_read_without_reading_the_rest(demo: Path):
    assert read_first_text(demo / "review-pull-request.jsonl", never) == (
        "Review the change to the parser."
    )
    assert read_first_text(demo / "prepared-not-used.jsonl", never) is None


def test_what_was_read_before_is_shown_until_it_is_read_again(
    demo: Path, monkeypatch: pytest.MonkeyPatch
):
    *_, (before, _) = read_recordings(never)
    (demo / "review-pull-request.jsonl").write_bytes(b"changed\n")
    monkeypatch.setattr(recording_list, "_PATIENCE_SECONDS", 0.0)

    first, *_, last = read_recordings(never, before)

    assert first[1] == {demo / "review-pull-request.jsonl"}
    assert {s.path: s.call_count for s in first[0]} == {
        s.path: 0 if s.path in first[1] else s.call_count for s in before
    }
    assert last[1] == frozenset()
