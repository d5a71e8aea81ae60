"""Turns a model, a context and options into the body of a request.

Source: https://platform.claude.com/docs/en/api/messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from openprogram.providers import types as t
from openprogram.providers.vendors._anthropic_messages_body import convert_messages
from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._outgoing import sendable

if TYPE_CHECKING:
    from collections.abc import Mapping

Json: TypeAlias = dict[str, Any]

MINIMUM_THINKING_TOKENS: Final = 1024
"""The vendor takes no smaller thinking budget."""

THINKING_BUDGETS: Final[Mapping[t.ThinkingLevel, int]] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 32_768,
    "max": 65_536,
}
"""How many tokens each reasoning level may spend, where the caller does not say."""

_EFFORTS: Mapping[t.ThinkingLevel, str] = {
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "max",
}
_TOOL_CHOICES: Mapping[str, str] = {
    "auto": "auto",
    "any": "any",
    "required": "any",
    "none": "none",
}


def build_payload(
    model: t.Model,
    context: t.Context,
    options: t.StreamOptions,
    reasoning: t.ThinkingLevel | None,
) -> Json:
    """Build the body of a request.

    Cache marks go on the system prompt, the last tool and the last user message, unless the caller
    set some, or retention is `none`. Temperature is left out while thinking is on, as the vendor
    demands. Lone surrogates in any text become U+FFFD.

    Args:
        model: Who shall answer.
        context: What is asked.
        options: How.
        reasoning: How hard to think; None is not at all.

    Returns:
        The body, as JSON values.

    Raises:
        ModelRequestError: The request cannot be said in this protocol.
    """
    _refuse_unsupported(options)
    max_tokens = model.max_tokens if options.max_tokens is None else options.max_tokens
    mark = None if _has_cache_marks(context) else _cache_mark(options)
    payload: Json = {
        "model": model.id,
        "max_tokens": max_tokens,
        "messages": convert_messages(context.messages, model, mark),
        "stream": True,
    }
    if context.system_prompt and context.system_prompt.strip():
        payload["system"] = [_marked({"type": "text", "text": context.system_prompt}, mark)]
    if context.tools:
        payload["tools"] = _tools(context.tools, mark)
        if choice := _tool_choice(options):
            payload["tool_choice"] = choice
    thinking = _thinking(model, options, reasoning, max_tokens)
    payload.update(thinking)
    if options.temperature is not None and not thinking:
        payload["temperature"] = options.temperature
    if options.metadata and (user_id := options.metadata.get("user_id")) is not None:
        payload["metadata"] = {"user_id": str(user_id)}
    if options.service_tier is not None:
        payload["service_tier"] = options.service_tier
    return cast("Json", sendable(payload))


def _refuse_unsupported(options: t.StreamOptions) -> None:
    for name in ("response_format", "web_search"):
        if getattr(options, name):
            raise failure("bad_request", f"anthropic-messages: options.{name} is not supported")


def _cache_mark(options: t.StreamOptions) -> Json | None:
    match options.cache_retention:
        case "none":
            return None
        case "long":
            return {"type": "ephemeral", "ttl": "1h"}
        case "short" | None:
            return {"type": "ephemeral"}


def _has_cache_marks(context: t.Context) -> bool:
    if any(tool.cache_control for tool in context.tools or ()):
        return True
    blocks = (
        block
        for message in context.messages
        if not isinstance(message.content, str)
        for block in message.content
    )
    return any(getattr(block, "cache_control", None) for block in blocks)


def _marked(block: Json, mark: Json | None) -> Json:
    return block if mark is None else {**block, "cache_control": mark}


def _tools(tools: list[t.Tool], mark: Json | None) -> list[Json]:
    converted: list[Json] = [
        _marked(
            {
                "name": tool.name,
                "description": tool.description,
                # The vendor demands the kind, which many schemas leave out.
                "input_schema": {"type": "object", **tool.parameters},
            },
            tool.cache_control,
        )
        for tool in tools
    ]
    converted[-1] = _marked(converted[-1], mark)
    return converted


def _tool_choice(options: t.StreamOptions) -> Json | None:
    """Read a tool choice in this vendor's words or in the other vendors'."""
    choice = options.tool_choice
    match choice:
        case None:
            converted: Json | None = None
        case str() if choice in _TOOL_CHOICES:
            converted = {"type": _TOOL_CHOICES[choice]}
        case {"type": "function", "function": {"name": str(name)}}:
            converted = {"type": "tool", "name": name}
        case {"type": str()}:
            converted = dict(cast("Json", choice))
        case _:
            raise failure("bad_request", "anthropic-messages: options.tool_choice is not known")
    if options.parallel_tool_calls is False:
        converted = converted or {"type": "auto"}
        if converted["type"] != "none":
            converted["disable_parallel_tool_use"] = True
    return converted


def _thinking(
    model: t.Model,
    options: t.StreamOptions,
    reasoning: t.ThinkingLevel | None,
    max_tokens: int,
) -> Json:
    """Say how hard to think; empty when thinking is off.

    The answer's own room comes first: the budget shrinks to what max_tokens leaves, and where not
    even the smallest budget fits, there is no thinking.
    """
    if reasoning is None or not model.reasoning:
        return {}
    if model.thinking_variant == "adaptive":
        effort = {"effort": _EFFORTS[reasoning]}
        return {"thinking": {"type": "adaptive"}, "output_config": effort}
    if max_tokens <= MINIMUM_THINKING_TOKENS:
        return {}
    budgets = options.thinking_budgets if isinstance(options, t.SimpleStreamOptions) else None
    wanted = getattr(budgets, reasoning, None) or THINKING_BUDGETS[reasoning]
    room = max_tokens - MINIMUM_THINKING_TOKENS
    budget = max(min(wanted, room), MINIMUM_THINKING_TOKENS)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}
