"""Every vendor x every way in which an answer may be awkward, over real sockets of this machine.

Prints the matrix: python tests/support/vendor_matrix.py
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from openprogram.providers import types as t
from openprogram.testing import (
    Answer,
    Drop,
    HttpError,
    LoopbackVendor,
    MidStreamError,
    Ping,
    RawBytes,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
    chunking,
)
from vendor_sides import SIDES, Side, event

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping

    from openprogram.testing import ReceivedRequest, ScriptEntry, VendorProtocol
    from openprogram.testing.protocol import Step

_PATIENCE_SECONDS = 60
_LONG_TEXT = "characters" * 100_000
_LONG_COUNT = 10


async def ask(
    side: Side, entry: ScriptEntry, *, is_interleaved: bool = False
) -> t.AssistantMessage:
    """Make one call, and give the message in which it ended; nothing is asked twice."""
    with side.vendor([entry], is_interleaved=is_interleaved) as vendor:
        events = [event async for event in side.stream(vendor.base_url)]
        assert len(vendor.requests) == 1
    assert events[0].type == "start"
    last = events[-1]
    assert isinstance(last, t.EventDone | t.EventError)
    assert [e.type for e in events if e.type in {"done", "error"}] == [last.type]
    return last.message if isinstance(last, t.EventDone) else last.error


def text_of(message: t.AssistantMessage) -> str:
    """Join the texts."""
    return "".join(block.text for block in message.content if isinstance(block, t.TextContent))


async def the_sdk_asks(side: Side) -> str:
    """What comes in at the socket says which SDK sent it."""
    with side.vendor([[Text("x")]]) as vendor:
        events = [event async for event in side.stream(vendor.base_url)]
        (request,) = vendor.requests
    assert events[-1].type == "done"
    language = request.headers.get("x-stainless-lang", request.headers.get("x-goog-api-client"))
    assert language is not None
    assert language.startswith(("python", "google-genai-sdk/"))
    return request.headers["user-agent"].partition("/")[0]


async def split_characters(side: Side) -> str:
    """Each character of more than one byte is cut."""
    parts = [Thinking("größer 🤔"), Text("日本 🗾 é")]
    message = await ask(side, Answer(parts=parts, chunking=chunking.inside_characters))
    assert text_of(message) == "日本 🗾 é"
    assert [b.thinking for b in message.content if isinstance(b, t.ThinkingContent)] == [
        "größer 🤔"
    ]
    return "whole"


async def empty_choices(side: Side) -> str:
    """Something comes that says nothing."""
    message = await ask(side, [Text(("a", RawBytes(side.nothing), "b"))])
    assert (text_of(message), message.stop_reason) == ("ab", "stop")
    return "left out"


async def usage_in_chunks(side: Side) -> str:
    """The usage is told more than once; what is told last holds, and nothing is added up."""
    counts = TokenCounts(input=100, output=7, cache_read=30)
    parts = [Text(("a", RawBytes(side.usage_again), "b"))]
    usage = (await ask(side, Answer(parts=parts, usage=counts))).usage
    assert (usage.input, usage.output, usage.cache_read) == (100, 7, 30)
    return "100+30 in, 7 out"


async def end_then_close(side: Side) -> str:
    """After its last event, `[DONE]` where there is one, the vendor closes the connection."""
    with side.vendor([[Text("x")]]) as vendor:
        events = [event async for event in side.stream(vendor.base_url)]
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert (events[-1].type, outcome) == ("done", "answered")
    return "done"


async def comments_and_pings(side: Side) -> str:
    """Signs of life stand between the deltas."""
    comment = RawBytes(b": comment\n\n")
    message = await ask(side, [comment, Text(("a", Ping(), comment, "b")), Ping()])
    assert text_of(message) == "ab"
    return "left out"


async def interleaved_calls(side: Side) -> str:
    """The pieces of two calls come in turns, the second call first where the API allows it."""
    calls = [ToolCall("look", '{"place": "a"}'), ToolCall("look", '{"place": "b"}')]
    entry: list[Any] = [*calls]
    if side.api == "anthropic-messages":
        entry = [RawBytes(b"".join(_interleaved_blocks()))]
    message = await ask(side, entry, is_interleaved=True)
    found = [block for block in message.content if isinstance(block, t.ToolCall)]
    assert sorted(str(call.arguments["place"]) for call in found) == ["a", "b"]
    assert len({call.id for call in found}) == len(found)
    return f"{len(found)} calls"


def _interleaved_blocks() -> Iterator[bytes]:
    for index in range(2):
        block: dict[str, Any] = {
            "type": "tool_use",
            "id": f"toolu_{index}",
            "name": "look",
            "input": {},
        }
        yield event("content_block_start", index=index, content_block=block)
    for index, piece in ((1, '{"place"'), (0, '{"pl'), (1, ': "b"}'), (0, 'ace": "a"}')):
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield event("content_block_delta", index=index, delta=delta)
    for index in (1, 0):
        yield event("content_block_stop", index=index)


async def error_in_mid_stream(side: Side) -> str:
    """The vendor reports an error after half of the text."""
    message = await ask(side, [Text(("half", MidStreamError()))])
    assert (text_of(message), message.stop_reason) == ("half", "error")
    assert message.error_retryable
    return str(message.error_reason)


async def dropped_connection(side: Side) -> str:
    """The connection is cut after half of the text."""
    message = await ask(side, [Text(("half", Drop()))])
    assert (text_of(message), message.error_reason) == ("half", "network")
    assert message.error_retryable
    return "network"


class _Endless:
    """Repeats the first delta of an answer for ever."""

    def __init__(self, inner: VendorProtocol) -> None:
        self._inner = inner
        self.base_path = inner.base_path

    def refuse(self, request: ReceivedRequest) -> HttpError | None:
        return self._inner.refuse(request)

    def error_body(self, error: HttpError, request: ReceivedRequest) -> bytes:
        return self._inner.error_body(error, request)

    def render(self, answer: Answer, request: ReceivedRequest) -> Iterator[Step]:
        for step in self._inner.render(answer, request):
            if isinstance(step, bytes) and b"more" in step:
                yield from itertools.repeat(step)
            yield step


async def endless_and_cancelled(side: Side) -> str:
    """The text has no end; the reader is cancelled, and the connection is closed."""
    enough = asyncio.Event()

    async def read(base_url: str) -> None:
        count = 0
        async with aclosing(side.stream(base_url)) as events:
            async for each in events:
                count += each.type == "text_delta"
                if count == 100:
                    enough.set()

    with LoopbackVendor([[Text("more")]], protocol=_Endless(side.protocol())) as vendor:
        task = asyncio.create_task(read(vendor.base_url))
        await asyncio.wait_for(enough.wait(), _PATIENCE_SECONDS)
        task.cancel()
        await asyncio.wait({task})
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert (task.cancelled(), outcome) == (True, "disconnected")
    return "disconnected"


async def ten_megabytes(side: Side) -> str:
    """Ten megabytes of text come in ten deltas."""
    parts = [Text((_LONG_TEXT,) * _LONG_COUNT)]
    text = text_of(await ask(side, Answer(parts=parts, chunking=chunking.whole)))
    assert text == _LONG_TEXT * _LONG_COUNT
    return f"{len(text):,}"


def refused(
    reason: str, make: Callable[[Side], HttpError], *, retry_after_seconds: float | None = None
) -> Callable[[Side], Coroutine[Any, Any, str]]:
    """Make a check that a refusal before the stream is understood."""

    async def check(side: Side) -> str:
        message = await ask(side, make(side))
        assert message.error_reason == reason
        assert message.error_retryable is (reason in {"rate_limit", "overloaded"})
        assert message.error_retry_after_s == retry_after_seconds
        return reason if retry_after_seconds is None else f"wait {retry_after_seconds:g} s"

    return check


async def refusal_of_the_model(side: Side) -> str:
    """The model will not answer."""
    answer = Answer(parts=[Text("I cannot do that.")], stop_reason=side.refusal)
    message = await ask(side, answer)
    assert (message.error_reason, message.error_retryable) == ("refusal", False)
    return "refusal"


BEHAVIOURS: Final[Mapping[str, Callable[[Side], Coroutine[Any, Any, str]]]] = {
    "asked by": the_sdk_asks,
    "split UTF-8": split_characters,
    "empty choices": empty_choices,
    "usage in several chunks": usage_in_chunks,
    "[DONE], then close": end_then_close,
    "comments and pings": comments_and_pings,
    "interleaved calls": interleaved_calls,
    "error in mid-stream": error_in_mid_stream,
    "dropped connection": dropped_connection,
    "endless, cancelled": endless_and_cancelled,
    "10 MB of text": ten_megabytes,
    "429 with retry-after": refused(
        "rate_limit",
        lambda _: HttpError(status=429, headers={"retry-after": "12"}),
        retry_after_seconds=12.0,
    ),
    "overload": refused("overloaded", lambda side: HttpError(status=side.overload_status)),
    "context length": refused(
        "context_length", lambda side: HttpError(status=400, message=side.too_long)
    ),
    "auth": refused("auth", lambda _: HttpError(status=401)),
    "refusal": refusal_of_the_model,
}
"""What an answer may do, and what is demanded then; each gives a word for what was seen."""


def main() -> int:
    """Print the matrix; 1 when anything in it is not as demanded."""
    width = max(map(len, [*SIDES, "100+30 in, 7 out"])) + 2
    _write(" " * 25, SIDES, width)
    has_failed = False
    for name, check in BEHAVIOURS.items():
        cells: list[str] = []
        for side in SIDES.values():
            try:
                cells.append(asyncio.run(check(side)))
            except AssertionError:
                has_failed = True
                cells.append("FAILED")
        _write(f"{name:<25}", cells, width)
    return int(has_failed)


def _write(head: str, cells: Iterable[str], width: int) -> None:
    line = head + "".join(f"{cell:<{width}}" for cell in cells)
    sys.stdout.write(line.rstrip() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
