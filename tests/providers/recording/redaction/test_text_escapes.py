"""Layers of escapes, undone exactly for rules and roughly for gates."""

from __future__ import annotations

import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers.recording.redaction.text_escapes import (
    decode,
    find_escaped_lines,
    find_lines_of_json,
    unescape_json_roughly,
    unescape_roughly,
)

PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
RAW = st.lists(
    st.sampled_from(
        [
            "%41",
            "%3d",
            "%",
            "%%",
            "%zz",
            "&amp;",
            "&",
            "&quot;",
            "&#65;",
            "&#x3D;",
            "&#9;",
            "\\u0041",
            "\\u00e9",
            "\\/",
            "\\",
            "a",
            "%0A",
            "%09",
            "é",
            "\ud83d",
            ";",
        ]
    )
).map("".join)


@pytest.mark.parametrize(
    ("raw", "decoded"),
    [
        ("a%3Db%26", "a=b&"),
        ("&quot;a&#39;&#x3d;&lt;&gt;&amp;&apos;", "\"a'=<>&'"),
        ("\\u0026a\\/b", "&a/b"),
        ("%25%33%44", "%3D"),
        ("%09", "\t"),
    ],
)
def test_escapes_of_printable_characters_are_undone_once(raw: str, decoded: str):
    found = decode(raw)
    assert found is not None
    assert found.text == decoded
    assert unescape_roughly(raw.encode()).decode() == decoded


@pytest.mark.parametrize("text", ["", "100%", "%zz", "&nbsp;", "&#9;", "\\u00e9", "%0A", "a & b;"])
def test_a_text_without_escapes_has_no_layer(text: str):
    assert decode(text) is None


@given(RAW)
def test_offsets_map_back_to_where_the_character_was_written(raw: str):
    found = decode(raw)
    if found is None:
        return
    offsets = [found.raw_offset(at) for at in range(len(found.text) + 1)]
    assert offsets == sorted(set(offsets))
    assert offsets[0] == 0
    assert offsets[-1] == len(raw)
    for at, character in enumerate(found.text):
        written = raw[offsets[at] : offsets[at + 1]]
        assert written == character or decode(written) is not None


@given(PRINTABLE)
def test_whole_layers_are_undone(text: str):
    text = text.replace("%", "").replace("\\", "")  # of one kind each
    for raw in (quote(text, safe=""), html.escape(text)):
        found = decode(raw)
        assert (raw if found is None else found.text) == text
        assert unescape_roughly(raw.encode()).decode() == text


@given(RAW)
def test_undoing_roughly_keeps_lines_and_finds_what_undoing_exactly_does(raw: str):
    encoded = f"plain\n{raw}\nlast %20".encode("latin-1", "replace")
    assert unescape_roughly(encoded).count(b"\n") == encoded.count(b"\n")
    if decode(raw) is not None:
        assert find_escaped_lines(encoded)[0] == 6


@given(st.recursive(PRINTABLE, lambda inner: st.lists(inner, max_size=2), max_leaves=4))
def test_a_layer_of_json_strings_is_undone(value: object):
    inner = json.dumps(value, ensure_ascii=False)
    outer = json.dumps(inner)
    assert unescape_json_roughly(outer)[1:-1] == inner


def test_lines_of_json_with_escapes_are_found():
    raw = b'plain\n{"a": "b"}\nx {"a": "b\\nc"}\n"a\\nb"\n{\\"a\\": 1}\n'
    assert find_lines_of_json(raw) == [raw.index(b"x {"), raw.index(b'{\\"a')]
