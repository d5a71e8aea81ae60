"""The page on the format says what the code does, code by code and field by field."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import recording_files as files
from openprogram.errors import FileLockedError
from openprogram.providers import types as t
from openprogram.providers.file_safety import lock_path_of, managed_path
from openprogram.providers.inspection import inspect_recording, read_call
from openprogram.providers.management import delete_recording
from openprogram.providers.recording import RecordingSink
from openprogram.providers.recording.format import (
    ERROR_CODES,
    MAX_NESTING_DEPTH,
    OUTCOMES,
    READABLE_FORMAT_VERSIONS,
    RECORDING_FORMAT_VERSION,
    ROW_TYPES,
    encode_header,
)
from openprogram.providers.recording.redaction import (
    PLACEHOLDER,
    REDACTION_VERSION,
    remove_secret_values,
)
from openprogram.providers.recording.snapshots import DERIVED_KEY, STUB_FIELD_NAMES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"(?ms)^##+ (.*?)\n(.*?)(?=^##+ |\Z)", PAGE))
EXAMPLE = re.findall(r"(?ms)^```jsonl\n(.*?)^```$", PAGE)[0]
_FIELD = re.compile(r'`(\w+)`(?: "\w+")?(\?| = [^,]+)?')


def _table(section: str) -> list[list[str]]:
    lines = re.findall(r"(?m)^\| (.*) \|$", SECTIONS[section])
    return [[cell.strip() for cell in f" {line} ".split(" | ")] for line in lines[2:]]


def _structs(type_: object) -> tuple[type[msgspec.Struct], ...]:
    return get_args(type_)


def _field(declared: Any) -> tuple[str, str]:
    """Write a field's name, and how the page marks that it need not be there."""
    if declared.default is None:
        return declared.encode_name, "?"
    if declared.default is not msgspec.NODEFAULT:
        return declared.encode_name, f" = {json.dumps(declared.default)}"
    if declared.default_factory is msgspec.NODEFAULT:
        return declared.encode_name, ""
    value = msgspec.to_builtins(declared.default_factory())
    return declared.encode_name, " = {...}" if isinstance(
        value, dict
    ) else f" = {json.dumps(value)}"


def _declared_fields(struct: type[msgspec.Struct]) -> list[tuple[str, str]]:
    fields = [_field(each) for each in msgspec.structs.fields(struct)]
    return [each for each in fields if each[0] not in t.REQUEST_LOCAL_FIELD_NAMES]


def test_the_codes_are_those_of_the_reader_in_their_order():
    codes = [row[0].strip("`") for row in _table("Reading strictly")]
    assert tuple(codes) == ERROR_CODES


def test_the_rows_and_their_keys_are_those_that_writers_write():
    table = [[cell.strip("`") for cell in row] for row in _table("Rows")]
    keys: dict[str, list[str]] = {}
    for row, key, _ in table:
        keys.setdefault(row or list(keys)[-1], []).append(key)
    assert tuple(keys) == ROW_TYPES
    written = [json.loads(encode_header("x")), *files.sample_rows()[1:]]
    for row in written:
        assert [key for key in keys[row["type"]] if key in row] == list(row)
    outcomes = next(cell for _, key, cell in table if key == "outcome")
    assert tuple(re.findall(r"`(\w+)`", outcomes)) == (*OUTCOMES, "complete")


@pytest.mark.parametrize("row", _table("Types"), ids=lambda row: row[0])
def test_the_fields_of_each_type_are_the_declared_ones(row: list[str]):
    struct = getattr(t, row[0])
    fields = [(name, mark or "") for name, mark in _FIELD.findall(row[1])]
    if row[0] == "SimpleStreamOptions":
        fields = [*_declared_fields(t.StreamOptions), *fields]
    tag_field = struct.__struct_config__.tag_field
    if tag_field is not None:
        assert f'`{tag_field}` "{struct.__struct_config__.tag}"' in row[1]
        fields.remove((tag_field, ""))
    assert fields == _declared_fields(struct)


def test_every_type_that_can_stand_in_a_row_has_its_line():
    names = {row[0] for row in _table("Types")}
    structs = {
        name
        for name, value in vars(t).items()
        if isinstance(value, type)
        and issubclass(value, msgspec.Struct)
        and value.__module__ == t.__name__
    }
    assert names == {name for name in structs if not name.startswith(("Event", "_"))}


