"""Turns a model, a context and options into the body of an `openai-completions` request.

Source: https://platform.openai.com/docs/api-reference/chat/create.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._openai_completions_body import convert_messages
from openprogram.providers.vendors._openai_quirks import Quirks, find_quirks
from openprogram.providers.vendors._outgoing import sendable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram.providers import types as t

Json: TypeAlias = dict[str, Any]

_LONGEST_CACHE_KEY = 64
_TOOL_CHOICES: Mapping[str, str] = {
    "any": "required",
    "auto": "auto",
    "none": "none",
    "required": "required",
}


def build_payload(
    model: t.Model,
    context: t.Context,
    options: t.StreamOptions,
    reasoning: t.ThinkingLevel | None,
) -> Json:
    """Build the body of a request.

    Only what was asked for is sent, so that a server which knows less than others has nothing to
    refuse: without `options.max_tokens` the server's own bound holds. Lone surrogates in any text
    become U+FFFD.

    Args:
        model: Who shall answer.
        context: What is asked.
        options: How.
        reasoning: How hard to think; None leaves it to the server.

    Returns:
        The body, as JSON values.

    Raises:
        ModelRequestError: The request cannot be said in this protocol.
    """
    if options.web_search:
        raise failure("bad_request", "openai-completions: options.web_search is not supported")
    quirks = find_quirks(model)
    messages = convert_messages(context.messages, model, quirks)
    if context.system_prompt and context.system_prompt.strip():
        role = quirks.system_role if model.reasoning else "system"
        messages.insert(0, {"role": role, "content": context.system_prompt})
    payload: Json = {"model": model.id, "messages": messages, "stream": True}
    if quirks.takes_stream_options:
        payload["stream_options"] = {"include_usage": True}
    if quirks.takes_store:
        payload["store"] = False
    if options.max_tokens is not None:
        payload[quirks.max_tokens_field] = options.max_tokens
    thinking = _thinking(model, quirks, reasoning)
    payload |= thinking
    if options.temperature is not None and not (thinking and quirks.drops_temperature):
        payload["temperature"] = options.temperature
    if context.tools:
        payload |= _tools(context.tools, options, quirks)
    payload |= _passed_on(options, quirks)
    return cast("Json", sendable(payload))


def _thinking(model: t.Model, quirks: Quirks, reasoning: t.ThinkingLevel | None) -> Json:
    """Say how hard to think; empty when nobody asked, or the server has no word for it."""
    if reasoning is None or not model.reasoning:
        return {}
    effort = quirks.efforts.get(reasoning, reasoning)
    match quirks.reasoning_request:
        case "reasoning_effort":
            return {"reasoning_effort": effort}
        case "reasoning":
            return {"reasoning": {"effort": effort}}
        case "thinking":
            return {"thinking": {"type": "enabled"}}
        case None:
            return {}


def _tools(tools: list[t.Tool], options: t.StreamOptions, quirks: Quirks) -> Json:
    fields: Json = {"tools": [_tool(tool, quirks) for tool in tools]}
    if (choice := _tool_choice(options.tool_choice)) is not None:
        fields["tool_choice"] = choice
    if options.parallel_tool_calls is not None:
        fields["parallel_tool_calls"] = options.parallel_tool_calls
    return fields


def _tool(tool: t.Tool, quirks: Quirks) -> Json:
    function: Json = {
        "name": tool.name,
        "description": tool.description,
        # The vendor demands both, which many schemas leave out.
        "parameters": {"type": "object", "properties": {}, **tool.parameters},
    }
    converted: Json = {"type": "function", "function": function}
    if quirks.takes_cache_marks and tool.cache_control:
        converted["cache_control"] = tool.cache_control
    return converted


def _tool_choice(choice: object) -> str | Json | None:
    """Read a tool choice in this vendor's words or in the other vendors'."""
    match choice:
        case None:
            return None
        case str() if choice in _TOOL_CHOICES:
            return _TOOL_CHOICES[choice]
        case {"type": "tool", "name": str(name)}:
            return {"type": "function", "function": {"name": name}}
        case {"type": str(kind)} if kind in _TOOL_CHOICES:
            return _TOOL_CHOICES[kind]
        case {"type": "function", "function": {"name": str()}}:
            return dict(cast("Json", choice))
        case _:
            raise failure("bad_request", "openai-completions: options.tool_choice is not known")


def _passed_on(options: t.StreamOptions, quirks: Quirks) -> Json:
    """Collect what goes as the caller says it, where the server takes it."""
    fields: Json = {}
    user_id = (options.metadata or {}).get("user_id")
    if quirks.user_field is not None and user_id is not None:
        fields[quirks.user_field] = str(user_id)
    if quirks.takes_cache_key and options.session_id and options.cache_retention != "none":
        fields["prompt_cache_key"] = options.session_id[:_LONGEST_CACHE_KEY]
    if options.service_tier is not None:
        fields["service_tier"] = options.service_tier
    if options.response_format is not None:
        fields["response_format"] = options.response_format
    return fields
