"""How the value of a named field is read after an equals sign and in JSON."""

from __future__ import annotations

import pytest

from openprogram.providers.recording.redaction.field_values import Field, read_bare, read_quoted
from openprogram.providers.recording.redaction.text_fields import FIELDS
from openprogram.providers.recording.redaction.text_rules import TextViews
from openprogram.providers.recording.redaction.text_values import Replacement
from redaction_texts import redacted_by

GONE = "[secret removed]"


def field(part: str, value_at: int, *, name: str = "token", before: str = "") -> Field:
    """Build a field as the rule of fields does."""
    return Field(
        views=TextViews(part),
        name=name,
        before=before,
        gap="",
        separator="=",
        space="",
        value_at=value_at,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password='a b' c", f"password='{GONE}' c"),
        ('password="a\\"b" c', f'password="{GONE}" c'),
        ("PASSWORD=\"a\"b'c' d", f"PASSWORD=\"{GONE}' d"),
        ("password='open to the end", f"password='{GONE}"),
        ("password='open\nnext", f"password='{GONE}\nnext"),
        ('password="""a"""', f'password="""{GONE}"""'),
        ("password=b'a1'", f"password=b'{GONE}'"),
        ("DB_PASSWORD=a,b;c d", f"DB_PASSWORD={GONE} d"),
        ("echo 'token=a1 b'", f"echo 'token={GONE} b'"),
        ("'token=a1'", f"'token={GONE}'"),
        ("cookies={'sid': 'a1'}", f"cookies={{{GONE}}}"),
        ("host=h password=plain user=u", f"host=h password={GONE} user=u"),
        ("f(password=entered1)", f"f(password={GONE})"),
        ("password='none of them'", f"password='{GONE}'"),
        ("password=none!1", f"password={GONE}"),
        ("auth=('bob', 'a b')", f"auth=('bob', '{GONE}')"),
        ("PASSWORD=password", f"PASSWORD={GONE}"),
    ],
)
def test_assigned_values_go(text: str, expected: str):
    assert redacted_by(FIELDS, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "password=$DB_PASSWORD",
        "password=${DB_PASSWORD}",
        "token=get_token()",
        "password=parts['password']",
        "f(token=token, password=entered)",
        "self.token = token",
        "    token=self._token,",
        "api_key=settings.API_KEY",
        'api_key=os.environ["X"]',
        "token=None",
        "token='null'",
        "dict(key=1, token=2)",
        "GOOGLE_APPLICATION_CREDENTIALS=/a/b.json",
        "auth=(user, password)",
        'token="your-api-key"',
        'password="********"',
        "tokens = [1, 2]",
        "cookies = {}",
        'REFRESH_TOKEN = "REFRESH_TOKEN"',
        'getpass("Password: ", stream)',
        "print('token=', token)",
        'password = f"{user}-x"',
        'accesskey="I"',
        'allow["Credentials"] = "true"',
        'jsonnet_token == "with"',
    ],
)
def test_code_references_and_stand_ins_stay(text: str):
    assert redacted_by(FIELDS, text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"token": "a1"', f'"token": "{GONE}"'),
        ('"token": 12', f'"token": "{GONE}"'),
        ('"token": 12.5e3,', f'"token": "{GONE}",'),
        ('\\"token\\": 12', f'\\"token\\": \\"{GONE}\\"'),
        ("'token': abc1}", f"'token': '{GONE}'}}"),
        ('"token":\n  "a1"', f'"token":\n  "{GONE}"'),
        ('"token": ["a", {"b": "]"}] x', f'"token": "{GONE}" x'),
        ('"token": ["open', f'"token": "{GONE}"'),
    ],
)
def test_values_behind_quoted_names_go_whole(text: str, expected: str):
    assert redacted_by(FIELDS, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '"token": true',
        '"token": None',
        '"token":\n  word',
        '-> "Token":\n    """Doc."""',
        '"a_key": 1',
    ],
)
def test_values_that_are_none_stay(text: str):
    assert redacted_by(FIELDS, text) == text


def test_long_values_are_taken_without_judging():
    vague = field("y" * 300, 0, name="limit_key")
    assert read_bare(vague, r"\s") == Replacement(0, 300)
    assert read_bare(field("y" * 200, 0, name="limit_key"), r"\s") is None


def test_a_quoted_value_is_read_from_its_place_only():
    assert read_quoted(field("x 'a1'", 0)) is None
    assert read_quoted(field("x 'a1'", 0), 2) == Replacement(3, 5)
