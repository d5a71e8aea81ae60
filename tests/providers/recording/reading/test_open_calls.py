from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.providers.recording.reading.open_calls import OpenCall
from recording_files import STUB, compact, event_row

_DERIVED = {"partial": STUB, "partial_derived": True}


def _delta(text: str, index: int, call_index: int = 2, content_index: int = 0) -> bytes:
    event = {"type": "text_delta", "content_index": content_index, "delta": text, **_DERIVED}
    return compact(event_row(call_index, index, event))


@pytest.fixture
def call() -> OpenCall:
    """A call whose last event was a delta of a form that is remembered."""
    call = OpenCall(2, 5, is_begun_before=False)
    call.event_count = 7
    call.remember_delta(_delta('a "quoted" \\ one', 7))
    call.event_count = 8
    return call


@pytest.mark.parametrize("text", ["", "b", '"', "\\", "é\u2028\U0001f600", '"}],"partial":{'])
def test_the_next_delta_of_the_same_form_is_known(call: OpenCall, text: str) -> None:
    assert call.take_deltas([_delta(text, 8)], 0) == 1
    # Above some length a text is judged in another way.
    assert call.take_deltas([_delta(text + 2_000 * "long", 9)], 0) == 1
    assert call.event_count == 10


def test_a_run_of_them_ends_where_something_else_stands(call: OpenCall) -> None:
    run = [_delta("b", index) for index in range(8, 12)]
    lines = [b"before", *run, _delta("c", 13), _delta("d", 12)]
    assert call.take_deltas(lines, 1) == 4
    assert call.event_count == 12
    assert call.take_deltas(lines, 5) == 0
    assert call.take_deltas(lines, 6) == 1
    assert call.take_deltas(lines, 7) == 0


@given(
    st.lists(
        st.sampled_from(
            [
                b'"',
                b"\\",
                b"\\u",
                b"d83d",
                b"00",
                b"n",
                b"\x00",
                b"\x1f",
                b"\x7f",
                b"\xff",
                b"\xc3\xa9",
            ]
        ),
        max_size=6,
    )
)
@settings(max_examples=300)
def test_a_long_text_is_judged_as_a_short_one(pieces: list[bytes]) -> None:
    taken: list[int] = []
    for padding in (b"", b"x" * 2_000):
        form = OpenCall(2, 5, is_begun_before=False)
        form.remember_delta(_delta("", 0))
        line = _delta("here", 0).replace(b"here", b"".join(pieces) + padding)
        taken.append(form.take_deltas([line], 0))
    assert taken[0] == taken[1]


def test_nothing_else_is(call: OpenCall) -> None:
    sound = _delta("b", 8)
    others = [
        _delta("b", 7),
        _delta("b", 9),
        _delta("b", 8, call_index=3),
        _delta("b", 8, content_index=1),
        sound.replace(b"text_delta", b"thinking_delta"),
        sound.replace(b'"delta":"b"', b'"delta":1'),
        sound.replace(b'"delta":"b"', b'"delta":"b","delta":"c"'),
        sound.replace(b'"delta":"b"', b'"delta":"b\x01"'),
        sound.replace(b'"delta":"b"', b'"delta":"\\x"'),
        sound.replace(b'"delta":"b"', b'"delta":"\xff"'),
        sound.replace(b'"delta":"b"', b'"delta":'),
        sound.replace(b"pretend-1", b"pretend-2"),
        sound[:-1],
        sound + b" ",
        json.dumps(json.loads(sound)).encode(),
        b"",
    ]
    longer = [
        line.replace(b'"delta":"b', b'"delta":"b' + 2_000 * b"b").replace(
            b'":1', b'":' + 2_000 * b"1"
        )
        for line in others
    ]
    assert not [line for line in (*others, *longer) if call.take_deltas([line], 0)]


def test_another_kind_of_event_in_between_ends_it(call: OpenCall) -> None:
    call.forget_delta()
    assert not call.take_deltas([_delta("b", 8)], 0)


def test_what_is_laid_out_otherwise_is_not_remembered() -> None:
    call = OpenCall(2, 5, is_begun_before=False)
    for line in (json.dumps(json.loads(_delta("a", 0))).encode(), b'{"type":"call_end"}', b""):
        call.remember_delta(line)
        call.event_count = 1
        assert not call.take_deltas([_delta("b", 1)], 0)
        call.event_count = 0


def test_only_a_call_that_was_read_from_its_beginning_is_judged() -> None:
    assert OpenCall(0, 1, is_begun_before=False).checker is not None
    assert OpenCall(0, 0, is_begun_before=True).checker is None
    assert OpenCall(4, 1, is_begun_before=False).event_prefix() == (
        b'{"type":"event","call_index":4,"event_index":0,"event":'
    )
