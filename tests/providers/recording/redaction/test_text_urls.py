"""User and password before the host of a URL."""

from __future__ import annotations

import pytest

from openprogram.providers.recording.redaction.text_urls import URLS
from redaction_texts import redacted_by

GONE = "[secret removed]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://bob:a@h.test/x", f"https://bob:{GONE}@h.test/x"),
        ("redis://:a@h.test:6379/0", f"redis://{GONE}@h.test:6379/0"),
        ("postgresql+asyncpg://u:a%40b@h/x", f"postgresql+asyncpg://u:{GONE}@h/x"),
        ("x://u:a@b@h.test/", f"x://u:{GONE}@h.test/"),
        ("x://u:a/b?c#d@h.test/", f"x://u:{GONE}@h.test/"),
        ("x://u:pä55@h.test", f"x://u:{GONE}@h.test"),
        ("https://abcdef0123456789@h.test/", f"https://{GONE}@h.test/"),
        ("https://abcd1234efgh:x-oauth-basic@h.test/", f"https://{GONE}@h.test/"),
        ("https:\\/\\/bob:a@h.test\\/", f"https:\\/\\/bob:{GONE}@h.test\\/"),
        ("a://u:b@c d://u:e@f", f"a://u:{GONE}@c d://u:{GONE}@f"),
    ],
)
def test_passwords_and_tokens_in_urls_go(text: str, expected: str):
    assert redacted_by(URLS, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "https://bob@h.test/",
        "ssh://git@host.test/a.git",
        "git@host.test:a/b1.git",
        "https://h.test:8080/x@2",
        "https://h.test/@scope/pkg@1.2",
        "https://h.test/?q=a:b@c",
        "mailto:bob@h.test, bob@h.test",
        "https://$USER:$PASSWORD@h.test",
        "https://bob:${PASSWORD}@h.test",
        "https://bob:<password>@h.test",
        "^(https?)://[-a-zA-Z0-9+&@#/%?=~_|!:,.;]*",
        f"https://bob:{GONE}@h.test",
    ],
)
def test_other_urls_stay(text: str):
    assert redacted_by(URLS, text) == text
