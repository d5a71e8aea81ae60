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
from openprogram.providers.recording import RecordingProvider, remove_secret_values
from openprogram.providers.replay import ReplayProvider
from openprogram.providers.vendors.anthropic_messages import PROVIDER as ANTHROPIC
from openprogram.providers.vendors.openai_completions import PROVIDER, OpenAICompletionsProvider
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
    Script,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
    chunking,
)
from openprogram.testing.openai_completions import OpenAICompletions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

KEY = "test-key"
CONVERSATION = [
    Thinking("größer 🤔"),
    Ping(),
    Text(("Grüße, ", Ping(), "日本 🗾\n\ndata: x\r")),
    ToolCall("list_dir", {"path": "ä/😀", "depth": [1, None]}),
    ToolCall("now", {}),
]
TOOL = t.Tool(name="list_dir", description="", parameters={})
CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "vendors"


def vendor_of(script: Script, **protocol: Any) -> LoopbackVendor:
    return LoopbackVendor(script, protocol=OpenAICompletions(**protocol))


def model_at(base_url: str = "http://127.0.0.1:9/v1", **fields: Any) -> t.Model:
    described: dict[str, Any] = {
        "id": "some-model",
        "name": "Some Model",
        "api": "openai-completions",
        "provider": "openrouter",
        "base_url": base_url,
        "reasoning": True,
    }
    return t.Model(**{**described, **fields})


def stream(
    model: t.Model, *messages: t.Message, tools: list[t.Tool] | None = None, **options: Any
) -> AsyncGenerator[t.AssistantMessageEvent, None]:
    asked = list(messages) or [t.UserMessage(content="hi", timestamp=0)]
    given: dict[str, Any] = {"api_key": KEY, **options}
    context = t.Context(messages=asked, tools=tools)
    return PROVIDER.stream_simple(model, context, t.SimpleStreamOptions(**given))


async def ask(
    vendor: LoopbackVendor, *messages: t.Message, model: t.Model | None = None, **options: Any
) -> list[t.AssistantMessageEvent]:
    events = stream(model or model_at(vendor.base_url), *messages, **options)
    return [event async for event in events]


def done(events: list[t.AssistantMessageEvent]) -> t.AssistantMessage:
    last = events[-1]
    assert isinstance(last, t.EventDone), last
    return last.message


def failed(events: list[t.AssistantMessageEvent]) -> t.AssistantMessage:
    assert events[0].type == "start"
    assert [event.type for event in events].count("error") == 1
    last = events[-1]
    assert isinstance(last, t.EventError)
    return last.error


def told(events: list[t.AssistantMessageEvent]) -> list[dict[str, Any]]:
    """Give events as JSON, without what differs from call to call."""
    wire = [t.to_wire(event) for event in events]
    for event in wire:
        for name in ("partial", "message", "error"):
            if name in event:
                event[name]["timestamp"] = 0
    return wire


def result(call: t.ToolCall, text: str = "ok") -> t.ToolResultMessage:
    return t.ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=[t.TextContent(text=text)],
        timestamp=0,
    )


async def test_a_whole_answer_with_every_kind_of_block():
    usage = TokenCounts(input=10, output=20, cache_read=30, cache_write=40)
    prices = t.ModelCost(input=1, output=2, cache_read=3, cache_write=4)
    with vendor_of([Answer(parts=CONVERSATION, usage=usage)]) as vendor:
        events = await ask(vendor, model=model_at(vendor.base_url, cost=prices))
        (request,) = vendor.requests
    message = done(events)
    assert message.content == [
        t.ThinkingContent(thinking="größer 🤔"),
        t.TextContent(text="Grüße, 日本 🗾\n\ndata: x\r"),
        t.ToolCall(
            id="call_loopback_0", name="list_dir", arguments={"path": "ä/😀", "depth": [1, None]}
        ),
        t.ToolCall(id="call_loopback_1", name="now", arguments={}),
    ]
    assert message.stop_reason == "toolUse"
    assert (message.api, message.provider) == ("openai-completions", "openrouter")
    assert (message.usage.input, message.usage.output, message.usage.total_tokens) == (10, 20, 100)
    assert round(message.usage.cost.total * 1_000_000) == 10 + 40 + 90 + 160
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.path == "/v1/chat/completions"
    assert request.outcome.result(10) == "answered"


