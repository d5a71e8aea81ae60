"""The unified model of a provider call, and its two conversions to and from JSON values.

This module owns the names, defaults and closed sets of the wire format. It knows nothing of files,
vendors or the registry. Fields that a newer writer added are not rejected on reading; whoever needs
them reads the raw row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypeVar, cast, overload

import msgspec

if TYPE_CHECKING:
    from types import UnionType

T = TypeVar("T")

StopReason: TypeAlias = Literal["stop", "length", "toolUse", "error", "aborted"]
ThinkingLevel: TypeAlias = Literal["minimal", "low", "medium", "high", "xhigh", "max"]
Modality: TypeAlias = Literal["text", "image", "video", "audio"]

_CREDENTIAL_FIELDS = frozenset({"api_key", "headers"})
REQUEST_LOCAL_FIELD_NAMES = frozenset({"signal", "on_payload"})
"""Option fields that belong to one process and are never serialized."""


class _Wire(msgspec.Struct, kw_only=True):
    """A plain value of the wire format: keywords in, attributes out, compared by value."""


class ModelCost(_Wire, kw_only=True):
    """Prices in USD per million tokens; None means that the price is unknown, which is not zero."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    source: Literal["model_catalog", "configured", "unknown"] = "unknown"


class Model(_Wire, kw_only=True):
    """Which model answers, over which wire protocol, and what it can do."""

    id: str
    """The vendor's own name of the model."""
    name: str
    """A name for people."""
    api: str
    """The wire protocol, such as `anthropic-messages`; the registry looks providers up by it."""
    provider: str
    """Who serves it, such as `anthropic`."""
    base_url: str
    """Where, as the vendor's documentation writes it."""
    reasoning: bool = False
    structured_output: bool | None = None
    thinking_levels: list[str] = []
    default_thinking_level: str | None = None
    thinking_variant: str | None = None
    fast: bool = False
    input: list[Modality] = msgspec.field(default_factory=lambda: ["text"])
    """What the model can read."""
    cost: ModelCost = msgspec.field(default_factory=ModelCost)
    context_window: int = 128_000
    """In tokens."""
    max_tokens: int = 8192
    """The longest answer, in tokens."""
    headers: dict[str, str] | None = None
    """Sent with each request."""
    compat: Any = None
    """Quirks of a compatible server, as its vendor module reads them."""


class TextContent(_Wire, kw_only=True, tag_field="type", tag="text"):
    """A piece of text."""

    type: ClassVar[Literal["text"]] = "text"
    text: str
    text_signature: str | None = None
    cache_control: Any = None


class ThinkingContent(_Wire, kw_only=True, tag_field="type", tag="thinking"):
    """A piece of the model's reasoning; the signature is kept byte for byte."""

    type: ClassVar[Literal["thinking"]] = "thinking"
    thinking: str
    thinking_signature: str | None = None
    """Opaque; for a redacted block, the vendor's encrypted payload."""
    redacted: bool | None = None


class ToolCall(_Wire, kw_only=True, tag_field="type", tag="toolCall"):
    """The model asks for a tool."""

    type: ClassVar[Literal["toolCall"]] = "toolCall"
    id: str
    name: str
    arguments: dict[str, Any]
    """Empty until the call is whole: its `toolcall_end` event brings the parsed arguments."""
    thought_signature: str | None = None


class ImageContent(_Wire, kw_only=True, tag_field="type", tag="image"):
    """An image, base64."""

    type: ClassVar[Literal["image"]] = "image"
    data: str
    mime_type: str
    cache_control: Any = None


class VideoContent(_Wire, kw_only=True, tag_field="type", tag="video"):
    """A video, base64."""

    type: ClassVar[Literal["video"]] = "video"
    data: str
    mime_type: str


class AudioContent(_Wire, kw_only=True, tag_field="type", tag="audio"):
    """A sound, base64."""

    type: ClassVar[Literal["audio"]] = "audio"
    data: str
    mime_type: str


InputContent: TypeAlias = TextContent | ImageContent | VideoContent | AudioContent
"""What a user or a tool can say."""
AssistantContent: TypeAlias = TextContent | ThinkingContent | ToolCall
"""What a model can say."""


