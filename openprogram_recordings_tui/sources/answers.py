"""The answer of a call, as far as it came, from the events that stand in the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from openprogram_recordings_tui.presentation.values import Json, object_of, text_of, whole_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TEXT_FIELDS = {"text": "text", "thinking": "thinking"}


def whole_answer(event: Mapping[str, Json]) -> Mapping[str, Json] | None:
    """Take the message out of an event that holds it whole.

    Args:
        event: An event as it stands in its row, best the last one of a call.

    Returns:
        The assistant message; None when the event holds none, or only a stub of it.
    """
    message = object_of(event.get("message")) or object_of(event.get("error"))
    if not message and event.get("partial_derived") is not True:
        message = object_of(event.get("partial"))
    return message or None


def assemble_answer(events: Iterable[Mapping[str, Json]]) -> Mapping[str, Json]:
    """Put the content of an answer together from its deltas.

    Args:
        events: The first events of a call, in order.

    Returns:
        An assistant message that has content and nothing else.
    """
    kinds: dict[int, str] = {}
    parts: dict[int, list[str]] = {}
    tool_calls: dict[int, Mapping[str, Json]] = {}
    for event in events:
        place = whole_of(event.get("content_index"))
        if place is None:
            continue
        kind, _, step = text_of(event.get("type")).partition("_")
        kinds.setdefault(place, kind)
        if step == "delta":
            parts.setdefault(place, []).append(text_of(event.get("delta")))
        elif step == "end" and kind == "toolcall":
            tool_calls[place] = object_of(event.get("tool_call"))
    return {
        "content": [
            tool_calls.get(place) or _block(kinds[place], "".join(parts.get(place, ())))
            for place in sorted(kinds)
        ]
    }


def _block(kind: str, text: str) -> Mapping[str, Json]:
    if kind in _TEXT_FIELDS:
        return {"type": kind, _TEXT_FIELDS[kind]: text}
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        arguments = {"…": text}
    return {"type": "toolCall", "name": "…", "id": "not whole", "arguments": arguments}
