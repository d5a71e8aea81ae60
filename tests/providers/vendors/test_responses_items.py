"""Items become blocks, however finely they are told, and nothing that was told is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._assembly import MessageAssembler
from openprogram.providers.vendors._responses_items import OutputItems, Part, content_part

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = t.Model(id="m", name="M", api="openai-responses", provider="openai", base_url="")
MESSAGE: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
CALL: dict[str, Any] = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "tool",
    "arguments": "",
}
REASONING: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}


class Telling:
    """Takes what the items say, and keeps the events."""

    def __init__(self) -> None:
        self._assembler = MessageAssembler(MODEL)
        self.items = OutputItems(self._assembler)
        self.events: list[Any] = []

    def take(self, *told: Iterator[Any]) -> None:
        for events in told:
            self.events += events

    @property
    def kinds(self) -> list[str]:
        return [f"{event.type}:{event.content_index}" for event in self.events]

    @property
    def content(self) -> list[Any]:
        return self._assembler.done("stop").message.content


def output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def test_a_message_of_several_parts_is_several_blocks_of_one_id():
    telling = Telling()
    items = telling.items
    told = {**MESSAGE, "phase": "final_answer", "content": [output_text("ab"), output_text("c")]}
    telling.take(
        items.begin(0, MESSAGE),
        items.extend(0, Part("text", 0), "a"),
        items.extend(0, Part("text", 0), "b"),
        items.extend(0, Part("text", 1), "c"),
        items.end(0, told),
        items.end(0, told),
        items.end_all([told]),
    )
    assert telling.kinds == [
        *["text_start:0", "text_delta:0", "text_delta:0", "text_end:0"],
        *["text_start:1", "text_delta:1", "text_end:1"],
    ]
    assert [block.text for block in telling.content] == ["ab", "c"]
    assert {block.text_signature for block in telling.content} == {
        '{"id": "msg_1", "phase": "final_answer"}'
    }


def test_what_the_deltas_left_out_is_added():
    telling = Telling()
    items = telling.items
    telling.take(
        items.extend(0, Part("text"), "one "),
        items.complete(0, Part("text"), "one two "),
        items.complete(0, Part("text"), "one two "),
        items.end(0, {**MESSAGE, "content": [output_text("one two three")]}),
        items.begin(1, CALL),
        items.extend(1, Part("arguments"), '{"a"'),
        items.end_all([MESSAGE, {**CALL, "arguments": '{"a": 1}'}]),
    )
    text, call = telling.content
    assert text.text == "one two three"
    assert call == t.ToolCall(
        id="call_1", name="tool", arguments={"a": 1}, thought_signature='{"id": "fc_1"}'
    )
    assert [event.delta for event in telling.events if event.type.endswith("delta")] == [
        "one ",
        "two ",
        "three",
        '{"a"',
        ": 1}",
    ]


def test_deltas_count_where_a_later_word_differs():
    telling = Telling()
    items = telling.items
    telling.take(
        items.extend(0, Part("text"), " said "),
        items.end(0, {**MESSAGE, "content": [output_text("said")]}),
    )
    assert telling.content[0].text == " said "


def test_each_part_of_a_summary_is_a_block_and_the_last_one_signs_for_all():
    telling = Telling()
    items = telling.items
    whole = {
        **REASONING,
        "summary": [{"type": "summary_text", "text": text} for text in ("one", "two")],
        "encrypted_content": "opaque+/=",
        "status": None,
        "of_a_later_release": {"kept": True},
    }
    telling.take(
        items.begin(0, {**REASONING, "encrypted_content": "not whole yet"}),
        items.begin_part(0, Part("summary", 0)),
        items.extend(0, Part("summary", 0), "one"),
        items.begin_part(0, Part("summary", 1)),
        items.extend(0, Part("summary", 1), "two"),
        items.end(0, whole),
    )
    assert [(block.thinking, block.thinking_signature is None) for block in telling.content] == [
        ("one", True),
        ("two", False),
    ]
    assert json.loads(telling.content[1].thinking_signature) == whole
    assert telling.events[-1].partial.content[1].thinking_signature is not None


def test_reasoning_that_shows_nothing_has_a_block_to_sign():
    telling = Telling()
    whole = {**REASONING, "encrypted_content": "opaque"}
    telling.take(telling.items.begin(0, REASONING), telling.items.end_all([whole]))
    assert telling.kinds == ["thinking_start:0", "thinking_end:0"]
    assert json.loads(telling.content[0].thinking_signature) == whole


def test_raw_reasoning_is_thinking_too():
    telling = Telling()
    whole = {**REASONING, "content": [{"type": "reasoning_text", "text": "raw"}]}
    telling.take(
        telling.items.begin(0, REASONING),
        telling.items.extend(0, Part("reasoning"), "ra"),
        telling.items.end(0, whole),
    )
    assert telling.content[0].thinking == "raw"


def test_a_refusal_is_shown_and_remembered():
    telling = Telling()
    items = telling.items
    assert items.refusal is None
    telling.take(
        items.extend(0, Part("text"), "Well. "),
        items.extend(0, Part("refusal", 1), "No"),
        items.end(0, {**MESSAGE, "content": [output_text("Well. "), {"type": "refusal"}]}),
    )
    assert items.refusal == "No"
    assert [block.text for block in telling.content] == ["Well. ", "No"]


def test_arguments_before_their_call_wait_for_it():
    telling = Telling()
    items = telling.items
    telling.take(
        items.extend(0, Part("arguments"), '{"a": '),
        items.end(0, {**CALL, "arguments": '{"a": 1}'}),
    )
    assert telling.content[0].arguments == {"a": 1}


def test_items_that_only_the_response_tells_keep_their_order():
    telling = Telling()
    telling.take(
        telling.items.begin(0, {**MESSAGE, "id": "msg_streamed"}),
        telling.items.extend(0, Part("text"), "streamed"),
        telling.items.end_all(
            [
                {**REASONING, "encrypted_content": "e"},
                {**MESSAGE, "id": "msg_streamed", "content": [output_text("streamed")]},
                {**CALL, "arguments": "{}"},
            ]
        ),
    )
    assert [block.type for block in telling.content] == ["text", "thinking", "toolCall"]


def test_an_item_that_comes_back_under_another_id_is_the_same_one():
    telling = Telling()
    telling.take(
        telling.items.begin(0, CALL),
        telling.items.end_all([{**CALL, "id": "fc_other", "arguments": "{}"}]),
    )
    assert [block.type for block in telling.content] == ["toolCall"]


def test_a_call_without_an_id_of_its_own_takes_its_items():
    telling = Telling()
    bare = {name: value for name, value in CALL.items() if name != "call_id"}
    telling.take(telling.items.end(0, {**bare, "arguments": "{}"}))
    assert telling.content[0].id == "fc_1"


def test_an_unreadable_call_is_remembered():
    telling = Telling()
    telling.take(telling.items.end(0, {**CALL, "arguments": "{"}), telling.items.end_all([]))
    assert telling.items.unreadable_call is not None
    assert "'tool'" in str(telling.items.unreadable_call)


def test_what_contradicts_itself_is_a_bad_response():
    def begun() -> OutputItems:
        items = OutputItems(MessageAssembler(MODEL))
        list(items.begin(0, MESSAGE))
        list(items.extend(0, Part("text"), "a"))
        return items

    def ended() -> OutputItems:
        items = begun()
        list(items.end(0, MESSAGE))
        return items

    for events in (
        begun().begin(0, MESSAGE),
        begun().extend(0, Part("summary"), "x"),
        begun().extend(0, Part("arguments"), "x"),
        ended().extend(0, Part("text"), "x"),
        begun().begin(1, {**CALL, "name": None}),
        begun().begin(1, {**CALL, "id": None, "call_id": 5}),
    ):
        with pytest.raises(ModelRequestError) as caught:
            list(events)
        assert caught.value.reason == "bad_response"


def test_an_item_nested_too_deeply_is_a_bad_response():
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    items = OutputItems(MessageAssembler(MODEL))
    with pytest.raises(ModelRequestError, match="too deeply"):
        list(items.end(0, {**REASONING, "encrypted_content": deep}))


def test_parts_of_other_types_are_none():
    assert content_part({"type": "hologram"}, 0) is None
    assert content_part({"type": ["odd"]}, 0) is None
    assert content_part({"type": "refusal", "refusal": "no"}, 2) == (Part("refusal", 2), "no")
    assert content_part({"type": "output_text", "text": 5}, 0) == (Part("text"), "")
