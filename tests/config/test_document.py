"""What cannot be written back unharmed is refused, with line and column."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.config.document import dump_document, parse_document
from openprogram.errors import ConfigError

_PATH = Path("/state/config.json")
_VALUES: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b"{bad", 1, 2),
        (b'{"a": 1,}', 1, 9),
        (b'{\n  "a": 1\n  "b": 2\n}', 3, 3),
        (b"", 1, 1),
        (b" \n  ", 2, 3),
        (b"[]", 1, 1),
        (b"\n  null", 2, 3),
        (b'{"a": 1} {}', 1, 10),
        (b'{"a":\n NaN}', 2, 2),
        (b'{"NaN": "Infinity", "b": -Infinity}', 1, 26),
        (b'{"a": 1e999}', 1, 7),
        (b'{"a": 1,\n "\\u0061": 2}', 2, 2),
        (b'{"a": {"b": 1, "b": 1}}', 1, 16),
        (b'{"a": ' + b"9" * 5000 + b"}", 1, 7),
        (b'{"a": ' + b"[" * 100_000, 1, 70),
        (b'{"a":\n "caf\xe9"}', 2, 6),
        (b'\xef\xbb\xbf{"a": 1}', 1, 1),
        (b'{"a": "b\x01"}', 1, 9),
        (b'{"a": "b', 1, 7),
    ],
)
def test_a_document_that_cannot_be_kept_is_refused_with_its_place(
    data: bytes, line: int, column: int
):
    with pytest.raises(ConfigError) as caught:
        parse_document(_PATH, data)
    place = re.search(r"line (\d+), column (\d+)", str(caught.value))
    assert place is not None
    assert (int(place[1]), int(place[2])) == (line, column)
    assert caught.value.path == _PATH
    assert str(caught.value).isprintable()


def test_the_same_key_in_different_objects_is_fine():
    document = {"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}], "c": "a"}
    assert parse_document(_PATH, json.dumps(document).encode()) == document


def test_a_lone_surrogate_survives():
    data = b'{"a": "\\ud800"}'
    values = parse_document(_PATH, data)
    assert parse_document(_PATH, dump_document(values)) == values == {"a": "\ud800"}


def test_other_text_is_written_for_people():
    assert "Köln".encode() in dump_document({"city": "Köln"})


@settings(max_examples=60)
@given(st.dictionaries(st.text(st.characters()), _VALUES))
def test_every_document_comes_back_as_it_was(document: dict[str, Any]):
    again = parse_document(_PATH, dump_document(document))
    assert json.dumps(again) == json.dumps(document)


@given(st.binary())
def test_any_bytes_are_a_document_or_refused(data: bytes):
    with contextlib.suppress(ConfigError):
        assert isinstance(parse_document(_PATH, data), dict)
