"""Reports of mismatches are owner-only, bounded, without secrets, and read back as they were."""

from __future__ import annotations

import json
import os
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recording_files as files
from openprogram import paths
from openprogram.errors import MismatchReportError, UnsafeFileError
from openprogram.providers import mismatches
from openprogram.providers.comparison import MISSING, Difference, find_first_request_difference
from openprogram.providers.mismatches import (
    KEPT_COUNT,
    MismatchReport,
    list_mismatch_reports,
    read_mismatch_report,
    write_mismatch_report,
)
from openprogram.providers.recording.format import RowError


def request_of(text: str, **options: Any) -> dict[str, Any]:
    row = files.request_row(0, text)
    row["options"] |= options
    return {name: row[name] for name in ("model", "context", "options")}


def write(
    recorded: dict[str, Any] | None = None, incoming: dict[str, Any] | None = None, **fields: Any
) -> MismatchReport:
    recorded, incoming = recorded or request_of("one"), incoming or request_of("two")
    given: dict[str, Any] = {
        "recording": Path("/somewhere/x.jsonl"),
        "call_index": 3,
        "difference": find_first_request_difference(recorded, incoming),
        "recorded_request": recorded,
        "incoming_request": incoming,
    }
    return write_mismatch_report(**(given | fields))


def contents(report: MismatchReport) -> dict[str, Any]:
    names = ("report_id", "path", "created_at", "recording", "call_index", "field_path")
    more = ("recorded", "incoming", "ignore", "recorded_request", "incoming_request")
    return {name: getattr(report, name) for name in (*names, *more)}


