"""Finds the key for a call: as given, as stored, from the environment, from the vendor's tool."""

from __future__ import annotations

import os

from openprogram.auth import store
from openprogram.auth.adapters import (
    ENVIRONMENT_VARIABLES,
    SubscriptionAdapter,
    get_credential_adapter,
)


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
    stored = store.read_credentials().get(provider)
    if stored is not None:
        key = (get_credential_adapter(provider).key_of(stored) or "").strip()
        if key:
            return key
    for name in ENVIRONMENT_VARIABLES.get(provider, ()):
        if key := os.environ.get(name, "").strip():
            return key
    adapter = get_credential_adapter(provider)
    if isinstance(adapter, SubscriptionAdapter) and adapter.read_login is not None:
        return adapter.read_login()
    return None


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
