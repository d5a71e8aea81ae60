from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers import types as t
from openprogram.providers.recording.snapshots import (
    DERIVED_KEY,
    STUB_FIELD_NAMES,
    DerivationChecker,
    SnapshotReader,
    SnapshotTracker,
)
from scripted import message, text_events, text_message, tool_events


def stub(event: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Write an event as the recorder would: without what the events say themselves."""
    kept = {*STUB_FIELD_NAMES, *names}
    partial = {name: value for name, value in event["partial"].items() if name in kept}
    return {**event, "partial": {**partial, "content": []}, DERIVED_KEY: True}


def round_trip(events: list[Any]) -> tuple[list[dict[str, Any]], int]:
    """Leave out what can be left out, put it back, and count the stubs."""
    tracker, reader, checker = SnapshotTracker(), SnapshotReader(), DerivationChecker()
    rebuilt: list[dict[str, Any]] = []
    stubs = 0
    for event in events:
        wire = t.to_wire(event)
        changed = tracker.advance(event)
        if changed is not None:
            wire = stub(wire, changed)
            stubs += 1
        typed: Any = t.from_wire(t.AssistantMessageEvent, wire)
        checker.check(typed, is_derived=changed is not None)
        rebuilt.append(reader.rebuild(wire))
    return rebuilt, stubs


@pytest.mark.parametrize(
    ("events", "whole_count"), [(text_events("a", "", "bc"), 2), (tool_events('{"a"', ":1}"), 3)]
)
def test_what_is_left_out_comes_back(events: list[Any], whole_count: int) -> None:
    rebuilt, stub_count = round_trip(events)
    assert rebuilt == [t.to_wire(event) for event in events]
    assert stub_count == len(events) - whole_count


def test_a_start_is_always_whole() -> None:
    tracker = SnapshotTracker()
    assert tracker.advance(t.EventStart(partial=message())) is None
    assert tracker.advance(t.EventTextStart(content_index=0, partial=text_message(""))) == set()


def test_a_field_that_changed_is_named() -> None:
    tracker = SnapshotTracker()
    tracker.advance(t.EventStart(partial=message()))
    later = text_message("")
    later.usage = t.Usage(output=3)
    later.stop_reason = "length"
    changed = tracker.advance(t.EventTextStart(content_index=0, partial=later))
    assert changed == {"usage", "stop_reason"}


def test_a_source_that_reuses_one_message_is_followed() -> None:
    shared = message()
    block = t.TextContent(text="")
    tracker = SnapshotTracker()
    tracker.advance(t.EventStart(partial=shared))
    shared.content.append(block)
    assert tracker.advance(t.EventTextStart(content_index=0, partial=shared)) == set()
    block.text = "ab"
    event = t.EventTextDelta(content_index=0, delta="ab", partial=shared)
    assert tracker.advance(event) == set()
    block.text = "changed behind its back"
    event = t.EventTextDelta(content_index=0, delta="c", partial=shared)
    assert tracker.advance(event) is None


@pytest.mark.parametrize(
    "event",
    [
        t.EventTextDelta(content_index=0, delta="b", partial=text_message("a-b")),
        t.EventTextDelta(content_index=0, delta="b", partial=text_message("b")),
        t.EventTextDelta(content_index=1, delta="b", partial=text_message("ab")),
        t.EventTextDelta(content_index=-1, delta="b", partial=text_message("ab")),
        t.EventThinkingDelta(content_index=0, delta="b", partial=text_message("ab")),
        t.EventTextStart(content_index=0, partial=text_message("a")),
        t.EventTextEnd(content_index=0, content="other", partial=text_message("a")),
        t.EventTextDelta(
            content_index=0,
            delta="b",
            partial=message(t.TextContent(text="ab", text_signature="s")),
        ),
        t.EventTextDelta(
            content_index=0,
            delta="b",
            partial=message(t.TextContent(text="ab"), t.TextContent(text="more")),
        ),
    ],
)
def test_what_does_not_follow_is_written_whole(event: Any) -> None:
    tracker = SnapshotTracker()
    tracker.advance(t.EventStart(partial=text_message("a")))
    assert tracker.advance(event) is None


def test_arguments_that_json_cannot_say_equal_nothing() -> None:
    odd = message(t.ToolCall(id="i", name="n", arguments={"x": object()}))
    tracker = SnapshotTracker()
    tracker.advance(t.EventStart(partial=odd))
    assert tracker.advance(t.EventToolCallDelta(content_index=0, delta="", partial=odd)) is None


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("text_start", {"content_index": 5}),
        ("text_delta", {"content_index": 0, "delta": "x"}),
        ("text_delta", {"content_index": 7, "delta": "x"}),
        ("text_delta", {"content_index": -1, "delta": "x"}),
        ("thinking_end", {"content_index": 0, "content": "x"}),
        ("toolcall_delta", {"content_index": 3, "delta": "x"}),
        ("toolcall_start", {"content_index": 0}),
        ("start", {}),
    ],
)
def test_a_stub_that_cannot_follow_is_refused_by_both(kind: str, fields: dict[str, Any]) -> None:
    call = t.ToolCall(id="i", name="n", arguments={})
    whole = t.EventStart(partial=message(call))
    wire = {"type": kind, **fields, "partial": t.to_wire(message()), DERIVED_KEY: True}
    reader, checker = SnapshotReader(), DerivationChecker()
    reader.rebuild(t.to_wire(whole))
    checker.check(whole, is_derived=False)
    typed: Any = t.from_wire(t.AssistantMessageEvent, wire)
    with pytest.raises(ValueError, match="derived"):
        checker.check(typed, is_derived=True)
    with pytest.raises(ValueError, match="derived"):
        reader.rebuild(wire)


def test_a_first_event_cannot_be_a_stub() -> None:
    event = t.EventTextStart(content_index=0, partial=message())
    with pytest.raises(ValueError, match="no snapshot before"):
        DerivationChecker().check(event, is_derived=True)


_steps = st.lists(
    st.tuples(
        st.sampled_from(["text", "thinking", "toolcall"]),
        st.lists(st.text(max_size=4), max_size=4),
        st.booleans(),
    ),
    max_size=5,
)


@given(_steps)
def test_any_stream_comes_back_field_by_field(steps: Any) -> None:
    blocks: list[Any] = []
    events: list[Any] = [t.EventStart(partial=message())]

    def add(type_: Any, **fields: Any) -> None:
        events.append(
            type_(
                content_index=len(blocks) - 1, partial=message(*[copy(b) for b in blocks]), **fields
            )
        )

    for kind, deltas, is_odd in steps:
        if kind == "text":
            block: Any = t.TextContent(text="x" if is_odd else "")
            blocks.append(block)
            add(t.EventTextStart)
            for delta in deltas:
                block.text += delta
                add(t.EventTextDelta, delta=delta)
            add(t.EventTextEnd, content=block.text)
        elif kind == "thinking":
            block = t.ThinkingContent(thinking="")
            blocks.append(block)
            add(t.EventThinkingStart)
            for delta in deltas:
                block.thinking += delta
                add(t.EventThinkingDelta, delta=delta)
            block.thinking_signature = "s" if is_odd else None
            add(t.EventThinkingEnd, content=block.thinking)
        else:
            block = t.ToolCall(id="i", name="n", arguments={})
            blocks.append(block)
            add(t.EventToolCallStart)
            for delta in deltas:
                if is_odd:
                    block.arguments = {"so far": delta}
                add(t.EventToolCallDelta, delta=delta)
            block.arguments = {"all": "".join(deltas)}
            add(t.EventToolCallEnd, tool_call=copy(block))
    rebuilt, _ = round_trip(events)
    assert rebuilt == [t.to_wire(event) for event in events]


def copy(block: Any) -> Any:
    return t.from_wire(cast("Any", type(block)), t.to_wire(block))
