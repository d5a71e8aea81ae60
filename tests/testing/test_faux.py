"""The scripted provider streams as a vendor's does, without a server; it keeps its requests."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.errors import ProviderError
from openprogram.providers import complete, register_api_provider
from openprogram.providers import types as t
from openprogram.providers.recording import RecordingProvider, validate_recording
from openprogram.providers.replay import ReplayProvider
from openprogram.testing import (
    Answer,
    Drop,
    FauxProvider,
    FauxRequest,
    HttpError,
    MidStreamError,
    Pause,
    Ping,
    RawBytes,
    RedactedThinking,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
)
from scripted import drain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from openprogram.testing import FauxEntry

MODEL = t.Model(
    id="faux-1",
    name="Faux",
    api="faux",
    provider="faux",
    base_url="",
    cost=t.ModelCost(input=1.0, output=2.0, cache_read=0.0, cache_write=0.0),
)
CONTEXT = t.Context(messages=[t.UserMessage(content="hi", timestamp=1)])


def _answer(entry: FauxEntry) -> list[Any]:
    return drain(FauxProvider([entry]).stream(MODEL, CONTEXT))


def test_every_kind_of_block_streams_and_is_assembled():
    events = _answer(
        Answer(
            parts=[
                Thinking("so then", signature=("sig", "ned")),
                RedactedThinking("opaque"),
                Ping(),
                Text(("he", "llo")),
                ToolCall("read_file", {"path": "a"}),
                ToolCall("read_file", '{"path": "b"}', id="mine"),
            ],
            usage=TokenCounts(input=1_000_000, output=500_000),
        )
    )
    done = events[-1]
    assert [event.type for event in events[:3]] == ["start", "thinking_start", "thinking_delta"]
    assert [event.delta for event in events if event.type == "text_delta"] == ["he", "llo"]
    assert (done.type, done.reason) == ("done", "toolUse")
    assert done.message.content == [
        t.ThinkingContent(thinking="so then", thinking_signature="signed"),
        t.ThinkingContent(thinking="", thinking_signature="opaque", redacted=True),
        t.TextContent(text="hello"),
        t.ToolCall(id="call_5", name="read_file", arguments={"path": "a"}),
        t.ToolCall(id="mine", name="read_file", arguments={"path": "b"}),
    ]
    assert done.message.usage.cost.total == 2.0


@pytest.mark.parametrize(
    ("entry", "reason", "is_retryable"),
    [
        (HttpError(status=429, headers={"Retry-After": "7"}), "rate_limit", True),
        (HttpError(status=401), "auth", False),
        (Drop(), "network", True),
        ([Text("half"), MidStreamError()], "overloaded", True),
        ([Text(("half", Drop()))], "network", True),
        ([ToolCall("f", '{"a": ')], "bad_response", None),
    ],
    ids=["429", "401", "drop", "mid-stream", "drop in text", "broken arguments"],
)
def test_a_failure_is_an_error_event(entry: Any, reason: str, is_retryable: bool | None):
    events = _answer(entry)
    error = events[-1]
    assert (events[0].type, error.type) == ("start", "error")
    assert error.error.error_reason == reason
    if is_retryable is not None:
        assert error.error.error_retryable is is_retryable
    if reason == "rate_limit":
        assert error.error.error_retry_after_s == 7.0
    if not isinstance(entry, (HttpError, Drop)) and isinstance(entry[0], Text):
        assert error.error.content[0].text == "half"


def test_a_length_stop_is_said():
    assert _answer(Answer(parts=[Text("a")], stop_reason="max_tokens"))[-1].reason == "length"


def test_scripts_and_parts_may_be_anything_that_can_be_gone_through_once():
    def parts(word: str) -> Iterator[Text | ToolCall]:
        yield Text(word)
        yield ToolCall("t")

    entries = iter([parts("a"), Answer(parts=parts("b")), (Text("c") for _ in range(1))])
    faux = FauxProvider(entries)
    assert faux.unused_count == 3
    answers = [drain(faux.stream(MODEL, CONTEXT))[-1].message for _ in range(3)]
    assert [[block.type for block in answer.content] for answer in answers] == [
        ["text", "toolCall"],
        ["text", "toolCall"],
        ["text"],
    ]


def test_what_is_no_list_of_parts_is_refused_with_its_remedy():
    wrong: list[Any] = [Text("bare"), ["bare"]]
    faux = FauxProvider(wrong)
    with pytest.raises(TypeError, match=r"bare Text; put it into a list: \[Text"):
        faux.stream(MODEL, CONTEXT)
    faux = FauxProvider(wrong[1:])
    with pytest.raises(TypeError, match=r"holds a str, which is no part; say Text"):
        faux.stream(MODEL, CONTEXT)


def test_requests_are_kept_and_a_script_may_be_a_function():
    def script(request: FauxRequest) -> FauxEntry:
        return [Text(str(len(request.context.messages)))]

    faux = FauxProvider(script)
    assert drain(faux.stream_simple(MODEL, CONTEXT))[-1].message.content[0].text == "1"
    assert [request.model.id for request in faux.requests] == ["faux-1"]
    assert faux.unused_count == 0


def test_a_used_up_script_and_bytes_are_refused():
    faux = FauxProvider([[Text("one")], [Text("two")]])
    assert faux.unused_count == 2
    drain(faux.stream(MODEL, CONTEXT))
    assert faux.unused_count == 1
    drain(faux.stream(MODEL, CONTEXT))
    with pytest.raises(ProviderError, match="request 3 came, but the script has 2 entries"):
        faux.stream(MODEL, CONTEXT)
    with pytest.raises(ProviderError, match="LoopbackVendor"):
        FauxProvider([[RawBytes(b"x")]]).stream(MODEL, CONTEXT)
    assert _answer([Text(("a", RawBytes(b"x")))])[-1].error.error_reason == "bad_response"


def test_a_pause_holds_the_stream_until_it_is_released_or_the_signal_is_set():
    async def scenario() -> tuple[list[str], str]:
        pause = Pause()
        stream = FauxProvider([[Text(("a", pause, "b"))]]).stream(MODEL, CONTEXT)
        seen: list[str] = []

        async def read() -> None:
            seen.extend([event.type async for event in stream])

        task = asyncio.ensure_future(read())
        await asyncio.wrap_future(pause.reached)
        assert not task.done()
        pause.release()
        await task
        signal = threading.Event()
        held = Pause()
        options = t.StreamOptions(signal=signal)
        stopped = FauxProvider([[Text(("a", held, "b"))]]).stream(MODEL, CONTEXT, options)
        kinds: list[Any] = []
        async for event in stopped:
            kinds.append(event)
            if event.type == "text_delta":
                signal.set()
        return seen, kinds[-1].reason

    seen, reason = asyncio.run(scenario())
    assert seen == ["start", "text_start", "text_delta", "text_delta", "text_end", "done"]
    assert reason == "aborted"


def test_it_is_recorded_and_replayed_like_any_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object) -> None:
        raise AssertionError("no socket is needed")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    path = tmp_path / "faux.jsonl"
    faux = FauxProvider([[Text("hello")], HttpError(status=503)])
    register_api_provider("faux", RecordingProvider(faux, path))
    first = asyncio.run(complete(MODEL, CONTEXT))
    second = asyncio.run(complete(MODEL, CONTEXT))
    validate_recording(path)
    replay = ReplayProvider(path)
    register_api_provider("faux", replay)
    assert asyncio.run(complete(MODEL, CONTEXT)) == first
    assert asyncio.run(complete(MODEL, CONTEXT)) == second
    assert (first.content, second.error_reason) == ([t.TextContent(text="hello")], "server")
    replay.assert_consumed()
