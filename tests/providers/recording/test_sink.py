from __future__ import annotations

import contextlib
import errno
import gc
import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from openprogram import _compat, _private_files
from openprogram.errors import FileLockedError, RecordingFileError, RecordingWriteError
from openprogram.providers import file_safety
from openprogram.providers.recording.format import encode_header, encode_row
from openprogram.providers.recording.reader import validate_recording
from openprogram.providers.recording.sink import RecordingSink
from scripted import rows_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REQUEST: dict[str, Any] = {"model": {}, "context": {}, "options": None}


def end_row(call_index: int, event_count: int = 0) -> bytes:
    return encode_row(
        {
            "type": "call_end",
            "call_index": call_index,
            "event_count": event_count,
            "outcome": "complete",
        }
    )


def record_call(sink: RecordingSink) -> int:
    index = sink.begin_call(REQUEST)
    sink.append_rows([end_row(index)], is_call_end=True)
    return index


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.jsonl"


def test_a_new_file_has_its_header_and_only_its_owner_may_read_it(path: Path) -> None:
    old = os.umask(0)
    try:
        with RecordingSink(path) as sink:
            assert record_call(sink) == 0
    finally:
        os.umask(old)
    rows = rows_of(path)
    assert [row["type"] for row in rows] == ["header", "request", "call_end"]
    assert rows[0]["recording_id"] == "x"
    for file in (path, file_safety.lock_path_of(path)):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_with_calls_is_continued(path: Path) -> None:
    with RecordingSink(path) as sink:
        record_call(sink)
    with RecordingSink(path) as sink:
        assert record_call(sink) == 1
    validate_recording(path)


def test_two_sinks_take_turns_without_reading_the_file_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecordingSink(path) as one, RecordingSink(path) as other:
        for _ in range(50):
            record_call(one)
        record_call(other)
        read: list[int] = []
        pread = os.pread

        def counted(fd: int, count: int, offset: int) -> bytes:
            data = pread(fd, count, offset)
            read.append(len(data))
            return data

        monkeypatch.setattr(os, "pread", counted)
        record_call(one)
        assert sum(read) < 400
        read.clear()
        record_call(one)
        assert sum(read) == 0
        assert record_call(other) == 53
    validate_recording(path)


