"""A list shows every file, hides none behind a bad one, and changes nothing on disk."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from openprogram import config
from openprogram.errors import InvalidSelectorError, UnsafeFileError
from openprogram.providers import inspection, management
from openprogram.providers.management import summaries

if TYPE_CHECKING:
    from pathlib import Path

    from providers.management.conftest import Snapshot, WriteRecording

LIST_FIELDS = [
    "recording_id",
    "path",
    "created_at",
    "modified_at",
    "format_version",
    "redaction_version",
    "legacy",
    "call_count",
    "failed_count",
    "event_count",
    "size_bytes",
    "complete",
    "valid",
    "active",
    "error",
]
CALL_FIELDS = [
    "call_index",
    "provider",
    "api",
    "model",
    "event_count",
    "outcome",
    "stop_reason",
    "usage",
    "cost_usd",
    "first_line_number",
]


def test_without_a_state_there_is_nothing_to_list_and_nothing_is_made(state_dir: Path):
    assert management.list_recordings() == []
    assert management.verify_recordings() == []
    assert not state_dir.exists()


def test_a_row_has_exactly_the_stable_fields(write_recording: WriteRecording):
    path = write_recording("x", outcomes=("complete", "error"))
    row = management.list_recordings()[0].to_json()
    assert list(row) == LIST_FIELDS
    assert json.loads(json.dumps(row)) == row
    modified_at = row.pop("modified_at")
    # Python's datetime keeps microseconds, a file system more.
    written_at = datetime.fromtimestamp(path.stat().st_mtime_ns // 1000 / 1_000_000, UTC)
    assert datetime.fromisoformat(modified_at) == written_at
    assert modified_at.endswith("Z")
    assert row == {
        "recording_id": "x",
        "path": str(path),
        "created_at": "2026-08-11T13:45:02Z",
        "format_version": 1,
        "redaction_version": 1,
        "legacy": False,
        "call_count": 2,
        "failed_count": 1,
        "event_count": 2,
        "size_bytes": path.stat().st_size,
        "complete": False,
        "valid": True,
        "active": False,
        "error": None,
    }


def test_showing_adds_one_object_per_call_and_no_content(write_recording: WriteRecording):
    summary = management.summarize_recording(write_recording("x"))
    row = summary.to_json(include_calls=True)
    assert list(row) == [*LIST_FIELDS, "calls"]
    call = row["calls"][0]
    assert list(call) == CALL_FIELDS
    usage = call.pop("usage")
    assert (usage["input"], usage["output"], usage["total_tokens"]) == (3, 2, 5)
    assert call == {
        "call_index": 0,
        "provider": "some-vendor",
        "api": "scripted",
        "model": "some-model",
        "event_count": 1,
        "outcome": "complete",
        "stop_reason": "stop",
        "cost_usd": 0.25,
        "first_line_number": 2,
    }
    text = json.dumps(row)
    assert "private words" not in text
    assert "an answer" not in text


def test_the_newest_header_comes_first_whatever_the_files_times(write_recording: WriteRecording):
    for name, created_at, days_old in [
        ("a", "2026-01-01T00:00:00Z", 0),
        ("b", "2026-03-01T00:00:00+02:00", 9),
        ("c", "2026-02-01T00:00:00Z", 3),
    ]:
        write_recording(name, header={"created_at": created_at}, days_old=days_old)
    listed = management.list_recordings()
    assert [summary.recording_id for summary in listed] == ["b", "c", "a"]
    assert listed[0].to_json()["created_at"] == "2026-02-28T22:00:00Z"


@pytest.mark.parametrize(
    "created_at", [None, 5, "yesterday", "", "0001-01-01T00:00:00+23:59", "\x1b[2J", ["x"]]
)
def test_a_header_without_a_sensible_time_is_dated_by_its_file(
    write_recording: WriteRecording, created_at: object
):
    path = write_recording("x", header={"created_at": created_at}, days_old=2)
    summary = management.summarize_recording(path)
    assert summary.created_at == summary.modified_at
    assert datetime.now(UTC) - summary.modified_at > timedelta(days=1)


def test_a_legacy_header_is_told(write_recording: WriteRecording):
    summary = management.summarize_recording(write_recording("x", header={}))
    assert (summary.valid, summary.legacy, summary.created_at) == (True, True, summary.modified_at)


def test_a_header_that_claims_another_id_is_not_believed(write_recording: WriteRecording):
    write_recording("x", header={"recording_id": "../../victim"})
    assert [summary.recording_id for summary in management.list_recordings()] == ["x"]


def test_a_bad_file_is_shown_with_its_code_and_hides_no_other(
    write_recording: WriteRecording, root: Path, tmp_path: Path
):
    good = write_recording("good")
    write_recording("torn", tail='{"type": "requ')
    write_recording("empty").write_bytes(b"")
    (root / "junk.jsonl").write_bytes(b"\xff\x00[[[\n")
    os.mkfifo(root / "fifo.jsonl")
    (root / "folder.jsonl").mkdir()
    (root / "link.jsonl").symlink_to(good)
    (root / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (root / "a b\n\x1b[2J.jsonl").write_bytes(good.read_bytes())
    (root / "good.jsonl.lock").touch()
    (root / "notes.txt").touch()
    codes = {
        summary.path.name: summary.error.code if summary.error else None
        for summary in management.list_recordings()
    }
    assert codes == {
        "good.jsonl": None,
        "torn.jsonl": "truncated_row",
        "empty.jsonl": "empty_file",
        "junk.jsonl": "invalid_utf8",
        "fifo.jsonl": "not_a_regular_file",
        "folder.jsonl": "not_a_regular_file",
        "link.jsonl": "symlink",
        "gone.jsonl": "symlink",
        "a b\n\x1b[2J.jsonl": None,
    }


def test_an_error_row_has_exactly_its_stable_fields(write_recording: WriteRecording):
    error = management.summarize_recording(write_recording("x", tail="[]\n")).to_json()["error"]
    assert list(error) == ["code", "reason", "line_number", "call_index"]
    assert (error["code"], error["line_number"]) == ("not_an_object", 5)


def test_the_active_recording_is_marked(write_recording: WriteRecording):
    write_recording("x")
    path = write_recording("y")
    config.update_settings({"record_replay.mode": "replay", "record_replay.file": str(path)})
    active = {summary.recording_id: summary.active for summary in management.list_recordings()}
    assert active == {"x": False, "y": True}


@pytest.mark.parametrize("text", ["{bad", '{"record_replay": "off"}'])
def test_broken_settings_hide_no_recording(write_recording: WriteRecording, text: str):
    path = write_recording("x")
    (path.parent.parent / "config.json").write_text(text)
    assert [summary.active for summary in management.list_recordings()] == [False]


def test_a_linked_root_is_refused(state_dir: Path, tmp_path: Path):
    state_dir.mkdir(mode=0o700)
    (tmp_path / "elsewhere").mkdir()
    (state_dir / "recordings").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFileError):
        management.list_recordings()


def test_looking_changes_nothing_on_disk(
    write_recording: WriteRecording, root: Path, tmp_path: Path, snapshot: Snapshot
):
    write_recording("x").chmod(0o644)
    victim = write_recording("victim", folder=tmp_path)
    victim.chmod(0o666)
    (root / "hard.jsonl").hardlink_to(victim)
    root.chmod(0o755)
    before = snapshot()
    management.list_recordings()
    management.verify_recordings()
    management.summarize_recording(root / "x.jsonl")
    assert snapshot() == before
    assert stat.S_IMODE(victim.stat().st_mode) == 0o666


def test_a_file_elsewhere_may_be_looked_at_but_its_mode_is_told(
    write_recording: WriteRecording, tmp_path: Path
):
    path = write_recording("x", folder=tmp_path)
    assert management.summarize_recording(path).warning is None
    path.chmod(0o644)
    summary = management.summarize_recording(path)
    assert (summary.valid, summary.recording_id) == (True, None)
    assert f"chmod 600 {path}" in str(summary.warning)


def test_verifying_judges_permissions_too(write_recording: WriteRecording, tmp_path: Path):
    write_recording("good")
    loose = write_recording("loose")
    loose.chmod(0o640)
    elsewhere = write_recording("elsewhere", folder=tmp_path)
    selectors = ["good", "loose.jsonl", str(elsewhere), "missing"]
    verified = management.verify_recordings(selectors)
    codes = [summary.error.code if summary.error else None for summary in verified]
    assert codes == [None, "unsafe_permissions", None, "unreadable"]
    assert [summary.complete for summary in verified] == [True, False, True, False]
    assert stat.S_IMODE(loose.stat().st_mode) == 0o640
    assert {summary.recording_id for summary in management.verify_recordings()} == {"good", "loose"}
    with pytest.raises(InvalidSelectorError):
        management.verify_recordings(["good", "CON"])


def test_an_unchanged_file_is_read_once_and_a_changed_one_again(
    write_recording: WriteRecording, monkeypatch: pytest.MonkeyPatch
):
    path = write_recording("x")
    read: list[Path] = []
    inspect = inspection.inspect_recording

    def count(path: Path) -> inspection.RecordingInspection:
        read.append(path)
        return inspect(path)

    monkeypatch.setattr(inspection, "inspect_recording", count)
    # A file touched this instant is not trusted to stay as it is.
    monkeypatch.setattr(summaries, "_SETTLED_AFTER_NS", 10**18)
    first, second = management.list_recordings(), management.list_recordings()
    assert (len(read), first) == (2, second)
    monkeypatch.setattr(summaries, "_SETTLED_AFTER_NS", 0)
    first, second = management.list_recordings(), management.list_recordings()
    assert (len(read), first) == (3, second)
    text, before = path.read_text(), path.stat()
    path.write_text(text.replace('"outcome": "complete"', '"outcome": "COMPLETE"'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [summary.valid for summary in management.list_recordings()] == [False]


@pytest.mark.parametrize(("seconds", "year"), [(2**62, 9999), (-(2**62), 1)])
def test_a_time_that_no_calendar_has_becomes_the_nearest(
    write_recording: WriteRecording, seconds: int, year: int
):
    # No file system at hand keeps such a time, so the path lies about it.
    status = write_recording("x", header={}).lstat()
    fields = list(status)
    fields[8] = seconds
    lying = os.stat_result(fields, {"st_mtime_ns": seconds * 10**9})
    assert summaries.written_at(lying).year == year
