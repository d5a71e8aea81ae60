from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from openprogram.cli import _output

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import RunCli
    from cli.recordings.conftest import WriteRecording


def _always(_stream: object) -> bool:
    return True


def test_an_empty_list_says_how_to_begin(run_cli: RunCli) -> None:
    ended = run_cli("recordings", "list")
    assert ended.exit_code == 0
    assert "openprogram recordings record" in ended.out
    assert json.loads(run_cli("recordings", "list", "--json").out) == {"recordings": []}


def test_list_is_newest_first_and_a_bad_file_hides_nothing(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    write_recording("old", created_at="2026-08-01T00:00:00Z")
    write_recording("new", "a", "b", created_at="2026-08-02T00:00:00Z")
    write_recording("bad", created_at="2026-08-03T00:00:00Z", tail="{nonsense}\n")
    ended = run_cli("recordings", "list")
    head, *rows = ended.out.splitlines()
    assert ended.exit_code == 0
    assert head.split() == ["ID", "CREATED", "CALLS", "SIZE", "STATE"]
    assert [row.split()[0] for row in rows] == ["bad", "new", "old"]
    assert "invalid: line 5:" in rows[0]
    assert "(invalid_json)" in rows[0]
    assert rows[1].endswith("complete")


def test_list_shows_no_content(run_cli: RunCli, write_recording: WriteRecording) -> None:
    write_recording("first", "my private prompt")
    for words in (["list"], ["list", "--json"], ["show", "first"], ["show", "first", "--json"]):
        assert "private prompt" not in run_cli("recordings", *words).out


def test_a_hostile_file_name_cannot_act(
    run_cli: RunCli, write_recording: WriteRecording, recordings_dir: Path
) -> None:
    write_recording("x").rename(recordings_dir / "a\n\x1b]0;t\x07\u202e\x9b.jsonl")
    for words in (["list"], ["verify"]):
        out = run_cli("recordings", *words).out
        assert r"a\n\x1b]0;t\x07\u202e\x9b" in out
        assert all(line.isprintable() for line in out.splitlines())


def test_show_sums_up_each_call(run_cli: RunCli, write_recording: WriteRecording) -> None:
    write_recording("first", "a", "b")
    ended = run_cli("recordings", "show", "first")
    assert (ended.exit_code, ended.err) == (0, "")
    assert "2 calls, 2 events" in ended.out
    assert "$0.0246" in ended.out
    assert ended.out.count("sample-1 from anthropic over anthropic-messages") == 1
    assert ended.out.count("complete (stop)") == 2
    assert all(len(line) <= 80 for line in ended.out.splitlines() if "File" not in line)
    document = json.loads(run_cli("recordings", "show", "first", "--json").out)
    assert [call["call_index"] for call in document["calls"]] == [0, 1]
    assert document["calls"][0]["usage"]["input"] == 12


def test_show_names_the_models_call_by_call_when_there_are_several(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    path = write_recording("mixed", "a", "b")
    path.write_text(path.read_text().replace('"id": "sample-1"', '"id": "sample-2"', 1))
    out = run_cli("recordings", "show", "mixed").out
    assert "Model " not in out
    rows = [line.split() for line in out.splitlines() if "complete (" in line]
    assert [row[:4] for row in rows] == [
        ["0", "sample-2", "anthropic", "anthropic-messages"],
        ["1", "sample-1", "anthropic", "anthropic-messages"],
    ]


def test_show_bounds_a_name_that_is_no_name(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    path = write_recording("long", "a")
    path.write_text(path.read_text().replace('"id": "sample-1"', f'"id": "{"w" * 5000}"'))
    assert "w" * 61 not in run_cli("recordings", "show", "long").out


def test_show_of_an_unsound_file_shows_the_sound_part_and_exits_1(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    write_recording("bad", tail="{nonsense}\n")
    ended = run_cli("recordings", "show", "bad")
    assert ended.exit_code == 1
    assert "sample-1" in ended.out
    assert ended.err.startswith("error: ")
    assert "use an undamaged copy" in ended.err
    ended = run_cli("recordings", "show", "bad", "--json")
    assert ended.exit_code == 1
    assert json.loads(ended.out)["error"]["code"] == "invalid_json"
    ended = run_cli("recordings", "show", "bad", "--content")
    assert ended.exit_code == 1
    assert ended.out.count("\n") == 4
    assert "nonsense" not in ended.out


def test_show_of_nothing_is_one_line(run_cli: RunCli) -> None:
    ended = run_cli("recordings", "show", "nothing", "--json")
    assert ended.exit_code == 1
    assert "no such recording" in ended.err
    assert json.loads(ended.out)["error"]["code"] == "recording_not_found"


def test_a_file_at_hand_is_offered_where_an_id_was_read(
    run_cli: RunCli,
    write_recording: WriteRecording,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_recording("bag", "a").rename(tmp_path / "bug.jsonl")
    monkeypatch.chdir(tmp_path)
    for command in ("show", "replay"):
        ended = run_cli("recordings", command, "bug.jsonl")
        assert ended.exit_code == 1
        assert "no such recording; did you mean './bug.jsonl'? " in ended.err
    assert run_cli("recordings", "show", "./bug.jsonl").exit_code == 0
    assert "./bug" not in run_cli("recordings", "delete", "bug.jsonl", "--yes").err


def test_content_is_the_file_and_the_warning_comes_first(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    path = write_recording("first", "K\u00f6ln")
    ended = run_cli("recordings", "show", "first", "--content")
    assert ended.exit_code == 0
    assert ended.out == path.read_text(encoding="utf-8")
    assert "private content" in ended.err


@pytest.mark.parametrize("is_terminal", [True, False])
def test_content_cannot_act_on_a_terminal_nor_behind_a_pipe_and_is_still_json(
    run_cli: RunCli,
    write_recording: WriteRecording,
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
) -> None:
    path = write_recording("first", "a\x9bb\u202ec")
    if is_terminal:
        monkeypatch.setattr(_output, "is_terminal", _always)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = run_cli("recordings", "show", "first", "--content").out.splitlines()
    assert all(line.isprintable() for line in shown)
    stored = path.read_text(encoding="utf-8").split("\n")[:-1]
    assert [json.loads(line) for line in shown] == [json.loads(line) for line in stored]


def test_content_and_json_exclude_each_other(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    write_recording("first")
    assert run_cli("recordings", "show", "first", "--content", "--json").exit_code == 2


def test_show_warns_of_an_open_file_elsewhere_and_leaves_its_mode(
    run_cli: RunCli, write_recording: WriteRecording, tmp_path: Path
) -> None:
    path = write_recording("mine", directory=tmp_path)
    path.chmod(0o644)
    ended = run_cli("recordings", "show", str(path))
    assert ended.exit_code == 0
    assert ended.err.startswith("warning: ")
    assert path.stat().st_mode & 0o777 == 0o644


def test_verify_names_each_and_exits_1_for_a_bad_one(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    assert "No recordings yet" in run_cli("recordings", "verify").out
    write_recording("good")
    assert run_cli("recordings", "verify").exit_code == 0
    write_recording("bad", tail="{nonsense}\n")
    ended = run_cli("recordings", "verify")
    assert ended.exit_code == 1
    assert ended.err == (
        "error: 1 recording of 2 not valid; 'openprogram recordings show SELECTOR' says what to do "
        "about one\n"
    )
    assert run_cli("recordings", "verify", "good").exit_code == 0
    document = json.loads(run_cli("recordings", "verify", "--json").out)
    assert {row["recording_id"]: row["valid"] for row in document["recordings"]} == {
        "good": True,
        "bad": False,
    }


def test_a_fifo_among_the_recordings_hangs_nothing(
    run_cli: RunCli, write_recording: WriteRecording, recordings_dir: Path
) -> None:
    write_recording("good")
    os.mkfifo(recordings_dir / "pipe.jsonl", 0o600)
    ended = run_cli("recordings", "list")
    assert ended.exit_code == 0
    assert "(not_a_regular_file)" in ended.out
    assert run_cli("recordings", "show", "pipe", "--content").exit_code == 1


def _fail_call(path: Path, call_index: int) -> None:
    """Let a call end with the vendor's error, as its last event, and without a count of tokens."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        if row["type"] == "event" and row["call_index"] == call_index:
            message = row["event"].pop("message") | {"stop_reason": "error", "content": []}
            del message["usage"]
            row["event"] = {"type": "error", "reason": "error", "error": message}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_call_that_ended_with_the_vendors_error_has_failed(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    path = write_recording("first", "a", "b", "c")
    _fail_call(path, 1)
    run_cli("recordings", "replay", "first")
    shown = run_cli("recordings", "show", "first").out.splitlines()
    assert next(line for line in shown if line.startswith("State")) == (
        "State      active, 1 of 3 calls failed"
    )
    assert shown[-2].split() == ["1", "1", "0", "0", "-", "failed", "(error)"]
    assert shown[-1].endswith("complete (stop)")
    assert run_cli("recordings", "list").out.endswith("  active, 1 of 3 calls failed\n")
    (row,) = json.loads(run_cli("recordings", "list", "--json").out)["recordings"]
    assert (row["failed_count"], row["complete"], row["valid"]) == (1, True, True)
    call = json.loads(run_cli("recordings", "show", "first", "--json").out)["calls"][1]
    assert (call["outcome"], call["stop_reason"], call["cost_usd"]) == ("complete", "error", None)


def test_a_call_that_an_exception_ended_is_counted_too(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    path = write_recording("first", "a", "b")
    path.write_text(path.read_text().replace('"outcome": "complete"', '"outcome": "error"', 1))
    assert run_cli("recordings", "list").out.endswith("  incomplete, 1 of 2 calls failed\n")
    assert "error (stop)" in run_cli("recordings", "show", "first").out


@pytest.mark.parametrize(
    ("words", "exit_code"),
    [
        (("show", "frist"), 1),
        (("replay", "frist.jsonl"), 1),
        (("verify", "frist"), 1),
        (("diff", "first", "./frist"), 3),
        (("delete", "frist", "--yes"), 1),
        (("tui", "frist"), 1),
    ],
)
def test_a_selector_that_names_nothing_is_answered_by_a_near_one(
    run_cli: RunCli, write_recording: WriteRecording, words: tuple[str, ...], exit_code: int
) -> None:
    for name in ("first", "other", "a b"):
        write_recording(name)
    ended = run_cli("recordings", *words)
    assert ended.exit_code == exit_code
    assert (
        "no such recording; did you mean 'first'? see 'openprogram recordings list'"
    ) in ended.out + ended.err


def test_nothing_near_is_no_guess_and_a_missing_state_is_made_by_nobody(
    run_cli: RunCli, state_dir: Path
) -> None:
    for command in ("show", "replay", "verify", "tui"):
        ended = run_cli("recordings", command, "nothing")
        assert ended.exit_code == 1
        assert "no such recording; see 'openprogram recordings list'" in ended.out + ended.err
    assert not state_dir.exists()
