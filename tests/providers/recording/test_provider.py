from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from openprogram import _compat
from openprogram.errors import FileLockedError, RecordingWriteError
from openprogram.providers import file_safety
from openprogram.providers import types as t
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.reader import validate_recording
from openprogram.providers.recording.sink import RecordingSink
from scripted import (
    Scripted,
    collect,
    drain,
    message,
    request,
    rows_of,
    text_events,
    text_message,
    tool_events,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.jsonl"


def ends_of(path: Path) -> list[tuple[str, int]]:
    validate_recording(path)
    return [(r["outcome"], r["event_count"]) for r in rows_of(path) if r["type"] == "call_end"]


@pytest.mark.parametrize("method", ["stream", "stream_simple"])
def test_the_consumer_gets_the_very_events(path: Path, method: str) -> None:
    events = text_events("one ", "two")
    source = Scripted(events)
    provider = RecordingProvider(source, path)
    asked = request()
    seen = drain(getattr(provider, method)(*asked))
    assert all(one is other for one, other in zip(seen, events, strict=True))
    assert source.requests == [asked]
    assert source.is_closed
    assert ends_of(path) == [("complete", len(events))]


def test_each_event_is_in_the_file_before_the_consumer_has_it(path: Path) -> None:
    async def consume() -> None:
        provider = RecordingProvider(Scripted(text_events("One.\n", "Two.\n")), path)
        count = 0
        async for _ in provider.stream(*request()):
            count += 1
            assert sum(row["type"] == "event" for row in rows_of(path)) >= count

    asyncio.run(consume())


def test_the_request_is_written_without_its_secrets(path: Path) -> None:
    model, context, _ = request(f"use {KEY} please")
    options = t.SimpleStreamOptions(
        api_key=KEY, headers={"x-api-key": KEY, "x-trace": "1"}, metadata={"odd": b"\xff"}
    )
    drain(RecordingProvider(Scripted(text_events("ok")), path).stream(model, context, options))
    row = rows_of(path)[1]
    assert KEY not in path.read_text()
    assert row["options"]["headers"] == {"x-api-key": "[secret removed]", "x-trace": "1"}
    assert "signal" not in row["options"]
    validate_recording(path)


def test_no_options_stay_null(path: Path) -> None:
    model, context, _ = request()
    drain(RecordingProvider(Scripted(text_events("ok")), path).stream(model, context, None))
    assert rows_of(path)[1]["options"] is None
    validate_recording(path)


def test_a_consumer_that_stops_at_the_last_event_leaves_a_complete_call(path: Path) -> None:
    async def consume() -> None:
        events = RecordingProvider(Scripted(text_events("a")), path).stream(*request())
        async for event in events:
            if event.type == "done":
                break
        assert ends_of(path) == [("complete", 5)]
        await events.aclose()  # type: ignore[attr-defined]  # an async generator has it

    asyncio.run(consume())
    assert ends_of(path) == [("complete", 5)]


def test_a_consumer_that_leaves_early_abandons_the_call(path: Path) -> None:
    source = Scripted(text_events("a", "b", "c"))

    async def consume() -> None:
        events: Any = RecordingProvider(source, path).stream(*request())
        async for event in events:
            if event.type == "text_delta":
                break
        await events.aclose()

    asyncio.run(consume())
    assert source.is_closed
    assert ends_of(path) == [("abandoned", 3)]


def test_a_cancelled_consumer_closes_the_source_and_is_cancelled(path: Path) -> None:
    async def consume() -> None:
        started = asyncio.Event()

        async def hang() -> None:
            started.set()
            await asyncio.Event().wait()

        source = Scripted([*text_events("a", "b")[:3], hang])
        task = asyncio.create_task(collect(RecordingProvider(source, path).stream(*request())))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert source.is_closed

    asyncio.run(consume())
    assert ends_of(path) == [("cancelled", 3)]


def test_an_error_of_the_source_is_raised_as_it_is(path: Path) -> None:
    class Odd(Exception):  # noqa: N818 - any exception will do
        pass

    error = Odd("why")
    source = Scripted([*text_events("a", "b")[:4], error])
    with pytest.raises(Odd) as caught:
        drain(RecordingProvider(source, path).stream(*request()))
    assert caught.value is error
    assert ends_of(path) == [("error", 4)]


def test_a_source_that_fails_to_start_ends_the_call(path: Path) -> None:
    class Broken:
        def stream(self, *_: Any) -> Any:
            raise OSError("no")

    with pytest.raises(OSError, match="no"):
        drain(RecordingProvider(Broken(), path).stream(*request()))
    assert ends_of(path) == [("error", 0)]


def test_an_error_event_is_a_whole_answer(path: Path) -> None:
    error = t.EventError(reason="error", error=message(stop_reason="error", error_message="busy"))
    drain(RecordingProvider(Scripted([error]), path).stream(*request()))
    assert ends_of(path) == [("complete", 1)]


def test_nothing_behind_the_last_event_is_passed_on(path: Path) -> None:
    events = text_events("a")
    source = Scripted([*events, events[-1], events[1]])
    assert len(drain(RecordingProvider(source, path).stream(*request()))) == len(events)
    assert source.is_closed
    assert ends_of(path) == [("complete", len(events))]


def test_a_source_may_be_an_awaitable_and_without_aclose(path: Path) -> None:
    class Bare:
        def __init__(self, events: list[Any]) -> None:
            self._events = iter(events)

        def __aiter__(self) -> Bare:
            return self

        async def __anext__(self) -> Any:
            try:
                return next(self._events)
            except StopIteration:
                raise StopAsyncIteration from None

    class Source:
        async def stream(self, *_: Any) -> Bare:
            return Bare([t.to_wire(event) for event in text_events("a")])

    assert len(drain(RecordingProvider(Source(), path).stream(*request()))) == 5
    assert ends_of(path) == [("complete", 5)]


def test_trouble_in_closing_surfaces_after_success_and_only_then(path: Path) -> None:
    class Source:
        def __init__(self, events: list[Any]) -> None:
            self.events = events

        def stream(self, *_: Any) -> Any:
            return _ClosesBadly(self.events)

    with pytest.raises(RuntimeError, match="closing"):
        drain(RecordingProvider(Source(text_events("a")), path).stream(*request()))
    with pytest.raises(OSError, match="first"):
        drain(RecordingProvider(Source([OSError("first")]), path).stream(*request()))
    assert ends_of(path) == [("complete", 5), ("error", 0)]


class _ClosesBadly:
    def __init__(self, events: list[Any]) -> None:
        self._events = iter(events)

    def __aiter__(self) -> _ClosesBadly:
        return self

    async def __anext__(self) -> Any:
        event = next(self._events)
        if isinstance(event, Exception):
            raise event
        return event

    async def aclose(self) -> None:
        raise RuntimeError("closing")


def test_a_full_disk_ends_the_call_and_the_next_one_works(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = RecordingProvider(Scripted(text_events("a", "b")), path)
    append = RecordingSink.append_rows
    calls = [0]

    def full(self: RecordingSink, rows: Any, **options: Any) -> None:
        calls[0] += 1
        if calls[0] >= 3:
            raise RecordingWriteError(self.path, "cannot write (No space left on device)")
        append(self, rows, **options)

    with monkeypatch.context() as patched:
        patched.setattr(RecordingSink, "append_rows", full)
        with pytest.raises(RecordingWriteError, match="No space left"):
            drain(provider.stream(*request()))
    drain(provider.stream(*request()))
    assert ends_of(path) == [("error", 2), ("complete", 6)]


def test_a_lock_held_elsewhere_never_stops_the_event_loop(path: Path) -> None:
    provider = RecordingProvider(Scripted(text_events("a")), path)
    lock_fd = os.open(file_safety.lock_path_of(path), os.O_RDWR)
    _compat.lock_exclusive(lock_fd, timeout_seconds=0)

    async def consume() -> None:
        task = asyncio.create_task(collect(provider.stream(*request())))
        for _ in range(20):
            # Each turn of the loop proves that nothing blocks it.
            await asyncio.sleep(0.001)
        assert not task.done()
        os.close(lock_fd)
        assert len(await task) == 5

    asyncio.run(consume())
    assert ends_of(path) == [("complete", 5)]


def test_a_lock_that_is_never_free_ends_the_call(path: Path) -> None:
    sink = RecordingSink(path, lock_timeout_seconds=0.05)
    provider = RecordingProvider(Scripted(text_events("a")), sink)
    lock_fd = os.open(file_safety.lock_path_of(path), os.O_RDWR)
    try:
        _compat.lock_exclusive(lock_fd, timeout_seconds=0)
        with pytest.raises(FileLockedError, match="in use"):
            drain(provider.stream(*request()))
    finally:
        os.close(lock_fd)
    drain(provider.stream(*request()))
    assert ends_of(path) == [("complete", 5)]


def test_a_cancelled_wait_for_the_lock_keeps_the_books(path: Path) -> None:
    provider = RecordingProvider(Scripted(text_events("a")), path)
    lock_fd = os.open(file_safety.lock_path_of(path), os.O_RDWR)
    _compat.lock_exclusive(lock_fd, timeout_seconds=0)

    async def consume() -> None:
        task = asyncio.create_task(collect(provider.stream(*request())))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.sleep(0.01)
        os.close(lock_fd)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(consume())
    assert ends_of(path) == [("cancelled", 0)]
    drain(provider.stream(*request()))
    assert ends_of(path) == [("cancelled", 0), ("complete", 5)]


def test_calls_at_the_same_time_keep_their_rows_apart(path: Path) -> None:
    with RecordingSink(path) as sink:
        providers = [
            RecordingProvider(Scripted(text_events(f"answer {n}", " end")), sink) for n in range(8)
        ]

        async def consume() -> None:
            await asyncio.gather(
                *(collect(p.stream(*request(str(n)))) for n, p in enumerate(providers))
            )

        thread = threading.Thread(target=asyncio.run, args=(consume(),))
        thread.start()
        asyncio.run(consume())
        thread.join()
    assert ends_of(path) == [("complete", 6)] * 16


def test_what_the_format_cannot_hold_is_passed_on_and_noted(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    events = text_events("a")
    odd = {"type": "from the future"}
    with caplog.at_level(logging.WARNING):
        seen = drain(
            RecordingProvider(Scripted([events[0], odd, *events[1:]]), path).stream(*request())
        )
    assert odd in seen
    assert ends_of(path) == [("complete", 5)]
    assert rows_of(path)[-1]["unrecorded_events"][0]["before_event"] == 1


def _started(**fields: Any) -> t.EventStart:
    partial = message()
    for name, value in fields.items():
        setattr(partial, name, value)
    return t.EventStart(partial=partial)


@pytest.mark.parametrize(
    "odd",
    [
        _started(content=None),
        _started(content=["text"]),
        _started(content=[{"type": "text", "text": "a"}]),
        _started(content=[t.TextContent(text=cast("Any", None))]),
        _started(content=[t.ThinkingContent(thinking=cast("Any", 3))]),
        _started(usage=None),
        _started(usage=t.Usage(cost=cast("Any", None))),
        t.EventTextDelta(content_index=0, delta="a", partial=_started(content=None).partial),
        t.EventTextDelta(content_index=-1, delta="a", partial=message()),
        t.EventDone(reason="stop", message=cast("Any", {"content": []})),
    ],
)
def test_a_typed_event_of_wrong_parts_never_ends_the_call(path: Path, odd: Any) -> None:
    is_last = isinstance(odd, t.EventDone)
    events = text_events("a")
    events = [*events[:-1], odd] if is_last else [events[0], odd, *events[1:]]
    seen = drain(RecordingProvider(Scripted(events), path).stream(*request()))
    assert seen == events
    assert [outcome for outcome, _ in ends_of(path)] == ["complete"]


def test_a_forked_child_leaves_the_call_to_its_parent(path: Path) -> None:
    stream: Any = RecordingProvider(Scripted(text_events("a", "b")), path).stream(*request())
    loop = asyncio.new_event_loop()

    def take_next() -> Any:
        return loop.run_until_complete(anext(stream))

    take_next()
    take_next()
    before = path.read_bytes()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            take_next()
        except RecordingWriteError:
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert path.read_bytes() == before
    loop.run_until_complete(collect(stream))
    loop.close()
    assert ends_of(path) == [("complete", 6)]


def test_an_interrupt_amid_the_bookkeeping_is_set_right_by_the_next_writer(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = RecordingSink(path)
    provider = RecordingProvider(Scripted(text_events("a")), sink)
    append = RecordingSink.append_rows

    def interrupted(self: RecordingSink, rows: Any, **options: Any) -> None:
        append(self, rows, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RecordingSink, "append_rows", interrupted)
        with pytest.raises(KeyboardInterrupt):
            drain(provider.stream(*request()))
    sink.close()
    RecordingSink(path).close()
    assert ends_of(path) == [("abandoned", 1)]


def test_the_recording_and_the_need_for_a_key_are_known(path: Path) -> None:
    assert not RecordingProvider(Scripted([]), path).requires_credentials
    provider = RecordingProvider(object(), path)
    assert provider.requires_credentials
    assert provider.recording_path == path


def test_full_snapshots_are_written_on_request(path: Path) -> None:
    with RecordingSink(path, snapshots="full") as sink:
        drain(RecordingProvider(Scripted(text_events("a", "b")), sink).stream(*request()))
    assert not any("partial_derived" in json.dumps(row) for row in rows_of(path))
    validate_recording(path)


def test_tool_arguments_are_recorded_without_secrets_and_served_with_them(path: Path) -> None:
    events = tool_events('{"pass', 'word": "correct horse ', 'battery"}')
    seen = drain(RecordingProvider(Scripted(events), path).stream(*request()))
    assert seen[-1].message.content[0].arguments == {"password": "correct horse battery"}
    assert "battery" not in path.read_text()


async def _no_events() -> AsyncIterator[Any]:
    return
    yield


def test_a_source_without_any_event_is_a_complete_call(path: Path) -> None:
    class Silent:
        def stream(self, *_: Any) -> Any:
            return _no_events()

    assert drain(RecordingProvider(Silent(), path).stream(*request())) == []
    assert ends_of(path) == [("complete", 0)]


def test_a_message_of_lone_surrogates_is_written(path: Path) -> None:
    events = text_events("\ud83d", "\u2028")
    drain(RecordingProvider(Scripted(events), path).stream(*request("\udcb2")))
    validate_recording(path)
    rows = rows_of(path)
    assert rows[1]["context"]["messages"][0]["content"] == "\udcb2"
    assert rows[-2]["event"]["message"] == t.to_wire(text_message("\ud83d\u2028"))


@pytest.mark.parametrize("form", ["derived", "full"])
def test_the_calls_own_key_is_not_in_an_error_text_whatever_it_looks_like(
    path: Path, form: Any
) -> None:
    key, cookie = "correcthorse", "Basic plainwords"
    text = f"Incorrect key provided: {key}; you sent {cookie!r}, that is plainwords"
    failed = message(stop_reason="error", error_message=text)
    events = [t.EventStart(partial=message()), t.EventError(reason="error", error=failed)]
    options = t.SimpleStreamOptions(api_key=key, headers={"X-Auth-Token": cookie, "accept": "text"})
    model, context, _ = request()
    with RecordingSink(path, snapshots=form) as sink:
        provider = RecordingProvider(Scripted(events), sink)
        seen = drain(provider.stream_simple(model, context, options))
    assert seen == events
    written = path.read_text()
    assert "Incorrect key provided: [secret removed]; you sent" in written
    assert key not in written
    assert "plainwords" not in written
    validate_recording(path)
