"""The assembler's events are consistent snapshots, and its sums are honest."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._assembly import MessageAssembler, cost_of
from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from openprogram.errors import FailureReason

MODEL = t.Model(id="m", name="M", api="a", provider="p", base_url="")


def whole_story(assembler: MessageAssembler) -> list[Any]:
    events: list[Any] = [assembler.start(), assembler.start_thinking()]
    events.append(assembler.add_thinking(0, "because"))
    assembler.add_signature(0, "si")
    assembler.add_signature(0, "gn")
    events += [assembler.end_block(0), assembler.start_text(), assembler.add_text(1, "a")]
    events += [assembler.add_text(1, "b"), assembler.end_block(1)]
    assembler.set_usage(input_=5, output=1)
    events += [assembler.start_tool_call("c", "tool"), assembler.add_arguments(2, '{"x":')]
    events += [assembler.add_arguments(2, "1}"), assembler.end_block(2)]
    assembler.set_usage(input_=5, output=9)
    events.append(assembler.done("stop"))
    return events


def test_no_later_event_changes_an_earlier_one():
    assembler = MessageAssembler(MODEL)
    frozen: list[Any] = []
    live: list[Any] = []
    original = MessageAssembler.__dict__

    def keep(event: Any) -> Any:
        live.append(event)
        frozen.append(copy.deepcopy(event))
        return event

    class Watched:
        def __getattr__(self, name: str) -> Callable[..., Any]:
            method = original[name]
            return lambda *args, **kwargs: keep(method(assembler, *args, **kwargs))

    whole_story(Watched())  # pyright: ignore[reportArgumentType] - stands in for what it watches
    assert sum(event is not None for event in live) == 13
    assert live == frozen


def test_what_came_of_a_block_and_what_signs_a_text_can_be_asked_for():
    assembler = MessageAssembler(MODEL)
    whole_story(assembler)
    assert [assembler.text_of(index) for index in range(3)] == ["because", "ab", ""]
    assembler.start_tool_call("d", "tool")
    assembler.add_arguments(3, '{"x"')
    assert assembler.text_of(3) == '{"x"'
    assembler.sign_text(1, "signed")
    last = assembler.end_block(1)
    assert last.partial.content[1] == t.TextContent(text="ab", text_signature="signed")
    with pytest.raises(ModelRequestError):
        assembler.sign_text(0, "thinking is signed otherwise")


def test_each_partial_is_the_message_so_far():
    events = whole_story(MessageAssembler(MODEL))
    partials = [event.partial for event in events[:-1]]
    texts = [[getattr(b, "text", None) for b in p.content if b.type == "text"] for p in partials]
    assert texts == [*[[]] * 4, [""], ["a"], *[["ab"]] * 6]
    arguments = [b.arguments for p in partials for b in p.content if b.type == "toolCall"]
    assert arguments == [{}, {}, {}, {"x": 1}]
    assert partials[3].content[0].thinking_signature == "sign"
    assert [p.usage.output for p in partials[-4:]] == [1, 1, 1, 1]
    assert events[-1].message.usage.total_tokens == 14


def test_a_consumer_that_changes_a_partial_harms_no_other_event():
    assembler = MessageAssembler(MODEL)
    start = assembler.start()
    text = assembler.start_text()
    text.partial.content.clear()
    start.partial.stop_reason = "error"
    done = assembler.done("stop")
    assert len(done.message.content) == 1
    assert done.message.stop_reason == "stop"


def test_blocks_that_did_not_change_are_shared():
    assembler = MessageAssembler(MODEL)
    assembler.start_text()
    first = assembler.add_text(0, "x")
    assembler.start_text()
    second = assembler.add_text(1, "y")
    assert second.partial.content[0] is first.partial.content[0]


@given(deltas=st.lists(st.text()))
def test_deltas_join_to_the_text(deltas: list[str]):
    assembler = MessageAssembler(MODEL)
    assembler.start_text()
    for delta in deltas:
        assert assembler.add_text(0, delta).delta == delta
    end = assembler.end_block(0)
    assert isinstance(end, t.EventTextEnd)
    assert end.content == "".join(deltas)


@pytest.mark.parametrize(("text", "arguments"), [("", {}), (" ", {}), ('{"a": "é"}', {"a": "é"})])
def test_arguments_are_parsed_at_the_end(text: str, arguments: dict[str, Any]):
    assembler = MessageAssembler(MODEL)
    assembler.start_tool_call("c", "tool")
    assembler.add_arguments(0, text)
    end = assembler.end_block(0)
    assert isinstance(end, t.EventToolCallEnd)
    assert end.tool_call.arguments == arguments


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"a": NaN}', "[" * 100_000])
def test_arguments_that_are_no_object_are_a_bad_response(text: str):
    assembler = MessageAssembler(MODEL)
    assembler.start_tool_call("c", "tool")
    assembler.add_arguments(0, text)
    with pytest.raises(ModelRequestError, match="tool call 'tool'") as caught:
        assembler.end_block(0)
    assert caught.value.reason == "bad_response"


def test_adding_to_a_block_of_another_kind_is_a_bad_response():
    assembler = MessageAssembler(MODEL)
    assembler.start_text()
    with pytest.raises(ModelRequestError, match="not of its kind"):
        assembler.add_arguments(0, "{}")


def test_a_plain_stop_after_a_tool_call_is_a_tool_use():
    assembler = MessageAssembler(MODEL)
    assembler.start_tool_call("c", "tool")
    assert assembler.done("stop").message.stop_reason == "toolUse"


@pytest.mark.parametrize(("reason", "event"), [("aborted", "aborted"), ("rate_limit", "error")])
def test_a_failure_keeps_what_had_come(reason: FailureReason, event: str):
    assembler = MessageAssembler(MODEL)
    assembler.start_text()
    assembler.add_text(0, "half")
    end = assembler.fail(failure(reason, "why", retry_after_seconds=2))
    assert (end.reason, end.error.stop_reason) == (event, event)
    assert end.error.content == [t.TextContent(text="half")]
    assert (end.error.error_message, end.error.error_reason) == ("why", reason)
    assert end.error.error_retryable is (reason == "rate_limit")
    assert end.error.error_retry_after_s == 2


def test_the_cost_counts_each_kind_at_its_own_price():
    usage = t.Usage(input=1000, output=100, cache_read=10, cache_write=1)
    prices = t.ModelCost(input=1, output=10, cache_read=100, cache_write=1000)
    cost = cost_of(usage, prices)
    assert [cost.input, cost.output, cost.cache_read, cost.cache_write] == [0.001] * 4
    assert cost.total == 0.004


def test_an_unknown_price_that_was_needed_leaves_no_total():
    prices = t.ModelCost(input=1, output=1)
    assert cost_of(t.Usage(input=5), prices).total > 0
    cost = cost_of(t.Usage(input=5, cache_read=1), prices)
    assert (cost.input > 0, cost.cache_read, cost.total) == (True, 0.0, 0.0)
    assert cost_of(t.Usage(input=5), t.ModelCost()) == t.UsageCost()