@pytest.mark.parametrize("place", ["own_chunk", "last_choice", "each_chunk", "nowhere"])
async def test_usage_is_counted_once_wherever_it_stands(place: Any):
    answer = Answer(parts=[Text("x" * 40)], usage=TokenCounts(input=7, output=3, cache_read=5))
    with vendor_of([answer], usage_place=place) as vendor:
        usage = done(await ask(vendor)).usage
    counts = (usage.input, usage.output, usage.cache_read, usage.total_tokens)
    assert counts == ((0, 0, 0, 0) if place == "nowhere" else (7, 3, 5, 15))


@pytest.mark.parametrize(
    "field", ["reasoning_content", "reasoning", "reasoning_text", "reasoning_details"]
)
async def test_reasoning_is_read_once_wherever_it_stands(field: Any):
    with vendor_of([[Thinking("why " * 9), Text("so")]], reasoning_field=field) as vendor:
        message = done(await ask(vendor))
    thinking, text = message.content
    assert isinstance(thinking, t.ThinkingContent)
    assert thinking.thinking == "why " * 9
    assert bool(thinking.thinking_signature) is (field == "reasoning_details")
    assert text == t.TextContent(text="so")


async def test_interleaved_tool_calls_are_assembled_in_the_order_of_their_numbers():
    calls = [ToolCall("first", {"text": "a" * 40}), ToolCall("second", {"text": "b" * 60})]
    with vendor_of([calls], is_interleaved=True) as vendor:
        events = await ask(vendor)
    message = done(events)
    assert [c.name for c in message.content if isinstance(c, t.ToolCall)] == ["first", "second"]
    for index, call in enumerate(calls):
        deltas = [
            event.delta
            for event in events
            if isinstance(event, t.EventToolCallDelta) and event.content_index == index
        ]
        assert json.loads("".join(deltas)) == call.arguments
        assert len(deltas) > 1


async def test_awkward_pieces_give_the_same_events():
    policies = [
        chunking.whole,
        chunking.every_byte,
        chunking.inside_characters,
        chunking.inside_blank_lines,
    ]
    script = [Answer(parts=CONVERSATION, chunking=policy) for policy in policies]
    with vendor_of(script) as vendor:
        first, *others = [told(await ask(vendor)) for _ in policies]
    assert others == [first, first, first]


def test_any_pieces_give_the_same_events():
    async def collect(base_url: str) -> list[dict[str, Any]]:
        return told([event async for event in stream(model_at(base_url))])

    cuts: list[int] = []
    answers = Answer(parts=CONVERSATION, chunking=chunking.at(cuts))
    with vendor_of(lambda _: answers) as vendor, asyncio.Runner() as runner:
        expected = runner.run(collect(vendor.base_url))

        @settings(max_examples=15)
        @given(offsets=st.lists(st.integers(1, 4000), max_size=60))
        def check(offsets: list[int]) -> None:
            cuts[:] = offsets
            assert runner.run(collect(vendor.base_url)) == expected

        check()


async def test_each_event_is_passed_on_while_the_rest_is_still_to_come():
    pause = Pause()
    with vendor_of([[Text(("first", pause, "second"))]]) as vendor:
        async with aclosing(stream(model_at(vendor.base_url))) as events:
            seen = [await anext(events) for _ in range(3)]
            assert seen[-1].type == "text_delta"
            assert not pause.released.done()
            pause.release()
            rest = [event.type async for event in events]
    assert rest == ["text_delta", "text_end", "done"]


@pytest.mark.parametrize(
    ("refusal", "reason", "is_retryable", "seconds"),
    [
        (HttpError(status=401, message="Incorrect API key provided"), "auth", False, None),
        (HttpError(status=402), "billing", False, None),
        (HttpError(status=403), "auth", False, None),
        (HttpError(status=404), "bad_request", False, None),
        (HttpError(status=400), "bad_request", False, None),
        (HttpError(status=400, kind="context_length_exceeded"), "context_length", False, None),
        (
            HttpError(status=400, message="the request exceeds the available context size"),
            "context_length",
            False,
            None,
        ),
        (HttpError(status=413), "context_length", False, None),
        (HttpError(status=429, headers={"retry-after": "12"}), "rate_limit", True, 12.0),
        (HttpError(status=429, kind="insufficient_quota"), "billing", False, None),
        (HttpError(status=500), "server", True, None),
        (HttpError(status=502, body=b"<html>"), "server", True, None),
        (HttpError(status=503), "overloaded", True, None),
        (HttpError(status=503, headers={"x-should-retry": "false"}), "overloaded", False, None),
        (HttpError(status=308, headers={"location": "/v2"}), "bad_request", False, None),
        (HttpError(status=418, body=b'{"error": 5}'), "bad_request", False, None),
        (HttpError(status=400, body=b'{"error": {"message": [1]}}'), "bad_request", False, None),
    ],
)
async def test_a_refusal_is_an_error_event_of_its_class_and_is_not_retried(
    refusal: HttpError, reason: str, is_retryable: bool, seconds: float | None
):  # fmt: skip
    with vendor_of([refusal]) as vendor:
        message = failed(await ask(vendor))
        assert len(vendor.requests) == 1
    assert message.stop_reason == "error"
    assert (message.error_reason, message.error_retryable) == (reason, is_retryable)
    assert message.error_retry_after_s == seconds
    assert message.error_message
    if refusal.body is None:
        assert message.error_message == refusal.message
    assert KEY not in message.error_message


