"""Adapters are registered in batches, and never replace one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from openprogram.auth import adapters
from openprogram.auth.adapters import (
    BUILTIN_ADAPTERS,
    ApiKeyAdapter,
    SubscriptionAdapter,
    get_credential_adapter,
    register_credential_adapters,
)
from openprogram.auth.store import Credential

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "_adapters", {})


def test_an_unknown_provider_takes_a_plain_key():
    assert get_credential_adapter("new") == ApiKeyAdapter(provider="new")


def test_the_builtin_batch_registers_once_and_again():
    register_credential_adapters(BUILTIN_ADAPTERS)
    register_credential_adapters(BUILTIN_ADAPTERS)
    for adapter in BUILTIN_ADAPTERS:
        assert get_credential_adapter(adapter.provider) is adapter


def test_an_adapter_that_is_there_stays():
    own = SubscriptionAdapter(provider="anthropic")
    register_credential_adapters([own])
    register_credential_adapters(BUILTIN_ADAPTERS)
    assert get_credential_adapter("anthropic") is own


def test_a_batch_that_fails_leaves_the_registry_as_it_was():
    def broken() -> Iterator[SubscriptionAdapter]:
        yield SubscriptionAdapter(provider="one")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        register_credential_adapters(broken())
    assert get_credential_adapter("one") == ApiKeyAdapter(provider="one")


def test_each_adapter_takes_its_own_field():
    both = Credential(api_key="key", access_token="token")
    assert ApiKeyAdapter(provider="p").key_of(both) == "key"
    assert SubscriptionAdapter(provider="p").key_of(both) == "token"
    for adapter in BUILTIN_ADAPTERS:
        assert adapter.key_of(adapter.credential_of("given")) == "given"
