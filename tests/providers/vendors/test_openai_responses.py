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
from openprogram.providers.vendors.openai_responses import PROVIDER, OpenAIResponsesProvider
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
from openprogram.testing.openai_responses import OpenAIResponses

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

KEY = "test-key"
CONVERSATION = [
    Thinking("größer 🤔", "EqQB+/=="),
    Ping(),
    RedactedThinking("b3BhcXVl"),
    Text(("Grüße, ", Ping(), "日本 🗾\n\ndata: x\r")),
    ToolCall("list_dir", {"path": "ä/😀", "depth": [1, None]}),
    ToolCall("now", {}),
]
CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "vendors"


def vendor_of(script: Script, **protocol: Any) -> LoopbackVendor:
    return LoopbackVendor(script, protocol=OpenAIResponses(**protocol))


def model_at(base_url: str = "http://127.0.0.1:9/v1", **fields: Any) -> t.Model:
    described: dict[str, Any] = {
        "id": "some-model",
        "name": "Some Model",
        "api": "openai-responses",
        "provider": "openai",
        "base_url": base_url,
        "reasoning": True,
    }
    return t.Model(**{**described, **fields})


def stream(
    model: t.Model, *messages: t.Message, **options: Any
) -> AsyncGenerator[t.AssistantMessageEvent, None]:
    context = t.Context(messages=list(messages) or [user()], tools=options.pop("tools", None))
    given: dict[str, Any] = {"api_key": KEY, **options}
    return PROVIDER.stream_simple(model, context, t.SimpleStreamOptions(**given))


async def ask(
    vendor: LoopbackVendor, *messages: t.Message, **options: Any
) -> list[t.AssistantMessageEvent]:
    return [event async for event in stream(model_at(vendor.base_url), *messages, **options)]


def user(content: Any = "hi") -> t.UserMessage:
    return t.UserMessage(content=content, timestamp=0)


def result_of(call: t.ToolCall) -> t.ToolResultMessage:
    said: list[t.InputContent] = [t.TextContent(text=f"result of {call.name}")]
    return t.ToolResultMessage(tool_call_id=call.id, tool_name=call.name, content=said, timestamp=0)


def without_times(events: list[t.AssistantMessageEvent]) -> str:
    """Show events without what differs between two equal answers: times and requests' numbers."""
    wire = [t.to_wire(event) for event in events]
    for event in wire:
        for name in ("partial", "message", "error"):
            if name in event:
                event[name]["timestamp"] = 0
    text = json.dumps(wire)
    for number in range(3):
        text = text.replace(f"_loopback_{number}_", "_loopback_")
    return text


def failed(events: list[t.AssistantMessageEvent]) -> t.AssistantMessage:
    """Give the message of a stream that ended in an error, and check that it is a whole stream."""
    assert events[0].type == "start"
    assert [event.type for event in events].count("error") == 1
    last = events[-1]
    assert isinstance(last, t.EventError)
    return last.error


def done(events: list[t.AssistantMessageEvent]) -> t.AssistantMessage:
    last = events[-1]
    assert isinstance(last, t.EventDone), last
    assert last.reason == last.message.stop_reason
    return last.message


def content_of(message: t.AssistantMessage) -> list[Any]:
    """Give the blocks without the vendor's own ids."""
    return [
        block.text
        if isinstance(block, t.TextContent)
        else (block.name, block.arguments)
        if isinstance(block, t.ToolCall)
        else (block.thinking, json.loads(block.thinking_signature or "{}")["encrypted_content"])
        for block in message.content
    ]


async def test_a_whole_answer_with_every_kind_of_block():
    usage = TokenCounts(input=10, output=20, cache_read=30, cache_write=40)
    prices = t.ModelCost(input=1, output=2, cache_read=3, cache_write=4)
    with vendor_of([Answer(parts=CONVERSATION, usage=usage)]) as vendor:
        events = [event async for event in stream(model_at(vendor.base_url, cost=prices))]
        (request,) = vendor.requests
    message = done(events)
    assert message.stop_reason == "toolUse"
    assert content_of(message) == [
        ("größer 🤔", "EqQB+/=="),
        ("", "b3BhcXVl"),
        "Grüße, 日本 🗾\n\ndata: x\r",
        ("list_dir", {"path": "ä/😀", "depth": [1, None]}),
        ("now", {}),
    ]
    signed = [json.loads(b.thinking_signature or "") for b in message.content[:2]]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType] - the list above says that both are thinking
    assert [item["type"] for item in signed] == ["reasoning", "reasoning"]
    assert (message.api, message.provider) == ("openai-responses", "openai")
    assert message.usage.total_tokens == 100
    assert round(message.usage.cost.total * 1_000_000) == 10 + 40 + 90 + 160
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert (request.body["store"], request.body["include"]) == (
        False,
        ["reasoning.encrypted_content"],
    )
    assert request.outcome.result(10) == "answered"


