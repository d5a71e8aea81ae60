"""Reads the token counts of `openai-completions`, which each server completes in its own way."""

from __future__ import annotations

from typing import Any, TypedDict, cast


class TokenCounts(TypedDict):
    """What `MessageAssembler.set_usage` takes."""

    input_: int
    output: int
    cache_read: int
    cache_write: int


def count_tokens(usage: object) -> TokenCounts | None:
    """Read a usage object.

    The protocol counts cached tokens as part of the prompt, and we do not. Reasoning is part of the
    completion, but at some servers it stands beside it, as the total shows; then it is added.

    Args:
        usage: What stands under `usage`.

    Returns:
        The counts, or None when it tells of no token: then what was known before still holds.

    Example:
        >>> count_tokens({"prompt_tokens": 9, "completion_tokens": 2,
        ...     "prompt_tokens_details": {"cached_tokens": 4}})
        {'input_': 5, 'output': 2, 'cache_read': 4, 'cache_write': 0}
        >>> count_tokens({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 18,
        ...     "completion_tokens_details": {"reasoning_tokens": 7}})["output"]
        9
    """
    fields = _object(usage)
    prompt = _count(fields, "prompt_tokens")
    completion = _count(fields, "completion_tokens")
    if not (prompt or completion):
        return None
    in_prompt = _object(fields.get("prompt_tokens_details"))
    cached = (
        _count(in_prompt, "cached_tokens")
        or _count(fields, "prompt_cache_hit_tokens")
        or _count(fields, "cached_tokens")
    )
    written = _count(in_prompt, "cache_write_tokens") or _count(
        fields, "cache_creation_input_tokens"
    )
    reasoning = _count(_object(fields.get("completion_tokens_details")), "reasoning_tokens")
    is_beside = _count(fields, "total_tokens") == prompt + completion + reasoning
    return TokenCounts(
        input_=max(prompt - cached - written, 0),
        output=completion + (reasoning if is_beside else 0),
        cache_read=cached,
        cache_write=written,
    )


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _count(fields: dict[str, Any], name: str) -> int:
    """Read a count; what is none counts as nothing."""
    value: object = fields.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
