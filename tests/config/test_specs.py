"""Each setting says what it may be, and a word from a command line becomes a value of its type."""

from __future__ import annotations

import pytest

from openprogram.config import SETTINGS, SettingSpec, find_setting
from openprogram.errors import ConfigError


def test_keys_are_unique_and_described():
    assert len({spec.key for spec in SETTINGS}) == len(SETTINGS)
    assert all(spec.description.endswith(".") for spec in SETTINGS)


@pytest.mark.parametrize("spec", SETTINGS, ids=lambda spec: spec.key)
def test_every_default_is_allowed_and_what_has_to_be_json_has_an_example(spec: SettingSpec):
    assert spec.problem_of(spec.default) is None
    assert (spec.example is None) == (spec.type == "string")
    assert spec.example is None or spec.problem_of(spec.example) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("record_replay.mode", "on"),
        ("record_replay.mode", None),
        ("record_replay.mode", ["off"]),
        ("record_replay.file", 5),
        ("record_replay.snapshots", "Derived"),
        ("record_replay.ignore", "model.cost"),
        ("record_replay.ignore", ["model.cost", 1]),
        ("record_replay.ignore", {}),
        ("ui.keymap", []),
        ("ui.keymap", {"quit": 1}),
        ("default_model", True),
    ],
)
def test_a_value_of_a_wrong_type_or_choice_is_a_problem(key: str, value: object):
    problem = find_setting(key).problem_of(value)
    assert problem is not None
    assert problem.startswith("must be ")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("record_replay.mode", "replay", "replay"),
        ("default_model", '["not json here"]', '["not json here"]'),
        ("record_replay.ignore", '["model.cost"]', ["model.cost"]),
        ("ui.keymap", '{"quit": "q,ctrl+q"}', {"quit": "q,ctrl+q"}),
    ],
)
def test_a_word_is_read_as_the_setting_wants_it(key: str, text: str, value: object):
    assert find_setting(key).parse(text) == value


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("record_replay.mode", "on"),
        ("record_replay.ignore", "model.cost"),
        ("record_replay.ignore", "[" * 100_000),
        ("record_replay.ignore", "9" * 5_000),
        ("ui.keymap", "\x1b[2J"),
    ],
)
def test_a_word_that_cannot_be_one_is_refused_by_key_and_rule(key: str, text: str):
    with pytest.raises(ConfigError, match="must be") as caught:
        find_setting(key).parse(text)
    assert caught.value.key == key
    assert str(caught.value).isprintable()


def test_an_unknown_key_is_refused_and_the_known_ones_named():
    with pytest.raises(ConfigError, match=r"record_replay\.mode"):
        find_setting("record_replay")
