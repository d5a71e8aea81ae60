"""Answer from a recording, never from the network."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shlex
import threading
import weakref
from typing import TYPE_CHECKING, Any

from openprogram.errors import (
    OpenProgramError,
    RecordedCallInterrupted,
    RecordingFileError,
    ascii_if_unprintable,
    quoted,
)
from openprogram.errors import ReplayMismatch as ReplayMismatch
from openprogram.providers import file_safety, mismatches
from openprogram.providers import types as t
from openprogram.providers.comparison import find_first_request_difference
from openprogram.providers.ignored_paths import can_be_ignored, parse_ignored_path
from openprogram.providers.recorded_calls import RecordedCalls
from openprogram.providers.recording.redaction import PLACEHOLDER
from openprogram.providers.recording.requests import dump_request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from openprogram.providers.comparison import Difference
    from openprogram.providers.types import Context, Model, RecordedEvent, StreamOptions

_SEARCHED_BYTES = 32 * 1024 * 1024
"""How much of the other recorded requests is read to find the one that a request would match."""

_SHOWN_PATH_CHARACTERS = 400
"""The longest field path that a person is told to copy."""
_ANEW = "to make a recording of the run as it is now: openprogram recordings record"

_open_providers: weakref.WeakSet[ReplayProvider] = weakref.WeakSet()
_log = logging.getLogger(__name__)


class ReplayProvider:
    """A provider that serves recorded calls in their order, each once, to the requests they had.

    A request that differs from the recorded one raises `ReplayMismatch` before anything is served,
    and does not use the recorded call up. Nothing ever falls back to a live provider.

    Args:
        path: The recording; validated whole, here and now. It has to be the user's own, mode 0600.
        ignore: Field paths that are not compared, as `record_replay.ignore` holds them.
        report_mismatches: Keep a report of each mismatch, so that the terminal UI can show it.

    Raises:
        RecordingFileError: The file is not sound, or not safe.
        ValueError: A path to ignore is none, or too wide.
    """

    def __init__(
        self, path: Path | str, *, ignore: Sequence[str] = (), report_mismatches: bool = False
    ) -> None:
        self._ignore = tuple(ignore)
        self._ignored_paths = tuple(parse_ignored_path(text) for text in ignore)
        self._report_mismatches = report_mismatches
        self._calls = RecordedCalls(file_safety.absolute_path(path))
        self._lock = threading.Lock()
        _open_providers.add(self)
        self._served_count = 0
        self._has_warned_of_placeholder = False

    @property
    def recording_path(self) -> Path:
        """The recording that is served."""
        return self._calls.path

    @property
    def call_total(self) -> int:
        """How many calls the recording holds."""
        return len(self._calls)

    @property
    def call_count(self) -> int:
        """How many of them have been served."""
        return self._served_count

    @property
    def requires_credentials(self) -> bool:
        """Whether a key is needed: never."""
        return False

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncIterator[Any]:
        """Serve the next recorded call, if this request is the recorded one.

        Args:
            model: Which model is asked.
            context: What it is asked.
            options: How.

        Returns:
            The recorded events. Its first step compares, and raises `ReplayMismatch`; after the
            events of a call that did not end well it raises `RecordedCallInterrupted`.
        """
        return self._serve(model, context, options)

    def stream_simple(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncIterator[Any]:
        """Serve the next recorded call, as `stream` does.

        Args:
            model: Which model is asked.
            context: What it is asked.
            options: How.

        Returns:
            The recorded events.
        """
        return self._serve(model, context, options)

    def assert_consumed(self) -> None:
        """Demand that every recorded call was served.

        Raises:
            ReplayMismatch: Some were not; its field path is `call_index`.
        """
        with self._lock:
            served, total = self._served_count, len(self._calls)
        if served < total:
            raise ReplayMismatch(
                served,
                "call_index",
                _calls(total),
                _calls(served),
                hint=(
                    f"the run ended before it asked what recorded call {served} asks, in line "
                    f"{self._calls.request_line(served)} of "
                    f"{ascii_if_unprintable(str(self._calls.path))}"
                ),
            )

    def renew_lock(self) -> None:
        """Forget who held the lock; for a forked child, where that thread does not exist."""
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of the file; a second call does nothing."""
        self._calls.close()

    async def _serve(
        self, model: Model, context: Context, options: StreamOptions | None
    ) -> AsyncIterator[RecordedEvent]:
        incoming = dump_request(model, context, options)
        call_index = self._claim(incoming)
        for event in self._calls.read_events(call_index):
            self._warn_of_placeholder(event, call_index)
            # Live events come with the network in between; other tasks get their turn here too.
            await asyncio.sleep(0)
            yield event
        outcome = self._calls.outcome(call_index)
        if outcome != "complete":
            raise RecordedCallInterrupted(call_index, outcome, path=self._calls.path)

    def _claim(self, incoming: dict[str, Any]) -> int:
        """Compare with the next call and use it up, as one step."""
        with self._lock:
            index = self._served_count
            if index == len(self._calls):
                raise self._exhausted(incoming)
            recorded = self._calls.read_request(index)
            difference = find_first_request_difference(
                recorded, incoming, ignore=self._ignored_paths
            )
            if difference is None:
                self._served_count += 1
                return index
        raise self._mismatch(index, difference, recorded, incoming)

    def _exhausted(self, incoming: dict[str, Any]) -> ReplayMismatch:
        total = len(self._calls)
        hints = ["the run asks the model more often than the recorded one did"]
        twin = self._find_twin(total, incoming)
        if twin is not None:
            hints.append(_say_twin(twin, total))
        hints.append(_ANEW)
        return ReplayMismatch(
            total,
            "call_index",
            f"{_calls(total)}, all served",
            "one more call",
            hint="\n".join(hints),
        )

    def _mismatch(
        self,
        index: int,
        difference: Difference,
        recorded: dict[str, Any],
        incoming: dict[str, Any],
    ) -> ReplayMismatch:
        place = ascii_if_unprintable(str(self._calls.path))
        hints = [f"the recorded request is line {self._calls.request_line(index)} of {place}"]
        twin = self._find_twin(index, incoming)
        if twin is not None:
            hints.append(_say_twin(twin, index))
        hints.append(_ANEW)
        if len(difference.path) <= _SHOWN_PATH_CHARACTERS and can_be_ignored(difference.path):
            hints.append(self._say_how_to_ignore(difference.path))
        report_id = self._write_report(index, difference, recorded, incoming)
        if report_id is not None:
            hints.append(f"to see both requests: openprogram recordings tui --mismatch {report_id}")
        return ReplayMismatch(
            index,
            difference.path,
            difference.recorded,
            difference.incoming,
            hint="\n".join(hints),
        )

    def _say_how_to_ignore(self, path: str) -> str:
        if not self._report_mismatches:
            # No settings chose this replay, so none could change it.
            return (
                f"only if this field may differ in every run, add {json.dumps(path)} to the "
                "'ignore' of ReplayProvider, or to record_replay.ignore where settings choose"
            )
        # The setting is replaced as a whole, so what it holds by now stands here too.
        paths = shlex.quote(json.dumps([*self._ignore, path]))
        return (
            "only if this field may differ in every run, leave it out of the comparison: "
            f"openprogram config set record_replay.ignore {paths}"
        )

    def _find_twin(self, index: int, incoming: dict[str, Any]) -> int | None:
        """Find the call that the request would have matched: a later one, else the last served."""
        budget_bytes = _SEARCHED_BYTES
        for other in (*range(index + 1, len(self._calls)), *range(index - 1, -1, -1)):
            budget_bytes -= self._calls.request_size(other)
            if budget_bytes < 0:
                return None
            try:
                recorded = self._calls.read_request(other)
            except RecordingFileError:
                # What is raised is about the request that was compared, and only with less to say.
                return None
            if not find_first_request_difference(recorded, incoming, ignore=self._ignored_paths):
                return other
        return None

    def _write_report(
        self,
        index: int,
        difference: Difference,
        recorded: dict[str, Any],
        incoming: dict[str, Any],
    ) -> str | None:
        if not self._report_mismatches:
            return None
        try:
            report = mismatches.write_mismatch_report(
                recording=self._calls.path,
                call_index=index,
                difference=difference,
                recorded_request=recorded,
                incoming_request=incoming,
                ignore=self._ignore,
            )
        except (OSError, OpenProgramError) as error:
            # The mismatch is what matters; without its report it is only harder to look at.
            _log.warning("no report of the mismatch could be kept: %s", error)
            return None
        return report.report_id

    def _warn_of_placeholder(self, event: RecordedEvent, call_index: int) -> None:
        """Say once that a tool is called with what stands in a secret's place."""
        if self._has_warned_of_placeholder or not isinstance(event, t.EventToolCallEnd):
            return
        if PLACEHOLDER in repr(event.tool_call.arguments):
            self._has_warned_of_placeholder = True
            _log.warning(
                "recorded call %d calls the tool %s with %r where a secret was; it is served as "
                "recorded",
                call_index,
                quoted(event.tool_call.name),
                PLACEHOLDER,
            )


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count:,} calls"


def _say_twin(twin: int, index: int) -> str:
    if twin > index:
        return f"recorded call {twin} asked exactly this: the run asks in another order"
    return f"recorded call {twin} asked exactly this, and was served already"


def _renew_locks() -> None:
    """Free what a thread held that a forked child does not have."""
    for provider in _open_providers:
        provider.renew_lock()


os.register_at_fork(after_in_child=_renew_locks)