async def test_an_error_in_mid_stream_keeps_what_had_come():
    parts = [Text(("half", MidStreamError(kind="server_error", message="it broke")))]
    with vendor_of([parts]) as vendor:
        message = failed(await ask(vendor))
    assert message.content == [t.TextContent(text="half")]
    assert (message.error_reason, message.error_message) == ("server", "it broke")
    assert message.error_retryable


async def test_a_lost_connection_is_a_network_error():
    entries: list[Any] = [
        Drop(),
        [Text(("half", Drop()))],
        RawBytes(b""),
        RawBytes(b'data: {"choices": [{"delta": {"content": "half"}}]}\n\n'),
    ]
    with vendor_of(entries) as vendor:
        messages = [failed(await ask(vendor)) for _ in entries]
        gone = vendor.base_url
    messages.append(failed([event async for event in stream(model_at(gone))]))
    assert [bool(message.content) for message in messages] == [False, True, False, True, False]
    assert {(m.error_reason, m.error_retryable) for m in messages} == {("network", True)}


async def test_an_answer_that_is_no_answer_is_a_bad_response():
    raws = [
        b"data: {\n\n",
        b"data: \xff\n\n",
        b"data: []\n\n",
        b'data: {"choices": 5}\n\n',
        b'data: {"choices": []}\n\ndata: [DONE]\n\n',
        b"data: [DONE]\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
    ]
    with vendor_of([RawBytes(raw) for raw in raws]) as vendor:
        messages = [failed(await ask(vendor)) for _ in raws]
    assert {(m.error_reason, m.error_retryable) for m in messages} == {("bad_response", True)}


async def test_empty_choices_comments_and_events_without_data_change_nothing():
    odd = b'id: 1\nevent: x\ndata: {"choices": []}\n\n: ping\n\nretry: 5\n\n\n: ping\r\n\r\n'
    with vendor_of([[RawBytes(odd), Text(("a", RawBytes(odd), "b")), RawBytes(odd)]]) as vendor:
        events = await ask(vendor)
    assert done(events).content == [t.TextContent(text="ab")]


async def test_a_server_that_does_not_stream_is_understood():
    body = {
        "choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 2, "completion_tokens": 1},
    }
    plain = HttpError(status=200, body=json.dumps(body).encode())
    fault = HttpError(status=200, body=b'{"error": {"message": "no such model", "code": 404}}')
    with vendor_of([plain, fault]) as vendor:
        message = done(await ask(vendor))
        error = failed(await ask(vendor))
    assert message.content == [t.TextContent(text="whole")]
    assert message.usage.total_tokens == 3
    assert (error.error_reason, error.error_message) == ("bad_request", "no such model")


@pytest.mark.parametrize(
    ("stop_reason", "expected"),
    [
        ("length", "length"),
        ("stop", "stop"),
        ("function_call", "toolUse"),
        ("who knows", "stop"),
        ("content_filter", "refusal"),
        ("refusal", "refusal"),
        ("error", "server"),
    ],
)
async def test_why_the_answer_ended(stop_reason: str, expected: str):
    with vendor_of([Answer(parts=[Text("I cannot")], stop_reason=stop_reason)]) as vendor:
        last = (await ask(vendor))[-1]
    if isinstance(last, t.EventDone):
        assert last.reason == expected
    else:
        assert isinstance(last, t.EventError)
        assert last.error.error_reason == expected


async def test_a_tool_call_that_max_tokens_cut_is_said_so():
    cut = [ToolCall("t", '{"a": ')]
    with vendor_of([Answer(parts=cut, stop_reason="length"), cut]) as vendor:
        first, second = [failed(await ask(vendor)) for _ in range(2)]
    assert (first.error_reason, first.error_retryable) == ("output_limit", False)
    assert second.error_reason == "bad_response"


