"""One reading of a recording: what it posts, and when it stops."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from openprogram_recordings_tui.messages import (
    FileChanged,
    ReadingFailed,
    RecordingInspected,
    RowsFound,
)
from openprogram_recordings_tui.screens.recording_reading import RecordingReading
from openprogram_recordings_tui.sources.open_recording import OpenRecording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.message import Message


@pytest.fixture
def opened(demo: Path) -> Iterator[OpenRecording]:
    """Open the demo's longest recording."""
    recording = OpenRecording(demo / "fix-flaky-test.jsonl")
    yield recording
    recording.close()


def test_the_rows_come_before_the_verdict(opened: OpenRecording):
    posted: list[Message] = []

    RecordingReading(7, opened, posted.append).scan(lambda: False)

    found = [message for message in posted if isinstance(message, RowsFound)]
    assert found[-1].is_whole
    last = posted[-1]
    assert isinstance(last, RecordingInspected)
    assert last.inspection.valid
    assert {message.reading for message in (*found, last)} == {7}


def test_nothing_is_said_to_be_whole_that_was_cancelled(opened: OpenRecording):
    posted: list[Message] = []

    RecordingReading(1, opened, posted.append).scan(lambda: True)

    assert not any(isinstance(m, RecordingInspected) for m in posted)
    assert not any(isinstance(m, RowsFound) and m.is_whole for m in posted)


def test_what_cannot_be_read_is_said(opened: OpenRecording, monkeypatch: pytest.MonkeyPatch):
    posted: list[Message] = []

    def fail(*_: object) -> None:
        raise OSError(5, "input/output error")

    monkeypatch.setattr(opened, "scan", fail)
    RecordingReading(1, opened, posted.append).scan(lambda: False)

    (failed,) = posted
    assert isinstance(failed, ReadingFailed)
    assert "input/output error" in failed.reason


def test_only_news_of_the_file_are_posted(opened: OpenRecording):
    posted: list[Message] = []
    reading = RecordingReading(1, opened, posted.append)

    reading.look(None)
    assert posted == []
    before = opened.path.stat()
    os.truncate(opened.path, before.st_size - 5)
    reading.look(None)
    reading.look("shortened")
    reading.look("gone")

    assert [m.change for m in posted if isinstance(m, FileChanged)] == ["shortened", "shortened"]


def test_a_file_that_is_back_is_posted_as_unchanged(opened: OpenRecording):
    posted: list[Message] = []
    reading = RecordingReading(1, opened, posted.append)
    away = opened.path.with_suffix(".away")

    opened.path.rename(away)
    reading.look(None)
    away.rename(opened.path)
    reading.look("gone")

    assert [m.change for m in posted if isinstance(m, FileChanged)] == ["gone", None]