async def test_however_finely_an_answer_is_told_it_says_the_same():
    told: list[list[Any]] = []
    for protocol in (
        {},
        {"is_interleaved": True},
        {"detail": "items"},
        {"detail": "response"},
    ):
        with vendor_of([CONVERSATION], **protocol) as vendor:
            told.append(content_of(done(await ask(vendor))))
    assert all(content == told[0] for content in told)


async def test_interleaved_calls_are_told_apart():
    calls = [ToolCall("a", ('{"x"', ": 1}")), ToolCall("b", ('{"y"', ": 2", "}"))]
    with vendor_of([calls], is_interleaved=True) as vendor:
        events = await ask(vendor)
    deltas = [event.content_index for event in events if isinstance(event, t.EventToolCallDelta)]
    assert deltas == [1, 0, 1, 0, 1]
    assert content_of(done(events)) == [("a", {"x": 1}), ("b", {"y": 2})]


async def test_awkward_pieces_give_the_same_events():
    policies = (chunking.every_byte, chunking.inside_characters, chunking.inside_blank_lines)
    for policy in policies:
        with vendor_of([CONVERSATION, Answer(parts=CONVERSATION, chunking=policy)]) as vendor:
            assert without_times(await ask(vendor)) == without_times(await ask(vendor))


def test_any_pieces_give_the_same_events():
    async def collect(base_url: str) -> list[Any]:
        return content_of(done([event async for event in stream(model_at(base_url))]))

    cuts: list[int] = []
    answers = Answer(parts=CONVERSATION, chunking=chunking.at(cuts))
    with vendor_of(lambda _: answers) as vendor, asyncio.Runner() as runner:
        expected = runner.run(collect(vendor.base_url))

        @settings(max_examples=10)
        @given(offsets=st.lists(st.integers(1, 9000), max_size=60))
        def check(offsets: list[int]) -> None:
            cuts[:] = offsets
            assert runner.run(collect(vendor.base_url)) == expected

        check()


async def test_a_long_answer_comes_whole():
    text = "wörter, " * 130_000
    cut = tuple(text[start : start + 65_536] for start in range(0, len(text), 65_536))
    with vendor_of([[Text(cut)]]) as vendor:
        assert content_of(done(await ask(vendor))) == [text]


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


async def test_two_streams_at_once_do_not_mix():
    pauses = [Pause(), Pause()]
    script = [[Text((f"{n}a", pauses[n], f"{n}b"))] for n in range(2)]
    with vendor_of(script) as vendor:
        tasks = [asyncio.create_task(ask(vendor)) for _ in range(2)]
        for pause in pauses:
            await asyncio.wrap_future(pause.reached)
        for pause in reversed(pauses):
            pause.release()
        texts = [content_of(done(events)) for events in await asyncio.gather(*tasks)]
    assert sorted(texts) == [["0a0b"], ["1a1b"]]


async def test_a_refusal_is_an_error_event_of_its_class_and_is_not_retried():
    too_long = "Your input exceeds the context window of this model."
    for refusal, reason, is_retryable, seconds in (
        (HttpError(status=401, message="Incorrect API key provided."), "auth", False, None),
        (HttpError(status=403), "auth", False, None),
        (HttpError(status=404), "bad_request", False, None),
        (HttpError(status=400, message="Unknown parameter: 'x'."), "bad_request", False, None),
        (
            HttpError(status=400, kind="context_length_exceeded", message=too_long),
            "context_length",
            False,
            None,
        ),
        (HttpError(status=413), "context_length", False, None),
        (HttpError(status=429, headers={"retry-after": "12"}), "rate_limit", True, 12.0),
        (HttpError(status=429, headers={"retry-after-ms": "1500"}), "rate_limit", True, 1.5),
        (HttpError(status=429, kind="insufficient_quota"), "billing", False, None),
        (HttpError(status=500), "server", True, None),
        (HttpError(status=502, body=b"<html>"), "server", True, None),
        (HttpError(status=503), "overloaded", True, None),
        (HttpError(status=500, headers={"x-should-retry": "false"}), "server", False, None),
        (HttpError(status=418, body=b'{"error": 5}'), "bad_request", False, None),
        (HttpError(status=302, headers={"location": "/other"}), "bad_request", False, None),
    ):
        with vendor_of([refusal]) as vendor:
            message = failed(await ask(vendor))
            assert len(vendor.requests) == 1
        told = (message.error_reason, message.error_retryable, message.error_retry_after_s)
        assert told == (reason, is_retryable, seconds), refusal
        if refusal.body is None:
            assert message.error_message == refusal.message
        assert KEY not in (message.error_message or "")


