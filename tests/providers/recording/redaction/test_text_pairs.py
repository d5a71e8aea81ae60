"""Names that stand in a value of their own, and the secrets beside them."""

from __future__ import annotations

import pytest

from openprogram.providers.recording.redaction.text_pairs import PAIRS
from redaction_texts import redacted_by

GONE = "[secret removed]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["X-Api-Key", "a1"]', f'["X-Api-Key", "{GONE}"]'),
        (
            "[(b'authorization', b'Bearer a1'), (b'a', b'b')]",
            f"[(b'authorization', b'{GONE}'), (b'a', b'b')]",
        ),
        ("[ 'Cookie', 'a=b' ]", f"[ 'Cookie', '{GONE}' ]"),
        ('[\\"X-Api-Key\\", \\"a1\\"]', f'[\\"X-Api-Key\\", \\"{GONE}\\"]'),
        ('"name": "api_key",\n "value": "a1"', f'"name": "api_key",\n "value": "{GONE}"'),
        ('"value": "a1", "name": "Authorization"', f'"value": "{GONE}", "name": "Authorization"'),
        ("define('DB_PASSWORD', 'a');", f"define('DB_PASSWORD', '{GONE}');"),
        ('os.environ.get("API_KEY", "a1")', f'os.environ.get("API_KEY", "{GONE}")'),
        ("config.set('password', 'hunter2222')", f"config.set('password', '{GONE}')"),
        ("<password>a</password>", f"<password>{GONE}</password>"),
        ("<ns:apiKey>a</ns:apiKey>", f"<ns:apiKey>{GONE}</ns:apiKey>"),
        (
            '<password type="plain">\n a \n</password>',
            f'<password type="plain">\n {GONE} \n</password>',
        ),
        ("<key>token</key>\n<string>a</string>", f"<key>token</key>\n<string>{GONE}</string>"),
        ('<input name="password" value="a">', f'<input name="password" value="{GONE}">'),
        ("<add key='ApiKey' value='a'/>", f"<add key='ApiKey' value='{GONE}'/>"),
        ("- name: API_KEY\n  value: a", f"- name: API_KEY\n  value: {GONE}"),
        ('- name: "DB_PASSWORD"\n  value: "a b"\n', f'- name: "DB_PASSWORD"\n  value: "{GONE}"\n'),
        ('; name="password"\r\n\r\na b\r\n--x', f'; name="password"\r\n\r\n{GONE}\r\n--x'),
    ],
)
def test_the_value_beside_a_secret_name_goes(text: str, expected: str):
    assert redacted_by(PAIRS, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '["Accept", "a1"]',
        '["password", "token"]',
        '["X-Api-Key", "Authorization"]',
        '"name": "color",\n "value": "a1"',
        '"value": "a1", "name": "color"',
        "get('token', 'name')",
        'os.environ.get("API_KEY", "$X")',
        "<password></password>",
        "<password>a</other>",
        "<password>$PASSWORD</password>",
        '<input type="text" name="user" value="bob1">',
        '<input name="password" value="">',
        "- name: COLOR\n  value: a",
        "- name: API_KEY\n  valueFrom:\n",
        '["X-Api-Key", "[secret removed]"]',
        "<password>[secret removed]</password>",
    ],
)
def test_other_pairs_stay(text: str):
    assert redacted_by(PAIRS, text) == text
