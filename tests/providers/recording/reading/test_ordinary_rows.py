"""The cheap way to read a row and the exact one accept the same rows and see the same in them."""

from __future__ import annotations

import json
import os
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recording_files as files
from openprogram.errors import RecordingFileError
from openprogram.providers import types as t
from openprogram.providers.recording.reader import Survey, iterate_rows, survey_rows
from openprogram.providers.recording.reading import open_calls, row_checker

if TYPE_CHECKING:
    from pathlib import Path

Outcome = tuple[list[tuple[Any, ...]], tuple[Any, ...] | None]


def outcome_of(path: Path) -> Outcome:
    rows: list[tuple[Any, ...]] = []
    fd = os.open(path, os.O_RDONLY)
    try:
        for row in iterate_rows(fd, path):
            value = t.to_wire(row.value) if row.kind == "event" and row.value else row.value
            rows.append((row.kind, row.offset, row.call_index, row.event_index, repr(value)))
    except RecordingFileError as error:
        return rows, (error.code, error.line_number, error.call_index)
    finally:
        os.close(fd)
    return rows, None


def exact_outcome_of(path: Path) -> Outcome:
    """The same, every row taken apart by the exact parser."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_checker, "take_ordinary", lambda *_args: None)  # type: ignore[reportUnknownLambdaType]  # stands in
        patch.setattr(row_checker.RowChecker, "_next_event", lambda *_args: None)  # type: ignore[reportUnknownLambdaType]  # stands in
        patch.setattr(open_calls.OpenCall, "take_deltas", lambda *_args: 0)  # type: ignore[reportUnknownLambdaType]  # stands in
        return outcome_of(path)


def survey_of(path: Path) -> Survey:
    fd = os.open(path, os.O_RDONLY)
    try:
        return survey_rows(fd, path)
    finally:
        os.close(fd)


FRAGMENTS = [
    b"",
    b'"',
    b"\\",
    b"{",
    b"}",
    b",",
    b":",
    b"\n",
    b" ",
    b"\r",
    b"\x00",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\xbd",
    b"\\ud83d",
    b"\\u0022",
    b"0",
    b"-",
    b"1e999",
    b"NaN",
    b"null",
    b"true",
    b"[]",
    b'"new":1,',
    b'"type":"event",',
    b'"call_index":0,',
    b'"event":{},',
    b'"partial_derived":true,',
    b"event",
    b"9" * 30,
]
SAMPLES = [files.encoded(files.sample_rows(), layout) for layout in files.LAYOUTS]
ODD_VALUES: list[Any] = [
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    1.0,
    10**400,
    "",
    "x",
    "\ud83d",
    [],
    [[]],
    {},
]


@st.composite
def cut_and_pasted(draw: st.DrawFn) -> bytes:
    """A sound file in which some bytes were replaced by others."""
    data = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.sampled_from([0, 0, 1, 1, 2, 10, 300]))
        data = data[:at] + draw(st.sampled_from(FRAGMENTS)) + data[at + size :]
    return data


def places(value: Any, trail: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [trail] if trail else []
    if isinstance(value, dict):
        for key, inner in value.items():  # type: ignore[reportUnknownVariableType]  # any JSON
            found += places(inner, (*trail, key))  # type: ignore[reportUnknownArgumentType]  # any JSON
    elif isinstance(value, list):
        for index, inner in enumerate(value):  # type: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # any JSON
            found += places(inner, (*trail, index))
    return found


@st.composite
def with_odd_values(draw: st.DrawFn) -> bytes:
    """A sound file in which some values were replaced, removed, doubled or moved."""
    rows: list[Any] = json.loads(json.dumps(files.sample_rows()))
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(rows) - 1))
        match draw(st.sampled_from(["value", "value", "value", "drop", "double", "swap", "add"])):
            case "drop":
                del rows[at]
            case "double":
                rows.insert(draw(st.integers(0, len(rows))), json.loads(json.dumps(rows[at])))
            case "swap":
                other = draw(st.integers(0, len(rows) - 1))
                rows[at], rows[other] = rows[other], rows[at]
            case kind:
                *path, key = draw(st.sampled_from(places(rows[at])))
                target = rows[at]
                for step in path:
                    target = target[step]
                if kind == "value":
                    target[key] = deepcopy(draw(st.sampled_from(ODD_VALUES)))
                elif isinstance(target, dict):
                    target["new"] = deepcopy(draw(st.sampled_from(ODD_VALUES)))
    layout = draw(st.sampled_from(files.LAYOUTS))
    return b"".join(
        (layout(row) if "\\ud83d" not in json.dumps(row) else files.spaced(row)) + b"\n"
        for row in rows
    )


FUZZ = settings(
    max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@FUZZ
@given(data=st.one_of(cut_and_pasted(), with_odd_values()))
def test_both_ways_to_read_a_row_agree_on_every_file(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
):
    path = tmp_path_factory.getbasetemp() / "fuzzed.jsonl"
    path.write_bytes(data)
    assert outcome_of(path) == exact_outcome_of(path)


@FUZZ
@given(data=st.one_of(st.binary(max_size=300), cut_and_pasted()))
def test_any_bytes_are_read_or_refused_with_the_one_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
):
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(data)
    found = files.fault(path)
    if found is None:
        assert survey_of(path).open_calls == {}


@FUZZ
@given(cut=st.integers(0, len(SAMPLES[0])))
def test_a_file_cut_anywhere_can_be_surveyed(tmp_path_factory: pytest.TempPathFactory, cut: int):
    path = tmp_path_factory.getbasetemp() / "cut.jsonl"
    path.write_bytes(SAMPLES[0][:cut])
    if not cut:
        assert files.fault(path) == ("empty_file", None, None)
        return
    found = survey_of(path)
    assert found.end + found.torn_bytes == cut
    assert found.end == SAMPLES[0].rfind(b"\n", 0, cut) + 1