def _work(path: Path, thread_count: int, call_count: int) -> None:
    sink = RecordingSink(path)

    def record() -> None:
        for _ in range(call_count):
            record_call(sink)

    threads = [threading.Thread(target=record) for _ in range(thread_count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_and_processes_lose_nothing_and_tear_nothing(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_work, args=(path, 3, 10)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 3
    validate_recording(path)
    requests = [row["call_index"] for row in rows_of(path) if row["type"] == "request"]
    assert requests == list(range(90))


def test_a_forked_child_records_with_locks_of_its_own(path: Path) -> None:
    with RecordingSink(path) as sink:
        record_call(sink)
        child = os.fork()
        if child == 0:
            code = 1
            with contextlib.suppress(BaseException):
                record_call(sink)
                code = 0
            os._exit(code)
        record_call(sink)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        record_call(sink)
    validate_recording(path)
    assert sum(row["type"] == "request" for row in rows_of(path)) == 4


def test_a_forked_child_says_each_time_that_its_file_is_another(path: Path) -> None:
    with RecordingSink(path) as sink:
        record_call(sink)
        child = os.fork()
        if child == 0:
            codes = [1, 1, 1]
            with contextlib.suppress(BaseException):
                path.rename(path.with_suffix(".moved"))
                codes[0] = _refusal_of(sink)
                path.touch(mode=0o600)
                codes[1:] = [_refusal_of(sink), _refusal_of(sink)]
            os._exit(max(codes))
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
    assert path.read_bytes() == b""


def _refusal_of(sink: RecordingSink) -> int:
    try:
        record_call(sink)
    except RecordingWriteError:
        return 0
    except BaseException:  # noqa: BLE001 - a forked child has no other way to tell of it
        return 2
    return 3


_KILLED = """
import os, signal, sys
from openprogram.providers.recording.sink import RecordingSink
sink = RecordingSink(sys.argv[1])
sink.begin_call({"model": {}, "context": {}, "options": None})
os.write(sink._descriptors[0], b'{"type":"event","call_index":0,"event_in')
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_is_set_right(path: Path, caplog: Any) -> None:
    with RecordingSink(path) as sink:
        record_call(sink)
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(RecordingFileError):
        validate_recording(path)
    with RecordingSink(path) as sink:
        assert record_call(sink) == 2
    validate_recording(path)
    outcomes = [row["outcome"] for row in rows_of(path) if row["type"] == "call_end"]
    assert outcomes == ["complete", "abandoned", "complete"]
    (torn,) = path.parent.glob("x.jsonl.torn-*")
    assert torn.read_bytes().startswith(b'{"type":"event"')
    assert "abandoned" in caplog.text


def test_a_living_writers_open_call_is_left_alone(path: Path) -> None:
    with RecordingSink(path) as living:
        index = living.begin_call(REQUEST)
        with RecordingSink(path) as other:
            assert record_call(other) == 1
            living.append_rows([end_row(index)], is_call_end=True)
    validate_recording(path)
    assert [r["call_index"] for r in rows_of(path) if r["type"] == "call_end"] == [1, 0]


def test_a_torn_row_of_another_writer_is_set_aside_before_the_next_row(path: Path) -> None:
    with RecordingSink(path) as sink:
        record_call(sink)
        with path.open("ab") as stranger:
            stranger.write(b'{"type":"requ')
        assert record_call(sink) == 1
    validate_recording(path)
    (torn,) = path.parent.glob("x.jsonl.torn-*")
    assert torn.read_bytes() == b'{"type":"requ'


def test_a_header_that_was_never_finished_is_begun_again(path: Path) -> None:
    path.write_bytes(encode_header("x")[:20])
    with RecordingSink(path) as sink:
        record_call(sink)
    validate_recording(path)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"not json\n", "invalid_json"),
        (b'{"type":"header","format_version":99}\n', "unsupported_version"),
        (b'{"type":"header","format_version":2}\n', "unsupported_version"),
        (encode_header("x") + encode_row({"type": "request", "call_index": 7}), "missing_field"),
        (
            encode_header("x") + encode_row({"type": "request", "call_index": 7, **REQUEST}),
            "bad_call_index",
        ),
    ],
    ids=["no-json", "later-version", "version-2", "no-model", "index"],
)
def test_an_unsound_file_is_refused_at_once_and_left_as_it_is(
    path: Path, content: bytes, code: str
) -> None:
    path.write_bytes(content)
    with pytest.raises(RecordingFileError) as caught:
        RecordingSink(path)
    assert caught.value.code == code
    assert path.read_bytes() == content


def _unlink(path: Path) -> None:
    path.unlink()


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"")
    other.replace(path)


def _link(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to(path.with_name("moved"))


def _truncate(path: Path) -> None:
    os.truncate(path, 3)


def _scribble(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"type":"junk"}\n')


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_unlink, "was removed"),
        (_replace, "was replaced"),
        (_link, "was replaced"),
        (_truncate, "was truncated"),
        (_scribble, "was changed by something else"),
    ],
)
def test_a_file_that_was_changed_behind_its_back_fails_the_call(
    path: Path, change: Callable[[Path], None], reason: str
) -> None:
    with RecordingSink(path) as sink:
        record_call(sink)
        change(path)
        for _ in range(2):
            with pytest.raises(RecordingWriteError, match=reason):
                sink.begin_call(REQUEST)


def test_a_full_disk_costs_the_row_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecordingSink(path) as sink:
        record_call(sink)
        before = path.read_bytes()
        write = os.write
        room = [10]

        def full(fd: int, data: Any) -> int:
            if not room[0]:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            count = write(fd, bytes(data)[: room[0]])
            room[0] -= count
            return count

        with monkeypatch.context() as patched:
            patched.setattr(_private_files.os, "write", full)
            with pytest.raises(RecordingWriteError, match="No space left"):
                sink.begin_call(REQUEST)
        assert path.read_bytes() == before
        assert record_call(sink) == 1
    validate_recording(path)


def test_a_row_is_whole_however_little_each_write_takes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    with RecordingSink(path) as sink, monkeypatch.context() as patched:
        patched.setattr(_private_files.os, "write", lambda fd, data: write(fd, bytes(data)[:3]))  # type: ignore[misc]  # as os.write
        record_call(sink)
    validate_recording(path)


def test_rows_that_cannot_be_synced_are_taken_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_fd: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with RecordingSink(path) as sink:
        index = sink.begin_call(REQUEST)
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", broken)
            with pytest.raises(RecordingWriteError, match="nothing was added"):
                sink.append_rows([end_row(index)], is_call_end=True)
        # What the caller does then; a row that had stayed would now stand twice.
        sink.owe_call_end(index, end_row(index))
        record_call(sink)
    validate_recording(path)


def test_an_interrupted_append_adds_nothing_and_still_owes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_all = _private_files.write_all

    def interrupted(fd: int, data: bytes) -> None:
        write_all(fd, data[:-5])
        raise KeyboardInterrupt

    with RecordingSink(path) as sink:
        index = sink.begin_call(REQUEST)
        sink.owe_call_end(index, end_row(index))
        before = path.read_bytes()
        with monkeypatch.context() as patched:
            patched.setattr(_private_files, "write_all", interrupted)
            with pytest.raises(KeyboardInterrupt):
                sink.begin_call(REQUEST)
        assert path.read_bytes() == before
        assert record_call(sink) == 1
    validate_recording(path)


@pytest.mark.parametrize(
    "request_",
    [
        {"model": None, "context": {}, "options": None},
        {"model": {}, "context": "hi", "options": None},
        {"model": {}, "options": None},
        {"model": {"deep": json.loads("[" * 600 + "]" * 600)}, "context": {}, "options": None},
    ],
)
def test_a_request_that_no_reader_would_take_is_refused(
    path: Path, request_: dict[str, Any]
) -> None:
    with RecordingSink(path) as sink:
        with pytest.raises(RecordingWriteError, match="cannot hold"):
            sink.begin_call(request_)
        assert record_call(sink) == 0
    validate_recording(path)


def test_owing_a_row_never_waits_for_another_process(path: Path) -> None:
    with RecordingSink(path) as sink:
        index = sink.begin_call(REQUEST)
        is_held, may_go = threading.Event(), threading.Event()

        def hold() -> None:
            with sink._thread_lock:  # as a waiting append does
                is_held.set()
                may_go.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        try:
            is_held.wait()
            sink.owe_call_end(index, end_row(index))
        finally:
            may_go.set()
            thread.join()
        record_call(sink)
    validate_recording(path)


def test_an_owed_last_row_is_written_with_the_next_append(path: Path) -> None:
    with RecordingSink(path) as sink:
        index = sink.begin_call(REQUEST)
        sink.owe_call_end(index, end_row(index))
        record_call(sink)
    validate_recording(path)
    assert [row["type"] for row in rows_of(path)[1:]] == [
        *("request", "call_end"),
        *("request", "call_end"),
    ]


def test_an_owed_last_row_is_written_when_the_sink_closes(path: Path) -> None:
    with RecordingSink(path) as sink:
        index = sink.begin_call(REQUEST)
        sink.owe_call_end(index, end_row(index))
    validate_recording(path)


def test_a_held_row_lock_is_waited_for_and_not_for_ever(path: Path) -> None:
    with RecordingSink(path, lock_timeout_seconds=0.05) as sink:
        lock_fd = os.open(file_safety.lock_path_of(path), os.O_RDWR)
        try:
            _compat.lock_exclusive(lock_fd, timeout_seconds=0)
            with pytest.raises(BlockingIOError):
                sink.begin_call(REQUEST)
            with pytest.raises(FileLockedError, match="in use"):
                RecordingSink(path, lock_timeout_seconds=0.05)
        finally:
            os.close(lock_fd)
        assert record_call(sink) == 0
    validate_recording(path)


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_removed_lock_file_still_lets_one_write_at_a_time(path: Path, is_replaced: bool) -> None:
    with RecordingSink(path) as first:
        record_call(first)
        file_safety.lock_path_of(path).unlink()
        if is_replaced:
            file_safety.lock_path_of(path).touch(mode=0o600)
        with RecordingSink(path) as second:
            fd = os.open(file_safety.lock_path_of(path), os.O_RDWR)
            try:
                _compat.lock_exclusive(fd, timeout_seconds=0)
                for sink in (first, second):
                    with pytest.raises(BlockingIOError):
                        sink.begin_call(REQUEST, timeout_seconds=0)
            finally:
                os.close(fd)
            assert [record_call(first), record_call(second)] == [1, 2]
    validate_recording(path)


def test_a_link_in_place_of_the_lock_file_fails_the_call(path: Path, tmp_path: Path) -> None:
    with RecordingSink(path) as sink:
        lock_path = file_safety.lock_path_of(path)
        lock_path.unlink()
        lock_path.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(RecordingWriteError, match="lock file"):
            sink.begin_call(REQUEST)
        lock_path.unlink()
        assert record_call(sink) == 0
    assert not (tmp_path / "elsewhere").exists()


def test_whoever_removes_recordings_sees_a_living_sink(path: Path) -> None:
    sink = RecordingSink(path)
    fd = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(BlockingIOError):
            _compat.lock_exclusive(fd, timeout_seconds=0)
        sink.close()
        _compat.lock_exclusive(fd, timeout_seconds=0)
    finally:
        os.close(fd)


def test_a_closed_sink_refuses_and_closes_twice(path: Path) -> None:
    sink = RecordingSink(path)
    sink.close()
    sink.close()
    with pytest.raises(RecordingWriteError, match="closed"):
        sink.begin_call(REQUEST)


def test_a_forgotten_sink_lets_go(path: Path) -> None:
    RecordingSink(path)
    gc.collect()
    fd = os.open(path, os.O_RDONLY)
    try:
        _compat.lock_exclusive(fd, timeout_seconds=0)
    finally:
        os.close(fd)


def test_a_link_is_refused_and_its_target_untouched(path: Path) -> None:
    target = path.with_name("target")
    target.write_bytes(b"mine")
    path.symlink_to(target)
    with pytest.raises(RecordingFileError) as caught:
        RecordingSink(path)
    assert caught.value.code == "symlink"
    assert target.read_bytes() == b"mine"


def test_rows_of_many_calls_may_be_interleaved(path: Path) -> None:
    with RecordingSink(path) as sink:
        first, second = sink.begin_call(REQUEST), sink.begin_call(REQUEST)
        sink.append_rows([end_row(second)], is_call_end=True)
        sink.append_rows([end_row(first)], is_call_end=True)
    validate_recording(path)
    assert [json.loads(line)["type"] for line in path.read_bytes().splitlines()] == [
        *("header", "request", "request", "call_end", "call_end")
    ]