def test_a_report_reads_back_as_it_was_written(state_dir: Path):
    before = datetime.now(UTC)
    report = write(ignore=("model.cost", "options.session_id"))
    assert before <= report.created_at <= datetime.now(UTC)
    assert report.recorded_request == request_of("one")
    assert report.incoming_request == request_of("two")
    assert (report.field_path, report.recorded, report.incoming) == (
        "context.messages[0].content",
        "one",
        "two",
    )
    assert report.ignore == ("model.cost", "options.session_id")
    assert (report.call_index, report.recording) == (3, Path("/somewhere/x.jsonl"))
    assert contents(read_mismatch_report(report.report_id)) == contents(report)
    assert [contents(each) for each in list_mismatch_reports()] == [contents(report)]
    assert report.path.parent == state_dir / "mismatches"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_can_read_a_report(umask: int):
    before = os.umask(umask)
    try:
        report = write()
    finally:
        os.umask(before)
    assert stat.S_IMODE(report.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(report.path.parent.stat().st_mode) == 0o700
    assert [path.name for path in report.path.parent.iterdir()] == [report.path.name]


def test_a_missing_value_stays_missing_and_null_stays_null():
    recorded, incoming = request_of("x", metadata={}), request_of("x", metadata={"a": None})
    report = read_mismatch_report(write(recorded, incoming).report_id)
    assert (report.recorded, report.incoming) == (MISSING, None)
    assert report.field_path == "options.metadata.a"


def test_no_secret_reaches_the_file():
    secret = "sk-ant-" + "a1B2" * 12
    recorded = request_of(f"my key is {secret}", api_key="plain-secret-value")
    incoming = request_of("x", headers={"X-Session-Token": "plain-secret-value"})
    difference = Difference(
        path=f'options.headers["{secret}"]',
        steps=("options", "headers", "X-Session-Token"),
        recorded="plain-secret-value",
        incoming=f"Bearer {secret}",
    )
    report = write(recorded, incoming, difference=difference)
    text = report.path.read_text()
    assert secret not in text
    assert "plain-secret-value" not in text
    assert secret not in repr(report)
    assert "plain-secret-value" not in repr(report)


def test_the_newest_are_kept_and_other_files_are_left_alone():
    first = write()
    folder = first.path.parent
    (folder / "notes.txt").write_text("mine")
    (folder / "mine.json").write_text("mine")
    (folder / "00000000T000000000000Z-00000000.json").mkdir()
    reports = [first] + [write(call_index=number) for number in range(KEPT_COUNT + 4)]
    left = {path.name for path in folder.iterdir()}
    assert {"notes.txt", "mine.json"} <= left
    kept = {report.path.name for report in reports if report.path.name in left}
    newest = sorted((report.path.name for report in reports), reverse=True)
    assert kept <= set(newest[:KEPT_COUNT])
    assert KEPT_COUNT - 1 <= len(kept) <= KEPT_COUNT
    listed = [report.report_id for report in list_mismatch_reports()]
    assert listed == sorted(listed, reverse=True)
    assert len(listed) == len(kept)


def test_reports_of_many_threads_are_all_whole():
    def work() -> None:
        for _ in range(5):
            write()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reports = list_mismatch_reports()
    assert len(reports) == 30
    assert all(report.recorded_request == request_of("one") for report in reports)


def test_long_values_are_cut_in_the_list_and_whole_in_the_requests():
    recorded, incoming = request_of("x" * 100_000), request_of("y", metadata={"a": ["z"] * 9000})
    report = read_mismatch_report(write(recorded, incoming).report_id)
    assert report.recorded.startswith("xxx")
    assert report.recorded.endswith("... (100,000 characters)")
    assert len(report.recorded) < 2000
    assert report.recorded_request == recorded
    assert report.incoming_request == incoming
    difference = Difference(
        path="options.metadata",
        steps=("options", "metadata"),
        recorded=MISSING,
        incoming=["z"] * 9000,
    )
    long = write(recorded, incoming, difference=difference)
    assert long.incoming.startswith('["z","z"')
    assert len(long.incoming) < 2000


def test_a_request_beyond_all_bounds_is_shortened_and_still_differs(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(mismatches, "LARGEST_REPORT_BYTES", 50_000)
    one, other = "x" * 60_000 + "1", "x" * 60_000 + "2"
    recorded, incoming = request_of(one, metadata={"same": one}), request_of(other)
    incoming["options"]["metadata"] = {"same": one}
    report = read_mismatch_report(write(recorded, incoming).report_id)
    assert report.path.stat().st_size < 50_000
    difference = find_first_request_difference(report.recorded_request, report.incoming_request)
    assert difference is not None
    assert difference.path == "context.messages[0].content"
    assert report.recorded_request["options"] == report.incoming_request["options"]
    assert "60,001 characters" in difference.recorded


def test_lone_surrogates_and_odd_paths_are_kept():
    recorded = request_of("\ud83d")
    report = write(recorded, recording=Path(os.fsdecode(b"/tmp/\xff.jsonl")))
    again = read_mismatch_report(report.report_id)
    assert again.recorded == "\ud83d"
    assert os.fsencode(again.recording) == b"/tmp/\xff.jsonl"


def test_values_of_any_depth_are_kept_as_far_as_json_goes():
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    difference = Difference(path="a", steps=("a",), recorded=deep, incoming=float("nan"))
    report = write(request_of("x", metadata={"a": deep}), difference=difference)
    assert contents(read_mismatch_report(report.report_id)) == contents(report)


def test_a_report_that_cannot_be_encoded_is_refused_with_the_one_error(
    monkeypatch: pytest.MonkeyPatch,
):
    def refuse(_row: object) -> bytes:
        raise RowError("invalid_json", "too deep")

    monkeypatch.setattr(mismatches, "encode_row", refuse)
    with pytest.raises(MismatchReportError, match="too deep"):
        write()
    assert list_mismatch_reports() == []


BAD_FILES: list[bytes] = [
    b"",
    b"{}",
    b"[]\n{}\n",
    b"\xff\n",
    b'{"created_at": "2026-01-01T00:00:00Z"}\n',
    b"x" * 200_000,
]


@pytest.mark.parametrize("data", BAD_FILES, ids=lambda value: ascii(value)[:30])
def test_a_file_that_is_no_report_hides_no_other(data: bytes, caplog: pytest.LogCaptureFixture):
    good = write()
    bad = good.path.with_name("99990101T000000000000Z-00000000.json")
    bad.write_bytes(data)
    assert [report.report_id for report in list_mismatch_reports()] == [good.report_id]
    assert "left out" in caplog.text
    with pytest.raises(MismatchReportError):
        read_mismatch_report("99990101T000000000000Z-00000000")


ODD_FIELDS: list[tuple[str, Any]] = [
    ("call_index", "3"),
    ("created_at", "yesterday"),
    ("created_at", "0001-01-01T00:00:00+23:59"),
    ("recording", "a\0b"),
    ("recording", None),
    ("recorded", []),
    ("ignore", "model"),
]


@pytest.mark.parametrize(("name", "value"), ODD_FIELDS)
def test_a_report_with_an_odd_field_is_no_report_or_is_shown_as_it_is(name: str, value: Any):
    report = write()
    first, second = report.path.read_text().splitlines()
    report.path.write_text(json.dumps({**json.loads(first), name: value}) + "\n" + second + "\n")
    for found in list_mismatch_reports():
        assert name == "recording"
        assert str(found.recording) == value


@pytest.mark.parametrize(
    "report_id", ["", "..", "../../etc/passwd", "x", "\0", "\x1b[2J", "20260101T000000000000Z"]
)
def test_a_name_that_is_none_reaches_no_file(report_id: str):
    write()
    with pytest.raises(MismatchReportError) as caught:
        read_mismatch_report(report_id)
    assert str(caught.value).isprintable()


def test_a_report_that_went_away_says_so():
    report = write()
    (listed,) = list_mismatch_reports()
    report.path.unlink()
    with pytest.raises(MismatchReportError, match="no such"):
        _ = listed.recorded_request
    with pytest.raises(MismatchReportError, match="no such"):
        read_mismatch_report(report.report_id)


def test_a_report_cut_short_is_none():
    report = write()
    (listed,) = list_mismatch_reports()
    data = report.path.read_bytes()
    report.path.write_bytes(data[: data.index(b"\n") + 30])
    with pytest.raises(MismatchReportError):
        _ = listed.incoming_request


def test_links_and_pipes_are_neither_followed_nor_waited_for(state_dir: Path, tmp_path: Path):
    report = write()
    secret = tmp_path / "secret"
    secret.write_bytes(report.path.read_bytes())
    folder = report.path.parent
    (folder / "20300101T000000000000Z-00000001.json").symlink_to(secret)
    os.mkfifo(folder / "20300101T000000000000Z-00000002.json")
    assert [each.report_id for each in list_mismatch_reports()] == [report.report_id]
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(UnsafeFileError):
        list_mismatch_reports()
    with pytest.raises(UnsafeFileError):
        write()
    assert {path.name for path in tmp_path.iterdir()} - {state_dir.name} <= {"secret", "home"}


def test_without_a_folder_there_is_nothing_and_nothing_is_made(state_dir: Path):
    assert list_mismatch_reports() == []
    with pytest.raises(MismatchReportError):
        read_mismatch_report("20260101T000000000000Z-00000000")
    assert not state_dir.exists()
    assert not paths.mismatches_dir().exists()


def test_every_refusal_of_a_report_says_how_to_get_one(state_dir: Path):
    with pytest.raises(MismatchReportError, match="is no name of a mismatch report; copy it from"):
        read_mismatch_report("x")
    name = "20260101T000000000000Z-00000000"
    with pytest.raises(MismatchReportError, match=r"no such mismatch report; .* replay once more"):
        read_mismatch_report(name)
    folder = state_dir / "mismatches"
    folder.mkdir(parents=True, mode=0o700)
    (folder / f"{name}.json").write_text("nonsense")
    with pytest.raises(MismatchReportError, match=r"no mismatch report; .* replay once more"):
        read_mismatch_report(name)
