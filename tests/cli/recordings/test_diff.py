from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.cli import _output

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Ended, OpenTerminal, RunCli
    from cli.recordings.conftest import WriteRecording


def _document(ended: Ended) -> dict[str, Any]:
    return json.loads(ended.out)


def test_equal_recordings_exit_0(run_cli: RunCli, write_recording: WriteRecording) -> None:
    write_recording("first", "a", "b")
    write_recording("second", "a", "b", created_at="2026-09-01T00:00:00Z")
    ended = run_cli("recordings", "diff", "first", "second")
    assert (ended.exit_code, ended.err) == (0, "")
    assert ended.out == "No difference: 2 calls compared.\n"


def test_the_first_difference_is_named_first(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    write_recording("first", "a", "b")
    write_recording("second", "a", "c")
    ended = run_cli("recordings", "diff", "first", "second")
    assert (ended.exit_code, ended.err) == (1, "")
    assert ended.out == (
        "First difference: call 1, field context.messages[0].content\n"
        "\n"
        "A  first (2 calls)\n"
        "B  second (2 calls)\n"
        "   1 equal, 1 changed\n"
        "\n"
        "Call 1 changed: 2 differences\n"
        "  context.messages[0].content\n"
        "    A  'b'\n"
        "    B  'c'\n"
        "  answer.content[0].text\n"
        "    A  'echo:b'\n"
        "    B  'echo:c'\n"
    )


def test_calls_that_stand_alone_are_named(run_cli: RunCli, write_recording: WriteRecording) -> None:
    write_recording("first", "a", "b", "c")
    write_recording("second", "new", "a", "c")
    ended = run_cli("recordings", "diff", "first", "second")
    assert ended.exit_code == 1
    assert ended.out.startswith("First difference: call 0 of B was inserted\n")
    assert "   2 equal, 1 removed, 1 inserted\n" in ended.out
    assert "Call 0 of B was inserted\n  sample-1, 1 event, complete\n" in ended.out
    assert "Call 1 of A was removed\n  sample-1, 1 event, complete\n" in ended.out


def test_the_document_has_its_fields(run_cli: RunCli, write_recording: WriteRecording) -> None:
    path = write_recording("first", "a", "b")
    other = write_recording("second", "x", "a", "c")
    other.write_text(other.read_text().replace('"options": {}', '"options": {"x": null, "y": 1}'))
    ended = run_cli("recordings", "diff", "first", str(other), "--json")
    assert (ended.exit_code, ended.err) == (1, "")
    document = _document(ended)
    calls = document.pop("calls")
    assert document == {
        "equal": False,
        "a": {"recording_id": "first", "path": str(path), "call_count": 2},
        "b": {"recording_id": "second", "path": str(other), "call_count": 3},
        "counts": {"equal": 0, "changed": 2, "removed": 0, "inserted": 1},
        "first_difference": {"call_index_a": None, "call_index_b": 0, "path": None},
    }
    assert [
        (call["state"], call["call_index_a"], call["call_index_b"], call["twin_index"])
        for call in calls
    ] == [("inserted", None, 0, None), ("changed", 0, 1, None), ("changed", 1, 2, None)]
    assert calls[0]["differences"] == []
    assert calls[1]["differences"] == [{"path": "options.y", "b": 1}]
    back = _document(run_cli("recordings", "diff", "second", "first", "--json"))
    assert back["counts"] == {"equal": 0, "changed": 2, "removed": 1, "inserted": 0}
    assert back["calls"][1]["differences"] == [{"path": "options.y", "a": 1}]
    assert back["calls"][2]["differences"][0] == {
        "path": "context.messages[0].content",
        "a": "c",
        "b": "b",
    }
    one = _document(run_cli("recordings", "diff", "first", "second", "--call", "1", "--json"))
    assert one["first_difference"]["path"] == "context.messages[0].content"
    assert one["calls"] == [calls[2]]


def test_equal_recordings_have_no_first_difference(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    write_recording("first", "a")
    document = _document(run_cli("recordings", "diff", "first", "first", "--json"))
    assert (document["equal"], document["first_difference"]) == (True, None)
    assert [call["state"] for call in document["calls"]] == ["equal"]


def test_one_call_is_judged_alone(run_cli: RunCli, write_recording: WriteRecording) -> None:
    write_recording("first", "a", "b")
    write_recording("second", "a", "c")
    assert run_cli("recordings", "diff", "first", "second", "--call", "0").exit_code == 0
    ended = run_cli("recordings", "diff", "first", "second", "--call", "1")
    assert ended.exit_code == 1
    assert "   1 changed\n" in ended.out


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("first",),
        ("first", "first", "first"),
        ("first", "first", "--call", "1"),
        ("first", "first", "--call", "-1"),
        ("first", "first", "--call", "x"),
        ("first", "not an ID"),
        ("first", "./a\0b"),
    ],
)
def test_wrong_usage_exits_2(
    run_cli: RunCli, write_recording: WriteRecording, words: tuple[str, ...]
) -> None:
    write_recording("first", "a")
    ended = run_cli("recordings", "diff", *words)
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    document = _document(run_cli("recordings", "diff", *words, "--json"))
    assert set(document["error"]) == {"code", "reason", "line_number", "call_index"}


