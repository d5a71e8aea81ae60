"""Every vendor as a pair: the provider that asks it, and the loopback side that answers."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from openprogram.providers import types as t
from openprogram.providers.recording import RecordingProvider
from openprogram.providers.vendors import (
    anthropic_messages,
    google_generative_ai,
    openai_codex,
    openai_completions,
    openai_responses,
)
from openprogram.testing import (
    AnthropicMessages,
    GoogleGenerativeAi,
    LoopbackVendor,
    OpenAICodex,
    OpenAICompletions,
    OpenAIResponses,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from openprogram.providers.recording import RecordingSink
    from openprogram.testing import Script, VendorProtocol

TOOL = t.Tool(name="look", description="Look.", parameters={"type": "object", "properties": {}})
_CLAIMS = {"exp": 4_000_000_000, "https://api.openai.com/auth": {"chatgpt_account_id": "acc-1"}}
_CODEX_TOKEN = f"e30.{base64.urlsafe_b64encode(json.dumps(_CLAIMS).encode()).decode()}.c2ln"


def event(kind: str, **fields: Any) -> bytes:
    """Write an event whose type is also in its data."""
    return b"event: %b\n" % kind.encode() + data(type=kind, **fields)


def data(**fields: Any) -> bytes:
    """Write an event that is only data."""
    return b"data: " + json.dumps(fields).encode() + b"\n\n"


class Asked(Protocol):
    """What is demanded of a vendor's provider here."""

    def stream_simple(
        self, model: t.Model, context: t.Context, options: t.SimpleStreamOptions | None = None
    ) -> AsyncGenerator[t.AssistantMessageEvent, None]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One vendor."""

    api: str
    provider: Asked
    namespace: str
    protocol: Callable[[], VendorProtocol]
    interleaved: Callable[[], VendorProtocol]
    """The protocol with the pieces of parallel calls in turns, where it has pieces."""
    nothing: bytes
    """What comes inside a text and says nothing: empty choices, an empty delta, no candidate."""
    usage_again: bytes
    """What tells the usage of an answer once more, before its end, with other numbers."""
    too_long: str
    """What the vendor says of a prompt that is too long."""
    refusal: str
    """Why an answer ended, where the model refuses."""
    overload_status: int = 503
    key: str = field(default="test-key", repr=False)

    def vendor(self, script: Script, *, is_interleaved: bool = False) -> LoopbackVendor:
        """Make the loopback side."""
        protocol = self.interleaved if is_interleaved else self.protocol
        return LoopbackVendor(script, protocol=protocol())

    def recorded(self, sink: RecordingSink) -> Side:
        """Make the same, with each call recorded."""
        return replace(self, provider=RecordingProvider(self.provider, sink))

    def model(self, base_url: str) -> t.Model:
        """Describe a model behind the loopback side."""
        return t.Model(
            id="some-model",
            name="Some Model",
            api=self.api,
            provider=self.namespace,
            base_url=base_url,
            reasoning=True,
        )

    def stream(
        self, base_url: str, *messages: t.Message, **options: Any
    ) -> AsyncGenerator[t.AssistantMessageEvent, None]:
        """Ask; a greeting when there are no messages."""
        asked = list(messages) or [t.UserMessage(content="hi", timestamp=0)]
        context = t.Context(system_prompt="Be brief.", messages=asked, tools=[TOOL])
        given = t.SimpleStreamOptions(api_key=self.key, reasoning="low", **options)
        return self.provider.stream_simple(self.model(base_url), context, given)


class _InterleavedCodex(OpenAICodex):
    def __init__(self) -> None:
        super().__init__()
        self._is_interleaved = True


_OPENAI_TOO_LONG = "Your input exceeds the context window of this model."
_NO_OUTPUT: Mapping[str, Any] = {"item_id": "msg_loopback_0_0", "output_index": 0}
_RESPONSES: Mapping[str, Any] = {
    "nothing": event("response.output_text.delta", **_NO_OUTPUT, content_index=0, delta=""),
    "usage_again": event(
        "response.in_progress", response={"usage": {"input_tokens": 1, "output_tokens": 1}}
    ),
    "too_long": _OPENAI_TOO_LONG,
    "refusal": "refusal",
}

SIDES: Mapping[str, Side] = {
    side.api: side
    for side in (
        Side(
            api="anthropic-messages",
            provider=anthropic_messages.PROVIDER,
            namespace="anthropic",
            protocol=AnthropicMessages,
            interleaved=AnthropicMessages,
            nothing=event("content_block_delta", index=0, delta={"type": "text_delta", "text": ""}),
            usage_again=event(
                "message_delta", delta={"stop_reason": None}, usage={"output_tokens": 2}
            ),
            too_long="prompt is too long: 9 tokens > 8 maximum",
            refusal="refusal",
            overload_status=529,
        ),
        Side(
            api="openai-completions",
            provider=openai_completions.PROVIDER,
            namespace="openrouter",
            protocol=OpenAICompletions,
            interleaved=lambda: OpenAICompletions(is_interleaved=True),
            nothing=data(choices=[]),
            usage_again=data(choices=[], usage={"prompt_tokens": 1, "completion_tokens": 1}),
            too_long=_OPENAI_TOO_LONG,
            refusal="refusal",
        ),
        Side(
            api="openai-responses",
            provider=openai_responses.PROVIDER,
            namespace="openai",
            protocol=OpenAIResponses,
            interleaved=lambda: OpenAIResponses(is_interleaved=True),
            **_RESPONSES,
        ),
        Side(
            api="google-generative-ai",
            provider=google_generative_ai.PROVIDER,
            namespace="google",
            protocol=GoogleGenerativeAi,
            interleaved=GoogleGenerativeAi,
            nothing=data(candidates=[]),
            usage_again=data(usageMetadata={"promptTokenCount": 1, "candidatesTokenCount": 1}),
            too_long="The input token count (9) exceeds the maximum number of tokens allowed (8).",
            refusal="SAFETY",
        ),
        Side(
            api="openai-codex",
            provider=openai_codex.PROVIDER,
            namespace="openai-codex",
            protocol=OpenAICodex,
            interleaved=_InterleavedCodex,
            key=_CODEX_TOKEN,
            **_RESPONSES,
        ),
    )
}
"""By API."""