async def test_an_error_in_mid_stream_keeps_what_had_come():
    with vendor_of(
        [[Text(("half", MidStreamError("server_error", "Something broke.")))]]
    ) as vendor:
        message = failed(await ask(vendor))
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert content_of(message) == ["half"]
    assert (message.error_reason, message.error_message) == ("server", "Something broke.")
    assert message.error_retryable
    assert outcome in {"answered", "disconnected"}


async def test_a_model_that_refuses_or_is_cut_says_so():
    refused = Answer(parts=[Text("I cannot do that.")], stop_reason="refusal")
    filtered = Answer(parts=[Text("half")], stop_reason="content_filter")
    cancelled = Answer(parts=[Text("half")], stop_reason="cancelled")
    cut = Answer(parts=[Text("half")], stop_reason="max_output_tokens")
    cut_call = Answer(parts=[ToolCall("t", '{"a": ')], stop_reason="max_output_tokens")
    whole_call = Answer(parts=[ToolCall("t", {})], stop_reason="max_output_tokens")
    with vendor_of([refused, filtered, cancelled, cut, cut_call, whole_call]) as vendor:
        message = failed(await ask(vendor))
        assert message.error_message == "the model refused: I cannot do that."
        assert (message.error_reason, message.error_retryable) == ("refusal", False)
        assert content_of(message) == ["I cannot do that."]
        assert failed(await ask(vendor)).error_reason == "refusal"
        message = failed(await ask(vendor))
        assert (message.error_reason, message.error_retryable) == ("server", True)
        assert done(await ask(vendor)).stop_reason == "length"
        assert failed(await ask(vendor)).error_reason == "output_limit"
        assert done(await ask(vendor)).stop_reason == "length"


async def test_a_lost_connection_is_a_network_error():
    cases: list[tuple[Any, list[str]]] = [
        (Drop(), []),
        ([Text(("half", Drop()))], ["half"]),
        (RawBytes(b""), []),
        (RawBytes(b"data: [DONE]\n\n"), []),
    ]
    base_url = ""
    for entry, content in cases:
        with vendor_of([entry]) as vendor:
            base_url = vendor.base_url
            message = failed(await ask(vendor))
        assert content_of(message) == content
        assert (message.error_reason, message.error_retryable) == ("network", True)
    message = failed([event async for event in stream(model_at(base_url))])
    assert (message.error_reason, message.error_retryable) == ("network", True)


async def test_an_answer_that_is_no_answer_is_a_bad_response():
    for raw in (
        b"event: response.created\ndata: {\n\n",
        b"data: \xff\n\n",
        b"data: []\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
        b'data: {"type": "response.output_text.delta", "delta": 5}\n\n',
    ):
        with vendor_of([RawBytes(raw)]) as vendor:
            message = failed(await ask(vendor))
        assert (message.error_reason, message.error_retryable) == ("bad_response", True), raw[:40]


async def test_arguments_that_are_no_json_are_an_error_not_a_crash():
    with vendor_of([[ToolCall("t", '{"a": ')]]) as vendor:
        message = failed(await ask(vendor))
    assert message.error_reason == "bad_response"
    assert "'t'" in (message.error_message or "")


async def test_lone_surrogates_come_in_and_do_not_kill_the_next_request():
    with vendor_of([[Text("a\ud83d")], [Text("ok")]]) as vendor:
        answer = done(await ask(vendor))
        assert content_of(answer) == ["a\ud83d"]
        done(await ask(vendor, user("\udcb2"), answer, user("\udcb2")))
        sent = vendor.requests[-1].body["input"]
    assert [item["content"] for item in sent] == [
        [{"type": "input_text", "text": "�"}],
        "a�",
        [{"type": "input_text", "text": "�"}],
    ]