def test_the_events_and_their_fields_are_the_declared_ones():
    on_page = {
        row[0].strip("`"): _FIELD.findall(re.sub(r"\(.*?\)", "", row[1]))
        for row in _table("Events")
    }
    assert on_page == {
        struct.__struct_config__.tag: _declared_fields(struct)
        for struct in _structs(t.AssistantMessageEvent)
    }
    version_2 = SECTIONS["Other versions"]
    for struct in set(_structs(t.RecordedEvent)) - set(_structs(t.AssistantMessageEvent)):
        fields = ", ".join(f"`{each.name}`" for each in msgspec.structs.fields(struct))
        assert f"`{struct.__struct_config__.tag}` ({fields})" in " ".join(version_2.split())


def test_the_worked_example_is_sound_and_is_put_back_as_the_page_says(tmp_path: Path):
    path = tmp_path / "hello.jsonl"
    path.write_text(EXAMPLE)
    inspected = inspect_recording(path)
    assert inspected.error is None
    (call,) = inspected.calls
    events = [each.event for each in read_call(path, call).iterate_events()]
    assert len(events) == 6
    shown = json.loads(re.findall(r"(?ms)^```json\n(.*?)^```$", PAGE)[0])
    assert events[4]["partial"] == shown
    assert not any(DERIVED_KEY in event for event in events)
    assert "usage" not in events[2]["partial"]
    empty = events[1]["partial"]["content"][0]
    assert f"`{json.dumps(empty)}`" in " ".join(PAGE.split())
    assert f"`{json.dumps(t.to_wire(t.ThinkingContent(thinking='')))}`" in " ".join(PAGE.split())


def test_a_stub_of_the_example_holds_what_older_readers_require():
    rows = [json.loads(line) for line in EXAMPLE.splitlines()]
    stubs = [row["event"]["partial"] for row in rows if DERIVED_KEY in row.get("event", {})]
    assert len(stubs) == 4
    for stub in stubs:
        assert set(STUB_FIELD_NAMES) <= set(stub)
        assert stub["content"] == []
    listed = SECTIONS["Snapshots and stubs"].partition("A stub holds")[2].partition("- any")[0]
    assert tuple(re.findall(r"`(\w+)`", listed)) == STUB_FIELD_NAMES


def test_numbers_on_the_page_are_those_of_the_code():
    assert RECORDING_FORMAT_VERSION == REDACTION_VERSION == 1
    assert READABLE_FORMAT_VERSIONS == (1, 2)
    assert f"at most {MAX_NESTING_DEPTH} levels" in PAGE
    assert f"`{PLACEHOLDER}`" in SECTIONS["Redaction"]


class _OtherWriter:
    """Appends as the page says, and knows nothing else of this project."""

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self.fd = os.open(path, flags | os.O_APPEND, 0o600)
        self.lock_fd = os.open(path.with_name(f"{path.name}.lock"), flags, 0o600)
        fcntl.flock(self.lock_fd, fcntl.LOCK_EX)
        fcntl.flock(self.fd, fcntl.LOCK_SH)
        fcntl.flock(self.lock_fd, fcntl.LOCK_UN)

    def record(self, text: str) -> int:
        """Record a call without events, and return its index."""
        fcntl.flock(self.lock_fd, fcntl.LOCK_EX)
        call_index = self.path.read_bytes().count(b'"type":"request"')
        rows = [files.request_row(call_index, text), files.end_row(call_index, 0)]
        os.write(self.fd, files.encoded(rows))
        os.fsync(self.fd)
        fcntl.flock(self.lock_fd, fcntl.LOCK_UN)
        return call_index

    def close(self) -> None:
        os.close(self.fd)
        os.close(self.lock_fd)


def test_a_writer_that_follows_the_page_shares_a_file_with_ours():
    path = managed_path("shared")
    with RecordingSink(path) as sink:
        other = _OtherWriter(path)
        indexes: list[int] = []
        for text in ("a", "b"):
            indexes.append(sink.begin_call(dict(list(files.request_row(0, text).items())[2:])))
            sink.append_rows([files.encoded([files.end_row(indexes[-1], 0)])], is_call_end=True)
            indexes.append(other.record(text))
    assert indexes == [0, 1, 2, 3]
    assert inspect_recording(path).error is None
    with pytest.raises(FileLockedError):
        delete_recording("shared")
    other.close()
    assert delete_recording("shared").path == path
    assert list(path.parent.iterdir()) == []


