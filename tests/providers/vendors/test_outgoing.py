"""A payload is mended only where JSON over UTF-8 cannot say it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.errors import ModelRequestError
from openprogram.providers.vendors._outgoing import sendable, well_formed

JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@settings(max_examples=40)
@given(value=JSON_VALUES)
def test_what_json_can_say_stays_equal(value: Any):
    assert sendable(value) == value


@given(text=st.text(st.characters(categories=["Cs", "Ll", "So"])))
def test_any_text_becomes_utf8_and_keeps_its_sound_characters(text: str):
    mended = well_formed(text)
    mended.encode()
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert mended == joined


def test_the_two_things_json_cannot_say_are_mended_also_in_keys():
    value = {"a\udcb2": (float("inf"), float("nan"), "\ud83d\ude00", "\ud83d")}
    assert sendable(value) == {"a�": [None, None, "😀", "�"]}
    json.dumps(sendable(value), allow_nan=False).encode()


def test_the_original_is_left_alone():
    value = {"a": [float("nan")]}
    sendable(value)
    assert value["a"][0] != value["a"][0]


def test_other_values_are_a_bad_request_that_names_the_kind():
    with pytest.raises(ModelRequestError, match="holds a bytes") as caught:
        sendable({"a": [b"secret"]})
    assert caught.value.reason == "bad_request"
    assert "secret" not in str(caught.value)


def test_a_cycle_is_a_bad_request():
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ModelRequestError, match="too deeply"):
        sendable(value)
