"""Where values end, and which look like credentials."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers.recording.redaction.text_values import (
    PLACEHOLDER,
    QUOTE,
    bare_value_end,
    closing_bracket,
    closing_quote,
    is_basic_credential,
    is_credential_like,
    is_made_up,
    is_prose,
    is_reference,
    trailing_length,
)


@pytest.mark.parametrize(
    ("text", "quote", "escape_count", "value"),
    [
        ('abc" x', '"', 0, "abc"),
        ('a\\"b" x', '"', 0, 'a\\"b'),
        ("it's", "'", 0, "it"),
        ('abc\\" x', '"', 1, "abc"),
        ('a\\\\\\"b\\" x', '"', 1, 'a\\\\\\"b'),
        ('abc\\\\\\" x', '"', 3, "abc"),
        ('abc" x', '"', 1, "abc"),
        ("a'b'''", "'''", 0, "a'b"),
    ],
)
def test_a_quoted_text_ends_at_a_quote_of_its_level_or_outside(
    text: str, quote: str, escape_count: int, value: str
):
    end = closing_quote(text, 0, quote, escape_count)
    assert text[:end] == value


@pytest.mark.parametrize("text", ["abc", "", 'ab\nc"', 'a\\"'])
def test_a_quoted_text_without_an_end_on_its_line_has_none(text: str):
    assert closing_quote(text, 0, '"', 0) == -1


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ('"', '"'),
        ('f"', '"'),
        ("b'", "'"),
        ("$'", "'"),
        ('\\\\\\"', '"'),
        ("'''", "'''"),
        ("`", "`"),
    ],
)
def test_quotes_open_in_the_ways_of_programs_shells_and_json(text: str, quote: str):
    match = QUOTE.match(text)
    assert match is not None
    assert match["quote"] == quote


def test_brackets_close_over_strings_and_nesting():
    assert closing_bracket('{"a": ["}"], "b": {}} x', 0) == 21
    assert closing_bracket("[1, [2]", 0) == -1
    assert closing_bracket('["a]', 0) == -1


@pytest.mark.parametrize(
    ("text", "stop", "value"),
    [
        ("abc def", r"\s", "abc"),
        ("a\\ b c", r"\s", "a\\ b"),
        ("abc, def", r"\s", "abc"),
        ("abc).", r"\s", "abc"),
        ("a&b", r"&", "a"),
        ("", r"\s", ""),
        (" x", r"\s", ""),
    ],
)
def test_bare_values_end_at_a_stop_without_closing_punctuation(text: str, stop: str, value: str):
    assert text[: bare_value_end(text, 0, stop)] == value


def test_closing_punctuation_is_counted():
    assert trailing_length("abc") == 0
    assert trailing_length("abc'),") == 3


REFERENCES = (
    *("$TOKEN", "${TOKEN}", "${TOKEN:-x}", "$(get token)", "${{ secrets.X }}", "{{ token }}", "$1"),
    *("{token}", "{self.token}", "{}", "%s", "%(token)s", "<your token>", "os.environ['X']"),
    *("os.getenv('X')", "process.env.X", "settings.KEY", "self.token(", "your-api-key-here"),
    *("********", "xxxxxxxx", "...", "[REDACTED]", "<hidden>", "[UNK]", "#c0ffee"),
    *("Bearer ", "Bearer $TOKEN", "Basic {}", "Bearer <token>"),
)
CREDENTIALS = ("hunter2", "$ecret!pw", "a1b2", "pw-8888", "123456", "Tr0ub4dor&3", "${", "$a$b")


@pytest.mark.parametrize("value", REFERENCES)
def test_references_and_stand_ins_are_no_credentials(value: str):
    assert is_reference(value)


@pytest.mark.parametrize(
    "value", ["hunter2", "$a$b", "$ecret!pw", "yourdog1", "xxx1", "Bearer abc1"]
)
def test_values_are_no_references(value: str):
    assert not is_reference(value)


@pytest.mark.parametrize("value", ["required for all calls", "see RFC 7235", "one of 2, or 3rd."])
def test_plain_words_are_prose(value: str):
    assert is_prose(value)


@pytest.mark.parametrize("value", ["required", "Digest q1w2e3r4t5", "Custom abc=="])
def test_one_word_and_odd_words_are_no_prose(value: str):
    assert not is_prose(value)


@pytest.mark.parametrize("value", CREDENTIALS[:6])
def test_credentials_are_credential_like(value: str):
    assert is_credential_like(value)


@pytest.mark.parametrize(
    "value",
    ["abc", "required", "12345", "320ms", "1.5", "3rd", "get_token(x1)", "a1[0]", "", "a.b"],
)
def test_words_counts_and_code_are_not_credential_like(value: str):
    assert not is_credential_like(value)


def test_only_mixed_words_are_made_up():
    assert is_made_up("hunter2222")
    assert is_made_up("abc$DEF")
    assert not is_made_up("123456")
    assert not is_made_up("a1b2")
    assert not is_made_up("correct")


@given(st.text("abcXYZ019-_.", min_size=1), st.text("abcXYZ019:-_.", min_size=1))
def test_base64_of_user_and_password_is_a_basic_credential(user: str, password: str):
    encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
    if len(encoded.rstrip("=")) >= 6:
        assert is_basic_credential(encoded)
        assert is_basic_credential(encoded.rstrip("="))


@pytest.mark.parametrize(
    "text", ["", "abc", "authentication", "dXNlcg==", "not base64", "AAAAAAAA"]
)
def test_other_texts_are_no_basic_credentials(text: str):
    assert not is_basic_credential(text)


@given(st.text())
def test_judging_is_total(text: str):
    for judge in (is_reference, is_prose, is_credential_like, is_made_up, is_basic_credential):
        assert judge(text) in {True, False}
    assert not is_credential_like(PLACEHOLDER)
