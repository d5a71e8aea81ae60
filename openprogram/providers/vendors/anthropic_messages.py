"""The `anthropic-messages` protocol, through the official `anthropic` SDK.

A stream always begins with `start` and ends with one `done` or `error`: a refused request, a lost
connection or a malformed answer is an `error` event too, never an exception. Exceptions are left to
what is no answer of a vendor: cancellation, a missing SDK, and what the caller's own `on_payload`
raises, which runs before the stream starts. Nothing is retried here, so that a recording shows each
attempt.
"""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any, Final

from openprogram.errors import ModelRequestError, ProviderError
from openprogram.providers import types as t
from openprogram.providers.vendors._anthropic_events import EventReader
from openprogram.providers.vendors._anthropic_payload import build_payload
from openprogram.providers.vendors._assembly import MessageAssembler

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

API: Final = "anthropic-messages"

_CONNECTION_MODULE = "openprogram.providers.vendors._anthropic_connection"


class AnthropicMessagesProvider:
    """Streams answers of models that speak `anthropic-messages`."""

    requires_credentials: Final = True
    """The registry's entry point finds a key before it calls."""

    def __init__(self) -> None:
        self._is_sdk_loaded = False

    def stream(
        self, model: t.Model, context: t.Context, options: t.StreamOptions | None = None
    ) -> AsyncGenerator[t.AssistantMessageEvent, None]:
        """Stream an answer without reasoning.

        Closing the generator, cancelling the task that reads it, or setting `options.signal`
        closes the connection at once.

        Args:
            model: Who answers.
            context: What is asked.
            options: How; defaults when None.

        Returns:
            The events.
        """
        return self._stream(model, context, options or t.StreamOptions(), None)

    def stream_simple(
        self, model: t.Model, context: t.Context, options: t.SimpleStreamOptions | None = None
    ) -> AsyncGenerator[t.AssistantMessageEvent, None]:
        """Stream an answer, with reasoning as the options say; see `stream`.

        Args:
            model: Who answers.
            context: What is asked.
            options: How, and how hard to think; defaults when None.

        Returns:
            The events.
        """
        options = options or t.SimpleStreamOptions()
        return self._stream(model, context, options, options.reasoning)

    async def _stream(
        self,
        model: t.Model,
        context: t.Context,
        options: t.StreamOptions,
        reasoning: t.ThinkingLevel | None,
    ) -> AsyncGenerator[t.AssistantMessageEvent, None]:
        await self._load_sdk()
        from openprogram.providers.vendors._anthropic_connection import (
            open_answer,  # it needs the SDK
        )

        assembler = MessageAssembler(model)
        reader = EventReader(assembler)
        payload: dict[str, Any] | ModelRequestError
        try:
            payload = build_payload(model, context, options, reasoning)
        except ModelRequestError as error:
            payload = error
        else:
            if options.on_payload is not None:
                options.on_payload(payload)
        yield assembler.start()
        end: t.EventDone | t.EventError
        try:
            if isinstance(payload, ModelRequestError):
                raise payload
            async with open_answer(model, options, payload) as answer:
                async for data in answer:
                    for event in reader.read(data):
                        yield event
                    if reader.is_ended:
                        break
            end = reader.finish()
        except ModelRequestError as error:
            end = assembler.fail(error)
        # Only now: who stops reading at the last event must not leave a connection open.
        yield end

    async def _load_sdk(self) -> None:
        """Import the SDK, which takes seconds, without holding up the event loop."""
        if self._is_sdk_loaded:
            return
        try:
            await asyncio.to_thread(importlib.import_module, _CONNECTION_MODULE)
        except ModuleNotFoundError as error:
            if error.name != "anthropic":
                raise
            raise ProviderError(
                "anthropic-messages: the SDK is not installed; run 'pip install anthropic'"
            ) from error
        self._is_sdk_loaded = True


PROVIDER: Final = AnthropicMessagesProvider()
"""What the registry gets."""
