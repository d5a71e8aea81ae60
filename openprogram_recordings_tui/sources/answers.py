"""The answer of a call, as far as it came, from the events that stand in the file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from openprogram.providers.recording.snapshots import SnapshotReader
from openprogram_recordings_tui.presentation.values import (
    Json,
    array_of,
    is_object,
    object_of,
    text_of,
    whole_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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


@dataclass(frozen=True, slots=True)
class Answer:
    """The assistant message of a call as far as it came."""

    message: Mapping[str, Json] | None
    """The message; only its content where it had to be put together; None when nothing came."""
    left_out_count: int = 0
    """How many events, from some place on, did not go into it."""


def assemble_answer(
    events: Iterable[Mapping[str, Json] | None], event_count: int, limit: int
) -> Answer:
    """Put the content of an answer together by the rule of the recording format.

    Args:
        events: The events of a call as they stand in their rows, in order; None for one that cannot
            be read.
        event_count: How many there are.
        limit: How many are read at most.

    Returns:
        The answer up to the first event that does not follow from those before it. Arguments of a
        tool call that is not whole stand in it as the text that came of them.
    """
    reader = SnapshotReader()
    content: Json = []
    arguments: dict[int, list[str]] = {}
    used_count = 0
    for event in islice(events, limit):
        if event is None:
            break
        try:
            partial = object_of(reader.rebuild(dict(event)).get("partial"))
        except (ValueError, KeyError, TypeError, AttributeError):
            # What stands in a broken file may have any shape.
            break
        if partial:
            content = partial.get("content")
        _note_arguments(arguments, event)
        used_count += 1
    blocks = [
        _with_arguments(block, arguments.get(place))
        for place, block in enumerate(array_of(content))
    ]
    return Answer({"content": blocks}, event_count - used_count)


def _note_arguments(arguments: dict[int, list[str]], event: Mapping[str, Json]) -> None:
    """Keep what came of the arguments of a tool call until it is whole."""
    place = whole_of(event.get("content_index"))
    if place is None:
        return
    if event.get("type") == "toolcall_delta":
        arguments.setdefault(place, []).append(text_of(event.get("delta")))
    elif event.get("type") == "toolcall_end":
        arguments.pop(place, None)


def _with_arguments(block: Json, parts: list[str] | None) -> Json:
    if not parts or not is_object(block) or block.get("type") != "toolCall":
        return block
    text = "".join(parts)
    try:
        arguments: Json = json.loads(text)
    except (ValueError, RecursionError):
        arguments = None
    return {**block, "arguments": arguments if is_object(arguments) else {"…": text}}
