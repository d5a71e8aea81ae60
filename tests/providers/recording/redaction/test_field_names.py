"""Which names hold a credential."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers.recording.redaction.field_names import (
    DATA_FIELD_NAMES,
    NAME_ENDING,
    NAME_ENDING_BACKWARDS,
    NAME_TRIGGERS,
    SECRET_FIELD_NAMES,
    is_header_pair,
    is_query_secret,
    is_secret_field,
    is_vague_secret,
    last_word,
)

NAMED_BY_THE_CONTRACT = (
    *("authorization", "proxy-authorization", "api_key", "apikey", "x-api-key", "x-goog-api-key"),
    *("api-key", "token", "access_token", "refresh_token", "id_token", "cookie", "set-cookie"),
    *("secret", "client_secret", "password", "passwd", "passphrase", "jwt", "credentials"),
    *("session_key", "X-Session-Token", "service_api_key", "refreshToken", "clientSecret"),
)
COMPOUNDS = (
    *("OPENAI_API_KEY", "AWSSecretAccessKey", "aws_session_token", "dbPassword", "DB_PASSWORD"),
    *("X-Auth-Token", "PGPASSWORD", "MYSQL_PWD", "SMTP_PASS", "githubToken", "user.password"),
    *("spring.datasource.password", "password2", "PASSWORD_2", "token-1", "API Key", "Password:"),
    *(
        "secret_key_base",
        "ssh_private_key",
        "webhookSecret",
        "botToken",
        "signing_key",
        "mysecret",
        "pass_word",
    ),
    *("Ocp-Apim-Subscription-Key", "private_keys", "x" * 300 + "_password"),
)
DATA = (
    *("token_count", "tokenCount", "max_tokens", "input_tokens", "keyboard", "monkey", "secretary"),
    *("key", "keys", "tokens", "public_key", "primary_key", "foreign_key", "sort_key", "sortKey"),
    *("cache_key", "partition_key", "idempotency_key", "Idempotency-Key", "page_token"),
    *("next_page_token", "nextPageToken", "continuation_token", "eos_token", "bos_token"),
    *("pad_token", "tokenizer", "passport", "password_policy", "key_id", "turkey"),
    *("token_type", "secret_count", "e.key", "event.key", ".key", "cost_per_token", "", "-", "2"),
    *("the user's password", "what is the secret", "token@", "Access-Control-Allow-Credentials"),
)


@pytest.mark.parametrize("name", [*NAMED_BY_THE_CONTRACT, *COMPOUNDS])
def test_credential_like_names_are_secret_however_they_are_written(name: str):
    for spelling in (name, name.upper(), name.replace("_", "-"), name.replace("-", "_")):
        assert is_secret_field(spelling), spelling


def test_names_of_data_are_not_secret():
    assert [name for name in (*DATA, *DATA_FIELD_NAMES) if is_secret_field(name)] == []


def test_public_names_are_lower_words_and_disjoint():
    for name in SECRET_FIELD_NAMES | DATA_FIELD_NAMES:
        assert re.fullmatch(r"[a-z0-9]+(?:_[a-z0-9]+)*", name), name
    assert not SECRET_FIELD_NAMES & DATA_FIELD_NAMES
    assert all(map(is_secret_field, SECRET_FIELD_NAMES))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("key", True), ("sig", True), ("X-Amz-Signature", True), ("KEY", True), ("monkey", False)],
)
def test_some_names_are_secret_in_a_query_only(name: str, expected: bool):
    assert is_query_secret(name) is expected
    assert not is_secret_field(name)


def test_vague_names_are_those_of_keys_of_anything():
    assert is_vague_secret("limit_key")
    assert is_vague_secret("STATS_KEY")
    assert not is_vague_secret("service_api_key")
    assert not is_vague_secret("SECRET_KEY")
    assert not is_vague_secret("token")


def test_the_last_word_of_a_name():
    assert last_word("parts.userPassword2") == "password"
    assert last_word("API_KEY") == "key"
    assert last_word("...") == ""


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("x-api-key", "v4lue", True),
        ("Authorization", "Digest a b", True),
        ("Cookie", "a=b", True),
        ("X-Api-Key", "Authorization", False),
        ("password", "v4lue", False),
        ("Content-Type", "v4lue", False),
    ],
)
def test_two_lone_texts_are_a_pair_only_for_a_header(name: str, value: str, expected: bool):
    assert is_header_pair(name, value) is expected


NAMES = st.one_of(
    st.sampled_from([*NAMED_BY_THE_CONTRACT, *COMPOUNDS, *DATA]),
    st.lists(
        st.sampled_from(["api", "Key", "token", "pass", "word", "jwt", "s", "_", "-", "1", "."])
    ).map("".join),
    st.text(max_size=12),
)


@given(NAMES)
def test_every_secret_name_has_an_ending_and_a_trigger_that_the_gates_know(name: str):
    if not is_secret_field(name) or re.search(r":\d+\W*\Z", name):
        # In a text, a colon before a number parts a name from its value.
        return
    lowered = name.encode("latin-1", "replace").lower().decode("latin-1")
    end = len(lowered.rstrip(" \t\"'`\\]*?:"))
    assert re.search(rf"(?a)(?:{NAME_ENDING})[.:_-]*\Z", lowered[:end]), name
    assert re.match(rf"(?a)[.:_-]*{NAME_ENDING_BACKWARDS}", lowered[:end][::-1]), name
    assert any(trigger in lowered for trigger in NAME_TRIGGERS)
