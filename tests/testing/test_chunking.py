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
@given(data=st.text(alphabet="aé😀\n").map(str.encode))
def test_pieces_join_to_the_same_bytes_and_none_is_empty(policy: chunking.Chunking, data: bytes):
    pieces = policy(data)
    assert b"".join(pieces) == data
    assert all(pieces)


@given(text=st.text(alphabet="aé😀", min_size=1))
def test_every_long_character_is_cut(text: str):
    for piece in chunking.inside_characters(text.encode())[:-1]:
        with pytest.raises(UnicodeDecodeError):
            piece.decode()


def test_no_piece_holds_a_whole_blank_line():
    pieces = chunking.inside_blank_lines(b"data: 1\n\n" * 5)
    assert len(pieces) == 6
    assert not any(b"\n\n" in piece for piece in pieces)
