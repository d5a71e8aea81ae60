"""An inspection describes any file, changes none, and is equal when the bytes are."""

from __future__ import annotations

import dataclasses
import os
import stat
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recording_files as files
from openprogram import paths
from openprogram.errors import RecordingFileError
from openprogram.providers import types as t
from openprogram.providers.inspection import inspect_recording

if TYPE_CHECKING:
    from pathlib import Path

PRICED: dict[str, Any] = {"cost": {"input": 1.0, "output": 2.0}}


def test_a_sound_recording_is_described_without_its_content(tmp_path: Path):
    usage = t.Usage(input=3, output=2, total_tokens=5, cost=t.UsageCost(total=0.25))
    rows = [
        files.HEADER,
        *files.interleaved(
            files.call_rows(0, files.text_events("private", usage=usage), text="private"),
            files.call_rows(1, files.tool_events()[:2], "cancelled"),
        ),
    ]
    path = files.write(tmp_path / "x.jsonl", rows)
    found = inspect_recording(path)
    assert (found.valid, found.error, found.complete, found.legacy) == (True, None, False, False)
    assert (found.format_version, found.redaction_version) == (1, 1)
    assert (found.path, found.size_bytes, found.event_count) == (path, path.stat().st_size, 7)
    header = found.header
    assert header is not None
    assert (header.line_number, header.recording_id) == (1, "x")
    assert header.created_at == "2026-08-11T13:45:02Z"
    first, second = found.calls
    data = path.read_bytes()
    assert dataclasses.asdict(first) == {
        "call_index": 0,
        "provider": "pretend",
        "api": "scripted",
        "model": "pretend-1",
        "event_count": 5,
        "outcome": "complete",
        "stop_reason": "stop",
        "usage": usage,
        "cost_usd": 0.25,
        "first_line_number": 2,
        "last_line_number": len(rows),
        "offset": data.index(b'{"type":"request","call_index":0'),
        "request_bytes": len(files.compact(rows[1])) + 1,
        "end_offset": len(data),
        "answer_offset": data.index(files.compact(rows[-2])),
        "answer_bytes": len(files.compact(rows[-2])) + 1,
    }
    assert (second.outcome, second.stop_reason, second.usage) == ("cancelled", None, None)
    assert (second.answer_offset, second.answer_bytes) == (None, None)
    assert (second.event_count, second.first_line_number, second.cost_usd) == (2, 3, None)
    assert data[second.offset :].startswith(b'{"type":"request","call_index":1')
    assert data[: second.end_offset].endswith(
        files.compact(files.end_row(1, 2, "cancelled")) + b"\n"
    )
    assert "private" not in repr(found)


def test_of_a_broken_file_all_before_the_fault_is_described(tmp_path: Path):
    sound = files.encoded(files.sample_rows())
    path = tmp_path / "x.jsonl"
    path.write_bytes(sound + b'{"type":"event","call_index":99}\n' + sound)
    found = inspect_recording(path)
    assert not found.valid
    assert not found.complete
    error = found.error
    assert error is not None
    assert (error.code, error.line_number) == ("unknown_call", sound.count(b"\n") + 1)
    assert len(found.calls) == 6
    assert found.calls == inspect_recording(files.write(path, files.sample_rows())).calls


def test_a_call_that_was_cut_off_is_described_as_far_as_it_came(tmp_path: Path):
    rows = [files.HEADER, *files.call_rows(0, files.text_events("a", "b"))[:4]]
    found = inspect_recording(files.write(tmp_path / "x.jsonl", rows))
    assert found.error is not None
    assert found.error.code == "missing_call_end"
    (call,) = found.calls
    assert (call.outcome, call.event_count, call.last_line_number) == (None, 3, 5)
    assert call.end_offset == found.size_bytes


def test_equal_bytes_give_an_equal_value_whatever_the_name(tmp_path: Path):
    for rows in (files.sample_rows(), files.sample_rows()[:-1], [{"type": "x"}]):
        one = inspect_recording(files.write(tmp_path / "one.jsonl", rows))
        other = inspect_recording(files.write(tmp_path / "other.jsonl", rows))
        assert one == other
        assert one.path != other.path
    sound = inspect_recording(files.write(tmp_path / "one.jsonl", files.sample_rows()))
    path = tmp_path / "other.jsonl"
    path.write_bytes(files.encoded(files.sample_rows()) + b"{\n")
    broken = inspect_recording(path)
    assert broken != sound
    assert broken != dataclasses.replace(broken, error=None)


def test_what_cannot_be_opened_is_described_by_its_error(tmp_path: Path):
    real = files.write(tmp_path / "real.jsonl", files.sample_rows())
    (tmp_path / "link.jsonl").symlink_to(real)
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    for name, code in [
        ("link", "symlink"),
        ("fifo", "not_a_regular_file"),
        ("folder", "not_a_regular_file"),
        ("gone", "unreadable"),
    ]:
        found = inspect_recording(tmp_path / f"{name}.jsonl")
        assert found.error is not None
        assert (found.error.code, found.calls, found.size_bytes) == (code, (), 0)
        assert (found.header, found.format_version, found.redaction_version) == (None, None, None)
        assert not found.legacy


