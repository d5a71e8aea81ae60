"""The table of built-in providers, published as one batch.

A vendor module's own SDK loads on its first call, not here.
"""

from __future__ import annotations

import importlib
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from openprogram.auth.adapters import (
    BUILTIN_ADAPTERS,
    get_credential_adapter,
    register_credential_adapters,
)
from openprogram.errors import ProviderError, quoted
from openprogram.providers._registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from openprogram.auth.adapters import CredentialAdapter
    from openprogram.providers._registry import ApiProvider, ProviderRegistry

_METHOD_NAMES = ("stream", "stream_simple")


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin:
    """Where a built-in provider is found."""

    api: str
    """The API that it serves; its module says the same in `API`."""
    module: str
    """The module that holds it, as `PROVIDER`."""


BUILTINS: Final = (
    Builtin(
        api="anthropic-messages",
        module="openprogram.providers.vendors.anthropic_messages",
    ),
    Builtin(
        api="openai-completions",
        module="openprogram.providers.vendors.openai_completions",
    ),
    Builtin(
        api="openai-responses",
        module="openprogram.providers.vendors.openai_responses",
    ),
    Builtin(
        api="openai-codex",
        module="openprogram.providers.vendors.openai_codex",
    ),
    Builtin(
        api="google-generative-ai",
        module="openprogram.providers.vendors.google_generative_ai",
    ),
    Builtin(
        api="gemini-subscription",
        module="openprogram.providers.vendors.gemini_subscription",
    ),
)
"""Every built-in provider."""


class BuiltinRegistration:
    """Registers a table of providers once, however many threads ask.

    Args:
        registry: Where they go.
        builtins: The table.
        adapters: The credential adapters that belong to them.
    """

    def __init__(
        self,
        registry: ProviderRegistry,
        builtins: Iterable[Builtin],
        adapters: Iterable[CredentialAdapter],
    ) -> None:
        self._registry = registry
        self._builtins = tuple(builtins)
        self._adapters = tuple(adapters)
        self._lock = threading.Lock()
        self._working_thread: int | None = None
        self._is_done = False
        self._is_cut_by_fork = False

    def run(self) -> None:
        """Register the table, unless that is done; see `register_builtins`."""
        if self._is_done:
            return
        this_thread = threading.get_ident()
        if self.is_at_work_here():
            raise RuntimeError(
                "register_builtins was called by a module that it is just importing; "
                "register from your own code instead"
            )
        with self._lock:
            if self._is_done:
                return
            if self._is_cut_by_fork:
                # The import locks of the thread that is gone would never be released.
                raise ProviderError(
                    "this process was forked while another thread registered the built-in "
                    "providers; fork before that, or after it"
                )
            self._working_thread = this_thread
            try:
                batch = {builtin.api: _load(builtin) for builtin in self._builtins}
                self._registry.register_missing(batch)
                register_credential_adapters(self._adapters)
                self._is_done = True
            finally:
                self._working_thread = None

    def is_at_work_here(self) -> bool:
        """Say whether this very thread is registering, so that its caller must wait for nobody."""
        return self._working_thread == threading.get_ident()

    def survive_fork(self) -> None:
        """Make a forked child fail rather than wait for a thread that it does not have."""
        self._lock = threading.Lock()
        if self._working_thread not in {None, threading.get_ident()}:
            self._working_thread = None
            self._is_cut_by_fork = True


def register_builtins() -> None:
    """Register the built-in providers and their credential adapters; the second call does nothing.

    Neither settings nor recordings are looked at. A provider that was registered before stays. A
    failure leaves the registry as it was, and the next call tries again.

    Raises:
        Exception: Whatever importing a vendor module raises: that is a defect of it.
        ProviderError: A vendor module does not hold what the table says.
        RuntimeError: Called by a vendor module while it is imported.
    """
    _REGISTRATION.run()


def is_registering_here() -> bool:
    """Say whether the caller is a vendor module that `register_builtins` is just importing.

    Returns:
        True when this very thread is at work there.
    """
    return _REGISTRATION.is_at_work_here()


def find_credential_adapter(provider: str) -> CredentialAdapter:
    """Find out how a provider's stored credential becomes a key.

    The built-ins are registered first, and nothing else is started: neither settings nor a
    recording can make this fail.

    Args:
        provider: The provider's name.

    Returns:
        The registered adapter, or one that takes a plain key.

    Raises:
        Exception: Whatever `register_builtins` raises.
    """
    register_builtins()
    return get_credential_adapter(provider)


def _load(builtin: Builtin) -> ApiProvider:
    # Late: importing this module must load no vendor module.
    module = importlib.import_module(builtin.module)
    provider: object = getattr(module, "PROVIDER", None)
    api: object = getattr(module, "API", None)
    if api != builtin.api:
        raise ProviderError(f"{builtin.module}: its API is {quoted(api)}, not {builtin.api}")
    for name in _METHOD_NAMES:
        if not callable(getattr(provider, name, None)):
            raise ProviderError(f"{builtin.module}: PROVIDER has no method {name}")
    return cast("ApiProvider", provider)


_REGISTRATION: Final = BuiltinRegistration(REGISTRY, BUILTINS, BUILTIN_ADAPTERS)

os.register_at_fork(after_in_child=_REGISTRATION.survive_fork)
