"""Whatever somebody wrote over a sound file meanwhile, one error comes of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.errors import RecordingFileError
from openprogram.providers import types as t
from openprogram.providers.recording.rereading import (
    decode_line,
    read_row,
    typed_event,
    whole_event,
)
from openprogram.providers.recording.snapshots import SnapshotReader
from recording_files import STUB

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATH = Path("/recordings/x.jsonl")
_REQUEST = b'{"type":"request","call_index":3,"a":"\\ud800"}'


@pytest.fixture
def fd(tmp_path: Path) -> Iterator[int]:
    """A file that holds 5 other bytes and a request."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"12345" + _REQUEST + b"\n")
    opened = os.open(path, os.O_RDONLY)
    yield opened
    os.close(opened)


def test_a_row_is_read_where_it_stands_and_the_position_stays(fd: int) -> None:
    row = read_row(fd, _PATH, 5, len(_REQUEST) + 1, kind="request", call_index=3)
    assert row == {"type": "request", "call_index": 3, "a": "\ud800"}
    assert os.lseek(fd, 0, os.SEEK_CUR) == 0


@pytest.mark.parametrize(
    ("offset", "length", "kind", "call_index"),
    [
        (5, len(_REQUEST), "event", 3),
        (5, len(_REQUEST), "request", 2),
        (4, len(_REQUEST), "request", 3),
        (5, len(_REQUEST) - 1, "request", 3),
        (500, 10, "request", 3),
    ],
)
def test_another_row_there_is_said_with_its_call(
    fd: int, offset: int, length: int, kind: Any, call_index: int
) -> None:
    with pytest.raises(RecordingFileError, match="was changed while") as caught:
        read_row(fd, _PATH, offset, length, kind=kind, call_index=call_index)
    assert (caught.value.code, caught.value.call_index) == ("unreadable", call_index)


def test_a_read_that_fails_is_the_same_error(fd: int) -> None:
    del fd
    with pytest.raises(RecordingFileError, match="cannot be read") as caught:
        read_row(-1, _PATH, 0, 1, kind="request", call_index=0)
    assert caught.value.code == "unreadable"


@pytest.mark.parametrize("line", [b"", b"[]", b"1", b'{"a":', b"\xff", b"[" * 100_000, b"NaN"])
def test_what_is_no_row_any_more_is_refused(line: bytes) -> None:
    with pytest.raises(RecordingFileError, match="was changed while"):
        decode_line(_PATH, line, call_index=0)


@pytest.mark.parametrize(
    "row",
    [
        {"event_index": 1, "event": {"type": "start"}},
        {"event_index": 0},
        {"event_index": 0, "event": []},
        {"event_index": 0, "event": {"type": "text_end", "partial": STUB, "partial_derived": True}},
    ],
)
def test_an_event_that_does_not_follow_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(RecordingFileError, match="was changed while"):
        whole_event(_PATH, row, SnapshotReader(), call_index=0, event_index=0)


def test_fields_that_no_type_declares_are_kept_until_the_event_is_typed() -> None:
    event = {"type": "start", "partial": STUB, "future": 1}
    whole = whole_event(
        _PATH, {"event_index": 2, "event": event}, SnapshotReader(), call_index=0, event_index=2
    )
    assert whole == event
    typed = typed_event(_PATH, t.RecordedEvent, whole, call_index=0)
    assert typed == t.EventStart(partial=t.from_wire(t.AssistantMessage, STUB))
    with pytest.raises(RecordingFileError, match="was changed while"):
        typed_event(_PATH, t.RecordedEvent, {"type": "start"}, call_index=0)
