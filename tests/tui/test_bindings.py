"""One table of keys: every key has an ID and a word for it, and one meaning on a screen."""

from __future__ import annotations

from collections import Counter

import pytest

from openprogram_recordings_tui.bindings import (
    APP_KEYS,
    DIALOG_KEYS,
    HELP_KEYS,
    HOME_KEYS,
    KEY_GROUPS,
    LIST_KEYS,
    MISMATCH_KEYS,
    RECORDING_KEYS,
    bindings_of,
)

ALL_KEYS = (
    *APP_KEYS,
    *LIST_KEYS,
    *HOME_KEYS,
    *RECORDING_KEYS,
    *MISMATCH_KEYS,
    *DIALOG_KEYS,
    *HELP_KEYS,
)


def test_every_action_has_an_id_of_its_own_and_a_tooltip():
    assert len({key.id for key in ALL_KEYS}) == len(ALL_KEYS)
    for binding in bindings_of(ALL_KEYS):
        assert binding.id
        assert binding.tooltip


@pytest.mark.parametrize("name", KEY_GROUPS)
def test_no_key_means_two_things_on_one_screen(name: str):
    keys = [key for group in KEY_GROUPS[name] for key in group.keys]
    names = Counter(word for key in (*keys, *APP_KEYS) for word in key.keys.split(","))

    assert [word for word, count in names.items() if count > 1] == []


def test_everything_that_changes_something_on_disk_is_marked():
    assert {key.id for key in ALL_KEYS if key.writes} == {
        "home.replay",
        "home.record",
        "home.off",
        "home.delete",
    }


def test_hints_are_short():
    assert all(len(key.hint) <= 14 for key in ALL_KEYS)
