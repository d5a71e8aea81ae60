"""The `openai-responses` protocol, through the official `openai` SDK.

A stream always begins with `start` and ends with one `done` or `error`: a refused request, a lost
connection or a malformed answer is an `error` event too, never an exception. Exceptions are left to
what is no answer of a vendor: cancellation, a missing SDK, and what the caller's own `on_payload`
raises, which runs before the stream starts. Nothing is retried here, so that a recording shows each
attempt; and nothing is stored at the vendor.
"""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any, Final

from openprogram.errors import ModelRequestError, ProviderError
from openprogram.providers import types as t
from openprogram.providers.vendors._assembly import MessageAssembler
from openprogram.providers.vendors._responses_events import EventReader
from openprogram.providers.vendors._responses_payload import build_payload

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

API: Final = "openai-responses"

_CONNECTION_MODULE = "openprogram.providers.vendors._openai_connection"


class OpenAIResponsesProvider:
    """Streams answers of models that speak `openai-responses`, or a dialect of it."""

    requires_credentials: Final = True
    """The registry's entry point finds a key before it calls."""

    api = API
    """Which protocol this is."""
    path = "/responses"
    """The endpoint below `model.base_url`."""

    def __init__(self) -> None:
        self._is_sdk_loaded = False

    def build_payload(
        self,
        model: t.Model,
        context: t.Context,
        options: t.StreamOptions,
        reasoning: t.ThinkingLevel | None,
    ) -> dict[str, Any]:
        """Build the body of a request; see `_responses_payload.build_payload`."""
        return build_payload(model, context, options, reasoning)

    def complete_options(self, model: t.Model, options: t.StreamOptions) -> t.StreamOptions:
        """Add to the options what a dialect wants beside the key.

        Args:
            model: Who shall answer.
            options: The caller's.

        Returns:
            Those to send with.

        Raises:
            ModelRequestError: What is needed is not there.
        """
        del model  # it has nothing to add here
        return options

    def stream(
        self, model: t.Model, context: t.Context, options: t.StreamOptions | None = None
    ) -> AsyncGenerator[t.AssistantMessageEvent, None]:
        """Stream an answer; a model that always reasons does so at its own measure.

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
        from openprogram.providers.vendors._openai_connection import (
            open_answer,  # it needs the SDK
        )

        assembler = MessageAssembler(model)
        reader = EventReader(assembler)
        payload: dict[str, Any] | ModelRequestError
        try:
            payload = self.build_payload(model, context, options, reasoning)
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
            sent = self.complete_options(model, options)
            async with open_answer(model, sent, payload, path=self.path) as answer:
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
            if error.name not in {"openai", "httpx2"}:
                raise
            raise ProviderError(
                f"{self.api}: the SDK is not installed; run 'pip install openai'"
            ) from error
        self._is_sdk_loaded = True


PROVIDER: Final = OpenAIResponsesProvider()
"""What the registry gets."""
