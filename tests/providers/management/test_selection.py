"""A selector is an ID or a path, and the active file is the same however it is spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from openprogram import config
from openprogram.config import RecordReplaySettings
from openprogram.errors import ConfigError, InvalidSelectorError
from openprogram.providers import management
from openprogram.providers.management.selection import read_active_identity

if TYPE_CHECKING:
    from pathlib import Path


def settings_of(mode: config.Mode, file: str) -> RecordReplaySettings:
    return RecordReplaySettings(mode=mode, file=file, snapshots="derived", ignore=())


@pytest.mark.parametrize("selector", ["x", "x.jsonl"])
def test_a_word_without_separator_is_an_id(state_dir: Path, selector: str):
    selection = management.resolve_selector(selector)
    assert selection.path == state_dir / "recordings" / "x.jsonl"
    assert (selection.recording_id, selection.managed, selection.setting) == ("x", True, "x")
    assert not state_dir.exists()


def test_a_path_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    selection = management.resolve_selector("./a/../x.jsonl")
    assert selection.path == tmp_path / "x.jsonl"
    assert (selection.recording_id, selection.managed) == (None, False)
    assert selection.setting == str(tmp_path / "x.jsonl")


def test_a_path_to_a_managed_file_is_that_recording_through_any_alias(root: Path, tmp_path: Path):
    (tmp_path / "alias").symlink_to(root)
    for spelled in (root / "x.jsonl", tmp_path / "alias" / "x.jsonl"):
        selection = management.resolve_selector(str(spelled))
        assert selection.path == root / "x.jsonl"
        assert (selection.recording_id, selection.managed) == ("x", True)
        assert selection.setting == str(spelled)


@pytest.mark.parametrize("name", ["x.txt", "CON.jsonl", "deeper/x.jsonl", ".jsonl"])
def test_a_path_in_the_root_that_could_not_be_an_id_is_just_a_path(root: Path, name: str):
    assert not management.resolve_selector(str(root / name)).managed


@pytest.mark.parametrize("selector", ["", ".", "..", "CON", "a\0b", "/a\0b", "/\ud800", "\n"])
def test_what_can_be_neither_is_refused_printably(selector: str):
    with pytest.raises(InvalidSelectorError) as caught:
        management.resolve_selector(selector)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("mode", "file"),
    [
        ("record", ""),
        ("replay", ""),
        ("record", "/tmp/x.jsonl"),
        ("replay", "relative/x.jsonl"),
        ("replay", "NUL"),
        ("replay", "/a\0b"),
    ],
)
def test_settings_that_name_no_usable_recording_say_which_key_and_what_to_do(
    mode: config.Mode, file: str
):
    with pytest.raises(ConfigError, match="recordings off") as caught:
        management.selection_of(settings_of(mode, file))
    assert caught.value.key == "record_replay.file"
    assert str(caught.value).isprintable()


def test_settings_name_a_recording_by_id_or_absolute_path():
    assert management.selection_of(settings_of("record", "x")).recording_id == "x"
    path = management.selection_of(settings_of("replay", "/tmp/x.jsonl")).path
    assert str(path) == "/tmp/x.jsonl"


@pytest.mark.parametrize("spelling", ["id", "path", "alias", "link", "hard link"])
def test_the_active_file_is_known_however_the_settings_spell_it(
    root: Path, tmp_path: Path, spelling: str
):
    target = root / "x.jsonl"
    target.touch()
    (tmp_path / "alias").symlink_to(root)
    (tmp_path / "link.jsonl").symlink_to(target)
    (tmp_path / "hard.jsonl").hardlink_to(target)
    spelled = {
        "id": "x",
        "path": str(target),
        "alias": str(tmp_path / "alias" / "x.jsonl"),
        "link": str(tmp_path / "link.jsonl"),
        "hard link": str(tmp_path / "hard.jsonl"),
    }[spelling]
    config.update_settings({"record_replay.mode": "replay", "record_replay.file": spelled})
    assert read_active_identity() == (target.stat().st_dev, target.stat().st_ino)


def test_nothing_is_active_when_off_missing_or_nonsense(root: Path):
    (root / "x.jsonl").touch()
    for mode, file in [("off", "x"), ("replay", "missing"), ("replay", ""), ("replay", "CON")]:
        config.update_settings({"record_replay.mode": mode, "record_replay.file": file})
        assert read_active_identity() is None