async def test_ten_megabytes_come_whole():
    text = "a" * 1_000_000
    with vendor_of([Answer(parts=[Text((text,) * 10)], chunking=chunking.whole)]) as vendor:
        events = await ask(vendor)
    (block,) = done(events).content
    assert isinstance(block, t.TextContent)
    assert len(block.text) == 10_000_000


@pytest.mark.parametrize("make_signal", [None, threading.Event, asyncio.Event])
async def test_every_way_to_stop_closes_the_connection(make_signal: Callable[[], Any] | None):
    pause = Pause()
    signal = make_signal() if make_signal else None
    with vendor_of([[Text(("half", pause))]]) as vendor:
        task = asyncio.create_task(ask(vendor, signal=signal))
        await asyncio.wrap_future(pause.reached)
        if signal is None:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            signal.set()
            message = failed(await task)
            assert (message.stop_reason, message.error_reason) == ("aborted", "aborted")
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert outcome == "disconnected"


@pytest.mark.parametrize("is_closed", [True, False])
async def test_an_endless_answer_ends_when_nobody_reads_on(is_closed: bool):
    pause = Pause()
    with vendor_of([[Text((*["more"] * 50, pause))]]) as vendor:
        events = stream(model_at(vendor.base_url))
        async for event in events:
            if event.type == "text_delta":
                break
        if is_closed:
            await events.aclose()
        del events
        gc.collect()
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert outcome == "disconnected"


async def test_a_signal_set_beforehand_sends_nothing():
    signal = threading.Event()
    signal.set()
    with vendor_of([]) as vendor:
        events = await ask(vendor, signal=signal)
        assert vendor.requests == []
    assert [event.type for event in events] == ["start", "error"]


async def test_a_vendor_that_keeps_the_line_open_after_its_end_mark_holds_nobody_up():
    whole = b'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n'
    with vendor_of([[RawBytes(whole), Pause()]]) as vendor:
        events = await ask(vendor)
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert [event.type for event in events][-2:] == ["text_end", "done"]
    assert outcome == "disconnected"


async def test_the_payload_is_shown_before_it_is_sent():
    shown: list[Any] = []
    with vendor_of([[Text("x")]]) as vendor:
        events = stream(model_at(vendor.base_url), on_payload=shown.append)
        await anext(events)
        assert (len(shown), vendor.requests) == (1, [])
        async for _ in events:
            pass
        assert vendor.requests[0].body == shown[0]
    assert KEY not in json.dumps(shown)


async def test_a_request_that_cannot_be_said_is_an_error_before_anything_is_sent():
    video = t.VideoContent(data="A", mime_type="video/mp4")
    with vendor_of([]) as vendor:
        message = failed(await ask(vendor, t.UserMessage(content=[video], timestamp=0)))
        assert vendor.requests == []
    assert message.error_reason == "bad_request"


async def test_plain_streams_do_not_ask_for_reasoning():
    context = t.Context(messages=[t.UserMessage(content="hi", timestamp=0)])
    options = t.SimpleStreamOptions(api_key=KEY, reasoning="high")
    with vendor_of([[Text("x")], [Text("y")]]) as vendor:
        model = model_at(vendor.base_url, compat={"reasoning_request": "reasoning_effort"})
        for method in (PROVIDER.stream, PROVIDER.stream_simple):
            assert [event async for event in method(model, context, options)][-1].type == "done"
        bodies = [request.body for request in vendor.requests]
    assert ["reasoning_effort" in body for body in bodies] == [False, True]


async def test_signed_reasoning_goes_back_as_it_came():
    first_parts = [Thinking("why", ("EqQB", "+/==")), RedactedThinking("b3"), ToolCall("list_dir")]
    with vendor_of([first_parts, [Text("ok")]], reasoning_field="reasoning_details") as vendor:
        model = model_at(vendor.base_url, compat={"reasoning_field": "reasoning_details"})
        asked = t.UserMessage(content="hi", timestamp=0)
        first = done(await ask(vendor, model=model))
        calls = [block for block in first.content if isinstance(block, t.ToolCall)]
        events = await ask(vendor, asked, first, *map(result, calls), model=model, tools=[TOOL])
        sent = vendor.requests[-1].body["messages"][1]
    assert events[-1].type == "done"
    text = {"type": "reasoning.text", "format": "loopback-v1", "index": 0, "text": "why"}
    assert sent["reasoning_details"] == [
        {**text, "signature": "EqQB+/=="},
        {"type": "reasoning.encrypted", "data": "b3", "index": 0},
    ]


