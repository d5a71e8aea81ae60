"""Leads every provider call of the process to the test that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from openprogram.providers import configure_provider_transform, initialize_provider_runtime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from openprogram.providers import types as t
    from openprogram.providers._registry import ApiProvider


class Route(Protocol):
    """Where the calls of the running test go."""

    @property
    def requires_credentials(self) -> bool | None:
        """Whether a key is needed; None leaves it to the provider."""
        ...

    def provider_for(self, original: ApiProvider) -> ApiProvider:
        """Say who answers in a provider's place."""
        ...


class _Current:
    """The route of the test that runs in this process; pytest runs one at a time."""

    route: Route | None = None


def set_route(route: Route | None) -> Route | None:
    """Lead all calls this way from now on.

    Args:
        route: The running test's; None leads them to their own providers again.

    Returns:
        The way that they went before, to be set again: a test may run pytest in its own process.

    Raises:
        pytest.UsageError: The settings of this process record or replay by themselves, or another
            transform stands in front of the providers.
    """
    if route is not None:
        try:
            configure_provider_transform(_route)
        except RuntimeError as error:
            raise pytest.UsageError(_TAKEN) from error
        if initialize_provider_runtime().mode != "off":
            raise pytest.UsageError(_TAKEN)
    before, _Current.route = _Current.route, route
    return before


_TAKEN = (
    "provider recordings of tests need the provider runtime for themselves, but this process "
    "records or replays already, or has a transform of its own; run 'openprogram recordings "
    "status', then 'openprogram recordings off', or give the tests an OPENPROGRAM_STATE_DIR of "
    "their own"
)


class _RoutedProvider:
    """Stands in front of one provider."""

    def __init__(self, original: ApiProvider) -> None:
        self._original = original

    @property
    def requires_credentials(self) -> bool:
        """Whether a key is needed."""
        route = _Current.route
        needed = None if route is None else route.requires_credentials
        return getattr(self._original, "requires_credentials", True) if needed is None else needed

    @property
    def answering_provider(self) -> ApiProvider:
        """Whoever answers now; the agent loop does not wait before it asks a replay again."""
        return self._target()

    def stream(
        self, model: t.Model, context: t.Context, options: t.StreamOptions | None = None
    ) -> AsyncIterator[t.AssistantMessageEvent]:
        """Stream an answer from whoever answers now."""
        return self._target().stream(model, context, options)

    def stream_simple(
        self, model: t.Model, context: t.Context, options: t.SimpleStreamOptions | None = None
    ) -> AsyncIterator[t.AssistantMessageEvent]:
        """Stream an answer from whoever answers now."""
        return self._target().stream_simple(model, context, options)

    def _target(self) -> ApiProvider:
        route = _Current.route
        return self._original if route is None else route.provider_for(self._original)


def _route(original: ApiProvider) -> ApiProvider:
    return _RoutedProvider(original)
