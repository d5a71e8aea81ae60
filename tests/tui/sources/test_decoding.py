"""Rows decoded leniently: the same answers as a plain JSON reader, without the snapshots."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from openprogram_recordings_tui.sources.decoding import decode_event, decode_row

fields: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["type", "delta", "content_index", "partial", "reason", "odd"]),
    st.none() | st.integers() | st.text() | st.lists(st.text(max_size=3), max_size=2),
)


@given(fields)
def test_an_event_is_what_its_row_says_without_what_no_line_shows(event: dict[str, Any]):
    line = json.dumps({"type": "event", "event": event}).encode()

    known = decode_event(line) or {}

    for name, value in event.items():
        if name in known:
            assert known[name] == value
    assert "partial" not in known or "\\ud" in line.decode()


@given(st.binary(max_size=40))
def test_bytes_of_any_kind_have_an_answer(line: bytes):
    assert decode_row(line) is None or isinstance(decode_row(line), dict)
    assert decode_event(line) is None or isinstance(decode_event(line), dict)


def test_lone_surrogates_are_read():
    line = b'{"type":"event","event":{"type":"text_delta","delta":"\\ud83d"}}'

    assert decode_row(line) is not None
    assert (decode_event(line) or {})["delta"] == "\ud83d"


def test_what_is_no_object_is_none():
    for line in (b"[]", b"1", b"", b"{", b'{"event":1}', b"[" * 100_000):
        assert decode_event(line) is None
    assert decode_row(b"[]") is None
