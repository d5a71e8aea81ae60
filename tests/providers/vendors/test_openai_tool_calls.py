"""Tool calls are put together however a server numbers and names them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.providers import types as t
from openprogram.providers.vendors._assembly import MessageAssembler
from openprogram.providers.vendors._openai_tool_calls import CallPiece, ToolCallReader

if TYPE_CHECKING:
    from collections.abc import Iterable

Json = dict[str, Any]
MODEL = t.Model(id="m", name="m", api="openai-completions", provider="p", base_url="")


def piece(
    name: str | None = None, arguments: Any = None, *, index: int | None = None, id_: Any = None
) -> Json:
    return {"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}


def read(pieces: Iterable[Json]) -> tuple[list[t.ToolCall], list[t.AssistantMessageEvent]]:
    assembler = MessageAssembler(MODEL)
    reader = ToolCallReader(assembler)
    events: list[t.AssistantMessageEvent] = []
    for each in pieces:
        events += reader.add(msgspec.convert(each, CallPiece))
    events += reader.end()
    assert reader.unreadable is None
    content = assembler.done("toolUse").message.content
    for index, call in enumerate(content):
        kinds = [e.type for e in events if getattr(e, "content_index", None) == index]
        assert (kinds[0], kinds[-1]) == ("toolcall_start", "toolcall_end")
        assert set(kinds[1:-1]) <= {"toolcall_delta"}
        assert isinstance(call, t.ToolCall)
    return [call for call in content if isinstance(call, t.ToolCall)], events


TWO = [("f", {"a": 1}), ("g", {"b": 2})]


@pytest.mark.parametrize(
    "pieces",
    [
        # the protocol itself
        [piece("f", "", index=0, id_="x"), piece(None, '{"a": 1}', index=0),
         piece("g", "", index=1, id_="y"), piece(None, '{"b"', index=1),
         piece(None, ': 2}', index=1)],
        # the second begins first
        [piece("g", '{"b"', index=1, id_="y"), piece("f", '{"a"', index=0, id_="x"),
         piece(None, ": 2}", index=1), piece(None, ": 1}", index=0)],
        # counted from one
        [piece("f", '{"a": 1}', index=1, id_="x"), piece("g", '{"b": 2}', index=2, id_="y")],
        # one number for all, told apart by the ids
        [piece("f", '{"a": 1}', index=0, id_="x"), piece("g", '{"b": 2}', index=0, id_="y")],
        # one number and one id for all
        [piece("f", '{"a": 1}', index=0, id_="x"), piece("g", '{"b": 2}', index=0, id_="x")],
        # one number, no ids
        [piece("f", '{"a": 1}', index=0), piece("g", '{"b": 2}', index=0)],
        # neither numbers nor ids, arguments as objects
        [piece("f", {"a": 1}), piece("g", {"b": 2})],
        # no numbers, pieces in turns
        [piece("f", '{"a"', id_="x"), piece("g", '{"b"', id_="y"), piece(None, ": 1}", id_="x"),
         piece(None, ": 2}", id_="y")],
        # id and name with every piece
        [piece("f", '{"a"', index=0, id_="x"), piece("f", ": 1}", index=0, id_="x"),
         piece("f", "", index=0, id_="x"), piece("g", '{"b": 2}', index=1, id_="y")],
        # an id that comes late, and is empty before
        [piece("f", '{"a": 1}', index=0, id_=""), piece(None, "", index=0, id_="x"),
         piece("g", '{"b": 2}', index=1, id_="")],
        # two numbers, one id
        [piece("f", '{"a": 1}', index=0, id_="x"), piece("g", '{"b": 2}', index=1, id_="x")],
    ],
)  # fmt: skip
def test_two_calls_are_two_calls(pieces: list[Json]):
    calls, _ = read(pieces)
    assert [(call.name, call.arguments) for call in calls] == TWO
    ids = [call.id for call in calls]
    assert all(ids)
    assert len(set(ids)) == 2
    given_ids = [each["id"] for each in pieces if each["id"]]
    if len(set(given_ids)) == 2:
        assert ids == ["x", "y"]


def test_a_call_is_told_as_soon_as_those_before_it_have_begun():
    assembler = MessageAssembler(MODEL)
    reader = ToolCallReader(assembler)

    def add(each: Json) -> list[str]:
        return [event.type for event in reader.add(msgspec.convert(each, CallPiece))]

    assert add(piece("g", '{"b": 2}', index=1, id_="y")) == []
    assert add(piece(None, "{}", index=0, id_="x")) == []
    assert add(piece("f", None, index=0)) == [
        "toolcall_start",
        "toolcall_delta",
        "toolcall_start",
        "toolcall_delta",
    ]
    assert [event.type for event in reader.end()] == ["toolcall_end"] * 2


def test_a_call_without_a_name_or_with_broken_arguments_is_a_bad_response():
    for each in (piece(None, "{}", index=0, id_="x"), piece("f", "[1]", index=0)):
        reader = ToolCallReader(MessageAssembler(MODEL))
        list(reader.add(msgspec.convert(each, CallPiece)))
        list(reader.end())
        assert reader.unreadable is not None
        assert reader.unreadable.reason == "bad_response"


def test_a_signature_stays_with_its_call():
    extra: Json = {"extra_content": {"google": {"thought_signature": "s"}}}
    signed = {**piece("f", "{}", index=0), **extra}
    odd = {**piece("g", "{}", index=1), "extra_content": {"google": 5}}
    calls, _ = read([signed, odd])
    assert [call.thought_signature for call in calls] == ["s", None]


@settings(max_examples=40)
@given(data=st.data(), count=st.integers(1, 4))
def test_any_interleaving_of_numbered_pieces_gives_the_calls_in_order(
    data: st.DataObject, count: int
):
    texts = [json.dumps({"n": number, "t": "x" * number}) for number in range(count)]
    rests = [
        [piece(f"f{number}", "", index=number, id_=f"id{number}")]
        + [piece(None, character, index=number) for character in text]
        for number, text in enumerate(texts)
    ]
    order = data.draw(st.permutations([n for n, rest in enumerate(rests) for _ in rest]))
    calls, _ = read([rests[number].pop(0) for number in order])
    assert [call.id for call in calls] == [f"id{number}" for number in range(count)]
    assert [call.arguments for call in calls] == [json.loads(text) for text in texts]
