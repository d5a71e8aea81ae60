from __future__ import annotations

import json
import logging
import os
import stat
from typing import TYPE_CHECKING

import pytest

from openprogram.errors import RecordingFileError
from openprogram.providers import file_safety
from openprogram.providers.recording import leftovers
from openprogram.providers.recording.format import encode_header

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEADER = encode_header("x")
REQUEST = b'{"type":"request","call_index":0,"model":{},"context":{},"options":null}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.jsonl"


@pytest.fixture
def fd(path: Path) -> Iterator[int]:
    opened = file_safety.open_recording_for_append(path, create=True)
    yield opened.fd
    os.close(opened.fd)


def test_a_second_descriptor_sees_the_first_ones_life(path: Path, fd: int) -> None:
    assert leftovers.is_without_writer(fd)
    other = os.open(path, os.O_RDONLY)
    try:
        assert not leftovers.is_without_writer(other)
    finally:
        os.close(other)


def test_a_torn_row_moves_beside_the_recording(
    path: Path, fd: int, caplog: pytest.LogCaptureFixture
) -> None:
    os.write(fd, HEADER + REQUEST + b'{"type":"event","call_in')
    found = leftovers.survey(path, fd)
    with caplog.at_level(logging.WARNING):
        target = leftovers.move_torn_tail(path, fd, found)
    assert path.read_bytes() == HEADER + REQUEST
    assert target.read_bytes() == b'{"type":"event","call_in'
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.parent == path.parent
    assert target.name in caplog.text


def test_a_torn_row_larger_than_one_read_moves_whole(path: Path, fd: int) -> None:
    torn = b'"' + b"x" * 2_500_000
    os.write(fd, HEADER + torn)
    target = leftovers.move_torn_tail(path, fd, leftovers.survey(path, fd))
    assert target.read_bytes() == torn
    assert path.read_bytes() == HEADER


def test_a_torn_row_of_the_longest_name_moves_too(tmp_path: Path) -> None:
    path = tmp_path / f"{'n' * 249}.jsonl"
    opened = file_safety.open_recording_for_append(path, create=True)
    try:
        os.write(opened.fd, HEADER + b'{"type"')
        target = leftovers.move_torn_tail(path, opened.fd, leftovers.survey(path, opened.fd))
    finally:
        os.close(opened.fd)
    assert target.read_bytes() == b'{"type"'
    assert path.read_bytes() == HEADER


def test_open_calls_get_an_end_that_says_abandoned(
    path: Path, fd: int, caplog: pytest.LogCaptureFixture
) -> None:
    os.write(fd, HEADER + REQUEST)
    with caplog.at_level(logging.WARNING):
        rows = leftovers.abandoned_rows(path, leftovers.survey(path, fd))
    assert [json.loads(row) for row in rows] == [
        {"type": "call_end", "call_index": 0, "event_count": 0, "outcome": "abandoned"}
    ]
    assert "abandoned" in caplog.text


def test_nothing_open_says_nothing(path: Path, fd: int, caplog: pytest.LogCaptureFixture) -> None:
    os.write(fd, HEADER)
    assert leftovers.abandoned_rows(path, leftovers.survey(path, fd)) == []
    assert not caplog.text


def test_a_version_that_is_only_read_is_refused(path: Path, fd: int) -> None:
    os.write(fd, b'{"type":"header","format_version":2}\n')
    with pytest.raises(RecordingFileError) as caught:
        leftovers.survey(path, fd)
    assert (caught.value.code, caught.value.line_number) == ("unsupported_version", 1)
