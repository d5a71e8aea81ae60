"""Which requests the `google-generative-ai` vendor refuses, and with what sentence.

The shape is a set of strict structs; the rules between fields follow as generators of faults. Three
rules are stricter than the vendor's, so that a sloppy client shows: the user speaks first, text
that says nothing must at least be signed, and an unknown field is refused everywhere.
Source: https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/thinking,
.../docs/thought-signatures and the refusals seen there.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn, TypeAlias

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NonEmpty: TypeAlias = Annotated[str, Meta(min_length=1)]
FunctionName: TypeAlias = Annotated[str, Meta(pattern=r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$")]

NO_VALIDATION: Final = "skip_thought_signature_validator"
"""What stands in place of a signature on a call that the model did not make."""
_BY_LEVEL = re.compile(r"gemini-[3-9]")
_BY_BUDGET_ONLY = re.compile(r"gemini-2\.5")


class _Strict(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Refuses what it does not know."""


class _Blob(_Strict):
    mime_type: Annotated[str, Meta(pattern=r"^[a-z]+/[a-zA-Z0-9.+-]+$")]
    data: NonEmpty


class _ResponsePart(_Strict):
    inline_data: _Blob


class _Call(_Strict):
    name: FunctionName
    id: NonEmpty | None = None
    args: dict[str, Any] = {}


class _Response(_Strict):
    name: FunctionName
    response: dict[str, Any]
    id: NonEmpty | None = None
    parts: list[_ResponsePart] = []


class _Part(_Strict):
    text: str | None = None
    inline_data: _Blob | None = None
    function_call: _Call | None = None
    function_response: _Response | None = None
    thought: bool = False
    thought_signature: NonEmpty | None = None


class _Content(_Strict):
    role: Literal["user", "model"]
    parts: Annotated[list[_Part], Meta(min_length=1)]


class _TextPart(_Strict):
    text: NonEmpty


class _Instruction(_Strict):
    parts: Annotated[list[_TextPart], Meta(min_length=1)]


class _Schema(msgspec.Struct, kw_only=True):
    """A JSON Schema; only its kind is looked at."""

    type: Literal["object"]


class _Function(_Strict):
    name: FunctionName
    parameters_json_schema: _Schema
    description: str = ""


class _Tool(_Strict):
    function_declarations: Annotated[list[_Function], Meta(min_length=1)]


class _Calling(_Strict):
    mode: Literal["AUTO", "ANY", "NONE", "VALIDATED"]
    allowed_function_names: list[str] = []


class _ToolConfig(_Strict):
    function_calling_config: _Calling


class _Thinking(_Strict):
    include_thoughts: bool = False
    thinking_budget: Annotated[int, Meta(ge=-1, le=32_768)] | None = None
    thinking_level: Literal["MINIMAL", "LOW", "MEDIUM", "HIGH"] | None = None


class _Generation(_Strict):
    max_output_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    thinking_config: _Thinking | None = None


class _Request(_Strict):
    contents: Annotated[list[_Content], Meta(min_length=1)]
    system_instruction: _Instruction | None = None
    tools: list[_Tool] = []
    tool_config: _ToolConfig | None = None
    generation_config: _Generation | None = None
    service_tier: Literal["unspecified", "standard", "flex", "priority"] | None = None


def first_fault(raw_body: bytes, model: str, issued_signatures: Mapping[str, Any]) -> str | None:
    """Find the first thing that the vendor would refuse.

    Args:
        raw_body: The body of the request.
        model: The model that the address names.
        issued_signatures: The part behind each signature that was given out, without the
            signature; a known signature must come back on the very same part.

    Returns:
        A sentence, or None when the request is sound.
    """
    try:
        body: object = json.loads(raw_body, parse_constant=_refuse_constant)
        request = msgspec.convert(body, _Request)
    except (ValueError, RecursionError) as error:
        return f"Invalid JSON payload received. {error}"
    return next(_faults(request, model, issued_signatures), None)