def test_nothing_on_disk_is_changed_and_nothing_is_locked(state_dir: Path, tmp_path: Path):
    root = paths.recordings_dir()
    root.mkdir(parents=True, mode=0o755)
    path = files.write(root / "x.jsonl", files.sample_rows())
    path.chmod(0o644)
    path.with_name("hard.jsonl").hardlink_to(path)
    before = {p: p.lstat() for p in [state_dir, *state_dir.rglob("*")]}
    inspect_recording(path)
    after = {p: p.lstat() for p in [state_dir, *state_dir.rglob("*")]}
    assert [stat.S_IMODE(s.st_mode) for s in after.values()] == [
        stat.S_IMODE(s.st_mode) for s in before.values()
    ]
    assert before.keys() == after.keys()
    assert not list(tmp_path.iterdir()) or state_dir.is_relative_to(tmp_path)


@pytest.mark.parametrize(
    ("metadata", "legacy", "redaction_version"),
    [
        ({}, True, 1),
        ({"x_team": "a"}, True, 1),
        ({"created_at": None}, False, 1),
        ({"redaction_version": 7}, False, 7),
        ({"redaction_version": "7"}, False, None),
        ({"redaction_version": True}, False, None),
        ({"recording_id": ["\x1b[2J"], "created_at": {"a": 1}}, False, 1),
    ],
)
def test_header_metadata_may_be_missing_or_nonsense(
    tmp_path: Path, metadata: dict[str, Any], legacy: bool, redaction_version: int | None
):
    header = {"type": "header", "format_version": 1} | metadata
    found = inspect_recording(files.write(tmp_path / "x.jsonl", [header]))
    assert (found.valid, found.complete) == (True, True)
    assert (found.legacy, found.redaction_version) == (legacy, redaction_version)


def test_names_that_are_no_text_are_left_out(tmp_path: Path):
    rows = [files.HEADER, *files.call_rows(0, [])]
    rows[1]["model"] = {"id": 5, "api": None, "cost": "free"}
    (call,) = inspect_recording(files.write(tmp_path / "x.jsonl", rows)).calls
    assert (call.model, call.api, call.provider) == (None, None, None)


@pytest.mark.parametrize(
    ("model", "usage", "cost_usd"),
    [
        (PRICED, t.Usage(input=1, cost=t.UsageCost(total=0.5)), 0.5),
        ({}, t.Usage(input=1, cost=t.UsageCost(total=0.5)), 0.5),
        (PRICED, t.Usage(input=1, output=1), 0.0),
        (PRICED, t.Usage(cache_read=1), None),
        ({}, t.Usage(output=1), None),
        ({}, t.Usage(), 0.0),
    ],
)
def test_an_unknown_price_is_not_a_price_of_nought(
    tmp_path: Path, model: dict[str, Any], usage: t.Usage, cost_usd: float | None
):
    rows = files.call_rows(0, files.text_events("x", usage=usage))
    rows[0] = files.request_row(0, **model)
    (call,) = inspect_recording(files.write(tmp_path / "x.jsonl", [files.HEADER, *rows])).calls
    assert call.cost_usd == cost_usd


def test_a_read_that_fails_half_way_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = files.write(tmp_path / "x.jsonl", files.sample_rows())
    read = os.pread

    def fail_later(fd: int, size: int, offset: int) -> bytes:
        if offset:
            raise OSError(5, "Input/output error")
        return read(fd, min(size, 900), offset)

    monkeypatch.setattr(os, "pread", fail_later)
    found = inspect_recording(path)
    assert found.error is not None
    assert found.error.code == "unreadable"
    assert found.header is not None


def test_memory_does_not_grow_with_what_calls_hold(tmp_path: Path):
    def peak_bytes(text: str) -> int:
        rows: list[Any] = [files.HEADER]
        for index in range(50):
            rows += files.call_rows(index, files.text_events(text), text=text)
        path = files.write(tmp_path / "x.jsonl", rows)
        tracemalloc.start()
        try:
            found = inspect_recording(path)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert len(found.calls) == 50
        return peak

    peak_bytes("warm up")
    # 200 kB rows: 50 MB of file, of which a few rows and chunks are held at a time.
    assert peak_bytes("w" * 200_000) < 8_000_000


SAMPLE = files.encoded(files.sample_rows())


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cut=st.integers(0, len(SAMPLE)),
    size=st.integers(0, 40),
    junk=st.binary(max_size=20),
)
def test_any_file_can_be_inspected(
    tmp_path_factory: pytest.TempPathFactory, cut: int, size: int, junk: bytes
):
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(SAMPLE[:cut] + junk + SAMPLE[cut + size :])
    found = inspect_recording(path)
    assert found == inspect_recording(path)
    assert isinstance(found.error, RecordingFileError | None)
    assert found.event_count == sum(call.event_count for call in found.calls)
