"""Cutting never changes the bytes, and cuts where it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.testing import chunking

POLICIES = [
    chunking.whole,
    chunking.every_byte,
    chunking.every(7),
    chunking.at([0, 3, 99]),
    chunking.per_event,
    chunking.inside_characters,
    chunking.inside_blank_lines,
]


@pytest.mark.parametrize("policy", POLICIES)
@given(data=st.text(alphabet="aé😀\r\n").map(str.encode))
def test_pieces_join_to_the_same_bytes_and_none_is_empty(policy: chunking.Chunking, data: bytes):
    pieces = policy(data)
    assert b"".join(pieces) == data
    assert all(pieces)


@given(text=st.text(alphabet="aé😀", min_size=1))
def test_every_long_character_is_cut(text: str):
    for piece in chunking.inside_characters(text.encode())[:-1]:
        with pytest.raises(UnicodeDecodeError):
            piece.decode()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_events_end_at_blank_lines_of_every_kind(end: bytes):
    events = [b"data: 1" + end * 2, b"event: e" + end + b"data: 2" + end * 2]
    assert chunking.per_event(b"".join(events)) == events
    pieces = chunking.inside_blank_lines(b"".join(events))
    assert len(pieces) == 1 + len(events) * (len(end * 2) - 1)
    assert not any(end * 2 in piece for piece in pieces)
