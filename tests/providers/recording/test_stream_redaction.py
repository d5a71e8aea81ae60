"""Streamed text is redacted like whole text, and nothing is let go too early."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers.recording.redaction import PLACEHOLDER, remove_secrets_from_text
from openprogram.providers.recording.stream_redaction import DeltaRedactor

SECRET = "Qw3rTy98zXcV76bNm54"
CARRIERS = (
    f"Authorization: Bearer {SECRET}",
    f"Authorization: Digest username={SECRET}, x=1",
    f"sk-ant-api03-{SECRET}",
    f"Bearer {SECRET}",
    f"https://user:{SECRET}@host.test/x",
    f"https://{SECRET}@host.test/x",
    f"https://x.test/?a=1&access_token={SECRET}&b=2",
    f"https://x.test/?a%5Ftoken=1%26access%5Ftoken%3D{SECRET}",
    f"export DB_PASSWORD='{SECRET} !x'",
    f'"password": "{SECRET}"',
    f'"token": {{\n  "a": "{SECRET}"\n}}',
    f"password: |\n  {SECRET}\nnext",
    f"password: {SECRET}",
    f"Cookie: sid={SECRET}; theme=dark",
    f"curl -u user:{SECRET} https://x.test",
    f"curl https://x.test \\\n  -u user:{SECRET}",
    f"tool --api-key {SECRET}",
    f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n{SECRET}",
    f'["Authorization", "{SECRET}"]',
    f'"name": "x-api-key",\n "value": "{SECRET}"',
    json.dumps({"a": 1, "password": SECRET}),
    json.dumps({"body": json.dumps({"api_key": SECRET})}),
    json.dumps([{"value": SECRET, "name": "Authorization"}], indent=1),
    f'{{"p\\u0061ssword": "{SECRET}"}}',
    f'{{"url": "https:\\/\\/u:{SECRET}@h.test\\/"}}',
    f"AKIAIOSFODNN7EXAMPLE {SECRET}{SECRET}aB",
    f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{SECRET}",
)
NOISE = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        (" ", "\n", "\r\n", "\\", '"', "'", "{", "}", "[", "]", ":", "=", ",", "key ", "token ",
         "token=", "password", "secret:", "\ud83d", "é", "İ", "K", "ſecret=abc1 ", "&", "%3D",
         "the quick brown fox ", "data:image/png;base64,", PLACEHOLDER, "```json\n", "\\\"",
         "Bearer ", "://", "@", "Cookie: ", "-----BEGIN PRIVATE KEY-----", "\u2028", "value",
         "None", "$X", "1", "-u ", "curl ")
    ),
)  # fmt: skip
TEXTS = st.lists(st.one_of(NOISE, st.sampled_from(CARRIERS)), max_size=8).map("".join)


@st.composite
def split_texts(draw: st.DrawFn) -> list[str]:
    text = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def redact(deltas: list[str], *, json_text: bool = False) -> list[str]:
    redactor = DeltaRedactor(json_text=json_text)
    outputs = [output for delta in deltas for output in redactor.feed(delta)]
    assert redactor.pending_count == len(deltas) - len(outputs)
    outputs += redactor.finish()
    assert redactor.pending_count == 0
    return outputs


@given(split_texts(), st.booleans())
def test_joined_outputs_are_the_redacted_joined_inputs(deltas: list[str], json_text: bool):
    outputs = redact(deltas, json_text=json_text)
    assert len(outputs) == len(deltas)
    assert "".join(outputs) == remove_secrets_from_text("".join(deltas))


@given(TEXTS)
def test_one_character_at_a_time_gives_the_same(text: str):
    assert "".join(redact(list(text))) == remove_secrets_from_text(text)


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("before", ["", "Well, look: ", "line\n", "x" * 100 + " "])
def test_no_split_shows_a_secret_at_any_moment(carrier: str, before: str):
    text = before + carrier
    for width in (1, 2, 3, 7, 19):
        redactor = DeltaRedactor()
        shown = ""
        for at in range(0, len(text), width):
            shown += "".join(redactor.feed(text[at : at + width]))
            assert SECRET[:4] not in shown
        shown += "".join(redactor.finish())
        assert SECRET[:4] not in shown
