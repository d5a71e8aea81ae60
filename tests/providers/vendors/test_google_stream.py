"""Server-sent events as their standard has them, and what else an answer may be, cut anywhere."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers.vendors._google_stream import AnswerDecoder


def decode(data: bytes, *offsets: int) -> list[object]:
    decoder = AnswerDecoder()
    edges = [0, *sorted(offset % (len(data) + 1) for offset in offsets), len(data)]
    values: list[object] = []
    for start, end in pairwise(edges):
        values += decoder.feed(data[start:end])
    return [*values, *decoder.finish()]


HOSTILE = (
    '\ufeff: hello\r\n\r\nevent: x\nid: 7\ndata:{"a": "é\u2028😀"}\n\n'
    "data: [1,\r\ndata:  2]\r\n\r\n: ping\r\rretry: 5\rdata: 3\r\r"
    "data\n\ndata:\n\ndata: [DONE]\n\nnonsense\ndata: null\n\ndata: 4"
).encode()
MEANT = [{"a": "é\u2028😀"}, [1, 2], 3, None, 4]
PRETTY = b'\n{\n  "error": {\r\n    "code": 5\r}}\n'


@given(st.lists(st.integers(0, 300), max_size=8))
def test_any_cut_of_any_shape_means_the_same(offsets: list[int]) -> None:
    assert decode(HOSTILE, *offsets) == MEANT
    assert decode(PRETTY, *offsets) == [{"error": {"code": 5}}]
    assert decode(b'[{"a": 1}\n,\r\n{"a": 2}]\n', *offsets) == [{"a": 1}, {"a": 2}]


def test_each_byte_alone_means_the_same() -> None:
    assert decode(HOSTILE, *range(len(HOSTILE))) == MEANT


def test_a_value_is_given_as_soon_as_its_event_is_whole() -> None:
    decoder = AnswerDecoder()
    assert list(decoder.feed(b"data: 1\n")) == []
    assert list(decoder.feed(b"\ndata: 2\n\nda")) == [1, 2]
    assert list(decoder.finish()) == []


@pytest.mark.parametrize("data", [b"", b"\n\n", b": only a comment\n", b"data: [DONE]\n\n"])
def test_an_answer_without_events_has_no_values(data: bytes) -> None:
    assert decode(data) == []


@pytest.mark.parametrize("data", [b"data: {\n\n", b"data: \xff\n\n", b"{", b"data: {", b'["a"'])
def test_what_is_no_json_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(data)


def test_what_came_before_a_broken_event_is_not_lost() -> None:
    values = AnswerDecoder().feed(b"data: 1\n\ndata: {\n\n")
    assert next(values) == 1
    with pytest.raises(ValueError, match=r"."):
        next(values)