class UsageCost(_Wire, kw_only=True):
    """What a call cost, in USD."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    total: float = 0.0


class Usage(_Wire, kw_only=True):
    """Token counts of a call."""

    input: int = 0
    """Without the tokens that came from a cache."""
    output: int = 0
    """Reasoning tokens included."""
    cache_read: int = 0
    cache_write: int = 0
    total_tokens: int = 0
    cost: UsageCost = msgspec.field(default_factory=UsageCost)


class UserMessage(_Wire, kw_only=True, tag_field="role", tag="user"):
    """What the user says."""

    role: ClassVar[Literal["user"]] = "user"
    content: str | list[InputContent]
    timestamp: int
    """Unix milliseconds."""


class AssistantMessage(_Wire, kw_only=True, tag_field="role", tag="assistant"):
    """What the model says, whole or so far."""

    role: ClassVar[Literal["assistant"]] = "assistant"
    content: list[AssistantContent]
    api: str
    provider: str
    model: str
    usage: Usage = msgspec.field(default_factory=Usage)
    stop_reason: StopReason = "stop"
    error_message: str | None = None
    error_reason: str | None = None
    error_retryable: bool | None = None
    error_retry_after_s: float | None = None
    structured_output: Any = None
    structured_output_mode: str | None = None
    structured_output_attempt: int | None = None
    timestamp: int
    """Unix milliseconds."""


class ToolResultMessage(_Wire, kw_only=True, tag_field="role", tag="toolResult"):
    """What a tool answers to one call."""

    role: ClassVar[Literal["toolResult"]] = "toolResult"
    tool_call_id: str
    tool_name: str
    content: list[InputContent]
    details: Any = None
    is_error: bool = False
    timestamp: int
    """Unix milliseconds."""


Message: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage


class Tool(_Wire, kw_only=True):
    """A tool that the model may ask for."""

    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON Schema."""
    cache_control: Any = None


class Context(_Wire, kw_only=True):
    """What the model is asked."""

    system_prompt: str | None = None
    messages: list[Message] = []
    tools: list[Tool] | None = None


class StreamOptions(_Wire, kw_only=True):
    """How a call is made.

    `signal` and `on_payload` are request-local: they are never serialized and never compared.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    api_key: str | None = None
    transport: Literal["sse", "websocket", "auto"] | None = None
    cache_retention: Literal["none", "short", "long"] | None = "short"
    session_id: str | None = None
    headers: dict[str, str] | None = None
    max_retry_delay_ms: int = 60_000
    metadata: dict[str, Any] | None = None
    service_tier: str | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    web_search: Any = None
    response_format: Any = None
    signal: Any = None
    """Anything with `is_set()`; when it is set the stream ends with an `aborted` error event."""
    on_payload: Any = None
    """Called with the vendor's payload just before it is sent."""

    def __repr__(self) -> str:
        """Leave credentials out: tracebacks and test reports show what stands in variables."""
        fields = ((name, getattr(self, name)) for name in self.__struct_fields__)
        shown = ", ".join(
            f"{name}=..." if name in _CREDENTIAL_FIELDS and value else f"{name}={value!r}"
            for name, value in fields
        )
        return f"{type(self).__name__}({shown})"


class ThinkingBudgets(_Wire, kw_only=True):
    """How many tokens each reasoning level may spend."""

    minimal: int | None = None
    low: int | None = None
    medium: int | None = None
    high: int | None = None


class SimpleStreamOptions(StreamOptions, kw_only=True):
    """`StreamOptions` and how hard to think, in words that hold for every vendor."""

    reasoning: ThinkingLevel | None = None
    thinking_budgets: ThinkingBudgets | None = None


class _Event(_Wire, kw_only=True, tag_field="type"):
    """One step of a streamed answer."""


class EventStart(_Event, kw_only=True, tag="start"):
    """The stream has begun."""

    type: ClassVar[Literal["start"]] = "start"
    partial: AssistantMessage


class EventTextStart(_Event, kw_only=True, tag="text_start"):
    """A text block has begun."""

    type: ClassVar[Literal["text_start"]] = "text_start"
    content_index: int
    partial: AssistantMessage
    output_attempt: int | None = None


class EventTextDelta(_Event, kw_only=True, tag="text_delta"):
    """More text for a block."""

    type: ClassVar[Literal["text_delta"]] = "text_delta"
    content_index: int
    delta: str
    partial: AssistantMessage
    output_attempt: int | None = None


class EventTextEnd(_Event, kw_only=True, tag="text_end"):
    """A text block is whole."""

    type: ClassVar[Literal["text_end"]] = "text_end"
    content_index: int
    content: str
    partial: AssistantMessage
    output_attempt: int | None = None


class EventThinkingStart(_Event, kw_only=True, tag="thinking_start"):
    """A thinking block has begun."""

    type: ClassVar[Literal["thinking_start"]] = "thinking_start"
    content_index: int
    partial: AssistantMessage


class EventThinkingDelta(_Event, kw_only=True, tag="thinking_delta"):
    """More thinking for a block."""

    type: ClassVar[Literal["thinking_delta"]] = "thinking_delta"
    content_index: int
    delta: str
    partial: AssistantMessage


class EventThinkingEnd(_Event, kw_only=True, tag="thinking_end"):
    """A thinking block is whole."""

    type: ClassVar[Literal["thinking_end"]] = "thinking_end"
    content_index: int
    content: str
    partial: AssistantMessage