def bare_part(part: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a signature stands for.

    Args:
        part: A part as it stands on the wire.

    Returns:
        The part without its signature, and without the id of a call, which a client may make up.
    """
    bare = {name: value for name, value in part.items() if name != "thoughtSignature"}
    if "functionCall" in bare:
        call: Mapping[str, Any] = bare["functionCall"]
        bare["functionCall"] = {"name": call["name"], "args": call.get("args", {})}
    return bare


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _faults(request: _Request, model: str, issued: Mapping[str, Any]) -> Iterator[str]:
    for index, content in enumerate(request.contents):
        for number, part in enumerate(content.parts):
            for fault in _part_faults(part, content.role, issued):
                yield f"contents[{index}].parts[{number}]: {fault}"
    yield from _order_faults(request.contents)
    if _BY_LEVEL.search(model):
        yield from _unsigned_faults(request.contents)
    yield from _tool_faults(request)
    if request.generation_config and request.generation_config.thinking_config:
        yield from _thinking_faults(request.generation_config.thinking_config, model)


def _part_faults(part: _Part, role: str, issued: Mapping[str, Any]) -> Iterator[str]:
    data = (part.text, part.inline_data, part.function_call, part.function_response)
    if sum(field is not None for field in data) != 1:
        yield "required oneof field 'data' must have one initialized field"
    if part.text == "" and part.thought_signature is None:
        yield "text that says nothing"
    if role == "user" and (part.function_call or part.thought or part.thought_signature):
        yield "only the model calls, thinks and signs"
    if role == "model" and part.function_response:
        yield "only the user responds to functions"
    blobs = [part.inline_data] if part.inline_data else []
    if part.function_response:
        blobs += [one.inline_data for one in part.function_response.parts]
    if any(not _is_base64(blob.data) for blob in blobs):
        yield "inline_data.data: Base64 decoding failed"
    signature = part.thought_signature
    if signature is not None and not _is_base64(signature):
        yield "thought_signature: Base64 decoding failed"
    if signature and signature in issued and issued[signature] != _bare(part):
        yield "Corrupted thought signature."


def _bare(part: _Part) -> dict[str, Any]:
    """Give the same as `bare_part`, of a part that came in."""
    sent: dict[str, Any] = {}
    if part.text is not None:
        sent["text"] = part.text
    if part.function_call is not None:
        sent["functionCall"] = {"name": part.function_call.name, "args": part.function_call.args}
    return {**sent, "thought": True} if part.thought else sent


def _order_faults(contents: list[_Content]) -> Iterator[str]:
    if contents[0].role != "user":
        yield "contents[0]: the first content must be from the user"
    asked: list[_Call] = []
    for index, content in enumerate(contents):
        answered = [part.function_response for part in content.parts if part.function_response]
        if answered and len(answered) != len(content.parts):
            yield f"contents[{index}]: function responses stand alone"
        if answered and not asked:
            yield (
                "Please ensure that function response turn comes immediately after a function "
                "call turn."
            )
        if len(answered) != len(asked):
            yield (
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        for call, response in zip(asked, answered, strict=False):
            if (call.id, call.name) != (response.id, response.name):
                yield f"contents[{index}]: response {response.name} is none of call {call.name}"
        asked = [part.function_call for part in content.parts if part.function_call]
        if asked and index and contents[index - 1].role == "model":
            yield (
                "Please ensure that function call turn comes immediately after a user turn or "
                "after a function response turn."
            )
    if asked:
        yield "contents: the last content calls functions and no response follows"


def _unsigned_faults(contents: list[_Content]) -> Iterator[str]:
    for index, content in enumerate(contents):
        calls = [part for part in content.parts if part.function_call]
        if calls and calls[0].thought_signature is None:
            yield f"Function call in contents[{index}] is missing a thought_signature."


def _tool_faults(request: _Request) -> Iterator[str]:
    names = [function.name for tool in request.tools for function in tool.function_declarations]
    if len(set(names)) != len(names):
        yield "Duplicate function declaration found."
    if request.tool_config is None:
        return
    calling = request.tool_config.function_calling_config
    if not names:
        yield "Function calling config is set without function_declarations."
    if calling.allowed_function_names and calling.mode not in {"ANY", "VALIDATED"}:
        yield "allowed_function_names is set, and the mode is neither ANY nor VALIDATED"
    if unknown := set(calling.allowed_function_names) - set(names):
        yield f"allowed_function_names names what is not declared: {', '.join(sorted(unknown))}"


def _thinking_faults(thinking: _Thinking, model: str) -> Iterator[str]:
    if thinking.thinking_budget is not None and thinking.thinking_level is not None:
        yield "You can only set one of thinking budget and thinking level."
    if thinking.thinking_level is not None and _BY_BUDGET_ONLY.search(model):
        yield "Thinking level is not supported for this model."
    if thinking.thinking_budget == 0 and "gemini-2.5-pro" in model:
        yield "Budget 0 is invalid. This model only works in thinking mode."
    if thinking.include_thoughts and thinking.thinking_budget == 0:
        yield "Thinking can only be included when it is enabled."


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
