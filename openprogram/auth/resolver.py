"""Finds the key for a call: as given, as stored, from the environment, from the vendor's tool."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from openprogram.auth import store
from openprogram.auth.adapters import (
    ENVIRONMENT_VARIABLES,
    SubscriptionAdapter,
    get_credential_adapter,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class KeySource:
    """Where a key comes from; never what it is."""

    kind: Literal["store", "environment", "tool"]
    """The credential store, an environment variable, or the login of the vendor's own tool."""
    variable: str | None = None
    """The variable's name, where it is one."""


def resolve_api_key(provider: str, explicit: str | None = None) -> str | None:
    """Find a provider's key.

    Args:
        provider: The provider's name.
        explicit: The key that the caller gave; wins when it is not blank, and then nothing else is
            looked at.

    Returns:
        The key without blanks around it, or None when there is none.

    Raises:
        UnsafeFileError: The credential store is not the owner's alone.
        ConfigError: The credential store, or the file of the vendor's tool, cannot be understood.
    """
    if key := (explicit or "").strip():
        return key
    return next((key for _, key in _iterate_keys(provider)), None)


def find_key_source(provider: str) -> KeySource | None:
    """Say where a call would find its key when none is given.

    Args:
        provider: The provider's name.

    Returns:
        The place that comes first of those that hold a key, or None when none does.

    Raises:
        UnsafeFileError: The credential store is not the owner's alone.
        ConfigError: The credential store, or the file of the vendor's tool, cannot be understood.
    """
    return next((source for source, _ in _iterate_keys(provider)), None)


def _iterate_keys(provider: str) -> Iterator[tuple[KeySource, str]]:
    """Go through the places in their order; a place is looked at only when it is its turn."""
    adapter = get_credential_adapter(provider)
    stored = store.read_credentials().get(provider)
    if stored is not None and (key := (adapter.key_of(stored) or "").strip()):
        yield KeySource("store"), key
    for name in ENVIRONMENT_VARIABLES.get(provider, ()):
        if key := os.environ.get(name, "").strip():
            yield KeySource("environment", name), key
    if isinstance(adapter, SubscriptionAdapter) and adapter.read_login is not None:
        key = adapter.read_login()
        if key:
            yield KeySource("tool"), key


def environment_variable_for(provider: str) -> str | None:
    """Name the variable that a user can set.

    Args:
        provider: The provider's name.

    Returns:
        The first variable that is looked at, or None when the provider has none.

    Example:
        >>> environment_variable_for("anthropic")
        'ANTHROPIC_API_KEY'
    """
    return next(iter(ENVIRONMENT_VARIABLES.get(provider, ())), None)


def remedy_for(provider: str) -> str | None:
    """Say how a user gets a credential that no variable can hold.

    Args:
        provider: The provider's name.

    Returns:
        What to do, in words, or None when the provider takes a plain key.
    """
    adapter = get_credential_adapter(provider)
    return adapter.remedy if isinstance(adapter, SubscriptionAdapter) else None
