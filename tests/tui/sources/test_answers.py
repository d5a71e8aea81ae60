"""Answers put together from their events."""

from __future__ import annotations

from typing import Any

import pytest
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


def assembled(events: list[Any], limit: int = 1000) -> tuple[list[dict[str, Any]], int]:
    answer = assemble_answer(events, len(events), limit)
    return (answer.message or {})["content"], answer.left_out_count


def test_deltas_give_what_the_last_message_says():
    whole = whole_answer(EVENTS[-1])
    assert whole is not None

    made, left_out_count = assembled(EVENTS[:-1])

    assert made == whole["content"]
    assert left_out_count == 0


@given(st.integers(min_value=0, max_value=len(EVENTS) - 1))
def test_an_answer_cut_anywhere_is_a_beginning_of_the_whole(cut: int):
    made, left_out_count = assembled(EVENTS[:-1], cut)
    whole = (whole_answer(EVENTS[-1]) or {})["content"]

    assert left_out_count == len(EVENTS) - 1 - cut
    for block, full in zip(made, whole, strict=False):
        assert block["type"] == full["type"]
        for field in ("text", "thinking"):
            assert str(full.get(field, "")).startswith(str(block.get(field, "")))


def test_tool_arguments_cut_short_are_shown_as_the_text_they_are():
    last_delta = max(i for i, e in enumerate(EVENTS) if e["type"] == "toolcall_delta")

    made, _ = assembled(EVENTS[:last_delta])

    assert made[-1]["name"] == "read_file"
    (text,) = made[-1]["arguments"].values()
    assert text.startswith('{"path": "')
    assert not text.endswith("}")


@pytest.mark.parametrize(
    "odd",
    [
        None,
        {"type": "text_delta", "content_index": 1, "delta": 7},
        {"type": "text_delta", "content_index": 99, "delta": "x"},
        {"type": "x_delta", "content_index": "0"},
        {"content_index": None},
    ],
)
def test_what_does_not_follow_ends_it_and_the_rest_is_counted(odd: Any):
    if odd is not None:
        odd = {**odd, "partial": {"content": []}, "partial_derived": True}

    made, left_out_count = assembled([*EVENTS[:4], odd, *EVENTS[4:]])

    assert made == assembled(EVENTS[:4])[0]
    assert left_out_count == len(EVENTS) - 3


def test_events_of_no_known_shape_are_no_failure():
    odd: list[dict[str, Any]] = [
        {},
        {"type": None, "content_index": 0},
        {"type": "start", "partial": {"content": 7}},
        {"type": "toolcall_delta", "content_index": 0, "delta": 7},
    ]

    assert assembled(odd) == ([], 0)
