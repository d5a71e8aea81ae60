"""Where state lives follows the environment of the moment; asking creates nothing."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from openprogram import paths
from openprogram.errors import ConfigError


def test_the_state_directory_is_exactly_the_one_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("OPENPROGRAM_STATE_DIR", "/somewhere/else")
    monkeypatch.setenv("OPENPROGRAM_PROFILE", "work")
    assert paths.state_dir() == Path("/somewhere/else")


@pytest.mark.parametrize("variable", ["OPENPROGRAM_STATE_DIR", "HOME"])
@pytest.mark.parametrize("place", ["a/../state", "./state", "~/state"])
def test_a_place_that_moves_with_the_working_directory_is_refused(
    monkeypatch: pytest.MonkeyPatch, variable: str, place: str
):
    monkeypatch.delenv("OPENPROGRAM_STATE_DIR")
    monkeypatch.setenv(variable, place)
    with pytest.raises(ConfigError, match=f"^{variable} '.*; set {variable} to an absolute path$"):
        paths.state_dir()


def test_an_absolute_state_directory_loses_its_dots(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENPROGRAM_STATE_DIR", "/a/../state/.")
    assert paths.state_dir() == Path("/state")


@pytest.mark.parametrize(
    ("profile", "name"), [(None, ".openprogram"), ("", ".openprogram"), ("w-1", ".openprogram-w-1")]
)
def test_without_it_the_state_is_in_the_home_directory_by_profile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, profile: str | None, name: str
):
    monkeypatch.setenv("OPENPROGRAM_STATE_DIR", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    if profile is not None:
        monkeypatch.setenv("OPENPROGRAM_PROFILE", profile)
    assert paths.state_dir() == tmp_path / name


@pytest.mark.parametrize("home", [None, ""])
def test_without_home_the_user_database_is_asked(monkeypatch: pytest.MonkeyPatch, home: str | None):
    monkeypatch.delenv("OPENPROGRAM_STATE_DIR")
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    assert paths.state_dir() == Path(pwd.getpwuid(os.getuid()).pw_dir) / ".openprogram"


def test_a_user_without_any_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch):
    def nobody(_uid: int) -> object:
        raise KeyError

    monkeypatch.delenv("OPENPROGRAM_STATE_DIR")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    with pytest.raises(ConfigError, match="OPENPROGRAM_STATE_DIR"):
        paths.state_dir()


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", "a b", "x\n", "a" * 33, "\x1b[2J"])
def test_a_profile_that_could_leave_its_place_is_refused(name: str):
    with pytest.raises(ConfigError) as caught:
        paths.validate_profile(name)
    assert str(caught.value).isprintable()


def test_every_place_lies_in_the_state_directory_and_none_is_made(state_dir: Path):
    places = [
        paths.recordings_dir(),
        paths.config_path(),
        paths.mismatches_dir(),
        paths.credentials_path(),
    ]
    assert {place.parent for place in places} == {state_dir}
    assert len(set(places)) == len(places)
    assert not state_dir.exists()


def test_a_path_is_never_older_than_the_environment(monkeypatch: pytest.MonkeyPatch):
    before = paths.config_path()
    monkeypatch.setenv("OPENPROGRAM_STATE_DIR", "/moved")
    assert paths.config_path() != before
