"""Every message survives the wire, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.errors import OpenProgramError, WorkerError
from openprogram.worker.protocol import (
    MAX_LINE_BYTES,
    MAX_TEXT_CHARACTERS,
    RunRequest,
    StatusRequest,
    Text,
    decode_answer,
    decode_request,
    encode_line,
)


def test_the_longest_text_fits_a_line_and_a_longer_request_is_refused() -> None:
    line = encode_line(Text("\U0001f375" * MAX_TEXT_CHARACTERS))
    assert len(line) <= MAX_LINE_BYTES
    with pytest.raises(WorkerError, match="is longer than"):
        encode_line(RunRequest(prompt="x" * MAX_LINE_BYTES, root="/"))


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=())))
def test_any_text_comes_back_as_one_line(text: str) -> None:
    line = encode_line(Text(text))
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert decode_answer(line) == Text(text)


@settings(max_examples=50)
@given(
    st.binary() | st.sampled_from([b"{}", b"[" * 100_000, b'{"type": "run"}', b"1e999", b"null"])
)
def test_what_is_no_request_is_refused_without_a_word_of_it(data: bytes) -> None:
    with pytest.raises(
        OpenProgramError, match=r"^a line that is no message of the worker's protocol$"
    ):
        decode_request(data)


def test_unknown_fields_are_ignored_and_defaults_filled_in() -> None:
    assert decode_request(b'{"type": "status", "later": 1}') == StatusRequest()
    found = decode_request(b'{"type": "run", "prompt": "p", "root": "/r"}')
    assert found == RunRequest(prompt="p", root="/r")
