"""Settings: broken ones are never taken for off, and a change loses nothing of anybody's."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from openprogram import _private_files, config
from openprogram.config import RecordReplaySettings
from openprogram.errors import ConfigError, FileLockedError, UnsafeFileError

if TYPE_CHECKING:
    from pathlib import Path

OFF = RecordReplaySettings(mode="off", file="", snapshots="derived", ignore=())


@pytest.fixture
def file(state_dir: Path) -> Path:
    state_dir.mkdir(mode=0o700)
    return state_dir / "config.json"


def test_no_file_means_off_and_none_is_made(state_dir: Path):
    assert config.read_record_replay() == OFF
    assert config.read_settings().get("ui.theme") == "auto"
    assert not state_dir.exists()


@pytest.mark.parametrize("text", ["{}", '{"record_replay": {}}', '{"other": [1]}'])
def test_a_missing_subtree_or_key_means_its_default(file: Path, text: str):
    file.write_text(text)
    assert config.read_record_replay() == OFF


def test_what_the_file_says_holds(file: Path):
    subtree = {"mode": "replay", "file": "x", "snapshots": "full", "ignore": ["model.cost"]}
    file.write_text(json.dumps({"record_replay": subtree}))
    assert config.read_record_replay() == RecordReplaySettings(
        mode="replay", file="x", snapshots="full", ignore=("model.cost",)
    )
    assert config.read_settings().is_set("record_replay.mode")
    assert not config.read_settings().is_set("ui.theme")


def test_no_environment_variable_turns_recording_on(monkeypatch: pytest.MonkeyPatch):
    for spec in config.SETTINGS:
        name = spec.key.replace(".", "_").upper()
        for prefix in ("", "OPENPROGRAM_", "AGENTIC_"):
            monkeypatch.setenv(prefix + name, "record")
    assert config.read_record_replay() == OFF


@pytest.mark.parametrize(
    ("subtree", "key"),
    [
        ("off", "record_replay"),
        (None, "record_replay"),
        ([], "record_replay"),
        ({"mode": "Replay"}, "record_replay.mode"),
        ({"mode": None}, "record_replay.mode"),
        ({"file": 3}, "record_replay.file"),
        ({"ignore": "x"}, "record_replay.ignore"),
        ({"snapshots": []}, "record_replay.snapshots"),
    ],
)
def test_a_wrong_subtree_is_an_error_and_off_repairs_it(file: Path, subtree: object, key: str):
    file.write_text(json.dumps({"kept": 1, "record_replay": subtree}))
    with pytest.raises(ConfigError, match="openprogram recordings off") as caught:
        config.read_record_replay()
    assert (caught.value.key, caught.value.path) == (key, file)
    config.turn_off_record_replay()
    assert config.read_record_replay() == OFF
    assert json.loads(file.read_text())["kept"] == 1


def test_off_keeps_the_chosen_file_and_keys_that_nobody_knows(file: Path):
    subtree = {"file": "x", "mode": "record", "later": {"deep": [1.5]}}
    file.write_text(json.dumps({"before": True, "record_replay": subtree, "after": None}))
    config.turn_off_record_replay()
    assert json.loads(file.read_text()) == {
        "before": True,
        "record_replay": subtree | {"mode": "off"},
        "after": None,
    }


@pytest.mark.parametrize("text", ["{bad", '{"record_replay": {"mode": "record"},}', "", "[]"])
def test_a_file_that_cannot_be_parsed_is_never_off_and_never_written(file: Path, text: str):
    file.write_text(text)
    file.chmod(0o640)
    before = file.stat()
    actions: list[Any] = [
        config.read_record_replay,
        config.turn_off_record_replay,
        lambda: config.update_settings({"ui.theme": "dark"}),
    ]
    for action in actions:
        with pytest.raises(ConfigError, match=r"line 1, column \d+"):
            action()
    assert file.read_text() == text
    assert (file.stat().st_mtime_ns, file.stat().st_mode) == (before.st_mtime_ns, before.st_mode)


def test_a_change_makes_what_is_missing_and_keeps_the_rest(state_dir: Path):
    config.update_settings({"ui.theme": "dark"})
    config.update_settings({"record_replay.mode": "replay", "record_replay.file": "x"})
    file = state_dir / "config.json"
    assert json.loads(file.read_text()) == {
        "ui": {"theme": "dark"},
        "record_replay": {"mode": "replay", "file": "x"},
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(state_dir.stat().st_mode) == 0o700


def test_a_transaction_with_one_bad_change_changes_nothing(file: Path):
    bad_changes: list[config.SettingsDocument] = [
        {"record_replay.mode": "on"},
        {"no.such": "x"},
        {"record_replay.ignore": [1]},
    ]
    for bad in bad_changes:
        with pytest.raises(ConfigError):
            config.update_settings({"ui.theme": "dark"} | bad)
    assert not file.exists()


def test_a_change_below_something_that_is_no_object_is_refused(file: Path):
    file.write_text('{"ui": 5, "record_replay": "x"}')
    with pytest.raises(ConfigError, match="ui must be an object"):
        config.update_settings({"ui.theme": "dark"})
    with pytest.raises(ConfigError, match="recordings off"):
        config.update_settings({"record_replay.mode": "record"})
    assert file.read_text() == '{"ui": 5, "record_replay": "x"}'


def test_a_default_cannot_be_changed_through_what_was_read():
    ignored = config.read_settings().get("record_replay.ignore")
    assert isinstance(ignored, list)
    ignored.append("model")
    assert config.read_settings().get("record_replay.ignore") == []


@pytest.mark.parametrize("kind", ["link", "fifo", "directory"])
def test_settings_that_are_no_regular_file_are_refused_unread(
    file: Path, tmp_path: Path, kind: str
):
    target = tmp_path / "target"
    target.write_text("{}")
    if kind == "link":
        file.symlink_to(target)
    elif kind == "fifo":
        os.mkfifo(file)
    else:
        file.mkdir()
    with pytest.raises(ConfigError):
        config.read_record_replay()
    with pytest.raises(ConfigError):
        config.turn_off_record_replay()
    assert target.read_text() == "{}"


def test_a_file_in_the_place_of_the_state_directory_is_an_error(state_dir: Path):
    state_dir.write_text("a file in its place")
    with pytest.raises(UnsafeFileError):
        config.update_settings({"ui.theme": "dark"})
    with pytest.raises(ConfigError):
        config.read_settings()


def test_reading_changes_no_mode(file: Path):
    file.write_text("{}")
    file.chmod(0o644)
    config.read_settings()
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    config.update_settings({})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_lock_held_elsewhere_too_long_is_an_error_that_names_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        _private_files.ExclusiveLock.__init__, "__kwdefaults__", {"timeout_seconds": 0.01}
    )
    with _private_files.ExclusiveLock(file), pytest.raises(FileLockedError, match="config"):
        config.update_settings({"ui.theme": "dark"})
    assert not file.exists()


def test_a_full_disk_changes_nothing_and_is_said(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text("{}")

    def fail(_fd: int, _data: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(ConfigError, match="No space left"):
        config.update_settings({"ui.theme": "dark"})
    assert file.read_text() == "{}"


def test_processes_that_change_settings_at_once_lose_nothing(file: Path):
    code = (
        "import sys; from openprogram import config\n"
        "for n in range(25): config.update_settings({sys.argv[1]: f'{n}'})"
    )
    file.write_text('{"kept": {"deep": [1, 2.5]}}')
    keys = ["default_provider", "default_model", "record_replay.file"]
    children = [subprocess.Popen([sys.executable, "-c", code, key]) for key in keys]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert json.loads(file.read_text()) == {
        "kept": {"deep": [1, 2.5]},
        "default_provider": "24",
        "default_model": "24",
        "record_replay": {"file": "24"},
    }
    assert sorted(path.name for path in file.parent.iterdir()) == [
        "config.json",
        "config.json.lock",
    ]
