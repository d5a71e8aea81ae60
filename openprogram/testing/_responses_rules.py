"""Which requests a vendor of the Responses dialect refuses, and with what sentence.

The shape is a set of strict structs; the rules between fields follow as generators of faults. Some
rules are stricter than the vendor's, so that a sloppy client shows: an unknown field is refused
everywhere, arguments must be a JSON object, and nothing may be asked to be stored.
Source: https://platform.openai.com/docs/api-reference/responses/create and the refusals seen there.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeAlias

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NonEmpty: TypeAlias = Annotated[str, Meta(min_length=1)]
Name: TypeAlias = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
CallId: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
ItemId: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]

_DATA_URL = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,(.+)", re.DOTALL)


class _Strict(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Refuses what it does not know."""


class _InputText(_Strict, kw_only=True, tag_field="type", tag="input_text"):
    text: str


class _InputImage(_Strict, kw_only=True, tag_field="type", tag="input_image"):
    detail: Literal["low", "high", "auto", "original"]
    image_url: NonEmpty


class _OutputText(_Strict, kw_only=True, tag_field="type", tag="output_text"):
    text: str
    annotations: list[Any]


class _Refusal(_Strict, kw_only=True, tag_field="type", tag="refusal"):
    refusal: str


class _SummaryText(_Strict, kw_only=True, tag_field="type", tag="summary_text"):
    text: str


class _ReasoningText(_Strict, kw_only=True, tag_field="type", tag="reasoning_text"):
    text: str


_MessagePart: TypeAlias = _InputText | _InputImage | _OutputText | _Refusal


class _Message(_Strict, kw_only=True, tag_field="type", tag="message"):
    role: Literal["user", "assistant", "system", "developer"]
    content: NonEmpty | Annotated[list[_MessagePart], Meta(min_length=1)]
    id: ItemId | None = None
    status: Literal["completed", "incomplete"] | None = None
    phase: Literal["commentary", "final_answer"] | None = None


class _Reasoning(_Strict, kw_only=True, tag_field="type", tag="reasoning"):
    id: ItemId
    summary: list[_SummaryText]
    content: list[_ReasoningText] = []
    encrypted_content: NonEmpty | None = None


class _FunctionCall(_Strict, kw_only=True, tag_field="type", tag="function_call"):
    call_id: CallId
    name: Name
    arguments: str
    id: ItemId | None = None


class _FunctionOutput(_Strict, kw_only=True, tag_field="type", tag="function_call_output"):
    call_id: CallId
    output: str | Annotated[list[_InputText | _InputImage], Meta(min_length=1)]


_Item: TypeAlias = _Message | _Reasoning | _FunctionCall | _FunctionOutput

_ID_PREFIXES: dict[type[Any], str] = {_Message: "msg", _Reasoning: "rs", _FunctionCall: "fc"}


class _Schema(msgspec.Struct, kw_only=True):
    """A JSON Schema; only its kind is looked at."""

    type: Literal["object"]


class _Tool(_Strict, kw_only=True, tag_field="type", tag="function"):
    name: Name
    parameters: _Schema
    strict: bool
    description: str = ""


class _NamedChoice(_Strict, kw_only=True, tag_field="type", tag="function"):
    name: Name


class _ReasoningOptions(_Strict, kw_only=True):
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None


class _Request(_Strict, kw_only=True):
    model: NonEmpty
    input: Annotated[list[_Item], Meta(min_length=1)]
    stream: bool = False
    store: bool = True
    instructions: str | None = None
    tools: list[_Tool] = []
    tool_choice: Literal["auto", "none", "required"] | _NamedChoice | None = None
    parallel_tool_calls: bool | None = None
    include: list[Literal["reasoning.encrypted_content"]] = []
    reasoning: _ReasoningOptions | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    max_output_tokens: Annotated[int, Meta(ge=16)] | None = None
    prompt_cache_key: Annotated[str, Meta(max_length=64)] | None = None
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    safety_identifier: Annotated[str, Meta(max_length=128)] | None = None
    service_tier: Literal["auto", "default", "flex", "priority"] | None = None


@dataclass(slots=True)
class IssuedItems:
    """What a vendor gave out and recognizes when it comes back."""

    summaries: dict[str, str] = field(default_factory=dict[str, str])
    """The summary behind each encrypted reasoning; a known one must come back unchanged."""
    reasoning_by_item: dict[str, str] = field(default_factory=dict[str, str])
    """The id of the reasoning that each other item's id cannot do without."""


