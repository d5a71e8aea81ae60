from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

import recording_files as files
from openprogram.errors import RecordingFileError
from openprogram.providers import types as t
from openprogram.providers.recorded_calls import RecordedCalls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return files.write(tmp_path / "x.jsonl", files.sample_rows())


@pytest.fixture
def calls(path: Path) -> Iterator[RecordedCalls]:
    """The calls of a recording with something of everything."""
    opened = RecordedCalls(path)
    yield opened
    opened.close()


def test_calls_are_counted_and_know_how_they_ended(calls: RecordedCalls, path: Path) -> None:
    assert (len(calls), calls.path) == (6, path)
    outcomes = [calls.outcome(index) for index in range(6)]
    # The last one's row says nothing, which means that it is complete.
    assert outcomes == ["complete", "complete", "cancelled", "error", "abandoned", "complete"]


def test_a_request_is_its_row_and_knows_its_place(calls: RecordedCalls, path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    asked = [row for row in files.sample_rows() if row["type"] == "request"]
    for index, row in enumerate(asked):
        assert calls.read_request(index) == row
        line = lines[calls.request_line(index) - 1]
        assert line == files.compact(row)
        assert calls.request_size(index) == len(line) + 1


def test_blank_lines_count_as_lines(tmp_path: Path) -> None:
    rows = [files.HEADER, *files.call_rows(0, files.text_events("a"))]
    path = tmp_path / "blank.jsonl"
    path.write_bytes(b"\n \n" + files.encoded(rows[:1]) + b"\n\n" + files.encoded(rows[1:]))
    path.chmod(0o600)
    assert RecordedCalls(path).request_line(0) == 6


def test_events_come_typed_whole_and_from_among_other_calls(calls: RecordedCalls) -> None:
    texts: list[str] = []
    for index in (0, 2):
        events = list(calls.read_events(index))
        deltas = [each for each in events if isinstance(each, t.EventTextDelta)]
        assert [type(each.partial.content[0]) for each in deltas] == [t.TextContent] * len(deltas)
        so_far = deltas[-1].partial.content[0]
        assert isinstance(so_far, t.TextContent)
        assert so_far.text == "".join(each.delta for each in deltas)
        texts.append(so_far.text)
    assert texts == ["one two é \\u2028 \u2028", "ab"]
    assert [event.type for event in calls.read_events(1)][-1] == "done"
    assert list(calls.read_events(4)) == []


def test_reading_twice_gives_the_same(calls: RecordedCalls) -> None:
    first = calls.read_events(0)
    next(first)
    assert list(calls.read_events(0)) == list(calls.read_events(0))
    assert len(list(first)) == len(list(calls.read_events(0))) - 1


def test_an_unsound_file_is_refused_and_let_go(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208 - counts descriptors
    with pytest.raises(RecordingFileError) as caught:
        RecordedCalls(path)
    assert caught.value.code == "truncated_row"
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - counts descriptors


def test_a_file_that_others_may_read_is_refused_and_left_alone(path: Path) -> None:
    path.chmod(0o644)
    with pytest.raises(RecordingFileError, match="chmod 600"):
        RecordedCalls(path)
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("version", [0, 2, "1", True, 1.0, [1]])
def test_what_other_rules_took_the_secrets_out_of_is_refused(tmp_path: Path, version: Any) -> None:
    header = files.HEADER | {"redaction_version": version}
    with pytest.raises(RecordingFileError, match="redaction version") as caught:
        RecordedCalls(files.write(tmp_path / "x.jsonl", [header]))
    assert (caught.value.code, caught.value.line_number) == ("unsupported_version", 1)


def test_a_file_without_a_redaction_version_has_the_first_one(tmp_path: Path) -> None:
    header = {"type": "header", "format_version": 1}
    assert len(RecordedCalls(files.write(tmp_path / "x.jsonl", [header]))) == 0


def test_the_foreign_version_is_served_with_its_own_events(tmp_path: Path) -> None:
    end = {"type": "structured_output_end", "attempt": 1, "mode": "m", "value": {"a": 1}}
    rows = [files.HEADER | {"format_version": 2}, *files.call_rows(0, [end])]
    (event,) = RecordedCalls(files.write(tmp_path / "x.jsonl", rows)).read_events(0)
    assert event == t.EventStructuredOutputEnd(attempt=1, mode="m", value={"a": 1})


def test_closing_twice_does_nothing_more(calls: RecordedCalls) -> None:
    calls.close()
    calls.close()
