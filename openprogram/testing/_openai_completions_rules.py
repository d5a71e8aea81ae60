"""Which requests an `openai-completions` vendor refuses, and with what sentence.

The shape is a set of strict structs; the rules between fields follow as generators of faults. The
fields in which compatible servers differ from OpenAI are known as well; what none of them knows is
refused everywhere, so that a sloppy client shows.
Source: https://platform.openai.com/docs/api-reference/chat/create and the refusals seen there.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeAlias

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from collections.abc import Iterator

NonEmpty: TypeAlias = Annotated[str, Meta(min_length=1)]
Name: TypeAlias = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
CallId: TypeAlias = Annotated[str, Meta(min_length=1, max_length=40)]

_DATA_URL = re.compile(r"data:image/(?:jpeg|png|gif|webp);base64,(.+)", re.DOTALL)


class _Strict(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Refuses what it does not know."""


class _CacheControl(_Strict, kw_only=True, tag_field="type", tag="ephemeral"):
    ttl: Literal["5m", "1h"] = "5m"


class _Markable(_Strict, kw_only=True, tag_field="type"):
    cache_control: _CacheControl | None = None


class _Text(_Markable, kw_only=True, tag="text"):
    text: NonEmpty


class _ImageUrl(_Strict, kw_only=True):
    url: NonEmpty


class _Image(_Markable, kw_only=True, tag="image_url"):
    image_url: _ImageUrl


class _AudioData(_Strict, kw_only=True):
    data: NonEmpty
    format: Literal["wav", "mp3"]


class _Audio(_Strict, kw_only=True, tag_field="type", tag="input_audio"):
    input_audio: _AudioData


class _System(_Strict, kw_only=True, tag_field="role", tag="system"):
    content: NonEmpty


class _Developer(_Strict, kw_only=True, tag_field="role", tag="developer"):
    content: NonEmpty


class _User(_Strict, kw_only=True, tag_field="role", tag="user"):
    content: NonEmpty | Annotated[list[_Text | _Image | _Audio], Meta(min_length=1)]


class _CalledFunction(_Strict, kw_only=True):
    name: Name
    arguments: str


class _Call(_Strict, kw_only=True, tag_field="type", tag="function"):
    id: CallId
    function: _CalledFunction
    extra_content: dict[str, Any] | None = None


class _Assistant(_Strict, kw_only=True, tag_field="role", tag="assistant"):
    content: NonEmpty | None = None
    tool_calls: Annotated[list[_Call], Meta(min_length=1)] | None = None
    reasoning: NonEmpty | None = None
    reasoning_content: NonEmpty | None = None
    reasoning_details: list[dict[str, Any]] | None = None


class _ToolResult(_Strict, kw_only=True, tag_field="role", tag="tool"):
    tool_call_id: CallId
    content: NonEmpty
    name: Name | None = None


_Message: TypeAlias = _System | _Developer | _User | _Assistant | _ToolResult


class _Schema(msgspec.Struct, kw_only=True):
    """A JSON Schema; only its kind is looked at."""

    type: Literal["object"]
    properties: dict[str, Any]


class _Function(_Strict, kw_only=True):
    name: Name
    parameters: _Schema
    description: str = ""


class _Tool(_Strict, kw_only=True, tag_field="type", tag="function"):
    function: _Function
    cache_control: _CacheControl | None = None


class _Named(_Strict, kw_only=True):
    name: Name


class _NamedChoice(_Strict, kw_only=True, tag_field="type", tag="function"):
    function: _Named


class _StreamOptions(_Strict, kw_only=True):
    include_usage: bool = False


class _Reasoning(_Strict, kw_only=True):
    effort: Literal["minimal", "low", "medium", "high", "xhigh"]


class _Thinking(_Strict, kw_only=True):
    type: Literal["enabled", "disabled"]


class _Request(_Strict, kw_only=True):
    model: NonEmpty
    messages: Annotated[list[_Message], Meta(min_length=1)]
    stream: bool = False
    stream_options: _StreamOptions | None = None
    store: bool | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    tools: Annotated[list[_Tool], Meta(min_length=1)] | None = None
    tool_choice: Literal["auto", "none", "required"] | _NamedChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = (
        None
    )
    reasoning: _Reasoning | None = None
    thinking: _Thinking | None = None
    response_format: dict[str, Any] | None = None
    service_tier: NonEmpty | None = None
    prompt_cache_key: Annotated[str, Meta(max_length=64)] | None = None
    safety_identifier: str | None = None
    user: str | None = None


def first_fault(raw_body: bytes) -> str | None:
    """Find the first thing that the vendor would refuse.

    Args:
        raw_body: The body of the request.

    Returns:
        A sentence, or None when the request is sound.
    """
    try:
        request = msgspec.convert(json.loads(raw_body, parse_constant=_refuse_constant), _Request)
    except (ValueError, RecursionError) as error:
        return f"invalid request: {error}"
    return next(_faults(request), None)


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _faults(request: _Request) -> Iterator[str]:
    if not request.stream:
        yield "stream: this loopback vendor only streams"
    if request.max_tokens is not None and request.max_completion_tokens is not None:
        yield "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
    yield from _call_faults(request.messages)
    yield from _content_faults(request.messages)
    yield from _tool_faults(request)


def _call_faults(messages: list[_Message]) -> Iterator[str]:
    open_ids: set[str] = set()
    for message in messages:
        if isinstance(message, _ToolResult):
            if message.tool_call_id not in open_ids:
                yield (
                    "messages with role 'tool' must be a response to a preceding message with "
                    "'tool_calls'."
                )
            open_ids.discard(message.tool_call_id)
        elif open_ids:
            yield _unanswered(open_ids)
        if isinstance(message, _Assistant):
            ids = [call.id for call in message.tool_calls or ()]
            if len(set(ids)) != len(ids):
                yield "Duplicate value for 'tool_call_id'"
            open_ids = set(ids)
    if open_ids:
        yield _unanswered(open_ids)


def _unanswered(ids: set[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        f"each 'tool_call_id'. Missing: {', '.join(sorted(ids))}"
    )


def _content_faults(messages: list[_Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        match message:
            case _Assistant(content=None, tool_calls=None):
                yield f"messages.{index}: expected content or tool_calls"
            case _Assistant():
                for call in message.tool_calls or ():
                    if not _is_json_object(call.function.arguments):
                        yield f"messages.{index}: arguments must be a JSON object"
            case _User(content=list() as parts):
                yield from (
                    f"messages.{index}: invalid image"
                    for part in parts
                    if isinstance(part, _Image) and not _is_image(part.image_url.url)
                )
            case _:
                pass


def _tool_faults(request: _Request) -> Iterator[str]:
    names = [tool.function.name for tool in request.tools or ()]
    if len(set(names)) != len(names):
        yield "tools: tool names must be unique"
    choice = request.tool_choice
    if choice is not None and not names:
        yield "'tool_choice' is only allowed when 'tools' are specified."
    if request.parallel_tool_calls is not None and not names:
        yield "'parallel_tool_calls' is only allowed when 'tools' are specified."
    if isinstance(choice, _NamedChoice) and choice.function.name not in names:
        yield f"Tool choice '{choice.function.name}' not found in 'tools' parameter."


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, parse_constant=_refuse_constant), dict)
    except (ValueError, RecursionError):
        return False


def _is_image(url: str) -> bool:
    match = _DATA_URL.fullmatch(url)
    try:
        return match is not None and bool(base64.b64decode(match[1], validate=True))
    except binascii.Error:
        return False
