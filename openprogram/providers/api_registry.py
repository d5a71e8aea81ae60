"""Registers providers, and looks them up for those who call a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram.errors import ProviderNotRegisteredError
from openprogram.providers._registry import REGISTRY
from openprogram.providers.initialization import initialize_provider_runtime

if TYPE_CHECKING:
    from openprogram.providers._registry import ApiProvider, Transform


def register_api_provider(api: str, provider: ApiProvider) -> None:
    """Let a provider serve an API.

    A provider that was registered before the first call is not replaced by a built-in one. Where
    calls are recorded or replayed, this provider's calls are too; registering what
    `get_api_provider` returned wraps nothing twice.

    Args:
        api: The API name, as it stands in `Model.api`.
        provider: The provider; it takes the place of the one that served the API before.

    Raises:
        Exception: The transform of this process cannot wrap the provider; nothing changed.
    """
    REGISTRY.register(api, provider)


def get_api_provider(api: str) -> ApiProvider:
    """Look a provider up; the first look-up of a process initializes the runtime.

    Args:
        api: The API name, as it stands in `Model.api`.

    Returns:
        The provider, wrapped as the settings of recording and replay ask.

    Raises:
        ProviderNotRegisteredError: Nobody serves this API.
        ProviderRuntimeInitializationError: The runtime could not start.
        RuntimeError: Called by the code that is just initializing the runtime.
    """
    initialize_provider_runtime()
    provider = REGISTRY.find(api)
    if provider is None:
        raise ProviderNotRegisteredError(api, known=REGISTRY.names())
    return provider


def configure_provider_transform(transform: Transform) -> None:
    """Put every provider, those to come too, behind a transform; once per process.

    Recording and replay use this place themselves: with another transform there already, a process
    that is set to record or replay blocks every call.

    Args:
        transform: Takes a provider and returns the one that is served in its place. It must not
            register providers itself. The transform that is there already changes nothing.

    Raises:
        RuntimeError: Another transform is there.
        Exception: The transform cannot wrap a provider; nothing changed.
    """
    REGISTRY.configure_transform(transform)
