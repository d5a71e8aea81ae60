"""Each fault has its code and its place, and the earliest of two in a row is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import recording_files as files
from openprogram.errors import RecordingFileError
from openprogram.providers import types as t
from openprogram.providers.recording.format import MAX_NESTING_DEPTH
from openprogram.providers.recording.reader import validate_recording

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recording_files import Row

HEADER_LINE = files.encoded([files.HEADER])
REQUEST_LINE = files.encoded([files.request_row(0)])
START = t.to_wire(t.EventStart(partial=files.message()))
EVENT_LINE = files.encoded([files.event_row(0, 0, START)])
END_LINE = files.encoded([files.end_row(0, 1)])


def changed(line: bytes, **fields: Any) -> bytes:
    return files.encoded([{**json.loads(line), **fields}])


def without(line: bytes, name: str) -> bytes:
    row = json.loads(line)
    del row[name]
    return files.encoded([row])


DEEP = b'{"a":' * 600 + b"1" + b"}" * 600
NOT_AN_INDEX: list[Any] = [-1, True, 1.0, "0", None, [], {}]


ODD_VERSIONS: list[Any] = [0, 3, True, 1.0, "1", None, [], {}]
ODD_KINDS: list[Any] = ["events", None, [], {}, 1]
ODD_PARTS: list[Any] = [[], "x", 1, True]
ODD_OUTCOMES: list[Any] = ["done", None, 1, [], {}, True]
ODD_EVENTS: list[Any] = [
    None,
    [],
    {},
    "start",
    {"type": "no_such"},
    {"type": "start"},
    {"type": ["start"]},
    {**START, "partial": {**START["partial"], "usage": {"input": "1"}}},
    {"type": "text_start", "content_index": 0, "partial": files.STUB, "partial_derived": True},
    {"type": "structured_output_end", "attempt": 1, "mode": "m", "value": 1},
]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (HEADER_LINE[:-1], ("truncated_row", 1, None)),
        (HEADER_LINE + b"\xff", ("truncated_row", 2, None)),
        (HEADER_LINE + b"\0", ("truncated_row", 2, None)),
        (b"\xff\n", ("invalid_utf8", 1, None)),
        (HEADER_LINE + b'{"a":"\xed\xa0\xbd"}\n', ("invalid_utf8", 2, None)),
        (b"\xef\xbb\xbf" + HEADER_LINE, ("invalid_json", 1, None)),
        (HEADER_LINE + b"{\n", ("invalid_json", 2, None)),
        (HEADER_LINE + b"\x0c\n", ("invalid_json", 2, None)),
        (HEADER_LINE + DEEP + b"\n", ("invalid_json", 2, None)),
        (HEADER_LINE + b"[" * 100_000 + b"\n", ("invalid_json", 2, None)),
        (HEADER_LINE + b'{"a":' + b"9" * 5000 + b"}\n", ("invalid_json", 2, None)),
        (b"[]\n", ("not_an_object", 1, None)),
        (b"NaN\n", ("not_an_object", 1, None)),
        (b'{"type":"x","type":"header"}\n', ("duplicate_key", 1, None)),
        (b'{"type":"x","a":1,"a":NaN}\n', ("duplicate_key", 1, None)),
        (b'{"type":"x","a":NaN}\n', ("non_finite_number", 1, None)),
        (b'{"type":"x","a":1e999}\n', ("non_finite_number", 1, None)),
        (REQUEST_LINE, ("missing_header", 1, None)),
        (b"{}\n", ("missing_header", 1, None)),
        (b'{"type":"header"}\n', ("unsupported_version", 1, None)),
        *[
            (changed(HEADER_LINE, format_version=version), ("unsupported_version", 1, None))
            for version in ODD_VERSIONS
        ],
        (HEADER_LINE * 2, ("duplicate_header", 2, None)),
        (HEADER_LINE + b'{"type":"header","format_version":9}\n', ("duplicate_header", 2, None)),
        *[
            (HEADER_LINE + changed(EVENT_LINE, type=kind), ("unknown_row_type", 2, None))
            for kind in ODD_KINDS
        ],
        *[
            (HEADER_LINE + without(REQUEST_LINE, name), ("missing_field", 2, None))
            for name in ("model", "context", "options")
        ],
        *[
            (
                HEADER_LINE + changed(REQUEST_LINE, call_index=7, **{name: odd}),
                ("missing_field", 2, None),
            )
            for name in ("model", "context", "options")
            for odd in ODD_PARTS
        ],
        *[
            (
                HEADER_LINE + REQUEST_LINE + changed(line, call_index=index),
                ("bad_call_index", 3, None),
            )
            for line in (REQUEST_LINE, EVENT_LINE, END_LINE)
            for index in NOT_AN_INDEX
        ],
        *[
            (HEADER_LINE + REQUEST_LINE + without(line, "call_index"), ("bad_call_index", 3, None))
            for line in (REQUEST_LINE, EVENT_LINE, END_LINE)
        ],
        (HEADER_LINE + changed(REQUEST_LINE, call_index=1), ("bad_call_index", 2, None)),
        (HEADER_LINE + REQUEST_LINE * 2, ("bad_call_index", 3, None)),
        (HEADER_LINE + EVENT_LINE, ("unknown_call", 2, None)),
        (HEADER_LINE + END_LINE, ("unknown_call", 2, None)),
        (
            HEADER_LINE + REQUEST_LINE + EVENT_LINE + END_LINE + EVENT_LINE,
            ("call_ended", 5, 0),
        ),
        (
            HEADER_LINE + REQUEST_LINE + EVENT_LINE + END_LINE * 2,
            ("duplicate_call_end", 5, 0),
        ),
        *[
            (
                HEADER_LINE + REQUEST_LINE + changed(EVENT_LINE, event_index=index),
                ("bad_event_index", 3, 0),
            )
            for index in (1, *NOT_AN_INDEX)
        ],
        (
            HEADER_LINE + REQUEST_LINE + without(EVENT_LINE, "event_index"),
            ("bad_event_index", 3, 0),
        ),
        (HEADER_LINE + REQUEST_LINE + EVENT_LINE * 2, ("bad_event_index", 4, 0)),
        (HEADER_LINE + REQUEST_LINE + without(EVENT_LINE, "event"), ("invalid_event", 3, 0)),
        *[
            (HEADER_LINE + REQUEST_LINE + changed(EVENT_LINE, event=event), ("invalid_event", 3, 0))
            for event in ODD_EVENTS
        ],
        *[
            (
                HEADER_LINE + REQUEST_LINE + EVENT_LINE + changed(END_LINE, event_count=count),
                ("wrong_event_count", 4, 0),
            )
            for count in (0, 2, *NOT_AN_INDEX)
        ],
        (
            HEADER_LINE + REQUEST_LINE + EVENT_LINE + without(END_LINE, "event_count"),
            ("wrong_event_count", 4, 0),
        ),
        *[
            (
                HEADER_LINE + REQUEST_LINE + EVENT_LINE + changed(END_LINE, outcome=outcome),
                ("bad_outcome", 4, 0),
            )
            for outcome in ODD_OUTCOMES
        ],
        (HEADER_LINE + REQUEST_LINE + EVENT_LINE, ("missing_call_end", 2, 0)),
    ],
    ids=lambda value: ascii(value)[-60:],
)
def test_each_fault_has_its_code_and_place(
    tmp_path: Path, data: bytes, expected: tuple[str, int | None, int | None]
):
    assert files.fault_of(tmp_path, data) == expected


def test_the_first_faulty_row_wins_and_a_missing_end_comes_last(tmp_path: Path):
    open_calls = HEADER_LINE + REQUEST_LINE + changed(REQUEST_LINE, call_index=1)
    assert files.fault_of(tmp_path, open_calls) == ("missing_call_end", 2, 0)
    ended = open_calls + files.encoded([files.end_row(0, 0)])
    assert files.fault_of(tmp_path, ended) == ("missing_call_end", 3, 1)
    assert files.fault_of(tmp_path, open_calls + b"[]\n{\n") == ("not_an_object", 4, None)
    assert files.fault_of(tmp_path, open_calls + b"[") == ("truncated_row", 4, None)


@pytest.mark.parametrize("layout", files.LAYOUTS)
@pytest.mark.parametrize(
    "place",
    [
        '"context": {',
        '"parameters": {',
        '"options": {',
        '"cost": {',
    ],
)
def test_a_key_twice_anywhere_in_a_request_is_a_fault(
    tmp_path: Path, layout: Callable[[Row], bytes], place: str
):
    request = files.request_row(0)
    tool = t.Tool(name="f", description='"k": {', parameters={"properties": {"a": {"b": 1}}})
    request["context"]["tools"] = [t.to_wire(tool)]
    text = layout(request).decode()
    needle = place if place in text else place.replace(": ", ":")
    assert needle in text
    doubled = text.replace(needle, needle + '"k":{"z":1},"k":2,', 1)
    tail = files.encoded([files.end_row(0, 0)])
    assert files.fault_of(tmp_path, HEADER_LINE + text.encode() + b"\n" + tail) is None
    data = HEADER_LINE + doubled.encode() + b"\n" + tail
    assert files.fault_of(tmp_path, data) == ("duplicate_key", 2, None)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"event","call_index":0,"event_index":0,"event_index":0,"event":%s}',
        b'{"type":"event","call_index":0,"event_index":0,"event":%s,"event":%s}',
        b'{"type":"event","call_index":0,"event_index":0,"event":%s,"type":"event"}',
        b'{"call_index": 0, "event": %s, "call_index": 0, "event_index": 0, "type": "event"}',
        b'{"call_index": 0, "event": {}, "event": %s, "event_index": 0, "type": "event"}',
    ],
)
def test_a_key_twice_in_the_envelope_is_a_fault(tmp_path: Path, line: bytes):
    event = files.compact(START)
    data = HEADER_LINE + REQUEST_LINE + line.replace(b"%s", event) + b"\n"
    assert files.fault_of(tmp_path, data) == ("duplicate_key", 3, None)


def test_a_key_twice_inside_an_event_is_none_and_the_last_holds(tmp_path: Path):
    event = files.compact(START).replace(b'"content":[]', b'"content":5,"content":[]')
    line = EVENT_LINE.replace(files.compact(START), event)
    assert line != EVENT_LINE
    assert files.fault_of(tmp_path, HEADER_LINE + REQUEST_LINE + line + END_LINE) is None


def test_unknown_fields_are_taken_anywhere(tmp_path: Path):
    def grown(value: Any) -> Any:
        if isinstance(value, dict):
            return {**{k: grown(v) for k, v in value.items()}, "new": [1, {"x": "y"}]}  # type: ignore[reportUnknownVariableType]  # any JSON
        return [grown(v) for v in value] if isinstance(value, list) else value  # type: ignore[reportUnknownVariableType]  # any JSON

    rows = [grown(row) for row in files.sample_rows()]
    for layout in files.LAYOUTS:
        assert files.fault_of(tmp_path, files.encoded(rows, layout)) is None


def test_a_skipped_field_is_not_a_place_to_hide_a_fault(tmp_path: Path):
    for odd, code in [
        (b'"\xff"', "invalid_utf8"),
        (b"NaN", "non_finite_number"),
        (b"1e999", "non_finite_number"),
        (b"9" * 5000, "invalid_json"),
        (b'"\x01"', "invalid_json"),
        (b"[1,]", "invalid_json"),
        (b'"\\x"', "invalid_json"),
    ]:
        line = EVENT_LINE.replace(b'"partial":{', b'"partial":{"new":' + odd + b",")
        found = files.fault_of(tmp_path, HEADER_LINE + REQUEST_LINE + line + END_LINE)
        assert found == (code, 3, None)


def test_the_foreign_version_has_two_more_events(tmp_path: Path):
    rows = [
        {**files.HEADER, "format_version": 2},
        *files.call_rows(
            0,
            [
                *files.text_events("x")[:-1],
                {"type": "structured_output_retry", "attempt": 1, "next_attempt": 2, "issues": []},
                {"type": "structured_output_end", "attempt": 2, "mode": "m", "value": {"a": 1}},
                files.text_events("x")[-1],
            ],
        ),
    ]
    for layout in files.LAYOUTS:
        assert files.fault_of(tmp_path, files.encoded(rows, layout)) is None
    assert files.fault_of(tmp_path, files.encoded([files.HEADER, *rows[1:]])) == (
        "invalid_event",
        7,
        0,
    )


def test_a_stub_that_cannot_be_put_back_is_an_invalid_event(tmp_path: Path):
    rows = [files.HEADER, *files.call_rows(0, files.text_events("a", "b", "c"))]
    rows[5] = files.event_row(0, 3, {**rows[5]["event"], "content_index": 1})
    assert files.fault_of(tmp_path, files.encoded(rows)) == ("invalid_event", 6, 0)
    rows[5] = files.event_row(0, 3, {**rows[5]["event"], "type": "thinking_delta"})
    assert files.fault_of(tmp_path, files.encoded(rows)) == ("invalid_event", 6, 0)


def test_a_row_in_the_form_of_the_one_before_is_still_looked_at(tmp_path: Path):
    rows = [files.HEADER, *files.call_rows(0, files.text_events("a", "b", "c"))]
    good = files.encoded(rows)
    for old, new, code in [
        (b'"delta":"b"', b'"delta":"\x01"', "invalid_json"),
        (b'"delta":"b"', b'"delta":"\xff"', "invalid_utf8"),
        (b'"delta":"b"', b'"delta":5', "invalid_event"),
        (b'"delta":"b"', b'"delta":"b","delta":5', "invalid_event"),
        (b'"delta":"b"', b'"delta":"b"x', "invalid_json"),
        (b'"delta":"b"', b'"delta":', "invalid_json"),
        (b'"event_index":3', b'"event_index":03', "invalid_json"),
        (b'"event_index":3', b'"event_index":4', "bad_event_index"),
    ]:
        assert good.count(old) == 1
        found = files.fault_of(tmp_path, good.replace(old, new))
        assert found is not None
        assert (found[0], found[1]) == (code, 6)
    odd_but_sound = good.replace(b'"delta":"b"', rb'"delta":"\ud83d"')
    assert files.fault_of(tmp_path, odd_but_sound) is None


def test_no_value_of_the_file_is_told_in_an_error(tmp_path: Path):
    secret = "sk-ant-" + "a" * 40
    lines = [
        changed(EVENT_LINE, event={"type": secret}),
        changed(
            EVENT_LINE, event={**START, "partial": {**START["partial"], "stop_reason": secret}}
        ),
        changed(EVENT_LINE, event=secret, event_index=secret),
        changed(EVENT_LINE, call_index=secret),
        changed(EVENT_LINE, type=secret),
        b'{"' + secret.encode() + b'": bad}\n',
        b'{"a":"' + secret.encode() + b"\n",
    ]
    for line in lines:
        path = tmp_path / "x.jsonl"
        path.write_bytes(HEADER_LINE + REQUEST_LINE + line)
        with pytest.raises(RecordingFileError) as caught:
            validate_recording(path)
        assert secret not in str(caught.value)
        assert str(caught.value).isprintable()
        assert len(caught.value.reason) < 300


@pytest.mark.parametrize("layout", files.LAYOUTS)
@pytest.mark.parametrize(("kind", "outer_depth"), [("request", 3), ("event", 4)])
def test_rows_nest_so_deep_and_no_deeper(
    tmp_path: Path, layout: Callable[[Row], bytes], kind: str, outer_depth: int
):
    rows = [files.HEADER, *files.call_rows(0, files.tool_events())]
    for depth, expected in [(MAX_NESTING_DEPTH, None), (MAX_NESTING_DEPTH + 1, "invalid_json")]:
        value: Any = 1
        for _ in range(depth - outer_depth):
            value = [value]
        if kind == "request":
            rows[1]["options"]["metadata"] = {"a": value}
        else:
            rows[5]["event"]["tool_call"]["arguments"] = {"a": value}
        found = files.fault_of(tmp_path, files.encoded(rows, layout))
        assert (found and found[0]) == expected


@pytest.mark.parametrize("layout", files.LAYOUTS)
def test_a_row_ends_with_its_own_bracket(tmp_path: Path, layout: Callable[[Row], bytes]):
    rows = [files.HEADER, *files.call_rows(0, files.text_events("a", "b"))]
    lines = files.encoded(rows, layout).splitlines(keepends=True)
    for at in range(1, len(lines)):
        for end in (b"]", b"", b"}}", b"}x", b"},"):
            broken = [*lines[:at], lines[at][:-2] + end + b"\n", *lines[at + 1 :]]
            assert files.fault_of(tmp_path, b"".join(broken)) == ("invalid_json", at + 1, None)