def test_what_a_killed_writer_left_is_set_right_as_the_page_says():
    path = managed_path("killed")
    RecordingSink(path).close()
    left = [files.request_row(0), files.event_row(0, 0, files.text_events("a")[0])]
    with path.open("ab") as file:
        file.write(files.encoded(left) + b'{"type":"event"')
    living = _OtherWriter(path)
    RecordingSink(path).close()
    assert files.fault(path) == ("missing_call_end", 2, 0)
    living.close()
    RecordingSink(path).close()
    (call,) = inspect_recording(path).calls
    assert (call.outcome, call.event_count) == ("abandoned", 1)
    torn = [each for each in path.parent.iterdir() if "torn" in each.name]
    assert [each.read_bytes() for each in torn] == [b'{"type":"event"']
    assert re.fullmatch(r"killed\.jsonl\.torn-[0-9a-f]{8}", torn[0].name)
    assert torn[0].stat().st_mode & 0o777 == 0o600


def test_the_lock_of_a_long_name_is_the_one_of_the_page():
    path = Path("/x") / ("n" * 246 + ".jsonl")
    digest = hashlib.sha256(path.name.encode()).hexdigest()
    assert lock_path_of(path) == path.with_name(f"{digest}.lock")
    assert lock_path_of(Path("/x/n.jsonl")) == Path("/x/n.jsonl.lock")


LONGEST = "1" * 4300
DEEPEST = MAX_NESTING_DEPTH - 2
FAULTS = {
    "a blank line and a CR": ("\n", " \t\r\n\r\n", None),
    "the most digits": ('"options":{', f'"options":{{"n":{LONGEST},', None),
    "one digit more": ('"options":{', f'"options":{{"n":1{LONGEST},', "invalid_json"),
    "the most levels": ('"options":{', f'"options":{{"n":{"[" * DEEPEST}{"]" * DEEPEST},', None),
    "a level more": ('"options":{', f'"options":{{"n":{"[" * 499}{"]" * 499},', "invalid_json"),
    "a key twice in a request": ('"options":{', '"options":{"a":1,"a":2,', "duplicate_key"),
    "a key twice in a row": ('"event_index":2', '"event_index":2,"event_index":2', "duplicate_key"),
    "a key twice in an event": ('"delta":"Hel"', '"delta":"Hel","x":{"a":1,"a":2}', None),
    "a number too large": ('"options":{', '"options":{"n":1e999,', "non_finite_number"),
    "a byte order mark": ('{"type":"header"', '\ufeff{"type":"header"', "invalid_json"),
    "an unknown field": ('"event_index":2', '"event_index":2,"x_new":[1]', None),
    "no metadata": (
        ',"recording_id":"hello","created_at":"2026-08-11T13:45:02Z","redaction_version":1',
        "",
        None,
    ),
    "version true": ('"format_version":1', '"format_version":true', "unsupported_version"),
    "version 1.0": ('"format_version":1', '"format_version":1.0', "unsupported_version"),
    "version 2": ('"format_version":1', '"format_version":2', None),
    "version 3": ('"format_version":1', '"format_version":3', "unsupported_version"),
    "options null": ('"options":{"api_key":"[secret removed]"}', '"options":null', None),
    "no outcome": (',"outcome":"complete"', "", None),
    "another outcome": ('"outcome":"complete"', '"outcome":"done"', "bad_outcome"),
    "no LF": ('"outcome":"complete"}\n', '"outcome":"complete"}', "truncated_row"),
    "a stub about no block": (
        '"text_delta","content_index":0,"delta":"Hel"',
        '"text_delta","content_index":1,"delta":"Hel"',
        "invalid_event",
    ),
    "a wrong count": ('"event_count":6', '"event_count":5', "wrong_event_count"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_the_page_allows_and_refuses_is_allowed_and_refused(tmp_path: Path, name: str):
    old, new, code = FAULTS[name]
    assert old in EXAMPLE
    found = files.fault_of(tmp_path, EXAMPLE.replace(old, new).encode())
    assert (found and found[0]) == code


def test_redacting_the_example_again_changes_nothing():
    for line in EXAMPLE.splitlines():
        assert remove_secret_values(json.loads(line)) == json.loads(line)
