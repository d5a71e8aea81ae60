"""The order of keys: as given, as stored, from the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from openprogram.auth import store
from openprogram.auth.adapters import ENVIRONMENT_VARIABLES
from openprogram.auth.resolver import (
    KeySource,
    environment_variable_for,
    find_key_source,
    resolve_api_key,
)
from openprogram.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def store_text(state_dir: Path, text: str) -> None:
    state_dir.mkdir(mode=0o700)
    path = state_dir / "credentials.json"
    path.write_text(text)
    path.chmod(0o600)


def test_an_explicit_key_wins_and_nothing_else_is_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store, "read_credentials", lambda: pytest.fail("the store was read"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "environment")
    assert resolve_api_key("anthropic", " given\n") == "given"


def test_a_stored_key_wins_over_the_environment(state_dir: Path, monkeypatch: pytest.MonkeyPatch):
    store_text(state_dir, '{"anthropic": {"api_key": "stored"}}')
    monkeypatch.setenv("ANTHROPIC_API_KEY", "environment")
    assert resolve_api_key("anthropic", "  ") == "stored"


@pytest.mark.parametrize(
    ("provider", "name"),
    [(p, name) for p, names in ENVIRONMENT_VARIABLES.items() for name in names],
)
def test_each_vendor_has_its_usual_variable(
    provider: str, name: str, monkeypatch: pytest.MonkeyPatch
):
    for names in ENVIRONMENT_VARIABLES.values():
        for other in names:
            monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "environment")
    assert resolve_api_key(provider, None) == "environment"
    assert resolve_api_key("somebody-else", None) is None


def test_a_blank_stored_key_is_no_key(state_dir: Path, monkeypatch: pytest.MonkeyPatch):
    store_text(state_dir, '{"anthropic": {"api_key": "  "}}')
    monkeypatch.setenv("ANTHROPIC_API_KEY", "environment")
    assert resolve_api_key("anthropic", None) == "environment"


def test_a_broken_store_is_never_taken_for_an_empty_one(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    store_text(state_dir, "{bad")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "environment")
    with pytest.raises(ConfigError):
        resolve_api_key("anthropic", None)


def test_no_key_is_none_and_the_variable_to_set_is_known():
    assert resolve_api_key("anthropic", None) is None
    assert environment_variable_for("google") == "GEMINI_API_KEY"
    assert environment_variable_for("somebody-else") is None


def test_the_source_that_is_named_is_the_one_that_is_used(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    assert find_key_source("google") is None
    monkeypatch.setenv("GEMINI_API_KEY", " ")
    monkeypatch.setenv("GOOGLE_API_KEY", "second")
    assert find_key_source("google") == KeySource("environment", "GOOGLE_API_KEY")
    assert resolve_api_key("google") == "second"
    store_text(state_dir, '{"google": {"api_key": "stored"}}')
    assert find_key_source("google") == KeySource("store")
    assert resolve_api_key("google") == "stored"