class EventToolCallStart(_Event, kw_only=True, tag="toolcall_start"):
    """A tool call has begun; the partial message holds its id and name."""

    type: ClassVar[Literal["toolcall_start"]] = "toolcall_start"
    content_index: int
    partial: AssistantMessage


class EventToolCallDelta(_Event, kw_only=True, tag="toolcall_delta"):
    """More of a tool call's arguments, as a piece of JSON text."""

    type: ClassVar[Literal["toolcall_delta"]] = "toolcall_delta"
    content_index: int
    delta: str
    partial: AssistantMessage


class EventToolCallEnd(_Event, kw_only=True, tag="toolcall_end"):
    """A tool call is whole, its arguments parsed."""

    type: ClassVar[Literal["toolcall_end"]] = "toolcall_end"
    content_index: int
    tool_call: ToolCall
    partial: AssistantMessage


class EventDone(_Event, kw_only=True, tag="done"):
    """The stream ended well."""

    type: ClassVar[Literal["done"]] = "done"
    reason: Literal["stop", "length", "toolUse"]
    message: AssistantMessage


class EventError(_Event, kw_only=True, tag="error"):
    """The stream ended badly; the message holds what had come by then, and the error."""

    type: ClassVar[Literal["error"]] = "error"
    reason: Literal["aborted", "error"]
    error: AssistantMessage


class EventStructuredOutputRetry(_Event, kw_only=True, tag="structured_output_retry"):
    """A structured answer did not validate and is asked for again (format version 2 only)."""

    type: ClassVar[Literal["structured_output_retry"]] = "structured_output_retry"
    attempt: int
    next_attempt: int
    issues: Any


class EventStructuredOutputEnd(_Event, kw_only=True, tag="structured_output_end"):
    """A structured answer is whole (format version 2 only)."""

    type: ClassVar[Literal["structured_output_end"]] = "structured_output_end"
    attempt: int
    mode: str
    value: Any


BlockDeltaEvent: TypeAlias = EventTextDelta | EventThinkingDelta | EventToolCallDelta
BlockEndEvent: TypeAlias = EventTextEnd | EventThinkingEnd | EventToolCallEnd

AssistantMessageEvent: TypeAlias = (
    EventStart
    | EventTextStart
    | EventTextDelta
    | EventTextEnd
    | EventThinkingStart
    | EventThinkingDelta
    | EventThinkingEnd
    | EventToolCallStart
    | EventToolCallDelta
    | EventToolCallEnd
    | EventDone
    | EventError
)
"""The twelve events of a stream.

Contract: a stream, once started, yields `start` first and ends with exactly one `done` or `error`;
trouble after the start is an `error` event, not an exception. Every non-terminal event but the two
of format version 2 carries `partial`, the message so far.
"""

RecordedEvent: TypeAlias = (
    AssistantMessageEvent | EventStructuredOutputRetry | EventStructuredOutputEnd
)
"""What may stand in a recording of format version 2: the twelve, and two more."""


def to_wire(value: msgspec.Struct) -> dict[str, Any]:
    """Turn a value of this module into JSON values.

    Nulls and defaults are written; request-local options are not.

    Args:
        value: A model, context, message, tool, usage, options or event.

    Returns:
        A dict of JSON values in the declared order.

    Raises:
        TypeError: An untyped field holds something that JSON cannot say.

    Example:
        >>> to_wire(TextContent(text="hi"))
        {'type': 'text', 'text': 'hi', 'text_signature': None, 'cache_control': None}
    """
    if isinstance(value, StreamOptions):
        value = msgspec.structs.replace(value, signal=None, on_payload=None)
        wire = cast("dict[str, Any]", msgspec.to_builtins(value))
        for name in REQUEST_LOCAL_FIELD_NAMES:
            del wire[name]
        return wire
    return cast("dict[str, Any]", msgspec.to_builtins(value))


@overload
def from_wire(type_: type[T], data: Any) -> T: ...
@overload
def from_wire(type_: UnionType, data: Any) -> Any: ...
def from_wire(type_: Any, data: Any) -> Any:
    """Build a typed value from JSON values, and validate it.

    Args:
        type_: A type of this module, or a union of them such as `AssistantMessageEvent`.
        data: The dict as it stood in a row. Unknown fields are ignored.

    Returns:
        The typed value.

    Raises:
        ValueError: The data does not fit; the message names the place.

    Example:
        >>> from_wire(Usage, {"input": 3}).input
        3
        >>> from_wire(Usage, {"input": "3"})
        Traceback (most recent call last):
            ...
        msgspec.ValidationError: Expected `int`, got `str` - at `$.input`
    """
    return msgspec.convert(data, type_)
