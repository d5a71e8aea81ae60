"""A call is read whole, with its snapshots, and never from a file that became another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import recording_files as files
from openprogram.errors import RecordingFileError
from openprogram.providers.inspection import first_user_text, inspect_recording, read_call

if TYPE_CHECKING:
    from pathlib import Path


def test_each_call_is_read_from_among_the_others(tmp_path: Path):
    rows = files.sample_rows()
    path = files.write(tmp_path / "x.jsonl", rows)
    lines = path.read_bytes().split(b"\n")
    for call in inspect_recording(path).calls:
        read = read_call(path, call)
        assert read.request == next(
            row for row in rows if row["type"] == "request" and row["call_index"] == call.call_index
        )
        events = list(read.iterate_events())
        sources = [
            row for row in rows if row["type"] == "event" and row["call_index"] == call.call_index
        ]
        assert [event.event_index for event in events] == list(range(len(sources)))
        for event, source in zip(events, sources, strict=True):
            assert event.event["type"] == source["event"]["type"]
            assert lines[event.line_number - 1] == files.compact(source)
            assert event.length == len(files.compact(source)) + 1
            assert path.read_bytes()[event.offset :].startswith(files.compact(source))


def test_snapshots_are_whole_again(tmp_path: Path):
    rows = [files.HEADER, *files.call_rows(0, files.text_events("a", "b"))]
    path = files.write(tmp_path / "x.jsonl", rows)
    (call,) = inspect_recording(path).calls
    events = [each.event for each in read_call(path, call).iterate_events()]
    assert all("partial_derived" not in event for event in events)
    assert [event["partial"]["content"][0]["text"] for event in events[1:-1]] == [
        "",
        "a",
        "ab",
        "ab",
    ]


def test_unknown_fields_and_lone_surrogates_come_through(tmp_path: Path):
    rows = [files.HEADER, *files.call_rows(0, files.text_events("\ud83d"), text="\udcb2")]
    rows[1]["x_new"] = {"a": 1}
    rows[2]["event"]["x_new"] = 5
    path = files.write(tmp_path / "x.jsonl", rows, files.spaced)
    (call,) = inspect_recording(path).calls
    read = read_call(path, call)
    assert first_user_text(read.request) == "\udcb2"
    assert read.request["x_new"] == {"a": 1}
    events = [each.event for each in read.iterate_events()]
    assert events[0]["x_new"] == 5
    assert events[2]["delta"] == "\ud83d"


@pytest.mark.parametrize(
    "spoil",
    [
        (b'"call_index":0', b'"call_index":1'),
        (b'"type":"request"', b'"type":"REQUEST"'),
        (b'"event_index":2', b'"event_index":5'),
        (b'"text_delta"', b'"text_dream"'),
        (b'"content_index":0', b'"content_index":7'),
        (b'"delta":"a"', b'"delta":777'),
        (b'"event":{', b'"event":['),
        (b'"role"', b"\xff\xff\xff\xff\xff\xff"),
        (b'{"type":"event"', b'["type","event"'),
        (b'"type":"event"', b'"type":"evenx"'),
    ],
)
def test_a_file_that_was_changed_since_is_refused(tmp_path: Path, spoil: tuple[bytes, bytes]):
    path = files.write(
        tmp_path / "x.jsonl", [files.HEADER, *files.call_rows(0, files.text_events("a", "b"))]
    )
    (call,) = inspect_recording(path).calls
    data = path.read_bytes()
    for changed in (data.replace(*spoil), data[: len(data) // 2], b""):
        assert changed != data
        path.write_bytes(changed)
        with pytest.raises(RecordingFileError) as caught:
            list(read_call(path, call).iterate_events())
        assert caught.value.code == "unreadable"
    path.unlink()
    with pytest.raises(RecordingFileError):
        read_call(path, call)


CONTEXTS: list[tuple[Any, str | None]] = [
    ({"messages": [{"role": "user", "content": "hi"}]}, "hi"),
    ({"messages": [{"role": "assistant", "content": "no"}, {"role": "user"}]}, None),
    (
        {"messages": [{"role": "user", "content": [{"type": "image"}, {"text": "see"}, 5]}]},
        "see",
    ),
    ({"messages": [5, None, [], {"role": "user", "content": [{"text": 5}]}]}, None),
    ({"messages": {"role": "user"}}, None),
    ([], None),
    (None, None),
]


@pytest.mark.parametrize(("context", "text"), CONTEXTS)
def test_the_first_user_text_is_found_in_anything(context: Any, text: str | None):
    assert first_user_text({"context": context}) == text
