"""Texts with credentials and without, for the tests of redaction.

`hidden_texts.jsonl` holds one text a line with the secrets in it, `<SECRET>` standing for any of
`SECRETS`; `kept_texts.jsonl` holds texts that must stay as they are. Every secret is invented.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import strategies as st

from openprogram.providers.recording.redaction.text_rules import TextViews
from openprogram.providers.recording.redaction.text_values import PLACEHOLDER
from openprogram.providers.recording.redaction.texts import apply_replacements, merged

if TYPE_CHECKING:
    from openprogram.providers.recording.redaction.text_rules import TextRule

SECRETS = ("hunter7Zq91x", "hunter2222", "Zz11Yy22Xx33Ww44")
_FOLDER = Path(__file__).parent


class HiddenText(NamedTuple):
    """A text and the secrets that must not be in it afterwards."""

    id: str
    text: str
    secrets: tuple[str, ...]


def _read_lines(name: str) -> list[str]:
    return (_FOLDER / name).read_text("utf-8").removesuffix("\n").split("\n")


def hidden_texts(secret: str) -> list[HiddenText]:
    """Read the texts with credentials, this secret put in."""
    rows = [json.loads(line) for line in _read_lines("hidden_texts.jsonl")]
    return [
        HiddenText(
            row["id"],
            row["text"].replace("<SECRET>", secret),
            tuple(one.replace("<SECRET>", secret) for one in row["secrets"]),
        )
        for row in rows
    ]


def kept_texts() -> list[str]:
    """Read the texts without credentials."""
    return [json.loads(line) for line in _read_lines("kept_texts.jsonl")]


_SIGNS = (
    *(
        " ",
        "  ",
        "\n",
        "\r\n",
        "\\",
        '"',
        "'",
        "`",
        "{",
        "}",
        "[",
        "]",
        "<",
        "</",
        ":",
        "=",
        ",",
        "|",
    ),
    *("&", "?", "#", ";", "@", "$X", "**", "- ", "-u ", "1", "é", "İ", "\ud83d", "\u2028", "K"),
)
_WORDS = (
    *("key ", "token ", "token=", "password", "secret:", "api_key", "Authorization", "Cookie: "),
    *("Bearer ", "curl ", "value", '"value": ', '"name": ', "name: ", "sk-", "eyJ", "AKIA", "None"),
    *("the quick brown fox ", "```json\n", "-----BEGIN PRIVATE KEY-----", PLACEHOLDER),
    *("-----END PRIVATE KEY-----", "\u017fecret=abc1 ", "://", "data:image/png;base64,"),
)
_ESCAPES = ("%3D", "%22", "%25", "&quot;", "&amp;", "\\u0041", "\\/", "\\n", '\\"', "\\\n")

NOISE = st.one_of(st.text(max_size=8), st.sampled_from(_SIGNS + _WORDS + _ESCAPES))
"""What makes texts around secrets awkward."""
PIECES = st.sampled_from([one.text for one in hidden_texts(SECRETS[0])] + kept_texts())
TEXTS = st.lists(st.one_of(NOISE, NOISE, PIECES), max_size=7).map("".join)
"""Prose, JSON, code and credentials, put together at random."""


def redacted_by(rule: TextRule, text: str) -> str:
    """Redact a text by one rule alone, and see that its gate and triggers let the text through."""
    views = TextViews(text)
    found = merged(list(rule.find_secrets(views)))
    if found:
        assert list(rule.find_candidates(views)), f"the gate keeps out {text!r}"
        assert any(re.search(one, text.lower()) for one in rule.triggers), f"no trigger in {text!r}"
    return apply_replacements(text, found)
