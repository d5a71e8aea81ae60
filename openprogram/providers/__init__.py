"""The provider boundary: the one way a model call leaves.

Importing it starts nothing: each name below loads its module when it is first asked for.
"""

# pyright: reportImportCycles=false
# The modules below import this package for `types`; at run time it imports none of them.

from __future__ import annotations

from openprogram._lazy_names import TYPE_CHECKING, serve_lazily

if TYPE_CHECKING:
    from openprogram.errors import ProviderRuntimeInitializationError
    from openprogram.providers._registry import ApiProvider
    from openprogram.providers.activation import RuntimeSnapshot
    from openprogram.providers.api_registry import (
        configure_provider_transform,
        get_api_provider,
        register_api_provider,
    )
    from openprogram.providers.initialization import initialize_provider_runtime
    from openprogram.providers.register import register_builtins
    from openprogram.providers.registry import create_runtime
    from openprogram.providers.stream import complete, complete_simple, stream, stream_simple

__all__ = [
    "ApiProvider",
    "ProviderRuntimeInitializationError",
    "RuntimeSnapshot",
    "complete",
    "complete_simple",
    "configure_provider_transform",
    "create_runtime",
    "get_api_provider",
    "initialize_provider_runtime",
    "register_api_provider",
    "register_builtins",
    "stream",
    "stream_simple",
]
_MODULES = {
    "ApiProvider": "openprogram.providers._registry",
    "ProviderRuntimeInitializationError": "openprogram.errors",
    "RuntimeSnapshot": "openprogram.providers.activation",
    "complete": "openprogram.providers.stream",
    "complete_simple": "openprogram.providers.stream",
    "configure_provider_transform": "openprogram.providers.api_registry",
    "create_runtime": "openprogram.providers.registry",
    "get_api_provider": "openprogram.providers.api_registry",
    "initialize_provider_runtime": "openprogram.providers.initialization",
    "register_api_provider": "openprogram.providers.api_registry",
    "register_builtins": "openprogram.providers.register",
    "stream": "openprogram.providers.stream",
    "stream_simple": "openprogram.providers.stream",
}
__getattr__, __dir__ = serve_lazily(__name__, _MODULES)
