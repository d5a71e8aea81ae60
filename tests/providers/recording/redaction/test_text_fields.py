"""Names before separators: which are fields, and what their values are."""

from __future__ import annotations

import pytest

from openprogram.providers.recording.redaction.text_fields import FIELDS
from openprogram.providers.recording.redaction.text_rules import TextViews
from redaction_texts import redacted_by

HIDDEN = {
    "OPENAI_API_KEY=<x7q>": "OPENAI_API_KEY=[secret removed]",
    "api_key = 'x7q'": "api_key = '[secret removed]'",
    "token := \"x7q\"": 'token := "[secret removed]"',
    "'password' => 'x7q'": "'password' => '[secret removed]'",
    "user[password]=x7q&a=1": "user[password]=[secret removed]",
    "?a=1&user[password]=x7q&b=1": "?a=1&user[password]=[secret removed]&b=1",
    "/p?key=x7q&sort=a#b": "/p?key=[secret removed]&sort=a#b",
    "#access_token=x7q&state=1": "#access_token=[secret removed]&state=1",
    "a;token=x7q;b": "a;token=[secret removed];b",
    "Server=a;Pwd=x7q;B=c": "Server=a;Pwd=[secret removed];B=c",
    '{"password": "x7q", "a": 1}': '{"password": "[secret removed]", "a": 1}',
    "{'password': 'x7q', 'a': None}": "{'password': '[secret removed]', 'a': None}",
    '\\"password\\": \\"x7q\\"': '\\"password\\": \\"[secret removed]\\"',
    '"pin_token" : 123456': '"pin_token" : "[secret removed]"',
    '"password": {"a": ["x"]}, "b"': '"password": "[secret removed]", "b"',
    "password: x7q1": "password: [secret removed]",
    "**API key:** x7q1": "**API key:** [secret removed]",
    "| token | x7q1234 | note |": "| token | [secret removed] | note |",
    '_auth="dXNlcjpodW50ZXIyMg=="': '_auth="[secret removed]"',
    "password\uff1ax7q1": "password\uff1a[secret removed]",
    "a.b.password=x7q": "a.b.password=[secret removed]",
    "--db-password=x7q": "--db-password=[secret removed]",
    'process.env.TOKEN ?? "x7q"': 'process.env.TOKEN ?? "[secret removed]"',
    "env['TOKEN'] || 'x7q'": "env['TOKEN'] || '[secret removed]'",
    "self.token ||= 'x7q'": "self.token ||= '[secret removed]'",
    "API_KEY=${API_KEY:-x7q}": "API_KEY=${API_KEY:-[secret removed]}",
    'token="${TOKEN-x7q}"': 'token="${TOKEN-[secret removed]}"',
    "export T=${TOKEN:-x7q}": "export T=${TOKEN:-[secret removed]}",
    'echo "${DB_PASSWORD:-x7q}"': 'echo "${DB_PASSWORD:-[secret removed]}"',
    "url: ${A_TOKEN:=x7q}/x": "url: ${A_TOKEN:=[secret removed]}/x",
    'Deno.env.get("API_KEY") ?? "x7q"': 'Deno.env.get("API_KEY") ?? "[secret removed]"',
    'token ?? ("x7q")': 'token ?? ("[secret removed]")',
    'apiKey ?: "x7q"': 'apiKey ?: "[secret removed]"',
    "password: ${PASSWORD:-x7q1}": "password: ${PASSWORD:-[secret removed]}",
}  # fmt: skip
KEPT = (
    *(
        "max_tokens=100",
        "sort_key=abc1",
        "?page_token=abc1",
        "key=abc1",
        "key: abc1",
        "signature=abc1",
    ),
    *('{"key": "Enter"}', '"token": null', '"password": false', '"token": {"type": "string"}'),
    *(
        "token://abc1",
        "the password: see below, it is 1234",
        "password:",
        "password=",
        "token = ''",
    ),
    *("limit_key=max_results", "STATS_KEY = '_stats'", "if token == 'with':", "auth: required"),
    *(
        "| token | string | the token |",
        "pages[token] = {'gen': 1}",
        "pwd: /home/b1",
        "PWD=/home/b1",
    ),
    *(
        "token ?? other",
        "token ?? ''",
        "a || b",
        "API_KEY=${API_KEY:-$OTHER}",
        "token=${TOKEN:-}",
        "${TOKEN:-$OTHER}",
        "${TOKEN:?unset}",
    ),
    *("token=[secret removed]", "a key idea: 2 things", "monkey=abc1"),
)


@pytest.mark.parametrize(("text", "expected"), HIDDEN.items())
def test_values_of_secret_names_go(text: str, expected: str):
    assert redacted_by(FIELDS, text.replace("<x7q>", "x7q")) == expected


@pytest.mark.parametrize("text", KEPT)
def test_other_fields_and_prose_stay(text: str):
    assert redacted_by(FIELDS, text) == text


def test_several_fields_of_a_line_are_read_one_after_the_other():
    text = "token=a1b2&password=c3d4 secret=e5f6"
    assert redacted_by(FIELDS, text) == "token=[secret removed] secret=[secret removed]"
    text = "?token=a1b2&password=c3d4 secret=e5f6"
    assert redacted_by(FIELDS, text) == (
        "?token=[secret removed]&password=[secret removed] secret=[secret removed]"
    )


def test_the_gate_names_every_line_with_a_field_once_for_each_separator():
    views = TextViews("token=a password=b\nplain\nmax_tokens=3\nsecret: x1\npassword=c")
    assert sorted(FIELDS.find_candidates(views)) == [8, 38, 49]


def test_prose_after_a_colon_is_no_candidate():
    views = TextViews("token: the token of the user\npassword: see above\n")
    assert list(FIELDS.find_candidates(views)) == []
