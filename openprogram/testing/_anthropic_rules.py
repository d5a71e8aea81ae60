"""Which requests the `anthropic-messages` vendor refuses, and with what sentence.

The shape is a set of strict structs; the rules between fields follow as generators of faults. Two
rules are stricter than the vendor's, so that a sloppy client shows: roles must alternate, and an
unknown field is refused everywhere.
Source: https://platform.claude.com/docs/en/api/messages and the refusals seen there.
"""

from __future__ import annotations

import base64
import binascii
import json
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeAlias

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST_CACHE_MARKS = 4

NonEmpty: TypeAlias = Annotated[str, Meta(min_length=1)]
Identifier: TypeAlias = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]{1,128}$")]


class _Strict(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Refuses what it does not know."""


class _CacheControl(_Strict, kw_only=True, tag_field="type", tag="ephemeral"):
    ttl: Literal["5m", "1h"] = "5m"


class _Markable(_Strict, kw_only=True, tag_field="type"):
    cache_control: _CacheControl | None = None


class _Text(_Markable, kw_only=True, tag="text"):
    text: NonEmpty


class _Base64Source(_Strict, kw_only=True, tag_field="type", tag="base64"):
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    data: NonEmpty


class _Image(_Markable, kw_only=True, tag="image"):
    source: _Base64Source


class _ToolResult(_Markable, kw_only=True, tag="tool_result"):
    tool_use_id: Identifier
    content: str | list[_Text | _Image] = ""
    is_error: bool = False


class _ToolUse(_Markable, kw_only=True, tag="tool_use"):
    id: Identifier
    name: Identifier
    input: dict[str, Any]


class _Thinking(_Strict, kw_only=True, tag_field="type", tag="thinking"):
    thinking: str
    signature: NonEmpty


class _RedactedThinking(_Strict, kw_only=True, tag_field="type", tag="redacted_thinking"):
    data: NonEmpty


_UserBlock: TypeAlias = _Text | _Image | _ToolResult
_AssistantBlock: TypeAlias = _Text | _Thinking | _RedactedThinking | _ToolUse


class _UserMessage(_Strict, kw_only=True, tag_field="role", tag="user"):
    content: NonEmpty | Annotated[list[_UserBlock], Meta(min_length=1)]


class _AssistantMessage(_Strict, kw_only=True, tag_field="role", tag="assistant"):
    content: NonEmpty | Annotated[list[_AssistantBlock], Meta(min_length=1)]


_Message: TypeAlias = _UserMessage | _AssistantMessage


class _Schema(msgspec.Struct, kw_only=True):
    """A JSON Schema; only its kind is looked at."""

    type: Literal["object"]


class _Tool(_Strict, kw_only=True):
    name: Identifier
    description: str = ""
    input_schema: _Schema
    cache_control: _CacheControl | None = None


class _AnyChoice(_Strict, kw_only=True, tag_field="type", tag="any"):
    disable_parallel_tool_use: bool = False


class _AutoChoice(_Strict, kw_only=True, tag_field="type", tag="auto"):
    disable_parallel_tool_use: bool = False


class _NoChoice(_Strict, kw_only=True, tag_field="type", tag="none"):
    pass


class _NamedChoice(_Strict, kw_only=True, tag_field="type", tag="tool"):
    name: Identifier
    disable_parallel_tool_use: bool = False


class _ThinkingEnabled(_Strict, kw_only=True, tag_field="type", tag="enabled"):
    budget_tokens: Annotated[int, Meta(ge=1024)]


class _ThinkingAdaptive(_Strict, kw_only=True, tag_field="type", tag="adaptive"):
    pass


class _ThinkingDisabled(_Strict, kw_only=True, tag_field="type", tag="disabled"):
    pass


class _Metadata(_Strict, kw_only=True):
    user_id: str | None = None


class _OutputConfig(_Strict, kw_only=True):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None


class _Request(_Strict, kw_only=True):
    model: NonEmpty
    max_tokens: Annotated[int, Meta(ge=1)]
    messages: Annotated[list[_Message], Meta(min_length=1)]
    stream: bool = False
    system: str | list[_Text] = ""
    tools: list[_Tool] = []
    tool_choice: _AnyChoice | _AutoChoice | _NoChoice | _NamedChoice | None = None
    thinking: _ThinkingEnabled | _ThinkingAdaptive | _ThinkingDisabled | None = None
    temperature: Annotated[float, Meta(ge=0, le=1)] | None = None
    metadata: _Metadata | None = None
    output_config: _OutputConfig | None = None
    service_tier: Literal["auto", "standard_only"] | None = None
    stop_sequences: list[str] = []


def first_fault(raw_body: bytes, issued_signatures: Mapping[str, str]) -> str | None:
    """Find the first thing that the vendor would refuse.

    Args:
        raw_body: The body of the request.
        issued_signatures: The thinking behind each signature that was given out; a known signature
            must come back with the very same thinking.

    Returns:
        A sentence, or None when the request is sound.
    """
    try:
        request = msgspec.convert(json.loads(raw_body, parse_constant=_refuse_constant), _Request)
    except (ValueError, RecursionError) as error:
        return f"invalid request: {error}"
    return next(_faults(request, issued_signatures), None)


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _faults(request: _Request, issued_signatures: Mapping[str, str]) -> Iterator[str]:
    if not request.stream:
        yield "stream: this loopback vendor only streams"
    yield from _order_faults(request.messages)
    yield from _tool_result_faults(request.messages)
    yield from _block_faults(request, issued_signatures)
    yield from _tool_faults(request)
    yield from _thinking_faults(request)


def _order_faults(messages: list[_Message]) -> Iterator[str]:
    if not isinstance(messages[0], _UserMessage):
        yield "messages.0: the first message must be from the user"
    for index, (one, next_) in enumerate(pairwise(messages)):
        if type(one) is type(next_):
            yield f"messages.{index + 1}: roles must alternate between user and assistant"


def _tool_result_faults(messages: list[_Message]) -> Iterator[str]:
    asked: set[str] = set()
    for index, message in enumerate(messages):
        blocks = [] if isinstance(message.content, str) else message.content
        results = [block.tool_use_id for block in blocks if isinstance(block, _ToolResult)]
        if missing := asked - set(results):
            yield (
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(sorted(missing))}"
            )
        if unknown := set(results) - asked:
            yield f"messages.{index}: unexpected `tool_use_id` found: {', '.join(sorted(unknown))}"
        if len(set(results)) != len(results):
            yield f"messages.{index}: each `tool_use` must have a single result"
        if any(not isinstance(block, _ToolResult) for block in blocks[: len(results)]):
            yield f"messages.{index}: `tool_result` blocks must come first"
        asked = {block.id for block in blocks if isinstance(block, _ToolUse)}
    if asked:
        yield "messages: the last message asks for tools and no result follows"


def _block_faults(request: _Request, issued_signatures: Mapping[str, str]) -> Iterator[str]:
    marks = sum(tool.cache_control is not None for tool in request.tools)
    for block in _iterate_blocks(request):
        match block:
            case _Text() if not block.text.strip():
                yield "text content blocks must contain non-whitespace text"
            case _Image() if not _is_base64(block.source.data):
                yield "image.source.base64: invalid base64 data"
            case _Thinking() if issued_signatures.get(block.signature, block.thinking) != (
                block.thinking
            ):
                yield "Invalid `signature` in `thinking` block"
            case _:
                pass
        marks += isinstance(block, _Markable) and block.cache_control is not None
    if marks > _MOST_CACHE_MARKS:
        yield f"a maximum of 4 blocks with cache_control may be provided. Found {marks}"


def _iterate_blocks(request: _Request) -> Iterator[_UserBlock | _AssistantBlock]:
    if not isinstance(request.system, str):
        yield from request.system
    for message in request.messages:
        for block in [] if isinstance(message.content, str) else message.content:
            yield block
            if isinstance(block, _ToolResult) and not isinstance(block.content, str):
                yield from block.content


def _tool_faults(request: _Request) -> Iterator[str]:
    names = [tool.name for tool in request.tools]
    if len(set(names)) != len(names):
        yield "tools: tool names must be unique"
    choice = request.tool_choice
    if choice is not None and not names:
        yield "tool_choice may only be specified while providing tools"
    if isinstance(choice, _NamedChoice) and choice.name not in names:
        yield f"tool_choice: tool {choice.name} not found in provided tools"


def _thinking_faults(request: _Request) -> Iterator[str]:
    thinking = request.thinking
    if thinking is None or isinstance(thinking, _ThinkingDisabled):
        return
    if isinstance(thinking, _ThinkingEnabled) and thinking.budget_tokens >= request.max_tokens:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`"
    if request.temperature not in {None, 1}:
        yield "`temperature` may only be set to 1 when thinking is enabled"
    if isinstance(request.tool_choice, _AnyChoice | _NamedChoice):
        yield "Thinking may not be enabled when tool_choice forces tool use"


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        return False
    return True
