"""Credentials among the arguments of commands."""

from __future__ import annotations

import pytest

from openprogram.providers.recording.redaction.text_commands import COMMANDS, find_in_argument
from openprogram.providers.recording.redaction.text_values import Replacement
from redaction_texts import redacted_by

GONE = "[secret removed]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curl -u me:a1 x", f"curl -u me:{GONE} x"),
        ("curl -ume:a1 x", f"curl -ume:{GONE} x"),
        ("curl -su 'me:a b' x", f"curl -su 'me:{GONE}' x"),
        ("curl -u :a1 x", f"curl -u :{GONE} x"),
        ("wget --user=me:a1", f"wget --user=me:{GONE}"),
        ("curl x --proxy-user me:a1", f"curl x --proxy-user me:{GONE}"),
        ("curl x \\\n -U me:a1", f"curl x \\\n -U me:{GONE}"),
        ("['curl', '-u', 'me:a1']", f"['curl', '-u', 'me:{GONE}']"),
        ("curl -b 'a=b; c=d' x", f"curl -b '{GONE}' x"),
        ("curl --cookie a=b x", f"curl --cookie {GONE} x"),
        ("tool --api-key a1b2 x", f"tool --api-key {GONE} x"),
        ("tool --token 'a b' x", f"tool --token '{GONE}' x"),
        ("tool -password a1b2", f"tool -password {GONE}"),
        ('["--token", "a1b2"]', f'["--token", "{GONE}"]'),
        ("sshpass -p a ssh h", f"sshpass -p {GONE} ssh h"),
        ("sshpass -p'a b' ssh h", f"sshpass -p'{GONE}' ssh h"),
        ("docker login -u me -p a h", f"docker login -u me -p {GONE} h"),
        ("mysql -u me -pa db", f"mysql -u me -p{GONE} db"),
        ("redis-cli -a a ping", f"redis-cli -a {GONE} ping"),
        ("ENV API_KEY abc", f"ENV API_KEY {GONE}"),
        ('#define API_KEY "a b"', f'#define API_KEY "{GONE}"'),
        ("aws configure set aws_secret_access_key a1b2",
         f"aws configure set aws_secret_access_key {GONE}"),
        ("npm config set //r.test/:_authToken a1b2", f"npm config set //r.test/:_authToken {GONE}"),
    ],
)  # fmt: skip
def test_arguments_go(text: str, expected: str):
    assert redacted_by(COMMANDS, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "curl -u https://x.test",
        "curl -u $USER:$PASSWORD x",
        "curl -b cookies.txt x",
        "python -u script.py:main",
        "docker run -p 8080:80 -u 1000:1000 image",
        "mkdir -p a; ssh -p 22 h; grep -a x",
        "mysql -p db",
        "tool --max-tokens 100 --sort-key a1b2 --token-file a1b2",
        "tool --api-key $API_KEY --token <token> --password --user me",
        "use --token to log in, or --api-key",
        "ENV PATH /bin; ENV API_KEY $KEY",
        "git config set user.name bob1",
        "-u me:a1 curl",
        f"curl -u me:{GONE} --token {GONE}",
    ],
)
def test_other_arguments_stay(text: str):
    assert redacted_by(COMMANDS, text) == text


@pytest.mark.parametrize(
    ("command", "flag", "value", "expected"),
    [
        ("tool", "--password", "plain", Replacement(0, 5)),
        ("tool", "-api_key", "a", Replacement(0, 1)),
        ("/usr/bin/curl", "-u", "me:a:b", Replacement(3, 6)),
        ("curl", "--user", ":a", Replacement(1, 2)),
        ("tool", "-u", "me:a", None),
        ("curl", "-u", "https://x", None),
        ("curl", "-u", "me", None),
        ("tool", "--max-tokens", "5", None),
        ("tool", "password", "plain", None),
        ("tool", "--password", "--user", None),
        ("tool", "--password", "$PASSWORD", None),
        ("tool", "--password", GONE, None),
        ("curl", "-u", f"me:{GONE}", None),
        ("tool", "--password", "", None),
    ],
)
def test_an_item_of_a_list_of_arguments(
    command: str, flag: str, value: str, expected: Replacement | None
):
    assert find_in_argument(command, flag, value) == expected