async def test_reasoning_goes_back_as_the_items_that_it_was():
    tool = t.Tool(name="list_dir", description="", parameters={})
    with vendor_of([CONVERSATION, [Text("done")]]) as vendor:
        first = done(await ask(vendor))
        calls = [block for block in first.content if isinstance(block, t.ToolCall)]
        messages = [user(), first, *[result_of(call) for call in calls]]
        done(await ask(vendor, *messages, tools=[tool], reasoning="low"))
        body = vendor.requests[-1].body
    assert [item["type"] for item in body["input"]] == [
        "message",
        "reasoning",
        "reasoning",
        "message",
        *["function_call"] * 2,
        *["function_call_output"] * 2,
    ]
    reasoning = body["input"][1]
    assert (reasoning["encrypted_content"], reasoning["id"]) == ("EqQB+/==", "rs_loopback_0_0")
    assert reasoning["summary"] == [{"type": "summary_text", "text": "größer 🤔"}]
    assert [item["id"] for item in body["input"][3:6]] == [
        "msg_loopback_0_2",
        "fc_loopback_0_3",
        "fc_loopback_0_4",
    ]
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}


async def test_a_conversation_goes_to_another_vendor_and_comes_back():
    tool = t.Tool(name="list_dir", description="", parameters={})
    begun = [Thinking("why", "c2lnbg=="), Text("so"), ToolCall("list_dir", id="toolu_1")]
    with LoopbackVendor([begun, [Text("at last")]]) as first, vendor_of([CONVERSATION]) as second:
        models = [
            model_at(first.base_url, api="anthropic-messages", provider="anthropic"),
            model_at(second.base_url),
        ]
        messages: list[t.Message] = [user()]
        for model in (models[0], models[1], models[0]):
            provider = ANTHROPIC if model is models[0] else PROVIDER
            context = t.Context(messages=messages, tools=[tool])
            options = t.SimpleStreamOptions(api_key=KEY, reasoning="low")
            answer = done([e async for e in provider.stream_simple(model, context, options)])
            calls = [block for block in answer.content if isinstance(block, t.ToolCall)]
            messages += [answer, *[result_of(call) for call in calls]]
        (asked,) = second.requests
        back = first.requests[-1].body["messages"]
    assert [item["type"] for item in asked.body["input"]] == [
        *["message", "message"],
        *["function_call", "function_call_output"],
    ]
    assert asked.body["input"][2]["call_id"] == "toolu_1"
    kinds = [[block["type"] for block in turn["content"]] for turn in back]
    assert kinds == [
        ["text"],
        ["thinking", "text", "tool_use"],
        ["tool_result"],
        ["text", "tool_use", "tool_use"],
        ["tool_result", "tool_result"],
    ]


async def test_a_recording_of_it_replays_equal_and_its_signatures_survive(tmp_path: Path):
    path = tmp_path / "tape.jsonl"
    context, options = t.Context(messages=[user()]), t.SimpleStreamOptions(api_key=KEY)
    with vendor_of([CONVERSATION]) as vendor:
        model = model_at(vendor.base_url)
        recorded = RecordingProvider(PROVIDER, path).stream_simple(model, context, options)
        live = [event async for event in recorded]
    replayed = [e async for e in ReplayProvider(path).stream_simple(model, context, options)]
    assert [t.to_wire(event) for event in replayed] == [t.to_wire(event) for event in live]
    whole = t.to_wire(done(live))
    assert remove_secret_values(whole) == whole


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
async def test_cancelling_the_reader_closes_the_connection(is_early: bool):
    pause = Pause()
    with vendor_of([[pause] if is_early else [Text(("a", pause))]]) as vendor:
        task = asyncio.create_task(Reader(stream(model_at(vendor.base_url))).run())
        await asyncio.wrap_future(pause.reached)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert outcome == "disconnected"


@pytest.mark.parametrize("is_closed", [True, False])
async def test_leaving_the_stream_closes_the_connection(is_closed: bool):
    pause = Pause()
    with vendor_of([[Text(("a", pause))]]) as vendor:
        events = stream(model_at(vendor.base_url))
        seen = [(await anext(events)).type for _ in range(3)]
        if is_closed:
            await events.aclose()
        del events
        gc.collect()
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert seen == ["start", "text_start", "text_delta"]
    assert outcome == "disconnected"


@pytest.mark.parametrize("make_signal", [threading.Event, asyncio.Event])
async def test_a_set_signal_closes_the_connection_and_ends_the_stream(
    make_signal: Callable[[], Any],
):
    pause, signal = Pause(), make_signal()
    with vendor_of([[Text(("half", pause))]]) as vendor:
        reader = Reader(stream(model_at(vendor.base_url), signal=signal))
        task = asyncio.create_task(reader.run())
        await asyncio.wrap_future(pause.reached)
        signal.set()
        await task
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
        again = await ask(vendor, signal=signal)
        assert len(vendor.requests) == 1
    message = failed(reader.events)
    assert (message.stop_reason, message.error_reason) == ("aborted", "aborted")
    assert outcome == "disconnected"
    assert [event.type for event in again] == ["start", "error"]


