"""Where the parts of a text begin and end."""

from __future__ import annotations

import pytest
from hypothesis import given

from openprogram.providers.recording.redaction.text_parts import OpenPart, iterate_parts
from redaction_texts import TEXTS


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in iterate_parts(text)]


def test_a_part_is_a_line_and_lines_without_candidates_are_none():
    assert parts("a\ntoken=b1\nc\npassword=d\n") == ["token=b1\n", "password=d\n"]
    assert parts("a\nb\n") == []
    assert parts("") == []


@pytest.mark.parametrize(
    "part",
    [
        "curl x \\\n  -u a:b\n",
        '"password":\n  "a"\n',
        '["X-Api-Key",\n"a"]\n',
        "password: |\n  a\n\n  b\n",
        "token: {\n  a: [\n1]\n}\n",
        '"value": "a",\n"name": "token"\n',
        "- name: API_KEY\n  value: a\n",
        "<key>token</key>\n<string>a</string>\n",
        'Content-Disposition: form-data; name="password"\r\n\r\na\r\n',
        "AKIAIOSFODNN7EXAMPLE,\nwJalrXUtnFEMI\n",
        "-----BEGIN PRIVATE KEY-----\na\nb\n-----END PRIVATE KEY-----\n",
        "password: |\n  -----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n",
    ],
)
def test_a_value_over_several_lines_is_one_part(part: str):
    assert parts(f"first\n{part}last\nmore\n")[0] in {part, f"{part}last\n"}


def test_a_private_key_without_an_end_goes_to_the_end_of_the_text():
    text = "-----BEGIN PRIVATE KEY-----\nMII\nand so on\n"
    assert parts(text) == [text]


@pytest.mark.parametrize(
    "line",
    [
        "max: {\n",
        "token: x\n",
        "a, b\n",
        "password: [secret removed] {\n",
        "the end: \n",
        '"a": [\n',
    ],
)
def test_other_lines_do_not_open_a_part(line: str):
    assert not OpenPart().goes_on_after(line)


@given(TEXTS)
def test_parts_rise_and_stand_at_the_borders_of_lines(text: str):
    done = 0
    for start, end in iterate_parts(text):
        assert done <= start < end <= len(text)
        assert start == 0 or text[start - 1] == "\n"
        assert end == len(text) or text[end - 1] == "\n"
        done = end
