"""Turns the output items of the Responses dialect into blocks of a message.

An item is a message, a piece of reasoning or a function call, and comes in parts. The vendor says
each part up to four times: in deltas, when the part is whole, when its item is, and with the whole
response. The deltas count, and what is missing of them is taken from the later ones, so that
servers which leave some of the four out lose nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from openprogram.errors import ModelRequestError
from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openprogram.providers import types as t
    from openprogram.providers.vendors._assembly import MessageAssembler

    Events = Iterator[t.AssistantMessageEvent]

Json: TypeAlias = dict[str, Any]

PartKind: TypeAlias = Literal["text", "refusal", "summary", "reasoning", "arguments"]

_ITEM_KINDS: dict[PartKind, str] = {
    "text": "message",
    "refusal": "message",
    "summary": "reasoning",
    "reasoning": "reasoning",
    "arguments": "function_call",
}
_CONTENT_KINDS: dict[str, tuple[PartKind, str]] = {
    "output_text": ("text", "text"),
    "refusal": ("refusal", "refusal"),
    "reasoning_text": ("reasoning", "text"),
    "summary_text": ("summary", "text"),
}
"""What a part is by its vendor's type, and which field of it holds the text."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an item."""

    kind: PartKind
    """What it says."""
    number: int = 0
    """Its place among the parts of this kind."""


@dataclass(slots=True)
class _Item:
    kind: str
    """The vendor's type of the item."""
    described: Json
    """The item as last told."""
    places: dict[Part, int] = field(default_factory=dict[Part, int])
    """Where each part stands in our content."""
    open_part: Part | None = None
    is_ended: bool = False