def first_fault(raw_body: bytes, issued: IssuedItems) -> str | None:
    """Find the first thing that the vendor would refuse.

    Args:
        raw_body: The body of the request.
        issued: What was given out before.

    Returns:
        A sentence, or None when the request is sound.
    """
    try:
        request = msgspec.convert(json.loads(raw_body, parse_constant=_refuse_constant), _Request)
    except (ValueError, RecursionError) as error:
        return f"invalid request: {error}"
    return next(_faults(request, issued), None)


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _faults(request: _Request, issued: IssuedItems) -> Iterator[str]:
    if not request.stream:
        yield "stream: this loopback vendor only streams"
    if request.store:
        yield "store: this loopback vendor keeps nothing"
    yield from _id_faults(request.input)
    yield from _call_faults(request.input)
    yield from _reasoning_faults(request.input, issued)
    for index, item in enumerate(request.input):
        yield from (f"input[{index}].{fault}" for fault in _item_faults(item))
    yield from _tool_faults(request)
    if request.reasoning is not None and request.temperature is not None:
        yield "Unsupported parameter: 'temperature' is not supported with this model."


def _id_faults(items: list[_Item]) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        id_ = None if isinstance(item, _FunctionOutput) else item.id
        if id_ is None:
            continue
        prefix = _ID_PREFIXES[type(item)]
        if not id_.startswith(prefix):
            yield (
                f"Invalid 'input[{index}].id': '{id_}'. Expected an ID that begins with '{prefix}'."
            )
        if id_ in seen:
            yield f"Duplicate item found with id {id_}."
        seen.add(id_)


def _call_faults(items: list[_Item]) -> Iterator[str]:
    asked: list[str] = []
    for index, item in enumerate(items):
        if isinstance(item, _FunctionCall):
            asked.append(item.call_id)
        elif isinstance(item, _FunctionOutput):
            if item.call_id not in asked:
                yield (
                    "No tool call found for function call output with call_id "
                    f"{item.call_id} at input[{index}]."
                )
            else:
                asked.remove(item.call_id)
        elif asked and isinstance(item, _Message) and item.role == "user":
            break
    if asked:
        yield f"No tool output found for function call {asked[0]}."


def _reasoning_faults(items: list[_Item], issued: IssuedItems) -> Iterator[str]:
    there = {item.id for item in items if isinstance(item, _Reasoning)}
    for item, next_ in pairwise([*items, None]):
        if isinstance(item, _Reasoning):
            yield from _one_reasoning_faults(item, next_, issued)
        elif isinstance(item, _Message | _FunctionCall) and item.id is not None:
            needed = issued.reasoning_by_item.get(item.id)
            if needed is not None and needed not in there:
                yield (
                    f"Item '{item.id}' was provided without its required 'reasoning' item: "
                    f"'{needed}'."
                )


def _one_reasoning_faults(
    item: _Reasoning, next_: _Item | None, issued: IssuedItems
) -> Iterator[str]:
    is_followed = isinstance(next_, _FunctionCall | _Reasoning) or (
        isinstance(next_, _Message) and next_.role == "assistant"
    )
    if not is_followed:
        yield (
            f"Item '{item.id}' of type 'reasoning' was provided without its required following "
            "item."
        )
    if item.encrypted_content is None and not item.content:
        yield f"Item with id '{item.id}' not found. Items are not persisted."
    summary = "".join(part.text for part in item.summary)
    if issued.summaries.get(item.encrypted_content or "", summary) != summary:
        yield f"The encrypted content for item {item.id} could not be verified."


def _item_faults(item: _Item) -> Iterator[str]:
    match item:
        case _Message():
            yield from _message_faults(item)
        case _FunctionCall():
            if not _is_json_object(item.arguments):
                yield "arguments: not a JSON object"
        case _FunctionOutput():
            if not isinstance(item.output, str):
                yield from _image_faults(item.output)
        case _Reasoning():
            pass


def _message_faults(message: _Message) -> Iterator[str]:
    is_answer = message.role == "assistant"
    if message.phase is not None and not is_answer:
        yield "phase: only for messages of the assistant"
    if isinstance(message.content, str):
        if message.id is not None:
            yield "content: a message with an id has parts"
        return
    if is_answer and (message.id is None or message.status is None):
        yield "id: a message of the assistant that has parts needs an id and a status"
    for part in message.content:
        if isinstance(part, _OutputText | _Refusal) != is_answer:
            yield f"content: Invalid value for the role {message.role}: {type(part).__name__}"
    yield from _image_faults(message.content)


def _image_faults(parts: Sequence[_MessagePart]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, _InputImage):
            data = _DATA_URL.fullmatch(part.image_url)
            if data is None or not _is_base64(data[1]):
                yield "image_url: Expected a base64-encoded data URL with an image MIME type"


def _tool_faults(request: _Request) -> Iterator[str]:
    names = [tool.name for tool in request.tools]
    if len(set(names)) != len(names):
        yield "tools: tool names must be unique"
    choice = request.tool_choice
    if choice is not None and not names:
        yield "Tool choice is only allowed when 'tools' are specified."
    if isinstance(choice, _NamedChoice) and choice.name not in names:
        yield f"Tool choice '{choice.name}' not found in 'tools' parameter."


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, parse_constant=_refuse_constant), dict)
    except (ValueError, RecursionError):
        return False


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        return False
    return True
