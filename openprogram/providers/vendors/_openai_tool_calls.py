"""Puts the pieces of parallel tool calls together; knows no network and no SDK.

The protocol numbers the calls of an answer and sends pieces of them in any order. Compatible
servers do less: all calls have the number 0, or none; the id is missing, comes with every piece, or
is the same for all calls. A piece belongs to the call that it names best.

Our content has the calls in the order of their numbers, so a call waits for those before it: until
they begin, or until the answer ends.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from openprogram.errors import ModelRequestError
from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openprogram.providers import types as t
    from openprogram.providers.vendors._assembly import MessageAssembler


class FunctionPiece(msgspec.Struct):
    """What a piece says of the function that is called."""

    name: str | None = None
    arguments: Any = None
    """JSON text, or at some servers the object itself."""


class CallPiece(msgspec.Struct):
    """One piece of one call."""

    index: int | None = None
    id: str | None = None
    function: FunctionPiece | None = None
    extra_content: Any = None


@dataclass(slots=True)
class _Call:
    number: int
    vendor_id: str = ""
    name: str = ""
    signature: str | None = None
    texts: list[str] = field(default_factory=list[str])
    """The pieces of its arguments."""
    place: int | None = None
    """Where it stands in our content, once it has begun."""

    def is_whole(self) -> bool:
        """Say whether the arguments are a JSON object."""
        try:
            return isinstance(json.loads("".join(self.texts)), dict)
        except (ValueError, RecursionError):
            return False


class ToolCallReader:
    """Reads the tool calls of one answer.

    Args:
        assembler: Where the message grows.
    """

    def __init__(self, assembler: MessageAssembler) -> None:
        self._assembler = assembler
        self._calls: list[_Call] = []
        self._by_number: dict[int, _Call] = {}
        self._next_number = 0
        """The number of the call that begins next; those before it have begun."""
        self._ids: set[str] = set()
        self.unreadable: ModelRequestError | None = None
        """Why a call could not be read, after the end."""

    def add(self, piece: CallPiece) -> Iterator[t.AssistantMessageEvent]:
        """Take over one piece.

        Args:
            piece: What came.

        Yields:
            What it means; nothing while the call has to wait.
        """
        function = piece.function or FunctionPiece()
        text = _arguments_text(function.arguments)
        call = self._find(piece, function, text)
        call.vendor_id = call.vendor_id or piece.id or ""
        call.name = call.name or function.name or ""
        call.signature = call.signature or _signature(piece.extra_content)
        if text:
            call.texts.append(text)
        if call.place is not None:
            if text:
                yield self._assembler.add_arguments(call.place, text)
        elif piece.index is None or piece.index < self._next_number:
            yield from self._begin(call)
        else:
            yield from self._begin_those_in_order()

    def end(self) -> Iterator[t.AssistantMessageEvent]:
        """End all calls; those that waited begin first.

        Yields:
            What is left to tell of them.
        """
        waiting = [call for call in self._calls if call.place is None]
        for call in sorted(waiting, key=lambda call: call.number):
            if call.name:
                yield from self._begin(call)
            else:
                self._complain(failure("bad_response", "the answer calls a tool without a name"))
        for call in self._calls:
            if call.place is None:
                continue
            try:
                yield self._assembler.end_block(call.place)
            except ModelRequestError as error:
                self._complain(error)

    def _find(self, piece: CallPiece, function: FunctionPiece, text: str) -> _Call:
        """Find the call that a piece belongs to, or make one."""
        if piece.index is not None:
            call = self._by_number.get(piece.index)
        elif piece.id:
            same_id = (call for call in reversed(self._calls) if call.vendor_id == piece.id)
            call = next(same_id, None)
        else:
            call = self._calls[-1] if self._calls else None
        if call is None or _is_another(call, piece, function, text):
            call = _Call(number=len(self._calls) if piece.index is None else piece.index)
            self._calls.append(call)
            if piece.index is not None:
                self._by_number[piece.index] = call
        return call

    def _begin_those_in_order(self) -> Iterator[t.AssistantMessageEvent]:
        while (call := self._by_number.get(self._next_number)) is not None and call.name:
            self._next_number += 1
            yield from self._begin(call)

    def _begin(self, call: _Call) -> Iterator[t.AssistantMessageEvent]:
        if not call.name:
            return
        id_ = call.vendor_id
        if not id_ or id_ in self._ids:
            id_ = f"call_{uuid4().hex[:24]}"
        self._ids.add(id_)
        start = self._assembler.start_tool_call(id_, call.name, thought_signature=call.signature)
        call.place = start.content_index
        yield start
        for text in call.texts:
            yield self._assembler.add_arguments(call.place, text)

    def _complain(self, error: ModelRequestError) -> None:
        """Keep the first fault: only the end of the answer tells whose fault it is."""
        self.unreadable = self.unreadable or error


def _is_another(call: _Call, piece: CallPiece, function: FunctionPiece, text: str) -> bool:
    """Say whether a piece that carries a call's number or id opens the next one all the same."""
    if piece.id and call.vendor_id and piece.id != call.vendor_id:
        return True
    # Where nothing tells two calls apart, each comes in one piece, and names its tool.
    return bool(function.name and call.name and text and call.is_whole())


def _arguments_text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments) if isinstance(arguments, dict) else ""


def _signature(extra: object) -> str | None:
    match extra:
        case {"google": {"thought_signature": str(signature)}}:
            return signature
        case _:
            return None
