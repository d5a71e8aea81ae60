"""How each provider's key is called, in the store and in the environment.

The table of environment variables is plain data and always there. Adapters are registered with the
built-in providers, as one batch, by whoever starts the provider runtime.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from openprogram.auth._codex_login import CODEX_REMEDY, read_codex_token
from openprogram.auth.store import Credential

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

ENVIRONMENT_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "amazon-bedrock": ("AWS_BEARER_TOKEN_BEDROCK",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "azure-openai": ("AZURE_OPENAI_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "xai": ("XAI_API_KEY",),
}
"""Where each vendor's own tools look for a key, by provider, first one first."""

KEYLESS_PROVIDERS: Final = frozenset({"lmstudio", "ollama", "vllm"})
"""Servers that people run themselves, mostly without a key; one that is given is sent."""


class CredentialAdapter(Protocol):
    """Knows how one provider's credential becomes a key."""

    @property
    def provider(self) -> str:
        """The provider's name."""
        ...

    def key_of(self, credential: Credential) -> str | None:
        """Take the key out of a stored credential.

        Args:
            credential: What the store holds for the provider.

        Returns:
            The key, or None when the credential has none.
        """
        ...

    def credential_of(self, key: str) -> Credential:
        """Make of a key what the store shall hold; `key_of` finds it again.

        Args:
            key: What a person gave.

        Returns:
            A credential with that key and nothing else.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeyAdapter:
    """For providers that want a plain key."""

    provider: str
    """The provider's name."""

    def key_of(self, credential: Credential) -> str | None:
        """Take the API key; see `CredentialAdapter.key_of`."""
        return credential.api_key

    def credential_of(self, key: str) -> Credential:
        """Hold an API key; see `CredentialAdapter.credential_of`."""
        return Credential(api_key=key)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionAdapter:
    """For providers that are reached with a subscription's token."""

    provider: str
    """The provider's name."""
    read_login: Callable[[], str | None] | None = None
    """Finds the token that the vendor's own command-line tool keeps; called for a live call only,
    and only when nothing else is given or stored."""
    remedy: str | None = None
    """How to get a token, in words."""

    def key_of(self, credential: Credential) -> str | None:
        """Take the access token; see `CredentialAdapter.key_of`."""
        return credential.access_token

    def credential_of(self, key: str) -> Credential:
        """Hold an access token; see `CredentialAdapter.credential_of`."""
        return Credential(access_token=key)


BUILTIN_ADAPTERS: Final[tuple[CredentialAdapter, ...]] = (
    ApiKeyAdapter(provider="anthropic"),
    SubscriptionAdapter(provider="openai-codex", read_login=read_codex_token, remedy=CODEX_REMEDY),
    SubscriptionAdapter(provider="gemini-subscription"),
)
"""What the built-in providers need beyond a plain key of the same name."""

KNOWN_PROVIDERS: Final = tuple(
    sorted(
        ENVIRONMENT_VARIABLES.keys()
        | KEYLESS_PROVIDERS
        | {adapter.provider for adapter in BUILTIN_ADAPTERS}
    )
)
"""Every provider for which a key may be stored, by name."""

_lock = threading.Lock()
_adapters: Mapping[str, CredentialAdapter] = {}


def register_credential_adapters(adapters: Iterable[CredentialAdapter]) -> None:
    """Publish adapters as one batch; those that are there already stay.

    Args:
        adapters: What to add; repeating it changes nothing.
    """
    global _adapters  # noqa: PLW0603 - replaced whole, so that readers need no lock
    batch = {adapter.provider: adapter for adapter in adapters}
    with _lock:
        _adapters = {**batch, **_adapters}


def get_credential_adapter(provider: str) -> CredentialAdapter:
    """Find a provider's adapter.

    Args:
        provider: The provider's name.

    Returns:
        The registered adapter, or one that takes a plain key.
    """
    return _adapters.get(provider) or ApiKeyAdapter(provider=provider)
