"""Setting the mode is one step that happens or leaves nothing behind; the status only looks."""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
from typing import TYPE_CHECKING

import pytest

from openprogram import config
from openprogram.errors import (
    ConfigError,
    FileLockedError,
    InvalidSelectorError,
    RecordingExistsError,
    RecordingFileError,
    RecordingNotFoundError,
    RecordingWriteError,
)
from openprogram.providers import inspection, management
from openprogram.providers.management import modes

if TYPE_CHECKING:
    from pathlib import Path

    from providers.management.conftest import Snapshot, WriteRecording


def set_settings(state_dir: Path, subtree: object) -> Path:
    state_dir.mkdir(mode=0o700, exist_ok=True)
    file = state_dir / "config.json"
    file.write_text(json.dumps({"record_replay": subtree}))
    return file


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestPreparingToRecord:
    def test_a_sound_owner_only_file_with_a_header_alone_is_made_and_chosen(self, state_dir: Path):
        selection = management.prepare_record("first-run")
        assert selection.path == state_dir / "recordings" / "first-run.jsonl"
        assert stat.S_IMODE(selection.path.stat().st_mode) == 0o600
        row = json.loads(selection.path.read_text())
        assert (row["type"], row["format_version"]) == ("header", 1)
        assert row["recording_id"] == "first-run"
        assert inspection.inspect_recording(selection.path).error is None
        chosen = config.read_record_replay()
        assert (chosen.mode, chosen.file) == ("record", "first-run")

    def test_by_default_the_id_is_the_time_and_random_digits(self):
        made = {management.prepare_record().recording_id for _ in range(3)}
        assert len(made) == 3
        assert all(re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{8}", str(name)) for name in made)

    def test_a_taken_name_is_left_alone(self, write_recording: WriteRecording, state_dir: Path):
        path = write_recording("x")
        before = path.read_bytes()
        with pytest.raises(RecordingExistsError):
            management.prepare_record("x.jsonl")
        assert path.read_bytes() == before
        assert not (state_dir / "config.json").exists()

    @pytest.mark.parametrize("name", ["", "../x", "/tmp/x", "a/b", "CON", "x" * 65])
    def test_only_an_id_can_be_recorded_into(self, state_dir: Path, name: str):
        with pytest.raises(InvalidSelectorError):
            management.prepare_record(name)
        assert not state_dir.exists()

    @pytest.mark.parametrize(
        ("step", "failure", "seen"),
        [
            ("_set_mode", KeyboardInterrupt(), KeyboardInterrupt),
            ("_set_mode", ConfigError("cannot be changed"), ConfigError),
            ("encode_header", KeyboardInterrupt(), KeyboardInterrupt),
            ("encode_header", OSError(28, "no space left"), RecordingWriteError),
        ],
    )
    def test_a_failure_removes_the_file_and_keeps_the_settings(
        self,
        root: Path,
        monkeypatch: pytest.MonkeyPatch,
        step: str,
        failure: BaseException,
        seen: type[BaseException],
    ):
        config.update_settings({"record_replay.mode": "off", "record_replay.file": "before"})
        before = config.read_settings()

        def fail(*_args: object, **_options: object) -> None:
            raise failure

        monkeypatch.setattr(modes, step, fail)
        with pytest.raises(seen):
            management.prepare_record("x")
        assert names_in(root) == []
        assert config.read_settings() == before

    @pytest.mark.parametrize("text", ["{bad", '{"record_replay": "off"}'])
    def test_broken_settings_leave_no_file_behind(self, root: Path, text: str):
        (root.parent / "config.json").write_text(text)
        with pytest.raises(ConfigError):
            management.prepare_record("x")
        assert names_in(root) == []
        assert (root.parent / "config.json").read_text() == text

    def test_a_linked_root_is_refused_and_nothing_made_behind_it(
        self, state_dir: Path, tmp_path: Path
    ):
        state_dir.mkdir(mode=0o700)
        (tmp_path / "elsewhere").mkdir()
        (state_dir / "recordings").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(RecordingFileError) as caught:
            management.prepare_record("x")
        assert caught.value.code == "symlink"
        assert names_in(tmp_path / "elsewhere") == []


class TestPreparingToReplay:
    def test_a_sound_recording_is_chosen_and_its_mode_tightened(
        self, write_recording: WriteRecording
    ):
        path = write_recording("x")
        path.chmod(0o644)
        selection = management.prepare_replay("x.jsonl")
        assert (selection.path, selection.recording_id) == (path, "x")
        chosen = config.read_record_replay()
        assert (chosen.mode, chosen.file) == ("replay", "x")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_a_file_elsewhere_is_chosen_by_its_absolute_path(
        self, write_recording: WriteRecording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        path = write_recording("x", folder=tmp_path)
        monkeypatch.chdir(tmp_path)
        management.prepare_replay("./x.jsonl")
        assert config.read_record_replay().file == str(path)

    def test_a_loose_file_elsewhere_is_refused_and_not_changed(
        self, write_recording: WriteRecording, tmp_path: Path, state_dir: Path
    ):
        path = write_recording("x", folder=tmp_path)
        path.chmod(0o640)
        with pytest.raises(RecordingFileError, match=re.escape(f"chmod 600 {path}")):
            management.prepare_replay(str(path))
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert not (state_dir / "config.json").exists()

    @pytest.mark.parametrize(
        ("tail", "code"),
        [("{", "truncated_row"), ("[]\n", "not_an_object"), ('{"type":"x"}\n', "unknown_row_type")],
    )
    def test_a_file_that_is_not_sound_changes_no_setting(
        self, write_recording: WriteRecording, state_dir: Path, tail: str, code: str
    ):
        write_recording("x", tail=tail)
        with pytest.raises(RecordingFileError) as caught:
            management.prepare_replay("x")
        assert caught.value.code == code
        assert not (state_dir / "config.json").exists()

    def test_a_missing_file_changes_and_makes_nothing(self, state_dir: Path):
        with pytest.raises(RecordingNotFoundError, match="see 'openprogram recordings list'"):
            management.prepare_replay("x")
        assert not state_dir.exists()

    def test_a_recording_that_is_being_deleted_is_refused(
        self, write_recording: WriteRecording, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(modes, "_LOCK_TIMEOUT_SECONDS", 0)
        with write_recording("x").open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with pytest.raises(FileLockedError):
                management.prepare_replay("x")

    def test_a_recording_replaced_while_it_is_checked_is_refused(
        self, write_recording: WriteRecording, state_dir: Path, monkeypatch: pytest.MonkeyPatch
    ):
        path = write_recording("x")
        read = modes.RecordedCalls

        def replace_then_read(path: Path) -> modes.RecordedCalls:
            write_recording("other").replace(path)
            return read(path)

        monkeypatch.setattr(modes, "RecordedCalls", replace_then_read)
        with pytest.raises(RecordingFileError, match="replaced"):
            management.prepare_replay(str(path))
        assert not (state_dir / "config.json").exists()


class TestStatus:
    def test_without_settings_it_is_off_by_default_and_makes_nothing(self, state_dir: Path):
        assert management.read_status().to_json() == {
            "mode": "off",
            "file": "",
            "path": None,
            "source": "default",
            "valid": True,
            "file_exists": False,
            "size_bytes": None,
            "reason": None,
            "restart_required": False,
            "worker": None,
            "ignore": [],
        }
        assert not state_dir.exists()

    def test_it_tells_the_chosen_recording_from_stat_alone(
        self, write_recording: WriteRecording, monkeypatch: pytest.MonkeyPatch
    ):
        path = write_recording("x", tail="not sound")
        config.update_settings({"record_replay.mode": "replay", "record_replay.file": "x"})
        size_bytes = path.stat().st_size

        def refuse(*_args: object, **_options: object) -> None:
            raise AssertionError

        monkeypatch.setattr(inspection, "inspect_recording", refuse)
        status = management.read_status()
        assert (status.mode, status.file, status.path) == ("replay", "x", str(path))
        assert (status.valid, status.file_exists, status.size_bytes) == (True, True, size_bytes)
        assert status.source.endswith("config.json")

    def test_off_is_valid_whatever_was_chosen_before(self, state_dir: Path):
        for file in ("", "gone", "/gone/x.jsonl", "CON"):
            set_settings(state_dir, {"mode": "off", "file": file})
            status = management.read_status()
            assert (status.mode, status.file, status.valid) == ("off", file, True)

    def test_a_recording_that_the_next_start_makes_is_valid(self, state_dir: Path):
        set_settings(state_dir, {"mode": "record", "file": "gone"})
        status = management.read_status()
        assert (status.mode, status.valid, status.file_exists) == ("record", True, False)

    @pytest.mark.parametrize(
        ("subtree", "mode", "file"),
        [
            ({"mode": "rePlay", "file": "x"}, "blocked", "x"),
            ({"mode": "replay", "file": 5}, "replay", ""),
            ("replay", "blocked", ""),
            ({"mode": "replay"}, "replay", ""),
            ({"mode": "replay", "file": "gone"}, "replay", "gone"),
            ({"mode": "record"}, "record", ""),
            ({"mode": "record", "file": "/tmp/x.jsonl"}, "record", "/tmp/x.jsonl"),
            ({"mode": "replay", "file": "CON"}, "replay", "CON"),
        ],
    )
    def test_settings_that_block_the_next_start_are_invalid_with_a_reason(
        self, state_dir: Path, subtree: object, mode: str, file: str
    ):
        set_settings(state_dir, subtree)
        status = management.read_status()
        assert (status.mode, status.file, status.valid) == (mode, file, False)
        assert status.file_exists is False
        assert status.reason is not None
        assert "recordings off" in status.reason
        assert status.reason.isprintable()

    def test_a_file_that_cannot_be_parsed_blocks_and_is_named(self, state_dir: Path):
        set_settings(state_dir, {}).write_text("{bad")
        status = management.read_status()
        assert (status.mode, status.valid) == ("blocked", False)
        assert "line 1, column 2" in str(status.reason)

    @pytest.mark.parametrize("kind", ["link", "fifo", "directory", "empty", "hard link", "loose"])
    def test_what_stat_shows_to_be_unusable_is_said(self, root: Path, tmp_path: Path, kind: str):
        path = root / "x.jsonl"
        victim = tmp_path / "victim.jsonl"
        victim.write_text("x")
        chosen = "x"
        if kind == "link":
            path.symlink_to(victim)
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "directory":
            path.mkdir()
        elif kind == "empty":
            path.touch()
        elif kind == "hard link":
            path.hardlink_to(victim)
        else:
            victim.chmod(0o644)
            chosen = str(victim)
        set_settings(root.parent, {"mode": "replay", "file": chosen})
        status = management.read_status()
        assert (status.valid, status.file_exists) == (False, True)

    def test_it_changes_nothing_on_disk(
        self, write_recording: WriteRecording, state_dir: Path, snapshot: Snapshot
    ):
        write_recording("x").chmod(0o644)
        set_settings(state_dir, {"mode": "replay", "file": "x"}).chmod(0o644)
        before = snapshot()
        management.read_status()
        assert snapshot() == before


class TestTurningOff:
    def test_only_the_mode_changes(self, write_recording: WriteRecording):
        write_recording("x")
        management.prepare_replay("x")
        management.turn_off()
        chosen = config.read_record_replay()
        assert (chosen.mode, chosen.file) == ("off", "x")

    def test_it_repairs_a_subtree_of_a_wrong_type(self, state_dir: Path):
        set_settings(state_dir, "replay")
        management.turn_off()
        assert management.read_status().valid
