"""Parts for tests and demonstrations that need a vendor but no network.

from openprogram.testing import LoopbackVendor, Text, ToolCall

with LoopbackVendor([[ToolCall("list_dir", {"path": "."})], [Text("done")]]) as vendor:
    ...  # point a model's base_url at vendor.base_url
"""

from __future__ import annotations

from openprogram.testing.answers import (
    Answer,
    Drop,
    HttpError,
    MidStreamError,
    Part,
    Pause,
    Ping,
    RawBytes,
    RedactedThinking,
    ScriptEntry,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
)
from openprogram.testing.anthropic_messages import AnthropicMessages
from openprogram.testing.faux import FauxEntry, FauxProvider, FauxRequest, FauxScript
from openprogram.testing.google_generative_ai import GoogleGenerativeAi
from openprogram.testing.openai_codex import OpenAICodex
from openprogram.testing.openai_completions import OpenAICompletions
from openprogram.testing.openai_responses import OpenAIResponses
from openprogram.testing.protocol import ReceivedRequest, VendorProtocol
from openprogram.testing.server import LoopbackVendor, Script

__all__ = [
    "Answer",
    "AnthropicMessages",
    "Drop",
    "FauxEntry",
    "FauxProvider",
    "FauxRequest",
    "FauxScript",
    "GoogleGenerativeAi",
    "HttpError",
    "LoopbackVendor",
    "MidStreamError",
    "OpenAICodex",
    "OpenAICompletions",
    "OpenAIResponses",
    "Part",
    "Pause",
    "Ping",
    "RawBytes",
    "ReceivedRequest",
    "RedactedThinking",
    "Script",
    "ScriptEntry",
    "Text",
    "Thinking",
    "TokenCounts",
    "ToolCall",
    "VendorProtocol",
]
