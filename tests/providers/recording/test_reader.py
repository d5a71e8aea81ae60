"""The reader hands out rows as they are, from any file, to any number of readers."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

import recording_files as files
from openprogram.errors import RecordingFileError
from openprogram.providers import types as t
from openprogram.providers.recording.reader import (
    CheckedRow,
    RowReader,
    Survey,
    iterate_rows,
    survey_rows,
)
from openprogram.providers.recording.reading import lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from recording_files import Row

HEADER_LINE = files.encoded([files.HEADER])
START = t.to_wire(t.EventStart(partial=files.message()))


def read(path: Path) -> list[CheckedRow]:
    fd = os.open(path, os.O_RDONLY)
    try:
        return list(iterate_rows(fd, path))
    finally:
        os.close(fd)


def list_until_fault(rows: Iterator[CheckedRow]) -> list[CheckedRow]:
    found: list[CheckedRow] = []
    with contextlib.suppress(RecordingFileError):
        found.extend(rows)
    return found


def survey(path: Path, **region: int) -> Survey:
    fd = os.open(path, os.O_RDONLY)
    try:
        return survey_rows(fd, path, **region)
    finally:
        os.close(fd)


@pytest.mark.parametrize("layout", files.LAYOUTS)
def test_a_sound_recording_is_read_row_by_row(tmp_path: Path, layout: Callable[[Row], bytes]):
    expected = files.sample_rows()
    data = files.encoded(expected, layout)
    path = files.write(tmp_path / "x.jsonl", expected, layout)
    rows = read(path)
    assert [row.kind for row in rows] == [row["type"] for row in expected]
    assert [row.line_number for row in rows] == list(range(1, len(expected) + 1))
    assert [row.call_index for row in rows] == [row.get("call_index") for row in expected]
    assert [row.event_index for row in rows] == [
        row.get("event_index", row.get("event_count")) for row in expected
    ]
    for row, source in zip(rows, expected, strict=True):
        line = data[row.offset : row.offset + row.length]
        assert line == layout(source) + b"\n"
        if row.kind in {"header", "request"}:
            assert row.value == source
        elif row.kind == "call_end":
            assert row.value == source.get("outcome", "complete")
        elif source["event"]["type"] in {"done", "error"}:
            assert t.to_wire(row.value) == source["event"]
        else:
            assert row.value is None


@pytest.mark.parametrize("layout", files.LAYOUTS)
def test_events_may_be_passed_over_and_are_counted_all_the_same(
    tmp_path: Path, layout: Callable[[Row], bytes]
):
    deltas = files.call_rows(0, files.text_events(*"many small deltas"))
    other = files.call_rows(1, files.text_events("one", "two"))
    for rows in (
        [files.HEADER, *deltas, *other],
        [files.HEADER, *files.interleaved(deltas, other)],
        [files.HEADER, *deltas[:12]],
        files.sample_rows(),
    ):
        path = files.write(tmp_path / "x.jsonl", rows, layout)
        fd = os.open(path, os.O_RDONLY)
        every, few = RowReader(fd, path), RowReader(fd, path)
        all_rows, some_rows = (
            list_until_fault(every.rows()),
            list_until_fault(few.rows(include_events=False)),
        )
        os.close(fd)
        assert [row for row in all_rows if row in some_rows] == some_rows
        assert all(row.kind == "event" for row in all_rows if row not in some_rows)
        assert {index: call.event_count for index, call in every.open_calls.items()} == {
            index: call.event_count for index, call in few.open_calls.items()
        }
        for index, call in few.open_calls.items():
            last = [row for row in all_rows if row.call_index == index][-1]
            known = [row for row in some_rows if row.call_index == index][-1]
            assert last.line_number == max(known.line_number, call.last_line_number)
            assert last.offset + last.length == max(known.offset + known.length, call.end_offset)
        assert {row.value is None for row in some_rows if row.kind == "event"} <= {False}
        assert len(some_rows) < len(all_rows)


def test_the_descriptors_own_position_is_left_alone(tmp_path: Path):
    path = files.write(tmp_path / "x.jsonl", files.sample_rows())
    fd = os.open(path, os.O_RDONLY)
    try:
        os.lseek(fd, 7, os.SEEK_SET)
        assert list(iterate_rows(fd, path))
        assert os.lseek(fd, 0, os.SEEK_CUR) == 7
    finally:
        os.close(fd)


def test_what_is_appended_while_reading_is_not_read(tmp_path: Path):
    path = files.write(tmp_path / "x.jsonl", [files.HEADER, *files.call_rows(0, [])])
    fd = os.open(path, os.O_RDONLY)
    try:
        rows = iterate_rows(fd, path)
        next(rows)
        with path.open("ab") as file:
            file.write(b"junk")
        assert len(list(rows)) == 2
    finally:
        os.close(fd)


def test_a_file_that_is_cut_while_reading_ends_there(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setattr(lines, "CHUNK_BYTES", 64)
    path = files.write(tmp_path / "x.jsonl", files.sample_rows())
    fd = os.open(path, os.O_RDONLY)
    try:
        rows = iterate_rows(fd, path)
        header = next(rows)
        os.truncate(path, header.length + 200)
        with pytest.raises(RecordingFileError) as caught:
            list(rows)
    finally:
        os.close(fd)
    assert (caught.value.code, caught.value.line_number) == ("truncated_row", 2)


@pytest.mark.parametrize("chunk_bytes", [1, 7, 300])
def test_rows_may_lie_across_any_number_of_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
):
    path = files.write(tmp_path / "x.jsonl", files.sample_rows())
    whole = read(path)
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk_bytes)
    again = read(path)
    assert [(r.kind, r.offset, r.length) for r in again] == [
        (r.kind, r.offset, r.length) for r in whole
    ]


def test_blank_lines_are_no_rows_but_count_as_lines(tmp_path: Path):
    sound = files.encoded(files.sample_rows())
    assert files.fault_of(tmp_path, sound.replace(b"\n", b"\n\n \t\r\n")) is None
    assert files.fault_of(tmp_path, b"\n\n" + sound + b"{}\n")[1] == sound.count(b"\n") + 3  # type: ignore[index]  # a fault, not None
    assert files.fault_of(tmp_path, sound + b"\n  ") is None


def test_only_a_line_feed_ends_a_row(tmp_path: Path):
    rows = [files.HEADER, *files.call_rows(0, files.text_events("a\u2028b\u0085c\x0bd\x0ce\x1c"))]
    assert files.fault_of(tmp_path, files.encoded(rows)) is None
    carriage = files.encoded(rows).replace(b"\n", b"\r\n")
    assert files.fault_of(tmp_path, carriage) is None


def test_lone_surrogates_are_sound(tmp_path: Path):
    rows = [files.HEADER, *files.call_rows(0, files.text_events("\ud83d", "x"), text="\udcb2")]
    assert files.fault_of(tmp_path, files.encoded(rows, files.spaced)) is None


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\t\n", b"  "])
def test_a_file_without_a_row_is_empty(tmp_path: Path, data: bytes):
    assert files.fault_of(tmp_path, data) == ("empty_file", None, None)


def test_a_file_that_may_not_be_opened_says_why(tmp_path: Path):
    real = files.write(tmp_path / "real.jsonl", files.sample_rows())
    (tmp_path / "link.jsonl").symlink_to(real)
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    codes = {
        name: files.fault(tmp_path / f"{name}.jsonl")
        for name in ("real", "link", "fifo", "folder", "no")
    }
    assert codes == {
        "real": None,
        "link": ("symlink", None, None),
        "fifo": ("not_a_regular_file", None, None),
        "folder": ("not_a_regular_file", None, None),
        "no": ("unreadable", None, None),
    }


def test_a_read_that_fails_is_told_as_a_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = files.write(tmp_path / "x.jsonl", files.sample_rows())

    def fail(*_args: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pread", fail)
    assert files.fault(path) == ("unreadable", None, None)


def test_one_row_of_many_megabytes_is_read(tmp_path: Path):
    text = "word " * 4_000_000
    rows = [files.HEADER, *files.call_rows(0, files.text_events(text, text))]
    path = files.write(tmp_path / "x.jsonl", rows)
    assert max(row.length for row in read(path)) > len(text)


class TestSurvey:
    def test_a_whole_file_is_summed_up(self, tmp_path: Path):
        rows = files.sample_rows()
        path = files.write(tmp_path / "x.jsonl", rows)
        assert survey(path) == Survey(
            call_count=6,
            open_calls={},
            end=path.stat().st_size,
            torn_bytes=0,
            format_version=1,
        )

    def test_open_calls_and_a_torn_row_are_no_faults(self, tmp_path: Path):
        first = files.call_rows(0, files.text_events("a"))
        second = files.call_rows(1, files.text_events("b"))
        sound = files.encoded([files.HEADER, *first[:-1], *second[:3]])
        path = tmp_path / "x.jsonl"
        path.write_bytes(sound + files.compact(second[3])[:40])
        found = survey(path)
        assert (found.call_count, found.open_calls) == (2, {0: 5, 1: 2})
        assert (found.end, found.torn_bytes) == (len(sound), 40)

    def test_a_torn_header_leaves_nothing(self, tmp_path: Path):
        path = tmp_path / "x.jsonl"
        path.write_bytes(HEADER_LINE[:20])
        assert survey(path) == Survey(
            call_count=0, open_calls={}, end=0, torn_bytes=20, format_version=None
        )

    def test_every_other_fault_is_raised(self, tmp_path: Path):
        path = tmp_path / "x.jsonl"
        for data, code in [(b"\n", "empty_file"), (HEADER_LINE + b"[]\n", "not_an_object")]:
            path.write_bytes(data)
            with pytest.raises(RecordingFileError) as caught:
                survey(path)
            assert caught.value.code == code

    def test_an_appended_part_goes_on_from_what_was_known(self, tmp_path: Path):
        first = files.call_rows(0, files.text_events("a", "b"))
        second = files.call_rows(1, files.text_events("c"))
        head = files.encoded([files.HEADER, *first[:4]])
        tail = files.encoded([*first[4:], *second[:2]])
        path = tmp_path / "x.jsonl"
        path.write_bytes(head + tail)
        found = survey(path, offset=len(head), next_call_index=1)
        assert (found.call_count, found.open_calls) == (2, {1: 1})
        assert (found.end, found.format_version) == (len(head + tail), None)

    @pytest.mark.parametrize(
        ("rows", "code"),
        [
            ([files.HEADER], "duplicate_header"),
            ([files.request_row(4)], "bad_call_index"),
            ([files.request_row(2)], "bad_call_index"),
            ([files.event_row(3, 0, START)], "unknown_call"),
            ([files.event_row(1, 5, START), files.event_row(1, 7, START)], "bad_event_index"),
            ([files.end_row(1, 9), files.event_row(1, 9, START)], "call_ended"),
            ([files.end_row(1, 9), files.end_row(1, 9)], "duplicate_call_end"),
            ([files.end_row(1, -1)], "wrong_event_count"),
            ([files.event_row(1, 5, {"type": "done"})], "invalid_event"),
        ],
    )
    def test_an_appended_part_is_judged_as_strictly(
        self, tmp_path: Path, rows: list[Row], code: str
    ):
        path = tmp_path / "x.jsonl"
        path.write_bytes(HEADER_LINE + files.encoded(rows))
        with pytest.raises(RecordingFileError) as caught:
            survey(path, offset=len(HEADER_LINE), next_call_index=3)
        assert (caught.value.code, caught.value.line_number) == (code, None)

    def test_a_stub_is_believed_until_a_snapshot_was_read(self, tmp_path: Path):
        stub = {"type": "text_delta", "content_index": 3, "delta": "x", "partial": files.STUB}
        derived = {**stub, "partial_derived": True}
        events = [derived, derived, START, derived]
        rows = [files.event_row(0, 4 + at, event) for at, event in enumerate(events)]
        path = tmp_path / "x.jsonl"
        path.write_bytes(HEADER_LINE + files.encoded(rows[:3]))
        found = survey(path, offset=len(HEADER_LINE), next_call_index=1)
        assert found.open_calls == {0: 7}
        path.write_bytes(HEADER_LINE + files.encoded(rows))
        with pytest.raises(RecordingFileError, match="invalid_event"):
            survey(path, offset=len(HEADER_LINE), next_call_index=1)

    def test_an_appended_part_may_be_empty(self, tmp_path: Path):
        path = tmp_path / "x.jsonl"
        path.write_bytes(HEADER_LINE)
        found = survey(path, offset=len(HEADER_LINE), next_call_index=0)
        assert (found.end, found.torn_bytes, found.call_count) == (len(HEADER_LINE), 0, 0)


def test_readers_in_several_threads_do_not_disturb_each_other(tmp_path: Path):
    path = files.write(tmp_path / "x.jsonl", files.sample_rows())
    fd = os.open(path, os.O_RDONLY)
    counts: list[int] = []

    def work() -> None:
        counts.extend(len(list(iterate_rows(fd, path))) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.close(fd)
    assert counts == [len(files.sample_rows())] * 80
