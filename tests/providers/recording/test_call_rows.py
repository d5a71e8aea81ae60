from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers import types as t
from openprogram.providers.recording.call_rows import CallRows
from openprogram.providers.recording.redaction import remove_secrets_from_text
from openprogram.providers.recording.snapshots import SnapshotReader
from scripted import message, text_events, text_message, tool_events

SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"


def rows_for(events: list[Any], **options: Any) -> list[dict[str, Any]]:
    rows = CallRows(0, **options)
    lines = [line for event in events for line in rows.add(event)]
    lines += rows.finish()
    assert rows.event_count == len(lines)
    return [json.loads(line) for line in lines]


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def test_each_event_is_a_row_in_its_order() -> None:
    events = text_events("one ", "two")
    rows = rows_for(events)
    assert [row["event_index"] for row in rows] == list(range(len(events)))
    assert [row["event"]["type"] for row in rows] == [event.type for event in events]
    assert {row["call_index"] for row in rows} == {0}


@pytest.mark.parametrize("snapshots", ["derived", "full"])
def test_readers_see_every_event_whole(snapshots: Any) -> None:
    events = [*text_events("one ", "two")[:-1], *tool_events('{"a": ', "[1, 2]}")[2:]]
    reader = SnapshotReader()
    seen = [reader.rebuild(row["event"]) for row in rows_for(events, snapshots=snapshots)]
    assert seen == [t.to_wire(event) for event in events]


def test_a_derived_file_grows_with_the_text_and_not_with_its_square() -> None:
    def size(count: int) -> int:
        rows = CallRows(0)
        events = text_events(*["some words. "] * count)
        return sum(len(line) for event in events for line in rows.add(event))

    assert size(800) < 4.2 * size(200)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize("snapshots", ["derived", "full"])
def test_a_split_secret_is_nowhere_in_the_file(size: int, snapshots: Any) -> None:
    text = f"the key is {SECRET} and that was it"
    rows = rows_for(text_events(*pieces(text, size)), snapshots=snapshots)
    joined = "".join(row["event"].get("delta", "") for row in rows)
    assert joined == remove_secrets_from_text(text)
    assert SECRET not in json.dumps(rows)
    longest = max((len(p["text"]) for row in rows for p in _blocks(row["event"])), default=0)
    assert longest <= len(text)
    for row in rows:
        for block in _blocks(row["event"]):
            assert "sk-ant-api03" not in block["text"]


def _blocks(event: dict[str, Any]) -> list[dict[str, Any]]:
    holder = event.get("partial") or event.get("message") or event["error"]
    return holder["content"]


def test_a_split_secret_in_arguments_is_nowhere_in_the_file() -> None:
    arguments = json.dumps({"path": "x", "api_key": "correct horse battery"})
    rows = rows_for(tool_events(*pieces(arguments, 4)))
    joined = "".join(row["event"].get("delta", "") for row in rows)
    assert json.loads(joined) == {"path": "x", "api_key": "[secret removed]"}
    assert "correct" not in json.dumps(rows)


def test_rows_behind_an_undecided_one_wait_and_keep_their_order() -> None:
    rows = CallRows(0)
    events = text_events("my key: sk-ant-", "api03-", "abcdefghijklmnopqrstuv", " done")
    written = [len(rows.add(event)) for event in events]
    assert sum(written) == 8
    assert 0 in written


def test_an_open_secret_is_decided_when_the_call_ends_in_mid_block() -> None:
    rows = CallRows(0)
    events = text_events(*pieces(f"key {SECRET}", 5))[:-2]
    lines = [line for event in events for line in rows.add(event)] + rows.finish()
    assert rows.event_count == len(events)
    text = b"".join(lines).decode()
    assert "".join(json.loads(line)["event"].get("delta", "") for line in lines).startswith("key ")
    assert SECRET[-10:] not in text


def test_a_block_that_begins_again_at_the_same_index_is_a_new_stream() -> None:
    start = t.EventTextStart(content_index=0, partial=text_message(""))
    delta = t.EventTextDelta(content_index=0, delta="ab", partial=text_message("ab"))
    end = t.EventTextEnd(content_index=0, content="ab", partial=text_message("ab"))
    rows = rows_for([start, delta, end, start, delta, end])
    assert [row["event"].get("delta") for row in rows] == [None, "ab", None, None, "ab", None]


def test_a_dict_is_taken_in_its_wire_form() -> None:
    events = text_events("x")
    assert rows_for([t.to_wire(event) for event in events]) == rows_for(events)


@pytest.mark.parametrize(
    "odd",
    [
        object(),
        None,
        {"type": "text_delta"},
        {"type": "no such event"},
        t.EventTextDelta(content_index=0, delta=7, partial=text_message("")),  # type: ignore[arg-type]  # what a careless source does
        t.EventTextDelta(content_index=0, delta="x", partial=None),  # type: ignore[arg-type]  # likewise
        t.EventDone(reason="stop", message="text"),  # type: ignore[arg-type]  # likewise
    ],
    ids=["object", "none", "delta", "unknown", "number", "no-snapshot", "text"],
)
def test_what_no_recording_can_hold_is_left_out_and_said(
    odd: Any, caplog: pytest.LogCaptureFixture
) -> None:
    rows = CallRows(3)
    events = [*text_events("x")[:2], odd, *text_events("x")[2:]]
    with caplog.at_level(logging.WARNING):
        lines = [line for event in events for line in rows.add(event)]
    assert len(lines) == len(events) - 1
    end = json.loads(rows.end_row("complete"))
    assert end["event_count"] == len(events) - 1
    assert [entry["before_event"] for entry in end["unrecorded_events"]] == [2]
    assert "is not recorded" in caplog.text


@pytest.mark.parametrize(
    "value",
    ["\ud83d", "a\u2028b\u0085c\x0bd", "\x00\x1b[2J", b"\xff", {1, 2}, 10**5000, float("nan")],
    ids=["surrogate", "separators", "controls", "bytes", "set", "huge", "nan"],
)
def test_odd_values_are_one_line_each(value: Any) -> None:
    call = t.ToolCall(id="i", name="n", arguments={"value": value})
    text = value if isinstance(value, str) else "x"
    events = [
        t.EventStart(partial=message()),
        t.EventTextStart(content_index=0, partial=text_message("")),
        t.EventTextDelta(content_index=0, delta=text, partial=text_message(text)),
        t.EventDone(reason="stop", message=message(call)),
    ]
    rows = CallRows(0)
    lines = [line for event in events for line in rows.add(event)]
    assert len(lines) == len(events)
    for line in lines:
        assert line.count(b"\n") == 1
        json.loads(line)
    delta = json.loads(lines[2])["event"]["delta"]
    assert delta == text


def test_the_last_row_says_how_it_went() -> None:
    rows = CallRows(2)
    for event in text_events("x"):
        rows.add(event)
    assert json.loads(rows.end_row("cancelled")) == {
        "type": "call_end",
        "call_index": 2,
        "event_count": 5,
        "outcome": "cancelled",
    }


@given(st.lists(st.text(max_size=6), max_size=8), st.integers(1, 6))
def test_text_comes_back_from_any_deltas(deltas: list[str], size: int) -> None:
    text = "".join(deltas)
    rows = rows_for(text_events(*pieces(text, size)))
    joined = "".join(row["event"].get("delta", "") for row in rows)
    assert joined == remove_secrets_from_text(text)
