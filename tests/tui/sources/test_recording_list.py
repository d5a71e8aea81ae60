"""The list of recordings: what stat knows first, small files before large ones."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

from examples.demo_state import NOW_AT
from openprogram.providers import management
from openprogram_recordings_tui.presentation.recordings import (
    READING_MARK,
    RecordingLines,
    preview,
    recording_state,
)
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


def test_a_recording_that_was_not_read_is_not_valid_whatever_its_time(demo: Path):
    names = {-(10**11): "before-all", 10**12: "after-all", -5: "before-the-epoch"}
    for written_s, name in names.items():
        path = demo / f"{name}.jsonl"
        path.write_bytes(b"not a recording\n")
        try:
            os.utime(path, (written_s, written_s))
        except OSError:  # a file system that keeps no such times
            path.unlink()

    ((unread, _),) = read_recordings(lambda: True)
    *_, (read, _) = read_recordings(never)

    assert not any(summary.valid for summary in unread)
    assert {recording_state(summary) for summary in unread} == {READING_MARK}
    assert {s.path: s.modified_at for s in unread} == {s.path: s.modified_at for s in read}
    assert all("not sound" not in str(preview(s, None, NOW_AT, 60)).lower() for s in unread)
    rows = {s.path.stem: row_of(s) for s in unread}
    assert rows["before-the-epoch"].split()[2] == "1969-12"


def test_a_time_that_no_calendar_has_is_not_shown(demo: Path):
    assert demo.exists()
    ((unread, *_), _) = next(read_recordings(lambda: True))
    *_, ((read, *_), _) = read_recordings(never)

    for summary in (unread, read):
        for odd_at in management.UNTELLABLE_TIMES:
            odd = dataclasses.replace(summary, created_at=odd_at, modified_at=odd_at)
            assert row_of(odd).split()[2] == "–"
            shown = str(preview(odd, None, NOW_AT, 60))
            assert "9999" not in shown
            assert "0001" not in shown


def row_of(summary: RecordingSummary) -> str:
    unread = (
        frozenset({summary.path}) if recording_state(summary) == READING_MARK else frozenset[Any]()
    )
    return "".join(span.text for span in RecordingLines([summary], NOW_AT, unread).line(0, 120))
