"""Compare two recordings call by call. Pure.

Requests and answers are read one at a time; of a call is kept where it is, and a few digests.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast

from openprogram.errors import RecordingFileError
from openprogram.providers import content_digests, file_safety
from openprogram.providers.alignment import align
from openprogram.providers.comparison import (
    MISSING,
    Difference,
    iterate_event_differences,
    iterate_request_differences,
    join_path,
)
from openprogram.providers.inspection import inspect_recording, read_call
from openprogram.providers.recording import rereading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from openprogram._json_types import JsonObject
    from openprogram.providers.comparison import Step
    from openprogram.providers.inspection import CallInspection, RecordingInspection

Place: TypeAlias = "tuple[int | None, int | None]"
"""The indices of a call in both recordings; None where it is not."""
PairState: TypeAlias = Literal["equal", "changed", "removed", "inserted"]

PAIR_STATES: tuple[PairState, ...] = ("equal", "changed", "removed", "inserted")
"""What can have become of a call, in the order in which people are told."""

ANSWER = "answer"
"""The first step of the path of a difference that is not in the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPair:
    """A call of the first recording and the one of the second that stands in its place."""

    first: CallInspection | None
    """None for an inserted call."""
    second: CallInspection | None
    """None for a removed call."""
    state: PairState
    """`equal` and `changed` calls are in both recordings, `removed` ones in the first alone and
    `inserted` ones in the second alone."""
    twin: CallInspection | None = None
    """Of a removed or inserted call: its equal in the other recording, at another place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingDiff:
    """Two recordings, their calls aligned. What differs in a pair is read when it is asked for."""

    first: RecordingInspection
    """One recording."""
    second: RecordingInspection
    """The other."""
    pairs: tuple[CallPair, ...]
    """Every call of both once, in their order."""

    @property
    def is_equal(self) -> bool:
        """Whether the calls are the same; headers do not count."""
        return all(pair.state == "equal" for pair in self.pairs)

    def count(self, state: PairState) -> int:
        """Say how many pairs have a state.

        Args:
            state: One of `PAIR_STATES`.

        Returns:
            How many.
        """
        return sum(pair.state == state for pair in self.pairs)

    def iterate_differences(self, pair: CallPair) -> Iterator[Difference]:
        """List every place at which the calls of a pair differ.

        Args:
            pair: One of `pairs`.

        Yields:
            The differences of the requests in the order of their parts, then those of the answers:
            `answer.outcome`, the fields of the last message such as `answer.content[0].text`, and
            `answer.event_count`. `recorded` is the value in the first recording, `incoming` that in
            the second. None for a call that only one of them has.

        Raises:
            RecordingFileError: A file cannot be read, or was changed since it was inspected.
        """
        if pair.first is None or pair.second is None or pair.state == "equal":
            return
        with _Contents(self.first.path) as first, _Contents(self.second.path) as second:
            yield from _iterate_differences(first, pair.first, second, pair.second)


def diff_recordings(
    first: Path, second: Path, *, on_progress: Callable[[int, int], object] | None = None
) -> RecordingDiff:
    """Align the calls of two recordings and say which differ; changes nothing on disk.

    A call is known again by its request and its answer; when it has changed, by its request, by
    what it answers, by the newest message it sends, or by its model and how many messages it
    sends, in this order; at last by its place. Time grows with the size of the files and memory
    with the number of calls.

    Args:
        first: One recording.
        second: The other.
        on_progress: Called now and then with how many calls were read, and of how many; of 0 as
            long as nobody knows.

    Returns:
        What was found.

    Raises:
        RecordingFileError: One of them cannot be opened, or is not sound.
    """
    watch = on_progress or _watch_nothing
    watch(0, 0)
    inspected = _inspect(first)
    watch(0, 0)
    other_inspected = _inspect(second)
    read_count, total_count = 0, len(inspected.calls) + len(other_inspected.calls)

    def count_read() -> None:
        nonlocal read_count
        watch(read_count, total_count)
        read_count += 1

    with _Contents(first) as contents, _Contents(second) as other_contents:
        side = _Side(inspected, contents, count_read)
        other_side = _Side(other_inspected, other_contents, count_read)
        aligned = align(side.keys, other_side.keys)
        twins = _find_twins(aligned, side, other_side)
        pairs = tuple(_pair(side, other_side, place, twins.get(place)) for place in aligned)
    return RecordingDiff(first=inspected, second=other_inspected, pairs=pairs)


def _watch_nothing(done_count: int, total_count: int) -> None:
    del done_count, total_count


def _inspect(path: Path) -> RecordingInspection:
    inspected = inspect_recording(path)
    if inspected.error is not None:
        raise inspected.error
    return inspected


class _Side:
    """One of the two recordings: its calls, and the keys that they are aligned by."""

    def __init__(
        self, inspected: RecordingInspection, contents: _Contents, count_read: Callable[[], None]
    ) -> None:
        self.calls = inspected.calls
        self.contents = contents
        self.keys: list[tuple[bytes, *tuple[bytes | None, ...]]] = []
        for call in inspected.calls:
            count_read()
            self.keys.append(_keys_of(contents, call))


def _keys_of(contents: _Contents, call: CallInspection) -> tuple[bytes, *tuple[bytes | None, ...]]:
    """Make the keys of a call, from what only its equal has to the loosest."""
    request, message = contents.read_request(call), contents.read_message(call)
    asked = content_digests.digest_request(request)
    answered = content_digests.digest_message(message)
    ending = f"{call.event_count} {call.outcome}".encode()
    return (
        asked + answered + ending,
        asked,
        content_digests.digest_content(message),
        content_digests.digest_last_message(request),
        f"{_message_count(request)} {call.model}".encode(errors="surrogatepass"),
    )


def _find_twins(aligned: list[Place], side: _Side, other_side: _Side) -> dict[Place, int]:
    """Find the equals, wherever they stand, of calls that have no counterpart."""
    places = [place for place in aligned if not _are_known_equal(side, other_side, place)]
    free: dict[bytes, deque[int]] = {}
    other_free: dict[bytes, deque[int]] = {}
    for here, there in places:
        if here is not None:
            free.setdefault(side.keys[here][0], deque()).append(here)
        if there is not None:
            other_free.setdefault(other_side.keys[there][0], deque()).append(there)
    twins: dict[Place, int] = {}
    for here, there in places:
        if there is None and here is not None:
            twin = other_free.get(side.keys[here][0])
        elif here is None and there is not None:
            twin = free.get(other_side.keys[there][0])
        else:
            continue
        if twin:
            twins[here, there] = twin.popleft()
    return twins


def _are_known_equal(side: _Side, other_side: _Side, place: Place) -> bool:
    here, there = place
    if here is None or there is None:
        return False
    return side.keys[here][0] == other_side.keys[there][0]


def _pair(side: _Side, other_side: _Side, place: Place, twin: int | None) -> CallPair:
    here, there = place
    if here is None or there is None:
        twin_side = side if here is None else other_side
        return CallPair(
            first=None if here is None else side.calls[here],
            second=None if there is None else other_side.calls[there],
            state="inserted" if here is None else "removed",
            twin=None if twin is None else twin_side.calls[twin],
        )
    call, other = side.calls[here], other_side.calls[there]
    is_equal = _are_known_equal(side, other_side, place)
    if not is_equal:
        # Values that differ only in how they are written, such as 0.0 and -0.0, are found out here.
        found = _iterate_differences(side.contents, call, other_side.contents, other)
        is_equal = next(found, None) is None
    return CallPair(first=call, second=other, state="equal" if is_equal else "changed")


def _message_count(request: JsonObject) -> int:
    context = request.get("context")
    messages = cast("JsonObject", context).get("messages") if isinstance(context, dict) else None
    return len(cast("list[Any]", messages)) if isinstance(messages, list) else 0


def _iterate_differences(
    contents: _Contents, call: CallInspection, other_contents: _Contents, other: CallInspection
) -> Iterator[Difference]:
    yield from iterate_request_differences(
        contents.read_request(call), other_contents.read_request(other)
    )
    if call.outcome != other.outcome:
        yield _answer_difference(("outcome",), call.outcome, other.outcome)
    message, other_message = contents.read_message(call), other_contents.read_message(other)
    if message is None or other_message is None:
        if message is not other_message:
            yield _answer_difference((), _or_missing(message), _or_missing(other_message))
    else:
        for found in iterate_event_differences(_as_event(message), _as_event(other_message)):
            yield _answer_difference(found.steps[1:], found.recorded, found.incoming)
    if call.event_count != other.event_count:
        yield _answer_difference(("event_count",), call.event_count, other.event_count)


def _as_event(message: JsonObject) -> JsonObject:
    """Put a message where its fields have their declared types."""
    return {"type": "done", "reason": "stop", "message": message}


def _or_missing(value: JsonObject | None) -> Any:
    return MISSING if value is None else value


def _answer_difference(steps: tuple[Step, ...], recorded: Any, incoming: Any) -> Difference:
    return Difference(
        path=join_path(ANSWER, *steps),
        steps=(ANSWER, *steps),
        recorded=recorded,
        incoming=incoming,
    )


class _Contents:
    """An inspected recording, open to read requests and answers out of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1

    def __enter__(self) -> Self:
        self._fd = file_safety.open_recording_for_reading(self._path, require_private=False)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def read_request(self, call: CallInspection) -> JsonObject:
        """Read the row of a call's request."""
        return self._read_row(call, call.offset, call.request_bytes, "request")

    def read_message(self, call: CallInspection) -> JsonObject | None:
        """Read the last message of a call's answer, as it came last when no event ended it."""
        if call.answer_offset is None or call.answer_bytes is None:
            return self._read_last_snapshot(call)
        row = self._read_row(call, call.answer_offset, call.answer_bytes, "event")
        event = row.get("event")
        found = cast("JsonObject", event) if isinstance(event, dict) else {}
        message = found.get("message" if found.get("type") == "done" else "error")
        if not isinstance(message, dict):
            raise RecordingFileError(
                self._path,
                "unreadable",
                "was changed while it was compared; compare a copy that nothing writes to",
                call_index=call.call_index,
            )
        return cast("JsonObject", message)

    def _read_last_snapshot(self, call: CallInspection) -> JsonObject | None:
        if not call.event_count:
            return None
        last: JsonObject | None = None
        for each in read_call(self._path, call).iterate_events():
            snapshot = each.event.get("partial")
            last = cast("JsonObject", snapshot) if isinstance(snapshot, dict) else last
        return last

    def _read_row(
        self, call: CallInspection, offset: int, length: int, kind: rereading.RowKind
    ) -> JsonObject:
        return rereading.read_row(
            self._fd, self._path, offset, length, kind=kind, call_index=call.call_index
        )