def test_what_cannot_be_read_exits_3(
    run_cli: RunCli, write_recording: WriteRecording, recordings_dir: Path
) -> None:
    write_recording("first", "a")
    write_recording("bad", "a", tail="{nonsense}\n")
    (recordings_dir / "link.jsonl").symlink_to(recordings_dir / "first.jsonl")
    os.mkfifo(recordings_dir / "fifo.jsonl")
    for name, code in (
        ("bad", "invalid_json"),
        ("nothing", "recording_not_found"),
        ("link", "symlink"),
        ("fifo", "not_a_regular_file"),
    ):
        for words in ((name, "first"), ("first", name)):
            ended = run_cli("recordings", "diff", *words)
            assert (ended.exit_code, ended.out) == (3, "")
            assert ended.err.startswith("error: ")
            ended = run_cli("recordings", "diff", *words, "--json")
            assert ended.exit_code == 3
            assert _document(ended)["error"]["code"] == code
    bad = _document(run_cli("recordings", "diff", "first", "bad", "--json"))["error"]
    assert bad["line_number"] == 5


def test_settings_that_cannot_be_used_do_not_look_like_a_difference(
    run_cli: RunCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENPROGRAM_STATE_DIR")
    monkeypatch.setenv("OPENPROGRAM_PROFILE", "../x")
    assert run_cli("recordings", "diff", "first", "second").exit_code == 3


def test_an_external_file_that_others_can_read_is_compared_with_a_warning(
    run_cli: RunCli, write_recording: WriteRecording, tmp_path: Path
) -> None:
    write_recording("first", "a")
    path = write_recording("bug", "a", directory=tmp_path)
    path.chmod(0o644)
    ended = run_cli("recordings", "diff", "first", str(path))
    assert ended.exit_code == 0
    assert ended.err.startswith("warning: ")
    assert ended.err.count("\n") == 1
    assert f"chmod 600 {path}" in ended.err
    assert path.stat().st_mode & 0o777 == 0o644
    ended = run_cli("recordings", "diff", "first", str(path), "--json")
    assert _document(ended)["b"] == {"recording_id": None, "path": str(path), "call_count": 1}


def test_hostile_content_cannot_act_and_lines_are_short(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    hostile = "\x1b]0;t\x07\u202e\x9b[red]" + "日本" * 300 + "\ud83d"
    write_recording("first", "a").unlink()
    write_recording("second", "b").unlink()
    for name, text in (("first", f"{hostile}1"), ("second", f"{hostile}2")):
        path = write_recording(name, "PROMPT")
        data = path.read_text().replace("PROMPT", json.dumps(text)[1:-1])
        path.write_text(data.replace('"options": {}', f'"options": {{{json.dumps(text)}: 1}}'))
    ended = run_cli("recordings", "diff", "first", "second")
    assert ended.exit_code == 1
    lines = ended.out.splitlines()
    assert len(lines) > 12
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) <= 78
    document = _document(run_cli("recordings", "diff", "first", "second", "--json"))
    assert document["first_difference"]["a"] == f"{hostile}1"


def test_colours_are_for_terminals_without_no_color(
    run_cli: RunCli, write_recording: WriteRecording, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_recording("first", "a")
    write_recording("second", "b")
    plain = run_cli("recordings", "diff", "first", "second").out
    monkeypatch.setattr(_output, "is_terminal", lambda _stream: True)  # type: ignore[reportUnknownLambdaType]  # any stream
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = run_cli("recordings", "diff", "first", "second").out
    assert "\x1b[32m    A  'a'\x1b[0m" in coloured
    assert "\x1b[31m    B  'b'\x1b[0m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert run_cli("recordings", "diff", "first", "second").out == plain


def test_a_reader_that_leaves_is_no_error(
    open_terminal: OpenTerminal, write_recording: WriteRecording
) -> None:
    write_recording("first", *(f"a{n}" for n in range(300)))
    write_recording("second", *(f"b{n}" for n in range(300)))
    terminal = open_terminal("recordings", "diff", "first", "second")
    assert terminal.end() == 1
    assert "... and 290 more calls" in terminal.seen
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "openprogram", "recordings", "diff", "first", "second"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")