class OutputItems:
    """The output items of one answer, by the vendor's numbers.

    Args:
        assembler: Where the message grows.
    """

    def __init__(self, assembler: MessageAssembler) -> None:
        self._assembler = assembler
        self._items: dict[int, _Item] = {}
        self._refusals: list[int] = []
        self.unreadable_call: ModelRequestError | None = None
        """The first function call whose arguments are no JSON object, if there was one."""

    @property
    def refusal(self) -> str | None:
        """What the model said in refusing; None when it did not."""
        if not self._refusals:
            return None
        return "".join(self._assembler.text_of(place) for place in self._refusals)

    def begin(self, number: int, described: Json) -> Events:
        """Begin an item; one of a type that we do not know says nothing.

        Args:
            number: The vendor's number.
            described: The item as it is so far.

        Yields:
            What it means.
        """
        if number in self._items:
            raise failure("bad_response", f"the answer begins item {number} twice")
        item = _Item(kind=str(described.get("type")), described=described)
        self._items[number] = item
        if item.kind == "function_call":
            yield from self._open(item, Part("arguments"))

    def begin_part(self, number: int, part: Part) -> Events:
        """Begin a part, which may stay without a text.

        Args:
            number: The vendor's number of the item.
            part: Which part.

        Yields:
            What it means.
        """
        item = self._item_of(number, part)
        if item is not None and not item.is_ended and part not in item.places:
            yield from self._open(item, part)

    def extend(self, number: int, part: Part, delta: str) -> Events:
        """Add to a part.

        Args:
            number: The vendor's number of the item.
            part: Which part.
            delta: What is new.

        Yields:
            What it means.

        Raises:
            ModelRequestError: The part is no longer open.
        """
        item = self._item_of(number, part)
        if item is None or not delta:
            return
        if not item.is_ended and part not in item.places:
            yield from self._open(item, part)
        if item.is_ended or item.open_part != part:
            raise failure("bad_response", "the answer adds to a part that has ended")
        yield self._add(item.places[part], part.kind, delta)

    def complete(self, number: int, part: Part, whole: str) -> Events:
        """Add what the deltas left out of a part that is whole now.

        Args:
            number: The vendor's number of the item.
            part: Which part.
            whole: All of its text.

        Yields:
            What it means.
        """
        item = self._item_of(number, part)
        if item is not None and not item.is_ended:
            yield from self._complete(item, part, whole)

    def end(self, number: int, described: Json) -> Events:
        """End an item, and add what the deltas left out of it; doing it twice is doing it once.

        Args:
            number: The vendor's number.
            described: The whole item.

        Yields:
            What it means.
        """
        if number not in self._items:
            yield from self.begin(number, described)
        item = self._items[number]
        if item.is_ended:
            return
        item.described = described
        for part, whole in _parts_of(described):
            if _ITEM_KINDS[part.kind] == item.kind:
                yield from self._complete(item, part, whole)
        yield from self._end(item)

    def end_all(self, output: list[Json]) -> Events:
        """End the answer, and add the items that were not told before.

        Args:
            output: The vendor's list of all items; some servers leave it empty.

        Yields:
            What it means.
        """
        for position, described in enumerate(output):
            yield from self.end(self._number_of(position, described), described)
        for item in self._items.values():
            if not item.is_ended:
                yield from self._end(item)

    def _number_of(self, position: int, described: Json) -> int:
        """Find the number of an item that is told in the list of all."""
        id_ = described.get("id")
        for number, item in self._items.items():
            if id_ and item.described.get("id") == id_:
                return number
        known = self._items.get(position)
        if known is None or known.kind == described.get("type"):
            return position
        return max(self._items) + 1

    def _item_of(self, number: int, part: Part) -> _Item | None:
        """Find the item of a part; None when nothing can be said of it yet."""
        item = self._items.get(number)
        kind = _ITEM_KINDS[part.kind]
        if item is None and part.kind != "arguments":
            item = self._items[number] = _Item(kind=kind, described={})
        if item is not None and item.kind != kind:
            raise failure("bad_response", "the answer adds to an item what is not of its kind")
        return item

    def _open(self, item: _Item, part: Part) -> Events:
        """Begin a part; the one before it in the same item ends."""
        if item.open_part is not None:
            yield self._assembler.end_block(item.places[item.open_part])
        start: t.EventTextStart | t.EventThinkingStart | t.EventToolCallStart
        match part.kind:
            case "text" | "refusal":
                start = self._assembler.start_text()
            case "summary" | "reasoning":
                start = self._assembler.start_thinking()
            case "arguments":
                start = self._start_call(item.described)
        item.places[part] = start.content_index
        item.open_part = part
        if part.kind == "refusal":
            self._refusals.append(start.content_index)
        yield start

    def _start_call(self, described: Json) -> t.EventToolCallStart:
        name, id_ = described.get("name"), described.get("id")
        call_id = described.get("call_id") or id_
        if not (isinstance(name, str) and isinstance(call_id, str)):
            raise failure("bad_response", "the answer calls a function without a name or an id")
        signature = json.dumps({"id": id_}) if isinstance(id_, str) else None
        return self._assembler.start_tool_call(call_id, name, thought_signature=signature)

    def _complete(self, item: _Item, part: Part, whole: str) -> Events:
        if part not in item.places:
            yield from self._open(item, part)
        said = self._assembler.text_of(item.places[part])
        if item.open_part == part and len(whole) > len(said) and whole.startswith(said):
            yield self._add(item.places[part], part.kind, whole[len(said) :])

    def _add(self, place: int, kind: PartKind, delta: str) -> t.BlockDeltaEvent:
        match kind:
            case "text" | "refusal":
                return self._assembler.add_text(place, delta)
            case "summary" | "reasoning":
                return self._assembler.add_thinking(place, delta)
            case "arguments":
                return self._assembler.add_arguments(place, delta)

    def _end(self, item: _Item) -> Events:
        item.is_ended = True
        if item.kind == "reasoning" and item.described and item.open_part is None:
            # Nothing of it is shown, but it has to go back.
            yield from self._open(item, Part("summary"))
        if item.open_part is None:
            return
        place = item.places[item.open_part]
        if item.kind == "reasoning" and item.described:
            self._assembler.add_signature(place, _json_text(item.described))
        elif item.kind == "message":
            self._sign_texts(item)
        try:
            yield self._assembler.end_block(place)
        except ModelRequestError as error:
            # Only the end of the answer tells whether the vendor erred or the call was cut.
            self.unreadable_call = self.unreadable_call or error

    def _sign_texts(self, item: _Item) -> None:
        signature = {
            name: item.described[name]
            for name in ("id", "phase")
            if isinstance(item.described.get(name), str)
        }
        for place in item.places.values() if signature else ():
            self._assembler.sign_text(place, json.dumps(signature))


def _json_text(described: Json) -> str:
    try:
        return json.dumps(described, ensure_ascii=False)
    except RecursionError as error:
        raise failure("bad_response", "the answer is nested too deeply") from error


def content_part(described: Json, number: int) -> tuple[Part, str] | None:
    """Read a part of a message or of reasoning.

    Args:
        described: The part as the vendor tells it.
        number: Its place.

    Returns:
        The part and its text, or None when it is of a type that we do not know.
    """
    told = described.get("type")
    if not isinstance(told, str) or told not in _CONTENT_KINDS:
        return None
    kind, name = _CONTENT_KINDS[told]
    text = described.get(name)
    return Part(kind, number), text if isinstance(text, str) else ""


def _parts_of(described: Json) -> Iterator[tuple[Part, str]]:
    arguments = described.get("arguments")
    if isinstance(arguments, str):
        yield Part("arguments"), arguments
    for name in ("summary", "content"):
        told: object = described.get(name)
        parts = cast("list[object]", told) if isinstance(told, list) else []
        for number, part in enumerate(parts):
            if isinstance(part, dict) and (read := content_part(cast("Json", part), number)):
                yield read
