"""Values of a row: whatever stands there, the question has an answer."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from openprogram_recordings_tui.presentation.values import (
    Json,
    array_of,
    is_array,
    is_branch,
    is_object,
    object_of,
    text_of,
    whole_of,
)

any_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(any_json)
def test_every_value_can_be_asked_for_every_type(value: Json):
    assert (object_of(value) == value) is (is_object(value))
    assert (array_of(value) == value) is (is_array(value))
    assert isinstance(text_of(value), str)
    assert is_branch(value) is bool(object_of(value) or array_of(value))


def test_true_is_no_number():
    assert whole_of(True) is None
    assert whole_of(1.0) is None
    assert whole_of(7) == 7
