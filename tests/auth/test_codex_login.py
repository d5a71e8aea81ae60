"""The login of the Codex tool is read as it stands, and never changed or shown."""

from __future__ import annotations

import base64
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.auth._codex_login import (
    codex_auth_path,
    describe_codex_token,
    read_codex_token,
)
from openprogram.auth.adapters import BUILTIN_ADAPTERS, register_credential_adapters
from openprogram.auth.resolver import remedy_for, resolve_api_key
from openprogram.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    Login = Callable[..., Path]

SECRET = "tok-4f9a-secret"


def token_of(**claims: Any) -> str:
    said = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{said}.c2ln"


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> Login:
    """Return a function that writes what the tool keeps."""
    monkeypatch.delenv("CODEX_HOME", raising=False)

    def write(content: Any) -> Path:
        path = codex_auth_path()
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        path.chmod(0o400)
        return path

    return write


def test_the_token_is_read_and_the_file_left_alone(login: Login):
    path = login({"tokens": {"access_token": f" {SECRET}\n", "account_id": "acc"}, "more": [1]})
    before = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
    assert path == Path(os.environ["HOME"]) / ".codex" / "auth.json"
    assert read_codex_token() == SECRET
    assert describe_codex_token(SECRET).account_id == "acc"
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) == before
    assert list(path.parent.iterdir()) == [path]


def test_another_home_of_the_tool_is_looked_at(
    login: Login, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    login({"tokens": {"access_token": "of ~/.codex"}})
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "other"))
    assert read_codex_token() is None
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "auth.json").write_text('{"tokens": {"access_token": "there"}}')
    assert read_codex_token() == "there"


def test_nobody_logged_in_with_a_subscription_is_no_token(login: Login):
    assert read_codex_token() is None
    for content in ({}, {"tokens": None, "OPENAI_API_KEY": "sk"}, {"tokens": {"access_token": ""}}):
        codex_auth_path().unlink(missing_ok=True)
        login(content)
        assert read_codex_token() is None
    codex_auth_path().unlink()
    codex_auth_path().parent.rmdir()
    codex_auth_path().parent.write_text("a file where the folder should be")
    assert read_codex_token() is None


def test_what_is_no_login_is_refused_without_a_word_of_it(login: Login):
    texts = (f"{{{SECRET}", f'["{SECRET}"]', f'{{"tokens": {{"access_token": ["{SECRET}"]}}}}')
    for text in (*texts, "[" * 100_000, " " * 1_000_001):
        codex_auth_path().unlink(missing_ok=True)
        path = login(text)
        with pytest.raises(ConfigError) as caught:
            read_codex_token()
        assert SECRET not in str(caught.value)
        assert str(path) in str(caught.value)
        assert caught.value.path == path
    codex_auth_path().unlink()
    os.mkfifo(codex_auth_path())
    with pytest.raises(ConfigError, match="not a regular file"):
        read_codex_token()


def test_a_token_says_whose_it_is_and_when_it_ends(login: Login):
    auth = "https://api.openai.com/auth"
    told = describe_codex_token(
        token_of(**{"exp": 1_800_000_000.5, auth: {"chatgpt_account_id": "acc-ü"}, "more": 1})
    )
    assert told.account_id == "acc-ü"
    assert told.expires_at == datetime.fromtimestamp(1_800_000_000.5, UTC)
    assert repr(told) == "CodexToken(...)"
    login({"tokens": {"access_token": "another", "account_id": "acc"}})
    for odd in (
        token_of(),
        token_of(exp="soon"),
        token_of(exp=1e300),
        token_of(**{auth: {"chatgpt_account_id": ""}}),
        "a.b",
        "a.%%.c",
        "a.é.c",
        f"a.{base64.b64encode(b'[' * 50_000).decode()}.c",
        "",
    ):
        told = describe_codex_token(odd)
        assert (told.account_id, told.expires_at) == (None, None), odd


def test_the_resolver_asks_the_tool_last(login: Login, monkeypatch: pytest.MonkeyPatch):
    login({"tokens": {"access_token": SECRET}})
    monkeypatch.setattr("openprogram.auth.adapters._adapters", {})
    assert resolve_api_key("openai-codex") is None
    assert remedy_for("openai-codex") is None
    register_credential_adapters(BUILTIN_ADAPTERS)
    assert resolve_api_key("openai-codex") == SECRET
    assert resolve_api_key("openai-codex", "given") == "given"
    assert "codex login" in (remedy_for("openai-codex") or "")
    assert remedy_for("anthropic") is None
    assert resolve_api_key("some-other") is None
