"""The provider against a vendor on the loopback interface, byte by byte."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import threading
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.errors import ProviderError
from openprogram.providers import types as t
from openprogram.providers.vendors.anthropic_messages import PROVIDER, AnthropicMessagesProvider
from openprogram.testing import (
    Answer,
    Drop,
    HttpError,
    LoopbackVendor,
    MidStreamError,
    Pause,
    Ping,
    RawBytes,
    RedactedThinking,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
    chunking,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    Ask = Callable[..., Awaitable[list[t.AssistantMessageEvent]]]
    MakeModel = Callable[..., t.Model]

KEY = "test-key"
CONVERSATION = [
    Thinking("größer 🤔", ("EqQB", "+/==")),
    Ping(),
    RedactedThinking("b3BhcXVl"),
    Text(("Grüße, ", Ping(), "日本 🗾\n\ndata: x\r")),
    ToolCall("list_dir", {"path": "ä/😀", "depth": [1, None]}),
    ToolCall("now", {}),
]
CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "vendors"


def without_times(events: list[t.AssistantMessageEvent]) -> list[dict[str, Any]]:
    wire = [t.to_wire(event) for event in events]
    for event in wire:
        for name in ("partial", "message", "error"):
            if name in event:
                event[name]["timestamp"] = 0
    return wire


def failed(events: list[t.AssistantMessageEvent]) -> t.AssistantMessage:
    """Give the message of a stream that ended in an error, and check that it is a whole stream."""
    assert events[0].type == "start"
    assert [event.type for event in events].count("error") == 1
    last = events[-1]
    assert isinstance(last, t.EventError)
    return last.error


def stream(model: t.Model, **options: Any) -> AsyncGenerator[t.AssistantMessageEvent, None]:
    context = t.Context(messages=[t.UserMessage(content="hi", timestamp=0)])
    given: dict[str, Any] = {"api_key": KEY, **options}
    return PROVIDER.stream_simple(model, context, t.SimpleStreamOptions(**given))


async def test_a_whole_answer_with_every_kind_of_block(ask: Ask, make_model: MakeModel):
    usage = TokenCounts(input=10, output=20, cache_read=30, cache_write=40)
    prices = t.ModelCost(input=1, output=2, cache_read=3, cache_write=4)
    with LoopbackVendor([Answer(parts=CONVERSATION, usage=usage)]) as vendor:
        model = make_model(vendor.base_url, cost=prices)
        events = await ask(vendor, model=model)
        (request,) = vendor.requests
    done = events[-1]
    assert isinstance(done, t.EventDone)
    assert done.reason == "toolUse"
    assert done.message.content == [
        t.ThinkingContent(thinking="größer 🤔", thinking_signature="EqQB+/=="),
        t.ThinkingContent(thinking="", thinking_signature="b3BhcXVl", redacted=True),
        t.TextContent(text="Grüße, 日本 🗾\n\ndata: x\r"),
        t.ToolCall(
            id="toolu_loopback_3", name="list_dir", arguments={"path": "ä/😀", "depth": [1, None]}
        ),
        t.ToolCall(id="toolu_loopback_4", name="now", arguments={}),
    ]
    assert (done.message.api, done.message.provider) == ("anthropic-messages", "anthropic")
    assert done.message.model == "some-model"
    assert done.message.usage.total_tokens == 100
    assert round(done.message.usage.cost.total * 1_000_000) == 10 + 40 + 90 + 160
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.outcome.result(10) == "answered"


@pytest.mark.parametrize(
    "policy",
    [
        chunking.whole,
        chunking.every_byte,
        chunking.inside_characters,
        chunking.inside_blank_lines,
    ],
)
async def test_awkward_pieces_give_the_same_events(policy: chunking.Chunking, ask: Ask):
    script = [CONVERSATION, Answer(parts=CONVERSATION, chunking=policy)]
    with LoopbackVendor(script) as vendor:
        assert without_times(await ask(vendor)) == without_times(await ask(vendor))


def test_any_pieces_give_the_same_events(make_model: MakeModel):
    async def collect(base_url: str) -> list[dict[str, Any]]:
        return without_times([event async for event in stream(make_model(base_url))])

    cuts: list[int] = []
    answers = Answer(parts=CONVERSATION, chunking=chunking.at(cuts))
    with LoopbackVendor(lambda _: answers) as vendor, asyncio.Runner() as runner:
        expected = runner.run(collect(vendor.base_url))

        @settings(max_examples=25)
        @given(offsets=st.lists(st.integers(1, 4000), max_size=60))
        def check(offsets: list[int]) -> None:
            cuts[:] = offsets
            assert runner.run(collect(vendor.base_url)) == expected

        check()


async def test_each_event_is_passed_on_while_the_rest_is_still_to_come(make_model: MakeModel):
    pause = Pause()
    with LoopbackVendor([[Text(("first", pause, "second"))]]) as vendor:
        async with aclosing(stream(make_model(vendor.base_url))) as events:
            seen = [await anext(events) for _ in range(3)]
            assert seen[-1].type == "text_delta"
            assert not pause.released.done()
            pause.release()
            rest = [event.type async for event in events]
    assert rest == ["text_delta", "text_end", "done"]


async def test_the_start_comes_before_the_vendor_answers(make_model: MakeModel):
    pause = Pause()
    with LoopbackVendor([[pause, Text("x")]]) as vendor:
        async with aclosing(stream(make_model(vendor.base_url))) as events:
            assert (await anext(events)).type == "start"
            assert vendor.requests == []
            pause.release()


async def test_two_streams_at_once_do_not_mix(make_model: MakeModel):
    pauses = [Pause(), Pause()]
    script = [[Text((f"{n}a", pauses[n], f"{n}b"))] for n in range(2)]
    with LoopbackVendor(script) as vendor:
        model = make_model(vendor.base_url)

        async def collect() -> str:
            return "".join([e.delta async for e in stream(model) if e.type == "text_delta"])

        tasks = [asyncio.create_task(collect()) for _ in range(2)]
        for pause in pauses:
            await asyncio.wrap_future(pause.reached)
        for pause in reversed(pauses):
            pause.release()
        assert sorted(await asyncio.gather(*tasks)) == ["0a0b", "1a1b"]


@pytest.mark.parametrize(
    ("refusal", "reason", "is_retryable", "seconds"),
    [
        (HttpError(status=401, message="invalid x-api-key"), "auth", False, None),
        (HttpError(status=402), "billing", False, None),
        (HttpError(status=403), "auth", False, None),
        (HttpError(status=404), "bad_request", False, None),
        (HttpError(status=400), "bad_request", False, None),
        (
            HttpError(status=400, message="prompt is too long: 9 tokens > 8 maximum"),
            "context_length",
            False,
            None,
        ),
        (
            HttpError(
                status=400, message="input length and `max_tokens` exceed context limit: 9 > 8"
            ),
            "context_length",
            False,
            None,
        ),
        (HttpError(status=413), "context_length", False, None),
        (HttpError(status=429, headers={"retry-after": "12"}), "rate_limit", True, 12.0),
        (HttpError(status=500), "server", True, None),
        (HttpError(status=502, body=b"<html>"), "server", True, None),
        (HttpError(status=529), "overloaded", True, None),
        (
            HttpError(status=529, headers={"x-should-retry": "false"}),
            "overloaded",
            False,
            None,
        ),
        (HttpError(status=418, body=b'{"error": 5}'), "bad_request", False, None),
        (
            HttpError(status=400, body=b'{"error": {"message": {"a": 1}}}'),
            "bad_request",
            False,
            None,
        ),
    ],
)
async def test_a_refusal_is_an_error_event_of_its_class_and_is_not_retried(
    refusal: HttpError, reason: str, is_retryable: bool, seconds: float | None, ask: Ask
):  # fmt: skip
    with LoopbackVendor([refusal]) as vendor:
        message = failed(await ask(vendor))
        assert len(vendor.requests) == 1
    assert message.stop_reason == "error"
    assert message.error_reason == reason
    assert message.error_retryable is is_retryable
    assert message.error_retry_after_s == seconds
    if refusal.body is None:
        assert message.error_message == refusal.message
    assert KEY not in (message.error_message or "")


async def test_an_error_in_mid_stream_keeps_what_had_come(ask: Ask):
    with LoopbackVendor([[Text(("half", MidStreamError()))]]) as vendor:
        message = failed(await ask(vendor))
    assert message.content == [t.TextContent(text="half")]
    assert (message.error_reason, message.error_message) == ("overloaded", "Overloaded")
    assert message.error_retryable


@pytest.mark.parametrize(
    ("entry", "text"),
    [(Drop(), None), ([Text(("half", Drop()))], "half"), (RawBytes(b""), None)],
)
async def test_a_lost_connection_is_a_network_error(entry: Any, text: str | None, ask: Ask):
    with LoopbackVendor([entry]) as vendor:
        message = failed(await ask(vendor))
    assert message.content == ([t.TextContent(text=text)] if text else [])
    assert (message.error_reason, message.error_retryable) == ("network", True)


async def test_no_one_listening_is_a_network_error(make_model: MakeModel):
    with LoopbackVendor([]) as vendor:
        gone = vendor.base_url
    message = failed([event async for event in stream(make_model(gone))])
    assert (message.error_reason, message.error_retryable) == ("network", True)


@pytest.mark.parametrize(
    "raw",
    [
        b"event: message_start\ndata: {\n\n",
        b"event: message_start\ndata: \xff\n\n",
        b"event: message_start\ndata: []\n\n",
        b"event: x\ndata: " + b"[" * 100_000 + b"\n\n",
    ],
)
async def test_an_answer_that_is_no_answer_is_a_bad_response(raw: bytes, ask: Ask):
    with LoopbackVendor([RawBytes(raw)]) as vendor:
        message = failed(await ask(vendor))
    assert (message.error_reason, message.error_retryable) == ("bad_response", True)


async def test_arguments_that_are_no_json_are_an_error_not_a_crash(ask: Ask):
    with LoopbackVendor([[ToolCall("t", '{"a": ')]]) as vendor:
        message = failed(await ask(vendor))
    assert message.error_reason == "bad_response"
    assert "'t'" in (message.error_message or "")


async def test_lone_surrogates_come_in_and_do_not_kill_the_next_request(ask: Ask):
    with LoopbackVendor([[Text("a\ud83d")], [Text("ok")]]) as vendor:
        events = await ask(vendor)
        answer = events[-1]
        assert isinstance(answer, t.EventDone)
        assert answer.message.content == [t.TextContent(text="a\ud83d")]
        user = t.UserMessage(content="\udcb2", timestamp=0)
        assert (await ask(vendor, user, answer.message, user))[-1].type == "done"
        sent = vendor.requests[-1].body["messages"]
    assert [message["content"][0]["text"] for message in sent] == ["�", "a�", "�"]


async def test_thinking_goes_back_to_the_vendor_that_signed_it(ask: Ask):
    tool = t.Tool(name="list_dir", description="", parameters={})
    with LoopbackVendor([CONVERSATION, [Text("done")]]) as vendor:
        first = (await ask(vendor))[-1]
        assert isinstance(first, t.EventDone)
        calls = [block for block in first.message.content if isinstance(block, t.ToolCall)]
        results = [
            t.ToolResultMessage(
                tool_call_id=call.id,
                tool_name=call.name,
                content=[t.TextContent(text="ok")],
                timestamp=0,
            )
            for call in calls
        ]
        asked = t.UserMessage(content="hi", timestamp=0)
        context = t.Context(messages=[asked, first.message, *results], tools=[tool])
        events = await ask(vendor, context=context, reasoning="low")
        body = vendor.requests[-1].body
    assert events[-1].type == "done"
    assert [block["type"] for block in body["messages"][1]["content"]][:2] == [
        "thinking",
        "redacted_thinking",
    ]
    assert body["thinking"]["type"] == "enabled"


class Reader:
    """Reads a stream to its end, and keeps what it saw when it is stopped before."""

    def __init__(self, events: AsyncGenerator[t.AssistantMessageEvent, None]) -> None:
        self.events: list[t.AssistantMessageEvent] = []
        self._stream = events

    async def run(self) -> None:
        async with aclosing(self._stream) as events:
            async for event in events:
                self.events.append(event)


@pytest.mark.parametrize("is_early", [True, False])
async def test_cancelling_the_reader_closes_the_connection(
    is_early: bool,
    make_model: MakeModel,
):
    pause = Pause()
    with LoopbackVendor([[pause] if is_early else [Text(("a", pause))]]) as vendor:
        task = asyncio.create_task(Reader(stream(make_model(vendor.base_url))).run())
        await asyncio.wrap_future(pause.reached)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert outcome == "disconnected"


async def test_closing_the_stream_closes_the_connection(make_model: MakeModel):
    pause = Pause()
    with LoopbackVendor([[Text(("a", pause))]]) as vendor:
        events = stream(make_model(vendor.base_url))
        seen = [await anext(events) for _ in range(3)]
        await events.aclose()
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert [event.type for event in seen] == ["start", "text_start", "text_delta"]
    assert outcome == "disconnected"


async def test_dropping_the_stream_closes_the_connection(make_model: MakeModel):
    pause = Pause()
    with LoopbackVendor([[Text(("a", pause))]]) as vendor:
        async for event in stream(make_model(vendor.base_url)):
            if event.type == "text_delta":
                break
        gc.collect()
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert outcome == "disconnected"


@pytest.mark.parametrize("make_signal", [threading.Event, asyncio.Event])
async def test_a_set_signal_closes_the_connection_and_ends_the_stream(
    make_signal: Callable[[], Any], make_model: MakeModel
):
    pause, signal = Pause(), make_signal()
    with LoopbackVendor([[Text(("half", pause))]]) as vendor:
        reader = Reader(stream(make_model(vendor.base_url), signal=signal))
        task = asyncio.create_task(reader.run())
        await asyncio.wrap_future(pause.reached)
        signal.set()
        await task
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    last = reader.events[-1]
    assert isinstance(last, t.EventError)
    assert (last.reason, last.error.stop_reason) == ("aborted", "aborted")
    assert (last.error.error_reason, last.error.error_retryable) == ("aborted", False)
    assert outcome == "disconnected"


async def test_a_signal_set_beforehand_sends_nothing(make_model: MakeModel):
    signal = threading.Event()
    signal.set()
    with LoopbackVendor([]) as vendor:
        events = [event async for event in stream(make_model(vendor.base_url), signal=signal)]
        assert vendor.requests == []
    assert [event.type for event in events] == ["start", "error"]


async def test_an_unset_signal_changes_nothing(ask: Ask):
    with LoopbackVendor([CONVERSATION, CONVERSATION]) as vendor:
        plain = without_times(await ask(vendor))
        assert without_times(await ask(vendor, signal=threading.Event())) == plain


async def test_the_payload_is_shown_before_it_is_sent(make_model: MakeModel):
    shown: list[Any] = []
    with LoopbackVendor([[Text("x")]]) as vendor:
        events = stream(make_model(vendor.base_url), on_payload=shown.append)
        await anext(events)
        assert len(shown) == 1
        assert vendor.requests == []
        async for _ in events:
            pass
        assert vendor.requests[0].body == shown[0]
    assert KEY not in json.dumps(shown)


async def test_headers_of_the_model_and_of_the_call_are_sent(ask: Ask, make_model: MakeModel):
    with LoopbackVendor([[Text("x")]]) as vendor:
        model = make_model(vendor.base_url, headers={"x-one": "model", "x-two": "model"})
        await ask(vendor, model=model, headers={"x-two": "call"})
        headers = vendor.requests[0].headers
    assert (headers["x-one"], headers["x-two"]) == ("model", "call")


async def test_a_vendor_that_keeps_the_line_open_after_its_last_event_holds_nobody_up(ask: Ask):
    last = RawBytes(b'event: message_stop\ndata: {"type": "message_stop"}\n\n')
    with LoopbackVendor([[Text("x"), last, Pause()]]) as vendor:
        events = await ask(vendor)
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert [event.type for event in events][-2:] == ["text_end", "done"]
    assert outcome == "disconnected"


async def test_no_profile_of_the_sdk_is_looked_up(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nobody")
    with LoopbackVendor([[Text("x")]]) as vendor:
        events = await ask(vendor, api_key=None, headers={"x-api-key": "own"})
    assert events[-1].type == "done"


async def test_neither_a_header_nor_a_proxy_of_the_environment_is_taken(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
):
    with LoopbackVendor([[Text("x")]] * 3) as vendor:
        await ask(vendor)
        lines = (
            "X-Ambient: 1\nAuthorization: Bearer environment\nx-api-key: environment\nHost: evil"
        )
        monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"{lines}\nanthropic-version: 1999-01-01")
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        await ask(vendor)
        await ask(vendor, api_key=None, headers={"x-api-key": "own"})
        plain, guarded, with_header = vendor.requests
    assert guarded.headers == plain.headers
    assert guarded.headers["authorization"] == f"Bearer {KEY}"
    assert with_header.headers["x-api-key"] == "own"
    assert "environment" not in str(with_header.headers)


async def test_a_redirect_is_not_followed(ask: Ask):
    with LoopbackVendor([]) as elsewhere:
        headers = {"location": f"{elsewhere.base_url}/v1/messages"}
        with LoopbackVendor([HttpError(status=307, headers=headers)]) as vendor:
            failed(await ask(vendor))
        assert elsewhere.requests == []


async def test_no_key_is_looked_up_anywhere(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "environment-key")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "environment-token")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with LoopbackVendor([[Text("x")], [Text("y")]]) as vendor:
        message = failed(await ask(vendor, api_key=None))
        assert vendor.requests == []
        assert message.error_reason == "auth"
        await ask(vendor)
        await ask(vendor, api_key=None, headers={"X-Api-Key": "own"})
        with_key, with_header = vendor.requests
    assert with_key.headers["authorization"] == f"Bearer {KEY}"
    assert with_header.headers["x-api-key"] == "own"
    assert "authorization" not in with_header.headers


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "nul\0"])
async def test_a_key_that_no_header_can_carry_is_an_error_that_hides_it(key: str, ask: Ask):
    with LoopbackVendor([]) as vendor:
        message = failed(await ask(vendor, api_key=key))
    assert message.error_reason == "auth"
    assert key[:3] not in (message.error_message or "").replace("anthropic-messages", "")


async def test_blanks_around_a_key_do_not_matter(ask: Ask):
    with LoopbackVendor([[Text("x")]]) as vendor:
        assert (await ask(vendor, api_key=f" {KEY}\n"))[-1].type == "done"
        assert vendor.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("value", ["secret\nvalue", "secret\0"])
async def test_a_header_that_cannot_be_sent_is_an_error_that_hides_it(value: Any, ask: Ask):
    with LoopbackVendor([]) as vendor:
        message = failed(await ask(vendor, headers={"x-own": value}))
    assert message.error_reason == "bad_request"
    assert "secret" not in (message.error_message or "")


@pytest.mark.parametrize(
    "base_url", ["", "ftp://127.0.0.1", "http://[", "127.0.0.1:9", "http://\ud83d"]
)
async def test_a_base_url_that_is_none_is_an_error(base_url: str, make_model: MakeModel):
    message = failed([event async for event in stream(make_model(base_url))])
    assert message.error_reason in {"bad_request", "network"}


async def test_a_request_that_cannot_be_said_is_an_error_before_anything_is_sent(ask: Ask):
    video = t.VideoContent(data="A", mime_type="video/mp4")
    with LoopbackVendor([]) as vendor:
        message = failed(await ask(vendor, t.UserMessage(content=[video], timestamp=0)))
        assert vendor.requests == []
    assert message.error_reason == "bad_request"


async def test_plain_streams_do_not_reason(make_model: MakeModel):
    context = t.Context(messages=[t.UserMessage(content="hi", timestamp=0)])
    options = t.SimpleStreamOptions(api_key=KEY, reasoning="high")
    with LoopbackVendor([[Text("x")], [Text("y")]]) as vendor:
        model = make_model(vendor.base_url)
        async for _ in PROVIDER.stream(model, context, options):
            pass
        async for _ in PROVIDER.stream_simple(model, context, options):
            pass
        bodies = [request.body for request in vendor.requests]
    assert ["thinking" in body for body in bodies] == [False, True]


async def test_a_missing_sdk_names_the_remedy(
    make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delitem(
        sys.modules, "openprogram.providers.vendors._anthropic_connection", raising=False
    )
    monkeypatch.setitem(sys.modules, "anthropic", None)
    context = t.Context(messages=[])
    with pytest.raises(ProviderError, match=r"pip install anthropic"):
        await anext(AnthropicMessagesProvider().stream(make_model(), context))


@pytest.mark.parametrize(
    "name",
    [
        "test_anthropic_model_thinking_part_stream-0",
        "test_anthropic_model_thinking_part_redacted_stream-0",
    ],
)
async def test_real_answers_say_what_they_say(name: str, ask: Ask):
    if not CASES.is_dir():
        pytest.skip("the handed cases are not here")
    want = json.loads((CASES / "expected.json").read_text())[name]
    raw = (CASES / f"{name}.sse").read_bytes()
    with LoopbackVendor([RawBytes(raw)], chunking=chunking.every(61)) as vendor:
        done = (await ask(vendor))[-1]
    assert isinstance(done, t.EventDone)
    blocks = done.message.content
    assert "".join(b.text for b in blocks if isinstance(b, t.TextContent)) == want["text"]
    thinking = [b for b in blocks if isinstance(b, t.ThinkingContent)]
    assert "".join(b.thinking for b in thinking) == want["thinking"]
    assert all(b.thinking_signature for b in thinking)
    assert (done.reason, done.message.usage.output) == ("stop", want["output_tokens"])


QUIET = """
import asyncio, sys
from openprogram.providers import types as t
from openprogram.providers.vendors.anthropic_messages import PROVIDER

