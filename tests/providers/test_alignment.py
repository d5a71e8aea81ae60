"""What two sequences have in common is paired, in order, whatever was put in or left out."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers.alignment import align

if TYPE_CHECKING:
    from collections.abc import Sequence

    Keys = list[tuple[bytes | None, ...]]


def _plain(text: str) -> Keys:
    return [(letter.encode(),) for letter in text]


def _drawn(first: str, second: str) -> str:
    """Write an alignment: `a` stands in both, `a|b` in the other's place, `-a` or `+b` alone."""
    words: list[str] = []
    for here, there in align(_plain(first), _plain(second)):
        if here is None:
            assert there is not None
            words.append(f"+{second[there]}")
        elif there is None:
            words.append(f"-{first[here]}")
        else:
            same = first[here] == second[there]
            words.append(first[here] if same else f"{first[here]}|{second[there]}")
    return " ".join(words)


@pytest.mark.parametrize(
    ("first", "second", "drawn"),
    [
        ("", "", ""),
        ("abc", "abc", "a b c"),
        ("abc", "", "-a -b -c"),
        ("abcd", "abxcd", "a b +x c d"),
        ("abcd", "acd", "a -b c d"),
        ("abcd", "axcd", "a b|x c d"),
        ("abcd", "axycd", "a b|x +y c d"),
        ("ab", "cde", "a|c b|d +e"),
        ("aaaa", "aaaaaa", "a a a a +a +a"),
        ("abcab", "ababcab", "a b +a +b c a b"),
        ("xaybzc", "abc", "-x a -y b -z c"),
        ("aabb", "bbaa", "-a -a b b +a +a"),
    ],
)
def test_what_was_put_in_left_out_or_changed_is_found(first: str, second: str, drawn: str):
    assert _drawn(first, second) == drawn


def test_a_looser_key_pairs_what_a_stricter_one_left():
    first: Keys = [(b"1", b"x"), (b"2", b"y"), (b"3", b"z")]
    second: Keys = [(b"1", b"x"), (b"8", b"w"), (b"9", b"z")]
    assert align(first, second) == [(0, 0), (1, 1), (2, 2)]
    second.insert(2, (b"7", b"y"))
    assert align(first, second) == [(0, 0), (None, 1), (1, 2), (2, 3)]


def test_a_looser_key_never_crosses_a_stricter_one():
    first: Keys = [(b"1", b"x"), (b"2", b"y")]
    second: Keys = [(b"2", b"z"), (b"9", b"x")]
    assert align(first, second) == [(0, None), (1, 0), (None, 1)]


def test_none_is_no_key():
    first: Keys = [(b"1", None), (b"2", b"y")]
    second: Keys = [(b"3", None), (b"4", None), (b"5", b"y")]
    assert align(first, second) == [(0, 0), (None, 1), (1, 2)]
    assert align([(None,)], [(None,), (None,)]) == [(0, 0), (None, 1)]


LETTERS = st.text("abcde", max_size=12)


@given(LETTERS, LETTERS)
def test_each_stands_there_once_in_its_order(first: str, second: str):
    aligned = align(_plain(first), _plain(second))
    assert [here for here, _ in aligned if here is not None] == list(range(len(first)))
    assert [there for _, there in aligned if there is not None] == list(range(len(second)))


@given(LETTERS, LETTERS)
def test_both_directions_agree(first: str, second: str):
    there_and_back = [(here, there) for there, here in align(_plain(second), _plain(first))]
    assert set(there_and_back) == set(align(_plain(first), _plain(second)))


@given(LETTERS, st.text("vwxyz", max_size=6), st.integers(0, 12))
def test_what_was_put_into_the_middle_disturbs_nothing(first: str, new: str, place: int):
    second = first[:place] + new + first[place:]
    equal = sum(
        here is not None and there is not None and first[here] == second[there]
        for here, there in align(_plain(first), _plain(second))
    )
    assert equal == len(first)


def _longest_common(first: str, second: str) -> int:
    lengths = [0] * (len(second) + 1)
    for letter in first:
        before = list(lengths)
        for at, other in enumerate(second, start=1):
            lengths[at] = (
                before[at - 1] + 1 if letter == other else max(before[at], lengths[at - 1])
            )
    return lengths[-1]


@given(st.text("abcdefghij", max_size=12), st.text("abcdefghij", max_size=12))
def test_nearly_all_that_could_be_paired_is(first: str, second: str):
    equal = sum(
        here is not None and there is not None and first[here] == second[there]
        for here, there in align(_plain(first), _plain(second))
    )
    best = _longest_common(first, second)
    assert equal <= best
    assert equal >= min(1, best)
    if len(set(first)) == len(first) and len(set(second)) == len(second):
        assert equal == best


class _Counted(bytes):
    """A key that counts how often it is looked at."""

    looks = 0

    def __eq__(self, other: object) -> bool:
        _Counted.looks += 1
        return super().__eq__(other)

    def __hash__(self) -> int:
        _Counted.looks += 1
        return super().__hash__()


@pytest.mark.parametrize("pattern", ["all differ", "all equal", "few kinds", "reversed", "braided"])
def test_work_grows_with_the_length_and_not_with_its_square(pattern: str):
    def keys(count: int) -> tuple[Sequence[int], Sequence[int]]:
        numbers = list(range(count))
        return {
            "all differ": (numbers, [-1 - x for x in numbers]),
            "all equal": ([0] * count, [0] * (count + 5)),
            "few kinds": ([x * x % 7 for x in numbers], [x * x * x % 11 for x in numbers]),
            "reversed": (numbers, numbers[::-1]),
            "braided": (numbers, list(itertools.chain(numbers[1::2], numbers[::2]))),
        }[pattern]

    looks: list[int] = []
    for count in (200, 2000):
        _Counted.looks = 0
        here, there = keys(count)
        align([(_Counted(b"%d" % x),) for x in here], [(_Counted(b"%d" % x),) for x in there])
        looks.append(_Counted.looks)
    assert looks[1] <= 13 * looks[0]