async def test_a_vendor_that_keeps_the_line_open_after_its_last_event_holds_nobody_up():
    last = RawBytes(b'data: {"type": "response.completed", "response": {}}\n\n')
    with vendor_of([[Text("x"), last, Pause()]]) as vendor:
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
        done([event async for event in events])
        assert vendor.requests[0].body == shown[0]
    assert KEY not in json.dumps(shown)


async def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    for name, value in {
        "OPENAI_API_KEY": "environment-key",
        "OPENAI_BASE_URL": "http://127.0.0.1:9",
        "OPENAI_ORG_ID": "org-environment",
        "OPENAI_PROJECT_ID": "proj-environment",
        "OPENAI_CUSTOM_HEADERS": "X-From-Environment: yes",
    }.items():
        monkeypatch.setenv(name, value)
    headers = {"x-own": "call"}
    with vendor_of([[Text("x")]]) as vendor:
        model = model_at(vendor.base_url, headers={"x-own": "model", "x-two": "model"})
        done([event async for event in stream(model, headers=headers)])
        (request,) = vendor.requests
    assert "environment" not in repr(request.headers).lower()
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert (request.headers["x-own"], request.headers["x-two"]) == ("call", "model")
    message = failed([e async for e in stream(model_at("https://api.openai.com/v1"), api_key=None)])
    assert message.error_reason == "auth"


async def test_what_cannot_be_sent_is_an_error_that_hides_it():
    video = t.VideoContent(data="A", mime_type="video/mp4")
    with vendor_of([]) as vendor:
        for options in ({"api_key": "secret\nlines"}, {"headers": {"x-own": "secret\0"}}):
            message = failed(await ask(vendor, **options))
            assert message.error_reason in {"auth", "bad_request"}
            assert "secret" not in (message.error_message or "")
        assert failed(await ask(vendor, user([video]))).error_reason == "bad_request"
        assert vendor.requests == []
    for base_url in ("", "ftp://127.0.0.1", "http://[", "http://\ud83d"):
        message = failed([event async for event in stream(model_at(base_url))])
        assert message.error_reason in {"bad_request", "network"}


async def test_plain_streams_leave_reasoning_to_the_model():
    context = t.Context(messages=[user()])
    options = t.SimpleStreamOptions(api_key=KEY, reasoning="high")
    with vendor_of([[Text("x")], [Text("y")]]) as vendor:
        for method in (PROVIDER.stream, PROVIDER.stream_simple):
            done([event async for event in method(model_at(vendor.base_url), context, options)])
        bodies = [request.body for request in vendor.requests]
    assert ["reasoning" in body for body in bodies] == [False, True]


async def test_a_missing_sdk_names_the_remedy(monkeypatch: pytest.MonkeyPatch):
    module = "openprogram.providers.vendors._openai_connection"
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ProviderError, match=r"pip install openai"):
        await anext(OpenAIResponsesProvider().stream(model_at(), t.Context(messages=[])))


async def test_real_answers_say_what_they_say():
    if not CASES.is_dir():
        pytest.skip("the handed cases are not here")
    cases = json.loads((CASES / "expected.json").read_text())
    ours = {name: want for name, want in cases.items() if want["api"] == "openai-responses"}
    assert ours
    for name, want in ours.items():
        raw = (CASES / f"{name}.sse").read_bytes()
        with LoopbackVendor(
            [RawBytes(raw)], protocol=OpenAIResponses(), chunking=chunking.every(61)
        ) as vendor:
            message = done(await ask(vendor))
        blocks = message.content
        assert "".join(b.text for b in blocks if isinstance(b, t.TextContent)) == want["text"]
        calls = [[b.name, b.arguments] for b in blocks if isinstance(b, t.ToolCall)]
        assert calls == want["tool_calls"]
        assert message.usage.output == want["output_tokens"]


QUIET = """
import asyncio, sys
from openprogram.providers import types as t
from openprogram.providers.vendors.openai_responses import PROVIDER

assert not {"openai", "httpx2", "pydantic"} & set(sys.modules)

from openprogram.testing import LoopbackVendor, Pause, Text, Drop
from openprogram.testing.openai_responses import OpenAIResponses

def stream(vendor):
    model = t.Model(id="m", name="m", api="openai-responses", provider="openai",
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
with LoopbackVendor(script, protocol=OpenAIResponses()) as vendor:
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
