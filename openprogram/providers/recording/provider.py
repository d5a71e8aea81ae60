"""A provider that writes down what another one is asked and answers, and changes neither."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from openprogram.errors import FileLockedError, RecordingWriteError
from openprogram.providers.events import TERMINAL_EVENT_TYPES
from openprogram.providers.recording.call_rows import CallRows
from openprogram.providers.recording.requests import credentials_of, dump_request
from openprogram.providers.recording.sink import RecordingSink

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from openprogram.providers.recording.format import Outcome
    from openprogram.providers.types import Context, Model, StreamOptions

_log = logging.getLogger(__name__)

_MethodName: TypeAlias = Literal["stream", "stream_simple"]


class RecordingProvider:
    """Wraps a provider: each event is written, then passed on as it is.

    A call that ends early still gets its last row, and the consumer meets the original exception or
    cancellation. When a row cannot be written the call ends with that error instead of going on
    unrecorded.

    Args:
        provider: Anything with `stream` and `stream_simple`.
        path_or_sink: The recording, or a sink that other wrappers share.
    """

    def __init__(self, provider: Any, path_or_sink: Path | str | RecordingSink) -> None:
        self._provider = provider
        if isinstance(path_or_sink, RecordingSink):
            self._sink = path_or_sink
        else:
            self._sink = RecordingSink(path_or_sink)

    @property
    def recording_path(self) -> Path:
        """The recording that this provider writes."""
        return self._sink.path

    @property
    def requires_credentials(self) -> bool:
        """Whether the wrapped provider needs a key."""
        return bool(getattr(self._provider, "requires_credentials", True))

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncIterator[Any]:
        """Record one call of the wrapped provider's `stream`.

        Args:
            model: Which model is asked.
            context: What it is asked.
            options: How.

        Returns:
            The wrapped provider's events, unchanged.
        """
        return self._record("stream", model, context, options)

    def stream_simple(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncIterator[Any]:
        """Record one call of the wrapped provider's `stream_simple`.

        Args:
            model: Which model is asked.
            context: What it is asked.
            options: How.

        Returns:
            The wrapped provider's events, unchanged.
        """
        return self._record("stream_simple", model, context, options)

    async def _record(
        self, method: _MethodName, model: Model, context: Context, options: StreamOptions | None
    ) -> AsyncIterator[Any]:
        request = dump_request(model, context, options)
        call = await _OpenCall.begin(self._sink, request, credentials_of(options))
        source: Any = None
        try:
            source = getattr(self._provider, method)(model, context, options)
            if inspect.isawaitable(source):
                source = await source
            async for event in source:
                is_last = _event_type(event) in TERMINAL_EVENT_TYPES
                await call.add(event)
                if is_last:
                    # The recording is whole before the consumer can stop listening at this event.
                    await call.end("complete")
                yield event
                if is_last:
                    break
        except BaseException as error:
            await call.end(_outcome_of(error))
            with contextlib.suppress(Exception):
                # The reason why the call ended matters more than trouble in closing its source.
                await _close(source)
            raise
        await call.end("complete")
        await _close(source)


class _OpenCall:
    """One call while its rows are being written; never blocks the event loop on a lock."""

    def __init__(self, sink: RecordingSink, call_index: int, known_secrets: Sequence[str]) -> None:
        self._sink = sink
        self._call_index = call_index
        self._rows = CallRows(call_index, snapshots=sink.snapshots, known_secrets=known_secrets)
        self._is_ended = False
        self._has_failed = False
        self._process_id = os.getpid()

    @classmethod
    async def begin(
        cls, sink: RecordingSink, request: dict[str, Any], known_secrets: Sequence[str]
    ) -> _OpenCall:
        index, cancellation = await _patiently(
            sink, lambda seconds: sink.begin_call(request, timeout_seconds=seconds)
        )
        call = cls(sink, index, known_secrets)
        if cancellation is not None:
            await call.end("cancelled")
            raise cancellation
        return call

    async def add(self, event: object) -> None:
        if self._is_of_parent():
            raise RecordingWriteError(
                self._sink.path,
                "a forked process cannot go on with a call of its parent; call again in the child",
            )
        rows = self._rows.add(event)
        if rows:
            await self._write(rows)

    async def end(self, outcome: Outcome) -> None:
        """Write the last row, once; a second call does nothing.

        Trouble in writing it is raised only for a call that went well so far: another error is
        already on its way to the consumer otherwise. A forked child leaves it to its parent.
        """
        if self._is_ended or self._is_of_parent():
            return
        self._is_ended = True
        last_rows = [] if self._has_failed else self._rows.finish()
        end_row = self._rows.end_row(outcome)
        try:
            await self._write([*last_rows, end_row], is_call_end=True)
        except (RecordingWriteError, FileLockedError) as error:
            if outcome == "complete":
                self._owe_end()
                raise
            self._owe_end()
            _log.warning("call %d: its last row is owed: %s", self._call_index, error)

    async def _write(self, rows: Sequence[bytes], *, is_call_end: bool = False) -> None:
        try:
            _, cancellation = await _patiently(
                self._sink,
                lambda seconds: self._sink.append_rows(
                    rows, is_call_end=is_call_end, timeout_seconds=seconds
                ),
            )
        except (RecordingWriteError, FileLockedError):
            if not self._has_failed:
                self._has_failed = True
                self._rows.event_count -= sum(1 for row in rows if not _is_end(row))
            raise
        except BaseException:
            # Ctrl-C amid the bookkeeping: nobody knows how many rows there are. The next writer
            # counts them and marks the call as abandoned.
            self._is_ended = True
            raise
        if cancellation is not None:
            raise cancellation

    def _is_of_parent(self) -> bool:
        return os.getpid() != self._process_id

    def _owe_end(self) -> None:
        self._sink.owe_call_end(self._call_index, self._rows.end_row("error"))


def _is_end(row: bytes) -> bool:
    return row.startswith(b'{"type":"call_end"')


async def _patiently(
    sink: RecordingSink, write: Callable[[float], Any]
) -> tuple[Any, asyncio.CancelledError | None]:
    """Write at once when the file is free; else wait for it in a thread, up to the sink's limit.

    The wait in the thread is not given up when the task is cancelled: half-done bookkeeping would
    cost the evidence. The cancellation is handed back beside the result, for the caller to raise.
    """
    try:
        return write(0.0), None
    except BlockingIOError:
        waiting = asyncio.ensure_future(asyncio.to_thread(write, sink.lock_timeout_seconds))
    cancellation: asyncio.CancelledError | None = None
    while not waiting.done():
        try:
            await asyncio.wait({waiting})
        except asyncio.CancelledError as error:
            cancellation = error
    try:
        return waiting.result(), cancellation
    except BlockingIOError as error:
        raise FileLockedError(sink.path, holder="another writer") from error


def _outcome_of(error: BaseException) -> Outcome:
    if isinstance(error, GeneratorExit):
        return "abandoned"
    if isinstance(error, Exception):
        return "error"
    return "cancelled"


def _event_type(event: Any) -> object:
    if isinstance(event, dict):
        kind: object = event.get("type")  # type: ignore[reportUnknownMemberType]  # a dict of anything
        return kind if isinstance(kind, str) else None
    return getattr(event, "type", None)


async def _close(source: Any) -> None:
    close = getattr(source, "aclose", None)
    if close is not None:
        await close()
