"""Turns a model, a context and options into the body of a request.

Source: https://ai.google.dev/api/generate-content.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._google_contents import convert_messages
from openprogram.providers.vendors._google_models import thinking_config
from openprogram.providers.vendors._outgoing import sendable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram.providers import types as t

Json: TypeAlias = dict[str, Any]

_TOOL_MODES: Final[Mapping[str, str]] = {
    "any": "ANY",
    "auto": "AUTO",
    "none": "NONE",
    "required": "ANY",
    "validated": "VALIDATED",
}


def build_payload(
    model: t.Model,
    context: t.Context,
    options: t.StreamOptions,
    reasoning: t.ThinkingLevel | None,
) -> Json:
    """Build the body of a request; the model's name stands in the address, not here.

    The vendor caches by itself and takes no marks. Lone surrogates in any text become U+FFFD.

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
    payload: Json = {"contents": convert_messages(context.messages, model)}
    if context.system_prompt and context.system_prompt.strip():
        payload["systemInstruction"] = {"parts": [{"text": context.system_prompt}]}
    if context.tools:
        payload["tools"] = [{"functionDeclarations": [_function(tool) for tool in context.tools]}]
        if options.tool_choice is not None:
            payload["toolConfig"] = {"functionCallingConfig": _calling(options.tool_choice)}
    payload["generationConfig"] = _generation(model, options, reasoning)
    if options.service_tier is not None:
        payload["serviceTier"] = options.service_tier
    return cast("Json", sendable(payload))


def _refuse_unsupported(options: t.StreamOptions) -> None:
    for name in ("response_format", "web_search"):
        if getattr(options, name):
            raise failure("bad_request", f"google-generative-ai: options.{name} is not supported")
    if options.parallel_tool_calls is False:
        raise failure(
            "bad_request", "google-generative-ai: parallel tool calls cannot be switched off"
        )


def _function(tool: t.Tool) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        # The vendor demands the kind, which many schemas leave out.
        "parametersJsonSchema": {"type": "object", **tool.parameters},
    }


def _calling(choice: object) -> Json:
    """Read a tool choice in this vendor's words or in the other vendors'."""
    match choice:
        case str() if choice.lower() in _TOOL_MODES:
            return {"mode": _TOOL_MODES[choice.lower()]}
        case {"mode": str(mode)} if mode.lower() in _TOOL_MODES:
            return dict(cast("Json", choice))
        case (
            {"type": "function", "function": {"name": str(name)}}
            | {"type": "function", "name": str(name)}
            | {"type": "tool", "name": str(name)}
        ):
            return {"mode": "ANY", "allowedFunctionNames": [name]}
        case {"type": str(mode)} if mode in _TOOL_MODES:
            return {"mode": _TOOL_MODES[mode]}
        case _:
            raise failure("bad_request", "google-generative-ai: options.tool_choice is not known")


def _generation(
    model: t.Model, options: t.StreamOptions, reasoning: t.ThinkingLevel | None
) -> Json:
    max_tokens = model.max_tokens if options.max_tokens is None else options.max_tokens
    generation: Json = {"maxOutputTokens": max_tokens}
    if options.temperature is not None:
        generation["temperature"] = options.temperature
    budgets = getattr(options, "thinking_budgets", None)
    wanted = None if reasoning is None else getattr(budgets, reasoning, None)
    if thinking := thinking_config(model, reasoning, wanted, max_tokens):
        generation["thinkingConfig"] = thinking
    return generation
