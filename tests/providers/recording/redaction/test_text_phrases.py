"""Words that announce a credential, and prose that only sounds like it."""

from __future__ import annotations

import pytest

from openprogram.providers.recording.redaction.text_phrases import PHRASES
from redaction_texts import redacted_by

GONE = "[secret removed]"
MADE = "Zx9yWv8uTs7r"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("use Bearer abc.DEF-123~x, ok", f"use Bearer {GONE}, ok"),
        ("BEARER abcdefgh1", f"BEARER {GONE}"),
        ('Bearer "abcdefgh 1"', f'Bearer "{GONE}"'),
        ("bearer%20abcdefgh1", f"bearer%20{GONE}"),
        ("Bearer abc$DEF!1&amp;x", f"Bearer {GONE}&amp;x"),
        ("Basic dXNlcjpodW50ZXIyMg== x", f"Basic {GONE} x"),
        (f"Bot {MADE}.a_b", f"Bot {GONE}"),
        (f"token {MADE}", f"token {GONE}"),
        (f"Key {MADE}:{MADE}.", f"Key {GONE}."),
        ("The password is hunter2222.", f"The password is {GONE}."),
        ("password was now: 'a b' or 'abc'", "password was now: 'a b' or 'abc'"),
        ("api key is `abc`", f"api key is `{GONE}`"),
        ("token is: hunter2222", f"token is: {GONE}"),
        ("WITH PASSWORD 'abc' x", f"WITH PASSWORD '{GONE}' x"),
        ("  password hunter2\n", f"  password {GONE}\n"),
        ("login me password plain x", f"login me password {GONE} x"),
    ],
)
def test_announced_credentials_go(text: str, expected: str):
    assert redacted_by(PHRASES, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the bearer of bad news; bearer token; Bearer authentication",
        "Bearer $TOKEN, Bearer ${TOKEN}, Bearer {token}, Bearer <token>, Bearer YOUR_KEY",
        "forbearer abcdefgh1, the-bearer abcdefgh1",
        "Basic authentication, Visual Basic 6.0, basic dXNlcg==",
        "a bot named Bob; robot Zx9yWv8uTs7r; Bot configuration",
        "the key idea; monkey Zx9yWv8uTs7r; key 7c311c86-7836-4f47-bffc-aa8c3cbf261e",
        "token count of 12, token by token, token 1234567890123, token abcdefghijklmnop",
        "The password is wrong. The token is expired. The key is 12.",
        'the password "," is missing; password "a b" is long',
        "password reset, password required",
        f"Bearer {GONE}, password is {GONE}, login me password {GONE}",
    ],
)
def test_prose_stays(text: str):
    assert redacted_by(PHRASES, text) == text
