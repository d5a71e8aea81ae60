"""Pair the elements of two sequences, in order, by what they have in common. Pure.

An element has several keys, from one that only its equal shares to one that any of its kind may
share. Elements are paired by the strictest key first; a looser one decides only between the pairs
that stricter ones found. What is left is paired as it comes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Key: TypeAlias = bytes | None
"""What two elements may share; None is shared with nothing."""
Match: TypeAlias = tuple[int, int]
"""An index into each sequence."""

_MOST_ROUNDS = 32
"""How often a gap is split anew by what stands in it; bounds the time for odd sequences."""


def align(
    first: Sequence[Sequence[Key]], second: Sequence[Sequence[Key]]
) -> list[tuple[int | None, int | None]]:
    """Pair the elements of two sequences.

    The time grows with the length of the sequences times its logarithm.

    Args:
        first: The keys of each element, strictest first, as many for each.
        second: The same of the other sequence.

    Returns:
        Pairs of indices in the order of both sequences, each index once. An element without a
        counterpart stands beside None, those of the first sequence before those of the second.

    Example:
        >>> align([[b"a"], [b"c"]], [[b"a"], [b"b"], [b"c"]])
        [(0, 0), (None, 1), (1, 2)]
        >>> align([[b"a"]], [[b"b"], [b"c"]])
        [(0, 0), (None, 1)]
    """
    if _strictest(first) <= _strictest(second):
        matches = _match(first, second)
    else:
        # Of two equally good alignments, the order of the arguments must not choose.
        matches = [(here, there) for there, here in _match(second, first)]
    return list(_in_order(matches, len(first), len(second)))


def _strictest(elements: Sequence[Sequence[Key]]) -> list[bytes]:
    return [keys[0] or b"" for keys in elements]


def _match(first: Sequence[Sequence[Key]], second: Sequence[Sequence[Key]]) -> list[Match]:
    matches: list[Match] = []
    for level in range(len(first[0]) if first else 0):
        found = list(matches)
        for begin, end, other_begin, other_end in _gaps(matches, len(first), len(second)):
            keys = [each[level] for each in first[begin:end]]
            other_keys = [each[level] for each in second[other_begin:other_end]]
            found += [(begin + x, other_begin + y) for x, y in _common(keys, other_keys)]
        matches = sorted(found)
    for begin, end, other_begin, other_end in list(_gaps(matches, len(first), len(second))):
        matches += zip(range(begin, end), range(other_begin, other_end), strict=False)
    return sorted(matches)


def _gaps(
    matches: Iterable[Match], length: int, other_length: int
) -> Iterator[tuple[int, int, int, int]]:
    """Give what stands between matches in both: begin and end here, begin and end there."""
    begin = other_begin = 0
    for end, other_end in (*matches, (length, other_length)):
        if begin < end and other_begin < other_end:
            yield begin, end, other_begin, other_end
        begin, other_begin = end + 1, other_end + 1


def _in_order(
    matches: Iterable[Match], length: int, other_length: int
) -> Iterator[tuple[int | None, int | None]]:
    begin = other_begin = 0
    for end, other_end in (*matches, (length, other_length)):
        yield from ((index, None) for index in range(begin, end))
        yield from ((None, index) for index in range(other_begin, other_end))
        if end < length:
            yield end, other_end
        begin, other_begin = end + 1, other_end + 1


def _common(keys: Sequence[Key], other_keys: Sequence[Key]) -> list[Match]:
    """Find a long common subsequence: what begins and ends both, then what both have once."""
    found: list[Match] = []
    gaps = [(0, len(keys), 0, len(other_keys), 0)]
    while gaps:
        begin, end, other_begin, other_end, round_number = gaps.pop()
        while (
            begin < end and other_begin < other_end and _share(keys[begin], other_keys[other_begin])
        ):
            found.append((begin, other_begin))
            begin, other_begin = begin + 1, other_begin + 1
        while (
            begin < end
            and other_begin < other_end
            and _share(keys[end - 1], other_keys[other_end - 1])
        ):
            end, other_end = end - 1, other_end - 1
            found.append((end, other_end))
        if begin == end or other_begin == other_end or round_number == _MOST_ROUNDS:
            continue
        here, there = keys[begin:end], other_keys[other_begin:other_end]
        chain = _longest_chain(_shared_once(here, there) or _shared_in_turn(here, there))
        if not chain:
            continue
        matches = [(begin + x, other_begin + y) for x, y in chain]
        found += matches
        bounds = [(begin - 1, other_begin - 1), *matches, (end, other_end)]
        gaps += [
            (x + 1, next_x, y + 1, next_y, round_number + 1)
            for (x, y), (next_x, next_y) in pairwise(bounds)
        ]
    return found


def _share(key: Key, other: Key) -> bool:
    return key is not None and key == other


def _shared_once(keys: Sequence[Key], other_keys: Sequence[Key]) -> list[Match]:
    """Pair the keys that stand exactly once on either side."""
    counts, other_counts = Counter(keys), Counter(other_keys)
    places = {key: index for index, key in enumerate(other_keys)}
    return [
        (index, places[key])
        for index, key in enumerate(keys)
        if key is not None and counts[key] == 1 and other_counts[key] == 1
    ]


def _shared_in_turn(keys: Sequence[Key], other_keys: Sequence[Key]) -> list[Match]:
    """Pair the first of a key with the first of it there, the second with the second, and so on."""
    places: dict[bytes, list[int]] = {}
    for index in range(len(other_keys) - 1, -1, -1):
        key = other_keys[index]
        if key is not None:
            places.setdefault(key, []).append(index)
    return [
        (index, places[key].pop())
        for index, key in enumerate(keys)
        if key is not None and places.get(key)
    ]


def _longest_chain(matches: Sequence[Match]) -> list[Match]:
    """Take as many matches as can stand in one order; they come sorted by their first index."""
    # Of the chains of each length the one with the least end, as an index into `matches`.
    ends: list[int] = []
    least: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(matches):
        length = bisect_left(least, place)
        before.append(ends[length - 1] if length else -1)
        if length == len(ends):
            ends.append(index)
            least.append(place)
        else:
            ends[length], least[length] = index, place
    chain: list[Match] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(matches[index])
        index = before[index]
    chain.reverse()
    return chain
