from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from openprogram.config import update_settings

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import RunCli
    from cli.recordings.conftest import WriteRecording


def test_status_on_a_new_machine_says_off_and_makes_nothing(
    run_cli: RunCli, state_dir: Path
) -> None:
    ended = run_cli("recordings", "status")
    assert (ended.exit_code, ended.err) == (0, "")
    assert ended.out == "Next start    off\nSetting from  default\n"
    assert not state_dir.exists()


def test_status_json_has_the_stable_fields(run_cli: RunCli) -> None:
    document = json.loads(run_cli("recordings", "status", "--json").out)
    assert {
        "mode", "file", "path", "source", "valid", "file_exists", "size_bytes", "reason",
        "restart_required", "worker",
    } <= set(document)  # fmt: skip


def test_status_with_broken_settings_says_blocked_and_exits_1(
    run_cli: RunCli, state_dir: Path
) -> None:
    state_dir.mkdir(mode=0o700)
    (state_dir / "config.json").write_text('{"record_replay": {"mode": "replay",}}')
    (state_dir / "config.json").chmod(0o600)
    ended = run_cli("recordings", "status")
    assert ended.exit_code == 1
    assert ended.out.startswith("Next start    blocked\n")
    assert "line 1, column" in ended.err
    document = json.loads(run_cli("recordings", "status", "--json").out)
    assert (document["valid"], document["mode"]) == (False, "blocked")


def test_status_names_the_mode_that_cannot_be_honoured(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    path = write_recording("first")
    run_cli("recordings", "replay", "first")
    path.unlink()
    ended = run_cli("recordings", "status")
    assert ended.exit_code == 1
    assert ended.out.startswith("Next start    blocked; the settings say replay\n")
    assert "is not there" in ended.err


def test_status_shows_what_replay_does_not_compare(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    write_recording("first")
    run_cli("recordings", "replay", "first")
    run_cli("config", "set", "record_replay.ignore", '["model.cost", "options.session_id"]')
    ended = run_cli("recordings", "status")
    assert ended.exit_code == 0
    assert "Not compared  model.cost, options.session_id\n" in ended.out
    document = json.loads(run_cli("recordings", "status", "--json").out)
    assert document["ignore"] == ["model.cost", "options.session_id"]


@pytest.mark.parametrize("path", ["context", "options.sesion_id", "x[", ""])
def test_status_is_not_valid_when_replay_would_refuse_a_path(
    run_cli: RunCli, write_recording: WriteRecording, path: str
) -> None:
    write_recording("first")
    run_cli("recordings", "replay", "first")
    update_settings({"record_replay.ignore": [path]})
    ended = run_cli("recordings", "status")
    assert ended.exit_code == 1
    assert ended.out.startswith("Next start    blocked; the settings say replay\n")
    assert ended.err.startswith("error: record_replay.ignore: ")


def test_record_makes_the_file_and_says_what_is_next(run_cli: RunCli, state_dir: Path) -> None:
    ended = run_cli("recordings", "record", "--name", "first")
    path = state_dir / "recordings" / "first.jsonl"
    assert ended.exit_code == 0
    assert "The next start records into first." in ended.out
    assert "restarted" in ended.out
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(run_cli("recordings", "status", "--json").out)["mode"] == "record"


def test_record_json_names_the_recording(run_cli: RunCli) -> None:
    document = json.loads(run_cli("recordings", "record", "--json").out)
    assert document["mode"] == "record"
    assert document["recording_id"] == document["file"]


@pytest.mark.parametrize("name", ["../x", "a/b", "", "CON", "x\x1b[2J", "a" * 65])
def test_record_refuses_what_cannot_be_an_id(run_cli: RunCli, name: str, state_dir: Path) -> None:
    ended = run_cli("recordings", "record", "--name", name)
    assert (ended.exit_code, ended.out) == (1, "")
    assert ended.err.count("\n") == 1
    assert "\x1b" not in ended.err
    assert not list(state_dir.glob("recordings/*"))


def test_replay_then_off_keeps_the_selector(
    run_cli: RunCli, write_recording: WriteRecording
) -> None:
    write_recording("first")
    assert run_cli("recordings", "replay", "first").out.startswith("The next start replays first.")
    ended = run_cli("recordings", "off", "--json")
    document = json.loads(ended.out)
    assert (ended.exit_code, document["mode"], document["file"]) == (0, "off", "first")


def test_replay_of_an_unsound_file_changes_nothing(
    run_cli: RunCli, write_recording: WriteRecording, state_dir: Path
) -> None:
    write_recording("bad", tail="{nonsense}\n")
    ended = run_cli("recordings", "replay", "bad")
    assert (ended.exit_code, ended.out) == (1, "")
    assert "line 5" in ended.err
    assert not (state_dir / "config.json").exists()


def test_replay_takes_a_path_of_undecodable_bytes(
    run_process: RunCli, write_recording: WriteRecording, tmp_path: Path
) -> None:
    directory = tmp_path / "b\udcff\udcfe"
    directory.mkdir(mode=0o700)
    path = write_recording("mine", directory=directory)
    ended = run_process("recordings", "replay", str(path))
    assert (ended.exit_code, ended.err) == (0, "")
    assert r"b\udcff\udcfe" in ended.out


@pytest.mark.parametrize("words", [("status",), ("off",), ("record",), ("list",), ("tui",)])
def test_a_state_directory_that_cannot_be_is_one_line_with_the_remedy(
    run_process: RunCli, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run_process("recordings", *words, env={"OPENPROGRAM_STATE_DIR": "rel"})
    assert (ended.exit_code, ended.out) in ((1, ""), (2, ""))
    assert ended.err.endswith("set OPENPROGRAM_STATE_DIR to an absolute path\n")
    assert not (tmp_path / "rel").exists()


def test_a_state_directory_that_cannot_be_made_names_the_variable(run_process: RunCli) -> None:
    for words in (
        ("recordings", "record"),
        ("recordings", "off"),
        ("config", "set", "ui.theme", "dark"),
    ):
        ended = run_process(*words, env={"OPENPROGRAM_STATE_DIR": "/proc/nope"})
        assert (ended.exit_code, ended.out, ended.err.count("\n")) == (1, "", 1)
        assert "set OPENPROGRAM_STATE_DIR to another directory" in ended.err


def test_broken_settings_are_mended_by_hand_and_nobody_advises_off(
    run_cli: RunCli, state_dir: Path
) -> None:
    state_dir.mkdir(mode=0o700)
    (state_dir / "config.json").write_text("{broken")
    for words in (("status",), ("off",), ("record",)):
        ended = run_cli("recordings", *words)
        assert ended.exit_code == 1
        assert f"'{state_dir / 'config.json'}', line 1" in ended.err
        assert "correct the file by hand or move it away" in ended.err
        assert "recordings off" not in ended.err
