"""A model behind the loopback vendor, and one call of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from openprogram.providers import types as t
from openprogram.providers.vendors.anthropic_messages import PROVIDER

if TYPE_CHECKING:
    from openprogram.testing import LoopbackVendor

MakeModel: TypeAlias = Callable[..., t.Model]
Ask: TypeAlias = Callable[..., Awaitable[list[t.AssistantMessageEvent]]]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the developer's has no business between a test and the loopback vendor."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def make_model() -> MakeModel:
    """Return a function that makes a model at a base URL."""

    def make(base_url: str = "http://127.0.0.1:9", **fields: Any) -> t.Model:
        described: dict[str, Any] = {
            "id": "some-model",
            "name": "Some Model",
            "api": "anthropic-messages",
            "provider": "anthropic",
            "base_url": base_url,
            "reasoning": True,
        }
        return t.Model(**{**described, **fields})

    return make


@pytest.fixture
def ask(make_model: MakeModel) -> Ask:
    """Return a function that makes one call and gives all its events."""

    async def ask_(
        vendor: LoopbackVendor,
        *messages: t.Message,
        model: t.Model | None = None,
        context: t.Context | None = None,
        **options: Any,
    ) -> list[t.AssistantMessageEvent]:
        given: dict[str, Any] = {"api_key": "test-key", **options}
        asked = list(messages) or [t.UserMessage(content="hi", timestamp=0)]
        stream = PROVIDER.stream_simple(
            model or make_model(vendor.base_url),
            context or t.Context(messages=asked),
            t.SimpleStreamOptions(**given),
        )
        return [event async for event in stream]

    return ask_
