"""What is written can be read back, and what cannot be read is named exactly."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.providers.recording import format as rules
from openprogram.providers.recording.format import RowError, decode_row, encode_row

TEXT = st.text(st.characters(codec=None, exclude_categories=()))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=8,
)


def fault_of(line: bytes) -> str | None:
    try:
        decode_row(line)
    except RowError as error:
        return error.code
    return None


@settings(max_examples=60)
@given(row=st.dictionaries(TEXT, VALUES))
def test_a_row_is_one_line_and_reads_back_equal_in_its_order(row: dict[str, Any]):
    line = encode_row(row)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    back = decode_row(line)
    assert back == row
    assert json.dumps(back) == json.dumps(row)


@settings(max_examples=300)
@given(data=st.binary(max_size=60))
def test_any_bytes_are_a_row_or_one_named_fault(data: bytes):
    assert fault_of(data) in {None, *rules.ERROR_CODES}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_what_no_reader_would_take_is_not_written_as_a_number(number: float):
    try:
        line = encode_row({"a": number})
    except RowError as error:
        assert error.code == "invalid_json"  # noqa: PT017 - refusing is one of two sound answers
        return
    assert decode_row(line) == {"a": None}


def test_depth_is_counted_in_brackets_outside_strings():
    def nested(depth: int) -> dict[str, Any]:
        value: Any = "[{" * 1000
        for _ in range(depth - 1):
            value = [value]
        return {"a": value}

    assert decode_row(encode_row(nested(rules.MAX_NESTING_DEPTH)))
    with pytest.raises(RowError) as caught:
        encode_row(nested(rules.MAX_NESTING_DEPTH + 1))
    assert caught.value.code == "invalid_json"
    line = json.dumps(nested(rules.MAX_NESTING_DEPTH + 1)).encode()
    assert fault_of(line) == "invalid_json"
    with pytest.raises(RowError):
        encode_row(nested(50_000))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", "invalid_json"),
        (b"\xff{", "invalid_utf8"),
        (b'{"a":"\xc3"}', "invalid_utf8"),
        (b"\xef\xbb\xbf{}", "invalid_json"),
        (b'{"a":01}', "invalid_json"),
        (b'{"a":1,}', "invalid_json"),
        (b"{} {}", "invalid_json"),
        (b"{'a':1}", "invalid_json"),
        (b'{"a":"\x00"}', "invalid_json"),
        (b'{"a":' + b"1" * 5000 + b"}", "invalid_json"),
        (b"[" * 501 + b"]" * 501, "invalid_json"),
        (b"[" * 1_000_000, "invalid_json"),
        (b"null", "not_an_object"),
        (b'"header"', "not_an_object"),
        (b'[{"a":1,"a":NaN}]', "not_an_object"),
        (b'{"a":1,"a":NaN}', "duplicate_key"),
        (b'{"\\u0061":1,"a":2}', "duplicate_key"),
        (b'{"type":"request","context":{"a":[{"b":1,"b":1}]}}', "duplicate_key"),
        (b'{"context":{"b":1,"b":1},"type":"request"}', "duplicate_key"),
        (b'{"type":"event","event":{"b":1,"b":1}}', None),
        (b'{"a":[NaN]}', "non_finite_number"),
        (b'{"a":-Infinity}', "non_finite_number"),
        (b'{"a":1e400}', "non_finite_number"),
        (b'{"a":1e-400}', None),
        (b'{"a":"\\ud83d"}', None),
        (b' {"a":1}\r\n', None),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_each_fault_of_a_line_has_its_code(line: bytes, code: str | None):
    assert fault_of(line) == code


def test_a_header_says_when_it_was_begun_in_utc():
    east = timezone(timedelta(hours=2))
    line = rules.encode_header("x", created_at=datetime(2026, 1, 1, 1, 0, 0, tzinfo=east))
    assert decode_row(line) == {
        "type": "header",
        "format_version": rules.RECORDING_FORMAT_VERSION,
        "recording_id": "x",
        "created_at": "2025-12-31T23:00:00Z",
        "redaction_version": rules.REDACTION_VERSION_IF_UNSAID,
    }
    before = datetime.now(UTC).replace(microsecond=0)
    begun = datetime.fromisoformat(decode_row(rules.encode_header("x"))["created_at"])
    assert before <= begun <= datetime.now(UTC)


@pytest.mark.parametrize("line", [b"", b"\n", b" \t\r\n"])
def test_only_json_white_space_is_blank(line: bytes):
    assert rules.is_blank(line)
    assert not rules.is_blank(line + b"\x0b")
    assert not rules.is_blank(line + "\u2028".encode())


def test_codes_are_unique_and_in_the_contract_order():
    assert len(set(rules.ERROR_CODES)) == len(rules.ERROR_CODES)
    assert rules.ERROR_CODES[0] == "unreadable"
    assert rules.ERROR_CODES[-1] == "missing_call_end"
    assert rules.ERROR_CODES.index("duplicate_key") < rules.ERROR_CODES.index("missing_header")
