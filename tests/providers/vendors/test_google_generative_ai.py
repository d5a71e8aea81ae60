"""The provider against a vendor on the loopback interface, byte by byte."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
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
from openprogram.providers.vendors.google_generative_ai import (
    API,
    PROVIDER,
    GoogleGenerativeAiProvider,
)
from openprogram.testing import (
    Answer,
    Drop,
    HttpError,
    LoopbackVendor,
    MidStreamError,
    Pause,
    Ping,
    RawBytes,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
    chunking,
)
from openprogram.testing.google_generative_ai import GoogleGenerativeAi

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

KEY = "test-key"
CONVERSATION = [
    Thinking("größer 🤔", "c2lnbjE="),
    Ping(),
    Text(("Grüße, ", Ping(), "日本 🗾\n\ndata: x\r\u2028"), "c2lnbjI="),
    ToolCall("list_dir", {"path": "ä/😀", "depth": [1, None]}, signature="c2lnbjM="),
    ToolCall("now", id="own-id"),
]
CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "vendors"
ENVIRONMENT = {
    "GOOGLE_API_KEY": "environment-key",
    "GEMINI_API_KEY": "other-environment-key",
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_GENAI_USE_ENTERPRISE": "false",
    "GOOGLE_CLOUD_PROJECT": "environment-project",
    "GOOGLE_CLOUD_LOCATION": "environment-place",
    "GOOGLE_GENAI_API_VERSION": "v9",
    "GOOGLE_GENAI_CLIENT_MODE": "replay",
    "GOOGLE_GENAI_REPLAYS_DIRECTORY": "/nowhere",
    "GOOGLE_GENAI_REPLAY_ID": "x",
    "GOOGLE_GENAI_HTTP_CLIENT": "strange",
    "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9/environment",
    "GOOGLE_APPLICATION_CREDENTIALS": "/nowhere.json",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "",
}
"""All that could lead a request elsewhere, or change it."""


def loopback(script: Any, **options: Any) -> LoopbackVendor:
    return LoopbackVendor(script, protocol=GoogleGenerativeAi(), **options)


def model_at(base_url: str = "http://127.0.0.1:9/v1beta", **fields: Any) -> t.Model:
    described: dict[str, Any] = {
        "id": "gemini-2.5-flash",
        "name": "Gemini",
        "api": API,
        "provider": "google",
        "base_url": base_url,
        "reasoning": True,
        **fields,
    }
    return t.Model(**described)


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
    """Give the message of a stream that ended in an error, and check that it is a whole stream."""
    assert events[0].type == "start"
    assert [event.type for event in events].count("error") == 1
    last = events[-1]
    assert isinstance(last, t.EventError)
    assert KEY not in (last.error.error_message or "")
    return last.error


def without_times(events: list[t.AssistantMessageEvent]) -> list[dict[str, Any]]:
    wire = [t.to_wire(event) for event in events]
    for event in wire:
        for name in ("partial", "message", "error"):
            if name in event:
                event[name]["timestamp"] = 0
    return wire


async def test_a_whole_answer_with_every_kind_of_part() -> None:
    usage = TokenCounts(input=10, output=20, cache_read=30)
    prices = t.ModelCost(input=1, output=2, cache_read=3, cache_write=4)
    with loopback([Answer(parts=CONVERSATION, usage=usage)]) as vendor:
        message = done(await ask(vendor, model=model_at(vendor.base_url, cost=prices)))
        (request,) = vendor.requests
    assert message.stop_reason == "toolUse"
    assert message.content == [
        t.ThinkingContent(thinking="größer 🤔", thinking_signature="c2lnbjE="),
        t.TextContent(text="Grüße, "),
        t.TextContent(text="日本 🗾\n\ndata: x\r\u2028", text_signature="c2lnbjI="),
        t.ToolCall(
            id="call_0",
            name="list_dir",
            arguments={"path": "ä/😀", "depth": [1, None]},
            thought_signature="c2lnbjM=",
        ),
        t.ToolCall(id="own-id", name="now", arguments={}),
    ]
    assert (message.usage.input, message.usage.output, message.usage.cache_read) == (10, 20, 30)
    assert round(message.usage.cost.total * 1_000_000) == 10 + 40 + 90
    assert request.path == "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    assert request.headers["x-goog-api-key"] == KEY
    assert request.outcome.result(10) == "answered"


async def test_what_was_said_goes_back_with_each_signature_on_its_part() -> None:
    """The vendor refuses a signature on any other part than the one that bore it."""
    tool = t.Tool(name="list_dir", description="", parameters={})
    with loopback([CONVERSATION, [Text("done")]]) as vendor:
        model = model_at(vendor.base_url, id="gemini-3-pro-preview")
        first = done(await ask(vendor, model=model))
        results = [
            t.ToolResultMessage(
                tool_call_id=call.id,
                tool_name=call.name,
                content=[
                    t.TextContent(text="ok"),
                    t.ImageContent(data="AAAA", mime_type="image/png"),
                ],
                timestamp=0,
            )
            for call in first.content
            if isinstance(call, t.ToolCall)
        ]
        asked = t.UserMessage(content="hi", timestamp=0)
        more = [asked, first, *reversed(results)]
        done(await ask(vendor, *more, model=model, tools=[tool], reasoning="low"))
        body = vendor.requests[-1].body
    _, answer, responses = body["contents"]
    signatures = [part.get("thoughtSignature") for part in answer["parts"]]
    assert signatures == ["c2lnbjE=", None, "c2lnbjI=", "c2lnbjM=", None]
    said = [part["functionResponse"] for part in responses["parts"]]
    assert [one["id"] for one in said] == ["call_0", "own-id"]
    assert body["generationConfig"]["thinkingConfig"]["thinkingLevel"] == "LOW"


async def test_awkward_pieces_give_the_same_events() -> None:
    policies = [chunking.whole, chunking.every_byte, chunking.inside_characters]
    script = [Answer(parts=CONVERSATION, chunking=policy) for policy in policies]
    with loopback(script) as vendor:
        one, two, three = [without_times(await ask(vendor)) for _ in policies]
    assert one == two == three
    assert one[-1]["type"] == "done"


def test_any_pieces_give_the_same_events() -> None:
    async def collect(base_url: str) -> list[dict[str, Any]]:
        return without_times([event async for event in stream(model_at(base_url))])

    cuts: list[int] = []
    answers = Answer(parts=CONVERSATION, chunking=chunking.at(cuts))
    with loopback([answers] * 100) as vendor, asyncio.Runner() as runner:
        expected = runner.run(collect(vendor.base_url))

        @settings(max_examples=25)
        @given(offsets=st.lists(st.integers(1, 2000), max_size=60))
        def check(offsets: list[int]) -> None:
            cuts[:] = offsets
            assert runner.run(collect(vendor.base_url)) == expected

        check()


async def test_each_chunk_is_passed_on_while_the_rest_is_still_to_come() -> None:
    pause = Pause()
    with loopback([[Text(("first", pause, "second"))]]) as vendor:
        async with aclosing(stream(model_at(vendor.base_url))) as events:
            seen = [await anext(events) for _ in range(3)]
            assert seen[-1].type == "text_delta"
            assert not pause.released.done()
            pause.release()
            rest = [event.type async for event in events]
    assert rest == ["text_delta", "text_end", "done"]


async def test_two_streams_at_once_do_not_mix() -> None:
    pauses = [Pause(), Pause()]
    script = [[Text((f"{n}a", pauses[n], f"{n}b"))] for n in range(2)]
    with loopback(script) as vendor:
        model = model_at(vendor.base_url)

        async def collect() -> str:
            return "".join([e.delta async for e in stream(model) if e.type == "text_delta"])

        tasks = [asyncio.create_task(collect()) for _ in range(2)]
        for pause in pauses:
            await asyncio.wrap_future(pause.reached)
        for pause in reversed(pauses):
            pause.release()
        assert sorted(await asyncio.gather(*tasks)) == ["0a0b", "1a1b"]


async def test_ten_megabytes_of_text_come_whole() -> None:
    text = "0123456789abcdef" * 655_360
    with loopback([[Text((text,))]]) as vendor:
        (block,) = done(await ask(vendor)).content
    assert isinstance(block, t.TextContent)
    assert block.text == text


QUOTA: dict[str, Any] = {
    "error": {
        "code": 429,
        "message": "You exceeded your current quota",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"},
        ],
    }
}
TOO_LONG = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
REFUSALS: list[tuple[HttpError, str, bool, float | None]] = [
    (HttpError(status=401), "auth", False, None),
    (HttpError(status=403), "auth", False, None),
    (HttpError(status=400, message="API key not valid. Please pass one."), "auth", False, None),
    (HttpError(status=404), "bad_request", False, None),
    (HttpError(status=400), "bad_request", False, None),
    (HttpError(status=400, message=TOO_LONG), "context_length", False, None),
    (HttpError(status=413, body=b"<html>"), "context_length", False, None),
    (HttpError(status=429, headers={"retry-after": "12"}), "rate_limit", True, 12.0),
    (HttpError(status=429, body=json.dumps(QUOTA).encode()), "rate_limit", True, 34.5),
    (HttpError(status=429, body=json.dumps([QUOTA]).encode()), "rate_limit", True, 34.5),
    (HttpError(status=500), "server", True, None),
    (HttpError(status=502, body=b"<html>"), "server", True, None),
    (HttpError(status=503), "overloaded", True, None),
    (HttpError(status=504), "server", True, None),
    (HttpError(status=418, body=b'{"error": 5}'), "bad_request", False, None),
    (HttpError(status=400, body=b'{"error": {"message": {"a": 1}}}'), "bad_request", False, None),
    (HttpError(status=500, body=b"\xff"), "server", True, None),
    (HttpError(status=500, body=b"[" * 100_000), "server", True, None),
    (HttpError(status=307, headers={"location": "/x"}, body=b""), "unknown", False, None),
]


async def test_a_refusal_is_an_error_event_of_its_class_and_is_not_retried() -> None:
    with loopback([refusal for refusal, *_ in REFUSALS]) as vendor:
        for count, (refusal, *expected) in enumerate(REFUSALS, start=1):
            message = failed(await ask(vendor))
            assert len(vendor.requests) == count, refusal
            told = [message.error_reason, message.error_retryable, message.error_retry_after_s]
            assert told == expected, refusal
            if refusal.body is None:
                assert message.error_message == refusal.message


async def test_an_error_in_mid_stream_keeps_what_had_come() -> None:
    pretty = json.dumps(QUOTA, indent=2).encode()
    nameless = b'data: {"error": {"message": "gone wrong"}}\n\n'
    with loopback(
        [
            [Text(("half", MidStreamError("UNAVAILABLE", "The model is overloaded.")))],
            RawBytes(pretty),
            [Text("half"), RawBytes(nameless)],
        ]
    ) as vendor:
        cut, whole_body, without_code = [failed(await ask(vendor)) for _ in range(3)]
    assert cut.content == without_code.content == [t.TextContent(text="half")]
    assert (cut.error_reason, cut.error_message) == ("overloaded", "The model is overloaded.")
    assert (whole_body.error_reason, whole_body.error_retry_after_s) == ("rate_limit", 34.5)
    assert (without_code.error_reason, without_code.error_message) == ("unknown", "gone wrong")


async def test_a_lost_connection_is_a_network_error() -> None:
    script = [Drop(), [Text(("half", Drop()))], [ToolCall("t", ("{", Drop()))], RawBytes(b"")]
    with loopback(script) as vendor:
        gone = vendor.base_url
        messages = [failed(await ask(vendor)) for _ in script]
    messages.append(failed([event async for event in stream(model_at(gone))]))
    assert [message.error_reason for message in messages] == ["network"] * 5
    assert all(message.error_retryable for message in messages)
    assert messages[1].content == [t.TextContent(text="half")]
    assert messages[2].content == []


async def test_an_answer_that_is_no_answer_is_a_bad_response() -> None:
    before = b'data: {"candidates": [{"content": {"parts": [{"text": "good"}]}}]}\n\n'
    raws = [
        b"data: {\n\n",
        b"data: \xff\n\n",
        b"data: []\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"data: " + b"9" * 5000 + b"\n\n",
    ]
    with loopback([RawBytes(before + raw) for raw in raws]) as vendor:
        messages = [failed(await ask(vendor)) for _ in raws]
    assert [message.error_reason for message in messages] == ["bad_response"] * len(raws)
    assert all(message.content == [t.TextContent(text="good")] for message in messages)


async def test_arguments_that_are_no_json_are_an_error_not_a_crash() -> None:
    with loopback([[ToolCall("t", '{"a": ')], [ToolCall("t", "[]")]]) as vendor:
        messages = [failed(await ask(vendor)) for _ in range(2)]
    assert [message.error_reason for message in messages] == ["bad_response"] * 2


async def test_lone_surrogates_come_in_and_do_not_kill_the_next_request() -> None:
    with loopback([[Text("a\ud83d")], [Text("ok")]]) as vendor:
        answer = done(await ask(vendor))
        assert answer.content == [t.TextContent(text="a\ud83d")]
        user = t.UserMessage(content="\udcb2", timestamp=0)
        done(await ask(vendor, user, answer, user))
        sent = vendor.requests[-1].body["contents"]
    assert [content["parts"][0]["text"] for content in sent] == ["�", "a�", "�"]


async def read_to_the_end(events: AsyncGenerator[t.AssistantMessageEvent, None]) -> None:
    async with aclosing(events):
        async for _ in events:
            pass


@pytest.mark.parametrize("is_early", [True, False])
async def test_cancelling_the_reader_closes_the_connection(is_early: bool) -> None:
    pause = Pause()
    with loopback([[pause] if is_early else [Text(("a", pause))]]) as vendor:
        task = asyncio.create_task(read_to_the_end(stream(model_at(vendor.base_url))))
        await asyncio.wrap_future(pause.reached)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
    assert outcome == "disconnected"


async def test_closing_or_dropping_the_stream_closes_the_connection() -> None:
    with loopback([[Text(("a", Pause()))], [Text(("a", Pause()))]]) as vendor:
        events = stream(model_at(vendor.base_url))
        seen = [(await anext(events)).type for _ in range(3)]
        await events.aclose()
        assert await asyncio.wrap_future(vendor.requests[0].outcome) == "disconnected"
        async for event in stream(model_at(vendor.base_url)):
            if event.type == "text_delta":
                break
        gc.collect()
        assert await asyncio.wrap_future(vendor.requests[1].outcome) == "disconnected"
    assert seen == ["start", "text_start", "text_delta"]


@pytest.mark.parametrize("make_signal", [threading.Event, asyncio.Event])
async def test_a_set_signal_closes_the_connection_and_ends_the_stream(
    make_signal: Callable[[], Any],
) -> None:
    signal = make_signal()
    events: list[t.AssistantMessageEvent] = []
    with loopback([[Text(("half", Pause()))]]) as vendor:
        async for event in stream(model_at(vendor.base_url), signal=signal):
            events.append(event)
            if event.type == "text_delta":
                signal.set()
        outcome = await asyncio.wrap_future(vendor.requests[0].outcome)
        again = [event.type async for event in stream(model_at(vendor.base_url), signal=signal)]
        assert len(vendor.requests) == 1
    last = events[-1]
    assert isinstance(last, t.EventError)
    assert (last.reason, last.error.error_reason) == ("aborted", "aborted")
    assert last.error.content == [t.TextContent(text="half")]
    assert outcome == "disconnected"
    assert again == ["start", "error"]


async def test_the_payload_is_shown_before_it_is_sent() -> None:
    shown: list[Any] = []
    with loopback([[Text("x")]]) as vendor:
        events = stream(model_at(vendor.base_url), on_payload=shown.append)
        await anext(events)
        assert len(shown) == 1
        assert vendor.requests == []
        async for _ in events:
            pass
        assert vendor.requests[0].body == shown[0]
    assert KEY not in json.dumps(shown)


async def test_headers_of_the_model_and_of_the_call_are_sent_once_each() -> None:
    with loopback([[Text("x")]]) as vendor:
        model = model_at(vendor.base_url, headers={"X-One": "model", "x-two": "model"})
        await ask(vendor, model=model, headers={"X-Two": "call", "content-type": "application/x"})
        headers = vendor.requests[0].headers
    assert (headers["x-one"], headers["x-two"]) == ("model", "call")
    assert headers["content-type"] == "application/x"
    assert headers["x-goog-api-client"].startswith("google-genai-sdk/")


async def test_the_environment_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n")
    with loopback([[Text("x")], [Text("x")], [Text("x")]]) as vendor:
        await ask(vendor)
        for name, value in {**ENVIRONMENT, "NETRC": str(netrc)}.items():
            monkeypatch.setenv(name, value)
        with caplog.at_level(logging.WARNING):
            assert done(await ask(vendor)).content == [t.TextContent(text="x")]
            without_key = failed(await ask(vendor, api_key=None))
            await ask(vendor, api_key=" ", headers={"Authorization": "Bearer own"})
        plain, changed, with_header = vendor.requests
    assert (plain.headers, plain.raw_body, plain.path) == (
        changed.headers,
        changed.raw_body,
        changed.path,
    )
    assert without_key.error_reason == "auth"
    assert with_header.headers["authorization"] == "Bearer own"
    assert "x-goog-api-key" not in with_header.headers
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


async def test_what_the_sdk_says_to_others_is_still_heard(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with loopback([[Text("x")]]) as vendor:
        await ask(vendor)
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "k")
    from google import genai  # loaded by then

    with genai.Client():
        pass
    assert "Both GOOGLE_API_KEY and GEMINI_API_KEY are set" in caplog.text


async def test_an_http_library_that_is_named_and_not_there_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with loopback([[Text("x")]]) as vendor:
        await ask(vendor)
        monkeypatch.setenv("GOOGLE_GENAI_HTTP_CLIENT", "httpx")
        monkeypatch.setattr("google.genai._api_client.httpx", None)
        message = failed(await ask(vendor))
        assert len(vendor.requests) == 1
    assert "GOOGLE_GENAI_HTTP_CLIENT=httpx" in (message.error_message or "")


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "nul\0"])
async def test_a_key_that_no_header_can_carry_is_an_error_that_hides_it(key: str) -> None:
    with loopback([]) as vendor:
        message = failed(await ask(vendor, api_key=key))
    assert message.error_reason == "auth"
    assert key[:3] not in (message.error_message or "")


async def test_a_header_that_cannot_be_sent_is_an_error_that_hides_it() -> None:
    values: list[Any] = ["secret\nvalue", "secret\0", "secret\ud83d"]
    with loopback([]) as vendor:
        messages = [failed(await ask(vendor, headers={"x-own": value})) for value in values]
    assert {message.error_reason for message in messages} == {"bad_request"}
    assert not any("secret" in (message.error_message or "") for message in messages)


async def test_a_place_or_a_model_that_is_none_is_an_error() -> None:
    places = ["", " ", "ftp://127.0.0.1", "http://[", "127.0.0.1:9", "http://\ud83d"]
    names = ["", "../x", "models/../files", "a//b", "\ud83d"]
    models = [model_at(place) for place in places] + [model_at(id=name) for name in names]
    for model in models:
        message = failed([event async for event in stream(model)])
        assert message.error_reason in {"bad_request", "network"}, model


async def test_no_name_of_a_model_leads_elsewhere() -> None:
    names = ["a?b=c", "a#b", "a b", "tunedModels/x", "models/m", "ä"]
    with loopback([[Text("x")] for _ in names]) as vendor:
        for name in names:
            await ask(vendor, model=model_at(vendor.base_url, id=name))
        paths = [request.path for request in vendor.requests]
    assert [path.removeprefix("/v1beta/").partition(":")[0] for path in paths] == [
        "models/a%3Fb%3Dc",
        "models/a%23b",
        "models/a%20b",
        "tunedModels/x",
        "models/m",
        "models/%C3%A4",
    ]


async def test_a_request_that_cannot_be_said_is_an_error_before_anything_is_sent() -> None:
    with loopback([]) as vendor:
        message = failed(await ask(vendor, web_search=True))
        assert vendor.requests == []
    assert message.error_reason == "bad_request"


async def test_plain_streams_do_not_reason() -> None:
    context = t.Context(messages=[t.UserMessage(content="hi", timestamp=0)])
    options = t.SimpleStreamOptions(api_key=KEY, reasoning="high")
    with loopback([[Text("x")], [Text("y")]]) as vendor:
        model = model_at(vendor.base_url)
        async for _ in PROVIDER.stream(model, context, options):
            pass
        async for _ in PROVIDER.stream_simple(model, context, options):
            pass
        bodies = [request.body["generationConfig"] for request in vendor.requests]
    assert [body["thinkingConfig"] for body in bodies] == [
        {"thinkingBudget": 0},
        {"includeThoughts": True, "thinkingBudget": 7168},
    ]


async def test_a_missing_sdk_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "openprogram.providers.vendors._google_connection"
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "google.genai", None)
    monkeypatch.delattr("google.genai", raising=False)
    with pytest.raises(ProviderError, match=r"pip install google-genai"):
        await anext(GoogleGenerativeAiProvider().stream(model_at(), t.Context(messages=[])))


async def test_real_answers_say_what_they_say() -> None:
    if not CASES.is_dir():
        pytest.skip("the handed cases are not here")
    wanted = json.loads((CASES / "expected.json").read_text())
    names = [name for name, want in wanted.items() if want["api"] == API]
    raws = [RawBytes((CASES / f"{name}.sse").read_bytes()) for name in names]
    with loopback(raws, chunking=chunking.every(61)) as vendor:
        for name in names:
            want = wanted[name]
            message = done(await ask(vendor))
            texts = [b.text for b in message.content if isinstance(b, t.TextContent)]
            calls = [[b.name, b.arguments] for b in message.content if isinstance(b, t.ToolCall)]
            assert ("".join(texts), calls) == (want["text"], want["tool_calls"])
            assert message.usage.output == want["output_tokens"]


QUIET = """
import asyncio, os, sys
from openprogram.providers import types as t
from openprogram.providers.vendors.google_generative_ai import PROVIDER

assert "google.genai" not in sys.modules and "httpx2" not in sys.modules
os.environ.update(GOOGLE_API_KEY="a", GEMINI_API_KEY="b", GOOGLE_GENAI_USE_VERTEXAI="1",
                  GOOGLE_GENAI_USE_ENTERPRISE="0", GOOGLE_GENAI_HTTP_CLIENT="strange")

from openprogram.testing import LoopbackVendor, Pause, Text, Drop
from openprogram.testing.google_generative_ai import GoogleGenerativeAi

def stream(vendor):
    model = t.Model(id="m", name="m", api="google-generative-ai", provider="google",
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
with LoopbackVendor(script, protocol=GoogleGenerativeAi()) as vendor:
    for run in (first_two_at_once, drop, cancel, leave_pending, wait):
        asyncio.run(run(vendor))
print("quiet")
"""


def test_the_sdk_loads_on_the_first_call_and_no_end_of_a_stream_makes_a_sound() -> None:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", QUIET]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    # Development mode reports slow steps of the event loop; importing an SDK beside it is one.
    noise = [line for line in result.stderr.splitlines() if not line.startswith("Executing <")]
    assert (result.returncode, noise) == (0, [])
    assert result.stdout == "quiet\n"