assert "anthropic" not in sys.modules and "httpx2" not in sys.modules

from openprogram.testing import LoopbackVendor, Pause, Text, Drop

def stream(vendor):
    model = t.Model(id="m", name="m", api="anthropic-messages", provider="anthropic",
                    base_url=vendor.base_url)
    context = t.Context(messages=[t.UserMessage(content="hi", timestamp=0)])
    return PROVIDER.stream(model, context, t.StreamOptions(api_key="k"))

async def first_two_at_once(vendor):
    async def collect():
        return [event.type async for event in stream(vendor)]
    one, two = await asyncio.gather(collect(), collect())
    assert one[-1] == two[-1] == "done", (one, two)

async def drop(vendor):
    async for event in stream(vendor):
        if event.type == "text_delta":
            return

async def wait(vendor):
    async for event in stream(vendor):
        pass

async def cancel(vendor):
    task = asyncio.create_task(wait(vendor))
    await asyncio.wrap_future(pauses[1].reached)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass

async def leave_pending(vendor):
    task = asyncio.create_task(wait(vendor))
    await asyncio.wrap_future(pauses[2].reached)

pauses = [Pause(), Pause(), Pause()]
paused = [[Text(("a", pause))] for pause in pauses]
script = [[Text("x")], [Text("y")], *paused, [Text(("a", Drop()))]]
with LoopbackVendor(script) as vendor:
    for run in (first_two_at_once, drop, cancel, leave_pending, wait):
        asyncio.run(run(vendor))
print("quiet")
"""


def test_the_sdk_loads_on_the_first_call_and_no_end_of_a_stream_makes_a_sound():
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", QUIET]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    # Development mode reports slow steps of the event loop; importing an SDK beside it is one.
    noise = [line for line in result.stderr.splitlines() if not line.startswith("Executing <")]
    assert (result.returncode, noise) == (0, [])
    assert result.stdout == "quiet\n"