async def test_a_conversation_begun_with_another_vendor_goes_on_here_and_back():
    asked = t.UserMessage(content="hi", timestamp=0)
    begun = [Thinking("secret", "c2ln"), Text("look"), ToolCall("list_dir", {}, id="toolu_" * 9)]
    with LoopbackVendor([begun, [Text("end")]]) as anthropic:
        other = model_at(anthropic.base_url, api="anthropic-messages", provider="anthropic")
        context = t.Context(messages=[asked], tools=[TOOL])
        options = t.SimpleStreamOptions(api_key=KEY)
        first = done([e async for e in ANTHROPIC.stream_simple(other, context, options)])
        call = next(block for block in first.content if isinstance(block, t.ToolCall))
        messages: list[t.Message] = [asked, first, result(call)]
        with vendor_of([[Thinking("mine"), ToolCall("list_dir", {})]]) as vendor:
            second = done(await ask(vendor, *messages, tools=[TOOL]))
            sent = vendor.requests[0].body["messages"]
        call = next(block for block in second.content if isinstance(block, t.ToolCall))
        context = t.Context(messages=[*messages, second, result(call)], tools=[TOOL])
        third = [e async for e in ANTHROPIC.stream_simple(other, context, options)]
    assert done(third).content == [t.TextContent(text="end")]
    assert sent[1]["content"] == "look"
    assert "secret" not in json.dumps(sent)
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"] != "toolu_" * 9


async def test_a_recorded_run_replays_with_equal_events(tmp_path: Path):
    model = model_at()
    context = t.Context(messages=[t.UserMessage(content="hi", timestamp=0)], tools=[TOOL])
    path = tmp_path / "run.jsonl"
    with vendor_of([CONVERSATION]) as vendor:
        model = model_at(vendor.base_url)
        live = RecordingProvider(PROVIDER, path)
        options = t.SimpleStreamOptions(api_key=KEY)
        recorded = [event async for event in live.stream_simple(model, context, options)]
    replay = ReplayProvider(path)
    served = [e async for e in replay.stream_simple(model, context, t.SimpleStreamOptions())]
    assert [t.to_wire(e) for e in served] == [remove_secret_values(t.to_wire(e)) for e in recorded]
    assert KEY not in path.read_text()


async def test_a_missing_sdk_names_the_remedy(monkeypatch: pytest.MonkeyPatch):
    module = "openprogram.providers.vendors._openai_connection"
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ProviderError, match=r"pip install openai"):
        await anext(OpenAICompletionsProvider().stream(model_at(), t.Context(messages=[])))


@pytest.mark.parametrize(
    "name",
    [
        "test_deepseek_model_thinking_stream-0",
        "test_openrouter_stream_error-0",
        "test_run_stream_sync_streams_real_model-0",
        "test_run_stream_sync_streams_real_model-1",
    ],
)
async def test_real_answers_say_what_they_say(name: str):
    if not CASES.is_dir():
        pytest.skip("the handed cases are not here")
    want = json.loads((CASES / "expected.json").read_text())[name]
    raw = (CASES / f"{name}.sse").read_bytes()
    with LoopbackVendor(
        [RawBytes(raw)], protocol=OpenAICompletions(), chunking=chunking.every(61)
    ) as vendor:
        last = (await ask(vendor))[-1]
    message = last.error if isinstance(last, t.EventError) else done([last])
    blocks = message.content
    assert "".join(b.text for b in blocks if isinstance(b, t.TextContent)) == want["text"]
    thinking = [b.thinking for b in blocks if isinstance(b, t.ThinkingContent)]
    assert "".join(thinking) == want["thinking"]
    calls = [[b.name, b.arguments] for b in blocks if isinstance(b, t.ToolCall)]
    assert calls == want["tool_calls"]
    assert message.error_message == want["error"]
    assert message.usage.output == (want["output_tokens"] or 10)


QUIET = """
import asyncio, sys
from openprogram.providers import types as t
from openprogram.providers.vendors.openai_completions import PROVIDER

assert "openai" not in sys.modules and "httpx2" not in sys.modules

from openprogram.testing import LoopbackVendor, Pause, Text, Drop
from openprogram.testing.openai_completions import OpenAICompletions

def stream(vendor):
    model = t.Model(id="m", name="m", api="openai-completions", provider="openrouter",
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
with LoopbackVendor(script, protocol=OpenAICompletions()) as vendor:
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
