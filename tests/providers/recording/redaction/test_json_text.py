"""JSON is read as far as it is JSON, and what is found are places of the text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers.recording.redaction import remove_secret_values
from openprogram.providers.recording.redaction.json_text import (
    JsonScanner,
    is_json_string,
    may_be_json,
)
from openprogram.providers.recording.redaction.text_values import PLACEHOLDER, Replacement
from openprogram.providers.recording.redaction.texts import apply_replacements, find_replacements


def no_secrets(_text: str) -> list[Replacement]:
    return []


def scanned(text: str) -> JsonScanner:
    scanner = JsonScanner(text, no_secrets)
    scanner.scan()
    return scanner


def redacted(text: str) -> str:
    return apply_replacements(text, scanned(text).found)


@pytest.mark.parametrize("text", ['{"a"', " [ {", '[["', '["a"', '{\n"a": 1}'])
def test_objects_and_arrays_of_texts_may_be_json(text: str):
    assert may_be_json(text)
    assert may_be_json("x" + text, 1)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "{a: 1}", '"a"', "data", "[secret removed]"])
def test_other_texts_may_not(text: str):
    assert not may_be_json(text)


def test_a_lone_string_is_json_when_it_is_the_whole_text():
    assert is_json_string(' "a\\"b" \n')
    assert not is_json_string('"a" b')
    assert not is_json_string('"a\nb"')
    assert not is_json_string("a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"token": "a\\"b"}', f'{{"token": "{PLACEHOLDER}"}}'),
        ('{"token": 12, "n": 12}', f'{{"token": "{PLACEHOLDER}", "n": 12}}'),
        ('{"token": null, "secret": true, "key": "a"}', None),
        ('{"token": ["a", {"b": "]"}], "c": 1}', f'{{"token": "{PLACEHOLDER}", "c": 1}}'),
        ('{"t\\u006fken": "a"}', f'{{"t\\u006fken": "{PLACEHOLDER}"}}'),
        ('{"name": "Cookie", "value": "a"}', f'{{"name": "Cookie", "value": "{PLACEHOLDER}"}}'),
        ('{"value": {"a": 1}, "key": "token"}', f'{{"value": "{PLACEHOLDER}", "key": "token"}}'),
        ('{"name": "color", "value": "a"}', None),
        ('[["token", "a"], ["b", "c"]]', f'[["token", "{PLACEHOLDER}"], ["b", "c"]]'),
        ('["Authorization", "a b"]', f'["Authorization", "{PLACEHOLDER}"]'),
        ('["password", "token"]', None),
        ('{"headers": ["token", "a"]}', f'{{"headers": ["token", "{PLACEHOLDER}"]}}'),
        ('{"rawHeaders": ["A", "b", "Cookie", "c", "token", ["d"]]}',
         f'{{"rawHeaders": ["A", "b", "Cookie", "{PLACEHOLDER}", "token", "{PLACEHOLDER}"]}}'),
        ('["curl", "-u", "a:b"]', f'["curl", "-u", "a:{PLACEHOLDER}"]'),
        ('["x", "--token", "a"]', f'["x", "--token", "{PLACEHOLDER}"]'),
        ('{"auth": "dXNlcjpodW50ZXIyMg=="}', f'{{"auth": "{PLACEHOLDER}"}}'),
        ('{"auth": "none"}', None),
        ('{"token": {"type": "string", "default": "a"}}',
         f'{{"token": {{"type": "string", "default": "{PLACEHOLDER}"}}}}'),
        ('{"properties": {"token": {"description": "a"}}}', None),
        (f'{{"token": "{PLACEHOLDER}"}}', None),
        (f'{{"token": {PLACEHOLDER}}}', None),
    ],
)  # fmt: skip
def test_values_of_secret_names_go(text: str, expected: str | None):
    assert redacted(text) == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "end", "is_complete"),
    [
        ('{"a": 1} x', 8, True),
        ('{"a": 1', 7, False),
        ('{"a": "b', 5, False),
        ('{"a": [1, 2}', 11, False),
        ('[["a", {"b": c', 12, False),
        ('{"a" "b"}', 4, False),
        ("[,", 2, False),
        ("x", 0, True),
    ],
)
def test_it_says_how_far_a_text_is_json(text: str, end: int, is_complete: bool):
    scanner = scanned(text)
    assert (scanner.end, scanner.is_complete) == (end, is_complete)


def test_what_is_found_in_strings_is_mapped_over_escapes():
    def find_x(text: str) -> list[Replacement]:
        return [Replacement(at, at + 1) for at, one in enumerate(text) if one == "x"]

    text = '{"\\u00e9x": ["\\ud83d\\ude00x\\n", "\\\\x", "x"]}'
    scanner = JsonScanner(text, find_x)
    scanner.scan()
    assert apply_replacements(text, scanner.found) == text.replace("x", PLACEHOLDER)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab\"\\é\n\u2028", max_size=4)
    | st.sampled_from(["Authorization", "token", "name", "--token", "curl", "x:y", "hunter2222"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["a", "token", "apiKey", "name", "value", "key", "headers", "properties",
                         "type", "default", "max_tokens", "é\"", "auth"]),
        inner,
        max_size=3,
    ),
    max_leaves=8,
)  # fmt: skip


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_a_text_of_json_is_redacted_as_its_value_is(value: Any, indent: int | None, ascii_: bool):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
    if not may_be_json(text):
        return
    replaced = apply_replacements(text, find_replacements(text))
    assert json.loads(replaced) == remove_secret_values(value)


@given(VALUES, st.data())
def test_cut_json_shows_no_secret_that_whole_json_hides(value: Any, data: st.DataObject):
    text = json.dumps({"token": "s3cr3t99", "rest": value, "password": ["s3cr3t99"]})
    cut = text[: data.draw(st.integers(0, len(text)))]
    assert "s3cr3t" not in apply_replacements(cut, find_replacements(cut))


@given(st.text(st.sampled_from('{}[]:,"\\ab1 \n'), max_size=30))
def test_reading_is_total_and_finds_places_of_the_text(text: str):
    scanner = scanned(text)
    assert 0 <= scanner.end <= len(text)
    assert all(0 <= start <= end <= len(text) for start, end, _ in scanner.found)
