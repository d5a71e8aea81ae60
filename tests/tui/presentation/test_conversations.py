"""Conversations: who said what, what is new, and how it ended."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.demo_state import flaky_test, text, thinking, tool_call
from openprogram_recordings_tui.presentation.blocks import Block, ConversationLines
from openprogram_recordings_tui.presentation.conversations import (
    conversation_of,
    first_words,
    gist_of,
    shared_message_count,
)

REQUESTS = [row for row in flaky_test().rows if row["type"] == "request"]

short_text = st.text(max_size=5)
any_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | short_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(short_text, inner, max_size=3),
    max_leaves=8,
)
odd_contents: st.SearchStrategy[Any] = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "thinking", "toolCall", "image", None])},
        optional={"text": any_json, "arguments": any_json, "data": any_json},
    )
)
odd_messages: st.SearchStrategy[list[Any]] = st.lists(
    any_json
    | st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "assistant", "toolResult", "odd", 7]),
            "content": any_json | odd_contents,
        }
    ),
    max_size=4,
)


def headings(blocks: list[Block]) -> list[str]:
    return ["".join(span.text for span in block.heading) for block in blocks]


def answer(*blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "stop_reason": "stop", **fields}


def test_a_first_call_shows_system_user_and_answer():
    blocks = conversation_of(
        REQUESTS[0],
        answer(thinking("hm"), text("so"), tool_call("c1", "ls", path=".")),
        outcome="complete",
    )

    assert headings(blocks) == [
        "SYSTEM",
        "USER",
        "THINKING",
        "ANSWER",
        "TOOL CALL  ls  c1",
        "✓ complete   stop",
    ]


def test_what_the_call_before_had_is_one_folded_block():
    known = shared_message_count(REQUESTS[1], REQUESTS[2])
    blocks = conversation_of(REQUESTS[2], None, outcome=None, known_message_count=known)

    assert known == 3
    assert (
        headings(blocks)[1] == "EARLIER  3 messages that the call before had too · enter shows them"
    )
    assert headings(blocks)[2:] == [
        "THINKING",
        "ASSISTANT",
        "TOOL CALL  read_file  call_02",
        "TOOL RESULT  read_file",
        "… open   nothing came",
    ]
    assert headings(list(blocks[1].inner))[0] == "USER"


def test_a_failed_tool_is_said_in_words():
    blocks = conversation_of(REQUESTS[3], None, outcome="error")

    assert "TOOL RESULT  run_tests  ✗ failed" in headings(blocks)


def test_the_end_says_what_it_took():
    usage = {"input": 1200, "output": 80, "cost": {"total": 0.0042}}
    blocks = conversation_of(
        REQUESTS[0], answer(text("x"), usage=usage, model="m-1"), outcome="complete"
    )

    assert headings(blocks)[-1] == "✓ complete   stop · 1200 in · 80 out · $0.004 · m-1"


@pytest.mark.parametrize(
    ("total", "inspected_usd", "shown"),
    [(0.0, None, "–"), (0.0, 0.0, "$0"), (0.25, None, "$0.250"), (0.0, 0.5, "$0.500")],
)
def test_nought_is_shown_only_where_the_strict_reader_believes_it(
    total: float, inspected_usd: float | None, shown: str
):
    usage = {"input": 12, "output": 8, "cost": {"total": total}}

    *_, end = conversation_of({}, answer(usage=usage), outcome="complete", cost_usd=inspected_usd)

    assert headings([end]) == [f"✓ complete   stop · 12 in · 8 out · {shown}"]


def test_a_vendor_s_error_is_not_plainly_complete():
    failed = answer(stop_reason="error", error_message="overloaded")

    blocks = conversation_of({}, failed, outcome="complete")

    assert headings(blocks)[-1] == "✗ error   error"


def test_an_error_is_a_block_of_its_own():
    blocks = conversation_of(REQUESTS[0], answer(error_message="overloaded"), outcome="error")

    assert headings(blocks)[-2:] == ["ERROR", "✗ error   stop"]


def test_images_are_named_by_kind_and_size_and_never_drawn():
    image = {"type": "image", "data": "A" * 4_000_000, "mime_type": "image/png"}
    request = {"context": {"messages": [{"role": "user", "content": [text("see"), image]}]}}

    (block, _) = conversation_of(request, None, outcome=None)

    assert block.text == "see\n[image/png, 3.0 MB]"


def test_thinking_that_was_kept_back_is_said():
    block = {"type": "thinking", "thinking": "", "redacted": True}

    blocks = conversation_of({}, answer(block), outcome="complete")

    assert blocks[0].text == "(kept back by the vendor)"


@given(odd_messages, any_json, st.sampled_from(["complete", "odd", None]))
@settings(max_examples=200)
def test_whatever_stands_in_a_request_is_shown(messages: list[Any], odd: Any, outcome: str | None):
    request = {"model": odd, "context": {"system_prompt": odd, "messages": messages}}

    blocks = conversation_of(request, {"content": messages, "usage": odd}, outcome=outcome)
    lines = ConversationLines(blocks)
    lines.reflow(60)
    for number in range(len(blocks)):
        lines.toggle(min(number, lines.line_count - 1))

    assert lines.line_count > 0
    gist_of({"content": messages})
    first_words(request)


def test_the_gist_is_the_tool_call_else_the_text_else_the_error():
    calls = (tool_call("1", "read_file", path="a.py"), tool_call("2", "ls"))
    assert gist_of(answer(text("I read"), *calls)) == "→ read_file +1 a.py"
    assert gist_of(answer(thinking("hm"), text("  so it is "))) == "so it is"
    assert gist_of(answer(error_message="overloaded")) == "overloaded"
    assert gist_of(answer()) is None
    assert len(gist_of(answer(text("x" * 10_000))) or "") == 200


def test_the_first_words_are_the_user_s():
    question = "tests/test_cart.py::test_total is flaky in CI. Find out why and mend it."
    assert first_words(REQUESTS[4]) == question
    assert first_words({"context": {"messages": [{"role": "assistant", "content": []}]}}) is None
