"""Turns a model, a context and options into the body of a request in the Responses dialect.

Source: https://platform.openai.com/docs/api-reference/responses/create.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._outgoing import sendable, well_formed
from openprogram.providers.vendors._responses_input import convert_messages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram.providers import types as t

Json: TypeAlias = dict[str, Any]

_LONGEST_CACHE_KEY: Final = 64
_TOOL_CHOICES: Mapping[str, str] = {
    "auto": "auto",
    "any": "required",
    "required": "required",
    "none": "none",
}


def build_payload(
    model: t.Model,
    context: t.Context,
    options: t.StreamOptions,
    reasoning: t.ThinkingLevel | None,
) -> Json:
    """Build the body of a request.

    Nothing is stored at the vendor; a model that reasons gives its reasoning in encrypted form, so
    that it can go back with the next call. Temperature is left out while the model reasons, as the
    vendor demands. The limit of tokens is sent only when the caller sets one: it counts reasoning
    too. Lone surrogates in any text become U+FFFD.

    Args:
        model: Who shall answer.
        context: What is asked.
        options: How.
        reasoning: How hard to think; None leaves it to the model.

    Returns:
        The body, as JSON values.

    Raises:
        ModelRequestError: The request cannot be said in this protocol.
    """
    for name in ("response_format", "web_search"):
        if getattr(options, name):
            raise failure("bad_request", f"{model.api}: options.{name} is not supported")
    payload: Json = {
        "model": model.id,
        "input": convert_messages(context.messages, model),
        "stream": True,
        "store": False,
    }
    if context.system_prompt and context.system_prompt.strip():
        payload["instructions"] = context.system_prompt
    payload.update(_tools(context, options))
    if model.reasoning:
        payload["include"] = ["reasoning.encrypted_content"]
    if model.reasoning and reasoning is not None:
        payload["reasoning"] = {"effort": reasoning, "summary": "auto"}
    elif options.temperature is not None:
        payload["temperature"] = options.temperature
    if options.max_tokens is not None:
        payload["max_output_tokens"] = options.max_tokens
    payload.update(_caching(options))
    if options.metadata and (user_id := options.metadata.get("user_id")) is not None:
        payload["safety_identifier"] = str(user_id)
    if options.service_tier is not None:
        payload["service_tier"] = options.service_tier
    return cast("Json", sendable(payload))


def _tools(context: t.Context, options: t.StreamOptions) -> Json:
    if not context.tools:
        return {}
    tools = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            # The vendor demands the kind, which many schemas leave out.
            "parameters": {"type": "object", **tool.parameters},
            # Left out, it is true, and most schemas break its rules.
            "strict": False,
        }
        for tool in context.tools
    ]
    said: Json = {"tools": tools}
    if (choice := _tool_choice(options.tool_choice)) is not None:
        said["tool_choice"] = choice
    if options.parallel_tool_calls is not None:
        said["parallel_tool_calls"] = options.parallel_tool_calls
    return said


def _tool_choice(choice: object) -> str | Json | None:
    """Read a tool choice in this vendor's words or in the other vendors'."""
    match choice:
        case None:
            return None
        case str() if choice in _TOOL_CHOICES:
            return _TOOL_CHOICES[choice]
        case {"type": "function", "function": {"name": str(name)}}:
            return {"type": "function", "name": name}
        case {"type": "tool", "name": str(name)}:
            return {"type": "function", "name": name}
        case {"type": str(kind)} if kind in _TOOL_CHOICES:
            return _TOOL_CHOICES[kind]
        case {"type": str()}:
            return dict(cast("Json", choice))
        case _:
            raise failure("bad_request", "options.tool_choice is not known")


def _caching(options: t.StreamOptions) -> Json:
    """Name the conversation, by which the vendor finds its cache again."""
    if options.cache_retention == "none":
        return {}
    said: Json = {}
    if options.session_id:
        key = well_formed(options.session_id)
        if len(key) > _LONGEST_CACHE_KEY:
            key = hashlib.sha256(key.encode()).hexdigest()
        said["prompt_cache_key"] = key
    if options.cache_retention == "long":
        said["prompt_cache_retention"] = "24h"
    return said
