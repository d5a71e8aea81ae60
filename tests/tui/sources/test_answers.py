"""Answers put together from their events."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from examples.demo_state import flaky_test
from openprogram_recordings_tui.sources.answers import assemble_answer, whole_answer

ROWS = flaky_test().rows
EVENTS: list[dict[str, Any]] = [
    row["event"] for row in ROWS if row["type"] == "event" and row["call_index"] == 0
]


def test_a_last_event_holds_the_message_whole():
    message = whole_answer(EVENTS[-1])

    assert message is not None
    assert message["stop_reason"] == "toolUse"
    assert whole_answer({"type": "error", "error": {"role": "assistant"}}) == {"role": "assistant"}


def test_a_whole_snapshot_counts_and_a_stub_does_not():
    assert whole_answer({"partial": {"content": []}}) == {"content": []}
    assert whole_answer({"partial": {"content": []}, "partial_derived": True}) is None
    assert whole_answer({}) is None


def test_deltas_give_what_the_last_message_says():
    whole = whole_answer(EVENTS[-1])
    assert whole is not None

    made = assemble_answer(EVENTS[:-1])["content"]

    assert [block["type"] for block in made] == [b["type"] for b in whole["content"]]
    assert made[0]["thinking"] == whole["content"][0]["thinking"]
    assert made[1]["text"] == whole["content"][1]["text"]
    assert made[2]["arguments"] == whole["content"][2]["arguments"]


@given(st.integers(min_value=0, max_value=len(EVENTS)))
def test_an_answer_cut_anywhere_is_a_beginning_of_the_whole(cut: int):
    made = assemble_answer(EVENTS[:cut])["content"]
    whole = (whole_answer(EVENTS[-1]) or {})["content"]

    for block, full in zip(made, whole, strict=False):
        assert block["type"] == full["type"]
        for field in ("text", "thinking"):
            assert str(full.get(field, "")).startswith(str(block.get(field, "")))


def test_tool_arguments_cut_short_are_shown_as_the_text_they_are():
    events = [
        {"type": "toolcall_start", "content_index": 0},
        {"type": "toolcall_delta", "content_index": 0, "delta": '{"path": "a'},
    ]

    (block,) = assemble_answer(events)["content"]

    assert block["arguments"] == {"…": '{"path": "a'}


def test_events_of_no_known_shape_are_no_failure():
    odd: list[dict[str, Any]] = [
        {},
        {"type": None, "content_index": 0},
        {"type": "x_delta", "content_index": "0"},
        {"type": "text_delta", "content_index": 1, "delta": 7},
    ]

    assert len(assemble_answer(odd)["content"]) == 2
