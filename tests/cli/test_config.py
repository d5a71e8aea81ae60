from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from openprogram.config import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import RunCli


def test_set_then_get(run_cli: RunCli) -> None:
    assert "next start" in run_cli("config", "set", "default_model", "m-1").out
    assert run_cli("config", "get", "default_model").out == "m-1\n"


def test_lists_are_json(run_cli: RunCli) -> None:
    run_cli("config", "set", "record_replay.ignore", '["model.cost"]')
    document = json.loads(run_cli("config", "get", "record_replay.ignore", "--json").out)
    assert document == {"settings": {"record_replay.ignore": ["model.cost"]}}


def test_without_a_key_every_setting_is_explained(run_cli: RunCli) -> None:
    shown = run_cli("config", "get").out
    for spec in SETTINGS:
        assert spec.key in shown
        assert spec.description in shown


@pytest.mark.parametrize(
    "words",
    [
        ["get", "nope"],
        ["set", "nope", "1"],
        ["set", "ui.theme", "pink"],
        ["set", "ui.keymap", "["],
        ["set", "record_replay.ignore", '["context"]'],
        ["set", "record_replay.ignore", '["options.sesion_id"]'],
    ],
)
def test_what_is_no_setting_or_no_value_is_wrong_usage(
    run_cli: RunCli, words: list[str], state_dir: Path
) -> None:
    ended = run_cli("config", *words)
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert not state_dir.exists()


def test_a_file_that_cannot_be_parsed_is_left_alone(run_cli: RunCli, state_dir: Path) -> None:
    state_dir.mkdir(mode=0o700)
    path = state_dir / "config.json"
    path.write_text('{"a": 1,}')
    path.chmod(0o600)
    ended = run_cli("config", "set", "ui.theme", "light")
    assert ended.exit_code == 1
    assert "line 1, column" in ended.err
    assert path.read_text() == '{"a": 1,}'


@pytest.mark.parametrize("value", ["model.base_url", '"model.base_url"', "[1]", "null"])
def test_a_list_or_a_map_that_is_none_is_answered_by_a_ready_example(
    run_cli: RunCli, value: str
) -> None:
    for key in ("record_replay.ignore", "ui.keymap"):
        ended = run_cli("config", "set", key, value)
        assert (ended.exit_code, ended.out) == (2, "")
        program, *words = shlex.split(ended.err.partition("written as JSON: ")[2])
        assert (program, words[2]) == ("openprogram", key)
        assert run_cli(*words).exit_code == 0
