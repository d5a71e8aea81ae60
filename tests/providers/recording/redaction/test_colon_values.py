"""How values after a colon are read: headers, YAML, types, prose."""

from __future__ import annotations

import pytest

from openprogram.providers.recording.redaction.colon_values import is_line_header
from openprogram.providers.recording.redaction.text_fields import FIELDS
from redaction_texts import redacted_by

GONE = "[secret removed]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer a1 b", f"Authorization: {GONE} b"),
        ("Authorization: Basic dXNlcjpwdw==", f"Authorization: {GONE}"),
        ('authorization: Digest username="b", response="x"', f"authorization: {GONE}"),
        ("Authorization: qwerty", f"Authorization: {GONE}"),
        ("Authorization: Custom abc==\r\nA: b", f"Authorization: {GONE}\r\nA: b"),
        ("proxy_authorization: Bearer abc", f"proxy_authorization: {GONE}"),
        ("-H 'Authorization: Bearer abc' x", f"-H 'Authorization: {GONE}' x"),
        ("Cookie: a=b; c=d", f"Cookie: {GONE}"),
        ("Set-Cookie: sid=b; Path=/ ", f"Set-Cookie: {GONE} "),
        ('-H "Cookie: a=b" x', f'-H "Cookie: {GONE}" x'),
    ],
)
def test_headers_go_to_the_end_of_their_line_or_quote(text: str, expected: str):
    assert redacted_by(FIELDS, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("db:\n  password: letmein\n", f"db:\n  password: {GONE}\n"),
        ("- password: letmein", f"- password: {GONE}"),
        ("+password: letmein", f"+password: {GONE}"),
        ("db_password: letmein # x", f"db_password: {GONE} # x"),
        ("API_TOKEN: letmein", f"API_TOKEN: {GONE}"),
        ("'X-Api-Key: letmein'", f"'X-Api-Key: {GONE}'"),
        ("token: 'a b'", f"token: '{GONE}'"),
        ("token: !!str a1b2", f"token: !!str {GONE}"),
        ("token: &t a1b2", f"token: &t {GONE}"),
        ("password: |\n  a\n  b\nnext: 1", f"password: |\n  {GONE}\nnext: 1"),
        ("password: >-\n  a\n\n  b", f"password: >-\n  {GONE}"),
        ("password:\n  a1b2\nnext", f"password:\n  {GONE}\nnext"),
        ("api_keys:\n  - a1b2", f"api_keys:\n  - {GONE}"),
        ("token: str = 'a1'", f"token: str = '{GONE}'"),
        ('const token: string | null = "a1";', f'const token: string | null = "{GONE}";'),
        ("Your token: a1b2c3 (1h)", f"Your token: {GONE} (1h)"),
    ],
)
def test_settings_types_and_made_up_words_go(text: str, expected: str):
    assert redacted_by(FIELDS, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: required",
        "Authorization: see RFC 7235, section 2",
        "Authorization: Bearer token required",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "authorization: dict[str, str],",
        "Cookie: none",
        "cookie: str | None = None,",
        "Cookies: we use cookies",
        "password: str",
        "password: SecretStr",
        "token: Optional[str] = None",
        "def f(token: str, key: int): 'x'",
        "state_credentials: StateCredentials,",
        "password: Incomplete",
        "token: lexer.Token",
        "password: required",
        "password: The password of the user, 8 characters",
        "password: !Ref DbPassword",
        "token: *anchor",
        "credentials: 'include'",
        "unexpected token: '}'",
        "arn:aws:secretsmanager:*:secret:path/a1b2",
        "f'{self.token:056d}'",
        "time to first token: 320ms",
        "if token:\n    value1",
        "password: ********",
    ],
)
def test_prose_types_and_references_stay(text: str):
    assert redacted_by(FIELDS, text) == text


def test_four_headers_take_their_whole_line():
    assert is_line_header("Authorization")
    assert is_line_header("SET_COOKIE")
    assert not is_line_header("X-Api-Key")
