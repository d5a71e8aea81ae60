"""Reasoning on its way: read from a stream, kept, and given back to the server that wants it.

Servers put it into one of several fields, some into two at once. Where it comes with parts that
only the server can read (`reasoning_details`), these are kept as the signature of the block: JSON
text of the merged list.
Source: https://openrouter.ai/docs/use-cases/reasoning-tokens.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from openprogram.providers import types as t

if TYPE_CHECKING:
    from collections.abc import Iterator

Json: TypeAlias = dict[str, Any]

_GROWING_FIELDS = ("text", "summary", "data", "signature")
_READABLE_FIELDS = ("text", "summary")


class ReasoningDetails:
    """The detail objects of one thinking block, merged from their pieces."""

    def __init__(self) -> None:
        self._details: list[Json] = []

    def add(self, pieces: object) -> str:
        """Take over what a delta says.

        Args:
            pieces: What stands in `reasoning_details`; anything that is no list of objects is left
                out.

        Returns:
            What a person can read of it.
        """
        readable = ""
        for piece in _iterate_objects(pieces):
            readable += "".join(_text(piece, name) for name in _READABLE_FIELDS)
            last = self._details[-1] if self._details else {}
            if all(last.get(name, None) == piece.get(name) for name in ("type", "index")) and last:
                _merge(last, piece)
            else:
                self._details.append(dict(piece))
        return readable

    def signature(self) -> str | None:
        """Give the merged list as JSON, or None when there is nothing to give back."""
        return json.dumps(self._details, ensure_ascii=False) if self._details else None


def holds_reasoning(pieces: object) -> bool:
    """Say whether any object of `reasoning_details` says something.

    Args:
        pieces: What stands there.

    Returns:
        False for an empty list, and for objects without content.

    Example:
        >>> holds_reasoning([{"type": "reasoning.text", "text": ""}])
        False
        >>> holds_reasoning([{"type": "reasoning.encrypted", "data": "b3BhcXVl"}])
        True
    """
    return any(_text(piece, name) for piece in _iterate_objects(pieces) for name in _GROWING_FIELDS)


def reasoning_to_return(
    answer: t.AssistantMessage, model_id: str, field: str | None, *, is_running: bool
) -> Json:
    """Find what a server wants to see again of its own reasoning.

    Args:
        answer: One of its answers.
        model_id: Who shall answer now.
        field: Where the server wants it, or None when it does not.
        is_running: Whether the answer belongs to the turn that is still going on; plain reasoning
            of earlier turns is not wanted back.

    Returns:
        Fields for the message; none when nothing is to be returned.
    """
    blocks = [block for block in answer.content if isinstance(block, t.ThinkingContent)]
    if field == "reasoning_details":
        if answer.model != model_id:
            return {}  # only the model that wrote them can read them
        details = [detail for block in blocks for detail in _details_of(block)]
        return {"reasoning_details": details} if details else {}
    text = "".join(block.thinking for block in blocks)
    return {field: text} if field and text and is_running else {}


def _details_of(block: t.ThinkingContent) -> Iterator[Json]:
    try:
        details: object = json.loads(block.thinking_signature or "")
    except (ValueError, RecursionError):
        return
    yield from _iterate_objects(details)


def _iterate_objects(value: object) -> Iterator[Json]:
    if isinstance(value, list):
        for item in cast("list[object]", value):
            if isinstance(item, dict):
                yield cast("Json", item)


def _text(piece: Json, name: str) -> str:
    value: object = piece.get(name)
    return value if isinstance(value, str) else ""


def _merge(detail: Json, piece: Json) -> None:
    for name, value in piece.items():
        if name in _GROWING_FIELDS and isinstance(value, str):
            detail[name] = _text(detail, name) + value
        elif value is not None:
            detail[name] = value
