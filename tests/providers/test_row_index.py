"""The row index finds every physical row of any file, and says what each seems to be."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recording_files as files
from openprogram.errors import RecordingFileError
from openprogram.providers import row_index
from openprogram.providers.row_index import RowIndex

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recording_files import Row


def scanned(path: Path) -> RowIndex:
    index = RowIndex(path)
    for _ in index.scan():
        pass
    return index


def seen(index: RowIndex) -> list[tuple[str, int]]:
    return [(index.kind(row), index.call_index(row)) for row in range(index.row_count)]


@pytest.mark.parametrize("layout", files.LAYOUTS)
@pytest.mark.parametrize("chunk_bytes", [1, 50, 1 << 20])
def test_rows_are_found_and_told_apart(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    layout: Callable[[Row], bytes],
    chunk_bytes: int,
):
    monkeypatch.setattr(row_index, "_FIRST_CHUNK_BYTES", chunk_bytes)
    monkeypatch.setattr(row_index, "_CHUNK_BYTES", chunk_bytes)
    rows = files.sample_rows()
    path = files.write(tmp_path / "x.jsonl", rows, layout)
    with scanned(path) as index:
        assert seen(index) == [(row["type"], row.get("call_index", -1)) for row in rows]
        offset = 0
        for row, source in enumerate(rows):
            line = layout(source)
            assert (index.offset(row), index.length(row)) == (offset, len(line))
            assert index.read_row(row, limit_bytes=10**9) == line
            assert index.read_row(row, limit_bytes=7) == line[:7]
            offset += len(line) + 1


def test_blank_rows_count_and_a_last_row_needs_no_line_feed(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(files.encoded([files.HEADER]) + b'\n \t\r\n{"type":"event","call_ind')
    with scanned(path) as index:
        assert seen(index) == [("header", -1), ("blank", -1), ("blank", -1), ("unknown", -1)]
        assert index.read_row(3, limit_bytes=10) == b'{"type":"e'
        assert index.length(3) == 25


@pytest.mark.parametrize("data", [b"", b"\n"])
def test_a_file_without_rows_is_no_trouble(tmp_path: Path, data: bytes):
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    with scanned(path) as index:
        assert seen(index) == [("blank", -1)] * len(data)


LINES: list[tuple[bytes, tuple[str, int]]] = [
    (b"junk", ("unknown", -1)),
    (b"\xff\xfe\x00", ("unknown", -1)),
    (b"[]", ("unknown", -1)),
    (b"{}", ("unknown", -1)),
    (b'{"type":"blank"}', ("unknown", -1)),
    (b'{"type":["event"]}', ("unknown", -1)),
    (b'{"type":"event"}', ("event", -1)),
    (b'{"type":"event","call_index":-1}', ("event", -1)),
    (b'{"type":"event","call_index":true}', ("event", -1)),
    (b'{"type":"event","call_index":1.0}', ("event", -1)),
    (b'{"type":"event","call_index":' + b"9" * 30 + b"}", ("event", -1)),
    (b'{"type":"event","call_index":' + b"9" * 5000 + b"}", ("unknown", -1)),
    (b'{"type":"event","call_index":3}', ("event", 3)),
    (b'{"type":"event","call_index":3,', ("event", 3)),
    (b'  {"call_index" : 3, "type" : "call_end"}', ("call_end", 3)),
    (b'{"event":{"type":"request","call_index":7},"type":"event","call_index":2}', ("event", 2)),
    (b'{"call_index": 5, "event": {"a": 1, "type": "request"}}', ("unknown", 5)),
    (b'{"x":"\\u00e9","type":"request","call_index":1}', ("request", 1)),
    (b'{"x":"\\ud83d","type":"request","call_index":1}', ("unknown", -1)),
    (b'{"type":"request","call_index":1,"x":"\\ud83d"}', ("request", 1)),
    (b"[" * 20_000, ("unknown", -1)),
    (b'{"type":"event","call_index":4,' + b"x" * 200_000, ("event", 4)),
    (b'{"call_index": 4, ' + b"x" * 200_000 + b', "type": "event"}', ("event", 4)),
    (b"x" * 200_000, ("unknown", -1)),
]


@pytest.mark.parametrize(("line", "expected"), LINES, ids=lambda value: ascii(value)[:40])
def test_hostile_rows_are_shown_as_what_they_seem(
    tmp_path: Path, line: bytes, expected: tuple[str, int]
):
    path = tmp_path / "x.jsonl"
    around = files.encoded(files.call_rows(0, []))
    path.write_bytes(around + line + b"\n" + around)
    with scanned(path) as index:
        kind, call_index = seen(index)[2]
        assert kind == expected[0]
        if kind != "unknown":
            assert call_index == expected[1]
        assert seen(index)[0] == seen(index)[3] == ("request", 0)
        assert index.read_row(2, limit_bytes=len(line)) == line


def test_rows_of_other_calls_in_between_are_not_mixed_up(tmp_path: Path):
    events = [files.event_row(call, 0, {}) for call in (1, 1, 12, 1, 12, 123, 1)]
    with scanned(files.write(tmp_path / "x.jsonl", events)) as index:
        assert [call for _, call in seen(index)] == [1, 1, 12, 1, 12, 123, 1]


def test_the_first_rows_come_before_the_file_was_read(tmp_path: Path):
    path = files.write(tmp_path / "x.jsonl", files.call_rows(0, files.text_events(*"x" * 20_000)))
    index = RowIndex(path)
    scan = index.scan()
    first = next(scan)
    assert 0 < first < 1000
    counts = list(scan)
    assert len(counts) > 2
    assert counts == sorted(counts)
    assert counts[-1] == index.row_count == 20_006
    index.close()


def test_a_scan_ends_when_the_file_is_closed_and_rows_read_as_empty(tmp_path: Path):
    path = files.write(tmp_path / "x.jsonl", files.call_rows(0, files.text_events(*"x" * 20_000)))
    index = RowIndex(path)
    scan = index.scan()
    found = next(scan)
    index.close()
    index.close()
    assert sum(1 for _ in scan) <= 1
    assert index.row_count < 20_006
    assert index.kind(found - 1) == "event"
    assert index.read_row(0, limit_bytes=100) == b""
    assert list(index.scan()) == []


def test_what_is_appended_while_scanning_is_not_read(tmp_path: Path):
    path = files.write(tmp_path / "x.jsonl", files.call_rows(0, files.text_events(*"x" * 2_000)))
    index = RowIndex(path)
    scan = index.scan()
    next(scan)
    with path.open("ab") as file:
        file.write(b"more\n" * 100)
    assert list(scan)[-1] == 2_006
    index.close()


def test_a_file_that_is_cut_ends_where_it_ends(tmp_path: Path):
    path = files.write(tmp_path / "x.jsonl", files.call_rows(0, files.text_events(*"x" * 20_000)))
    index = RowIndex(path)
    scan = index.scan()
    first = next(scan)
    os.truncate(path, 1000)
    assert list(scan)[-1:] in ([], [first + 1])
    assert index.read_row(first - 1, limit_bytes=100) == b""
    index.close()


def test_rows_can_be_read_while_another_thread_scans(tmp_path: Path):
    rows = files.call_rows(0, files.text_events(*"x" * 20_000))
    path = files.write(tmp_path / "x.jsonl", rows)
    index = RowIndex(path)
    wrong: list[Any] = []
    is_done = threading.Event()

    def look() -> None:
        while not is_done.is_set():
            count = index.row_count
            for row in {0, count // 2, count - 1} if count else ():
                line = index.read_row(row, limit_bytes=10**6)
                if line != files.compact(rows[row]) or index.kind(row) != rows[row]["type"]:
                    wrong.append((row, line))

    thread = threading.Thread(target=look)
    thread.start()
    for _ in index.scan():
        pass
    is_done.set()
    thread.join()
    index.close()
    assert wrong == []


def test_a_file_that_may_not_be_opened_is_refused(tmp_path: Path):
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "fifo.jsonl")
    for name, code in [
        ("fifo", "not_a_regular_file"),
        ("link", "symlink"),
        ("gone", "unreadable"),
    ]:
        with pytest.raises(RecordingFileError) as caught:
            RowIndex(tmp_path / f"{name}.jsonl")
        assert caught.value.code == code


def test_an_index_that_is_forgotten_lets_go_of_its_file(tmp_path: Path):
    path = files.write(tmp_path / "x.jsonl", files.sample_rows())
    fd = RowIndex(path)._fd
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


SAMPLE = files.encoded(files.sample_rows())


def with_junk(at: int, junk: bytes) -> bytes:
    return SAMPLE[:at] + junk + SAMPLE[at:]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.one_of(
        st.binary(max_size=200),
        st.builds(with_junk, st.integers(0, len(SAMPLE)), st.binary(max_size=20)),
    ),
    chunk_bytes=st.sampled_from([1, 3, 64, 1 << 16]),
)
def test_the_rows_of_any_file_are_its_lines(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, chunk_bytes: int
):
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(data)
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_index, "_FIRST_CHUNK_BYTES", chunk_bytes)
        patch.setattr(row_index, "_KEPT_BYTES", 100)
        with scanned(path) as index:
            found = [index.read_row(row, limit_bytes=10**6) for row in range(index.row_count)]
            assert found == lines
            assert all(call >= -1 for _, call in seen(index))


def test_what_becomes_of_an_open_file_is_told(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"{}\n{}\n")
    with RowIndex(path) as index:
        assert index.find_change() is None
        with path.open("ab") as file:
            file.write(b"{}\n")
        assert index.find_change() == "grown"
        os.truncate(path, 1)
        assert index.find_change() == "shortened"
        path.rename(tmp_path / "y.jsonl")
        assert index.find_change() == "gone"
        path.write_bytes(b"{}\n{}\n")
        assert index.find_change() == "replaced"
