from __future__ import annotations

import asyncio
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from openprogram.agent import retries
from openprogram.agent.loop import RunLimits, run_agent
from openprogram.agent.retries import RetryPolicy
from openprogram.agent.tools import AgentTool, ToolOutput, file_tools
from openprogram.errors import AgentError, ProviderError, ReplayMismatch, ToolError
from openprogram.providers import types as t
from openprogram.providers.comparison import find_first_request_difference
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.requests import dump_request
from openprogram.providers.replay import ReplayProvider
from scripted import message, request, text_events

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path


_STREAM = import_module("openprogram.providers.stream")
_MODEL = request()[0]


class Model:
    """Answers each request with the next of the given streams, and keeps what it was asked."""

    requires_credentials = False

    def __init__(self, *answers: list[Any]) -> None:
        self._answers = list(answers)
        self.contexts: list[t.Context] = []
        self.options: list[Any] = []

    async def stream_simple(
        self, model: t.Model, context: t.Context, options: Any = None
    ) -> AsyncIterator[Any]:
        del model
        self.contexts.append(context)
        self.options.append(options)
        for event in self._answers.pop(0):
            yield event

    stream = stream_simple


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """A function that makes a provider the only one."""

    def register(provider: Any) -> None:
        def get_api_provider(_: str) -> Any:
            return provider

        monkeypatch.setattr(_STREAM, "get_api_provider", get_api_provider)
        monkeypatch.setattr(retries, "get_api_provider", get_api_provider)

    return register


def _calls(*calls: t.ToolCall) -> list[Any]:
    whole = message(*calls, stop_reason="toolUse")
    return [
        t.EventStart(partial=message()),
        *(t.EventToolCallEnd(content_index=0, tool_call=call, partial=whole) for call in calls),
        t.EventDone(reason="toolUse", message=whole),
    ]


def _call(id_: str, name: str, **arguments: Any) -> t.ToolCall:
    return t.ToolCall(id=id_, name=name, arguments=arguments)


class _Words(msgspec.Struct, forbid_unknown_fields=True):
    word: str


def _tool(name: str, run: Callable[[str], ToolOutput]) -> AgentTool:
    return AgentTool(
        definition=t.Tool(name=name, description="d", parameters={"type": "object"}),
        arguments_type=_Words,
        run=lambda arguments: run(arguments.word),
    )


def _echo(word: str) -> ToolOutput:
    return ToolOutput(text=f"echo:{word}")


def _results(context: t.Context) -> list[t.ToolResultMessage]:
    return [each for each in context.messages if isinstance(each, t.ToolResultMessage)]


def _texts(result: t.ToolResultMessage) -> list[str]:
    return [block.text for block in result.content if isinstance(block, t.TextContent)]


async def test_an_answer_without_tools_is_the_answer(serve: Callable[[Any], None]) -> None:
    model = Model(text_events("hel", "lo"))
    serve(model)
    answer = await run_agent("hi", model=_MODEL, system_prompt="be brief")
    assert answer == text_events("hel", "lo")[-1].message
    (context,) = model.contexts
    assert (context.system_prompt, context.tools) == ("be brief", None)
    (asked,) = context.messages
    assert isinstance(asked, t.UserMessage)
    assert asked.content == "hi"
    assert model.options == [t.SimpleStreamOptions()]


async def test_results_go_back_in_the_order_of_the_calls(serve: Callable[[Any], None]) -> None:
    began = threading.Barrier(3, timeout=60)

    def note(word: str) -> ToolOutput:
        began.wait()  # all three run at once, or none goes on
        return _echo(word)

    calls = _calls(
        _call("2", "note", word="b"), _call("1", "note", word="a"), _call("3", "note", word="c")
    )
    model = Model(calls, text_events("done"))
    serve(model)
    await run_agent("hi", model=_MODEL, tools=[_tool("note", note)])
    user, answer, *results = model.contexts[1].messages
    assert (user.role, answer) == ("user", calls[-1].message)
    assert [(each.tool_call_id, _texts(each)) for each in _results(model.contexts[1])] == [
        ("2", ["echo:b"]),
        ("1", ["echo:a"]),
        ("3", ["echo:c"]),
    ]
    assert len(results) == 3


async def test_a_context_that_was_sent_is_not_changed_later(serve: Callable[[Any], None]) -> None:
    model = Model(_calls(_call("1", "f", word="a")), text_events("done"))
    serve(model)
    await run_agent("hi", model=_MODEL, tools=[_tool("f", _echo)])
    assert [len(context.messages) for context in model.contexts] == [1, 3]


async def test_notes_are_blocks_of_their_own(serve: Callable[[Any], None]) -> None:
    def run(word: str) -> ToolOutput:
        return ToolOutput(text="" if word == "blank" else word, notes=("cut", "and more"))

    model = Model(
        _calls(_call("1", "f", word="text"), _call("2", "f", word="blank")), text_events("done")
    )
    serve(model)
    await run_agent("hi", model=_MODEL, tools=[_tool("f", run)])
    first, second = _results(model.contexts[1])
    assert _texts(first) == ["text", "cut", "and more"]
    assert _texts(second) == ["cut", "and more"]


async def test_what_goes_wrong_in_a_tool_is_a_result_that_says_so(
    serve: Callable[[Any], None],
) -> None:
    def refuse(word: str) -> ToolOutput:
        raise ToolError(f"not {word}")

    model = Model(
        _calls(
            _call("1", "f", word="this"),
            _call("2", "no\x1bsuch", word="x"),
            _call("3", "f", wrong="x"),
            _call("4", "g", word="fine"),
        ),
        text_events("done"),
    )
    serve(model)
    await run_agent("hi", model=_MODEL, tools=[_tool("f", refuse), _tool("g", _echo)])
    results = _results(model.contexts[1])
    assert [result.is_error for result in results] == [True, True, True, False]
    assert [result.tool_name for result in results] == ["f", "no\x1bsuch", "f", "g"]
    assert _texts(results[0]) == ["not this"]
    assert _texts(results[1]) == [r"'no\x1bsuch': no such tool; there are: f, g"]
    assert _texts(results[2])[0].startswith("f: the arguments do not fit its parameters: ")


async def test_a_call_is_answered_whatever_the_stop_reason(serve: Callable[[Any], None]) -> None:
    whole = message(_call("1", "f", word="a"), stop_reason="stop")
    model = Model([t.EventDone(reason="stop", message=whole)], text_events("done"))
    serve(model)
    await run_agent("hi", model=_MODEL, tools=[_tool("f", _echo)])
    assert len(_results(model.contexts[1])) == 1


async def test_a_tool_runs_beside_the_event_loop(serve: Callable[[Any], None]) -> None:
    threads: list[threading.Thread] = []

    def run(word: str) -> ToolOutput:
        threads.append(threading.current_thread())
        return _echo(word)

    serve(Model(_calls(_call("1", "f", word="a")), text_events("done")))
    await run_agent("hi", model=_MODEL, tools=[_tool("f", run)])
    assert threads != [threading.current_thread()]


async def test_a_defect_of_a_tool_is_not_hidden(serve: Callable[[Any], None]) -> None:
    def run(word: str) -> ToolOutput:
        raise ZeroDivisionError(word)

    serve(Model(_calls(_call("1", "f", word="a"))))
    with pytest.raises(ZeroDivisionError):
        await run_agent("hi", model=_MODEL, tools=[_tool("f", run)])


async def test_the_caller_sees_each_event_and_each_result(serve: Callable[[Any], None]) -> None:
    calls = _calls(_call("1", "f", word="a"))
    serve(Model(calls, text_events("done")))
    seen: list[Any] = []
    await run_agent(
        "hi",
        model=_MODEL,
        tools=[_tool("f", _echo)],
        on_event=seen.append,
        on_tool_result=seen.append,
    )
    assert seen[: len(calls)] == calls
    assert isinstance(seen[len(calls)], t.ToolResultMessage)
    assert seen[len(calls) + 1 :] == text_events("done")


@pytest.mark.parametrize(("limit", "words"), [(1, "1 turn,"), (3, "3 turns,")])
async def test_a_model_that_never_answers_is_stopped(
    serve: Callable[[Any], None], limit: int, words: str
) -> None:
    model = Model(*[_calls(_call("1", "f", word="a"))] * 5)
    serve(model)
    with pytest.raises(AgentError, match=f"no answer after {words}"):
        await run_agent(
            "hi", model=_MODEL, tools=[_tool("f", _echo)], limits=RunLimits(turns=limit)
        )
    assert len(model.contexts) == limit


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"error_reason": "auth", "error_message": "invalid x-api-key"},
            "'pretend': the request failed (auth): 'invalid x-api-key'",
        ),
        (
            {"error_reason": "rate_limit", "error_message": "slow", "error_retry_after_s": 12.4},
            "'pretend': the request failed (rate_limit): 'slow'; try again in 12 s",
        ),
        (
            {"error_reason": "overloaded", "error_message": "busy", "error_retryable": True},
            "'pretend': the request failed (overloaded): 'busy'; try again later",
        ),
        ({}, "'pretend': the request failed (error): 'no reason given'"),
        (
            {"error_message": "\x1b[2J\n"},
            r"'pretend': the request failed (error): '\x1b[2J\n'",
        ),
    ],
)
async def test_an_error_of_the_vendor_ends_the_run_in_its_words(
    serve: Callable[[Any], None], fields: dict[str, Any], text: str
) -> None:
    failed = message(stop_reason="error", **fields)
    serve(Model([t.EventError(reason="error", error=failed)]))
    with pytest.raises(AgentError) as caught:
        await run_agent("hi", model=_MODEL, retries=RetryPolicy(attempt_limit=1))
    assert str(caught.value) == text


async def test_an_aborted_answer_ends_the_run(serve: Callable[[Any], None]) -> None:
    stopped = message(stop_reason="aborted", error_message="aborted by the caller")
    serve(Model([t.EventError(reason="aborted", error=stopped)]))
    with pytest.raises(AgentError, match="aborted by the caller"):
        await run_agent("hi", model=_MODEL)


async def test_the_words_of_a_vendor_hold_no_key(serve: Callable[[Any], None]) -> None:
    key = "sk-ant-api03-" + "AbCdEfGhIj0123456789" * 3
    failed = message(stop_reason="error", error_message=f"your key {key} is wrong")
    serve(Model([t.EventError(reason="error", error=failed)]))
    with pytest.raises(AgentError) as caught:
        await run_agent("hi", model=_MODEL)
    assert key not in str(caught.value)
    assert "is wrong" in str(caught.value)


@pytest.mark.parametrize("events", [[], text_events("hello")[:-1]])
async def test_a_stream_without_an_end_ends_the_run(
    serve: Callable[[Any], None], events: list[Any]
) -> None:
    serve(Model(events))
    with pytest.raises(ProviderError, match="ended without"):
        await run_agent("hi", model=_MODEL)


async def test_a_callback_that_raises_closes_the_stream(serve: Callable[[Any], None]) -> None:
    closed: list[bool] = []

    class Closing:
        requires_credentials = False

        async def stream_simple(self, *_: Any) -> AsyncIterator[Any]:
            try:
                for event in text_events("hello"):
                    yield event
            finally:
                closed.append(True)

    class LeftError(Exception):
        pass

    def leave(_: object) -> None:
        raise LeftError

    serve(Closing())
    with pytest.raises(LeftError):
        await run_agent("hi", model=_MODEL, on_event=leave)
    assert closed == [True]


async def test_wrong_use_is_said_before_anything_is_asked() -> None:
    with pytest.raises(ValueError, match="same name"):
        await run_agent("hi", model=_MODEL, tools=[_tool("f", _echo), _tool("f", _echo)])
    with pytest.raises(ValueError, match="at least 1"):
        await run_agent("hi", model=_MODEL, limits=RunLimits(turns=0))


def _busy(**fields: Any) -> list[Any]:
    failed = message(stop_reason="error", error_message="busy", error_retryable=True, **fields)
    return [t.EventError(reason="error", error=failed)]


async def test_each_attempt_is_a_recorded_call_and_a_replay_waits_for_none(
    serve: Callable[[Any], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    recording = tmp_path / "x.jsonl"
    calls = _calls(_call("1", "f", word="a"))
    live = Model(_busy(), calls, _busy(error_retry_after_s=7.0), _busy(), text_events("done"))
    serve(RecordingProvider(live, recording))
    seen: list[tuple[int, str | None]] = []

    async def run() -> t.AssistantMessage:
        return await run_agent(
            "hi",
            model=_MODEL,
            tools=[_tool("f", _echo)],
            on_retry=lambda retry: seen.append((retry.attempt, retry.failed.error_message)),
        )

    with monkeypatch.context() as patched:
        patched.setattr("openprogram.agent.loop._pause", note)
        recorded = await run()
    assert [0.5 <= waits[0] <= 1.5, waits[1], 1 <= waits[2] <= 3] == [True, 7.0, True]
    assert live.contexts[0] == live.contexts[1]

    replay = ReplayProvider(recording)
    serve(replay)
    assert replay.call_total == 5
    assert await run() == recorded
    replay.assert_consumed()
    assert seen == [(2, "busy"), (2, "busy"), (3, "busy")] * 2


async def test_a_replay_takes_the_last_recorded_error_as_final(
    serve: Callable[[Any], None], tmp_path: Path
) -> None:
    recording = tmp_path / "x.jsonl"
    serve(RecordingProvider(Model(_busy()), recording))
    with pytest.raises(AgentError, match="'busy'; try again later"):
        await run_agent("hi", model=_MODEL, retries=RetryPolicy(attempt_limit=1))
    replay = ReplayProvider(recording)
    serve(replay)
    with pytest.raises(AgentError, match="'busy'; try again later"):
        await run_agent("hi", model=_MODEL)
    replay.assert_consumed()


async def test_time_that_is_up_ends_tools_and_the_request(
    serve: Callable[[Any], None], tmp_path: Path
) -> None:
    ended: list[str] = []
    hangs = threading.Event()

    async def wait(_: Any) -> ToolOutput:
        try:
            return await asyncio.Future[ToolOutput]()
        finally:
            ended.append("tool")

    def block(_: str) -> ToolOutput:
        hangs.wait()
        return ToolOutput(text="late")

    waiting = AgentTool(
        definition=t.Tool(name="w", description="d", parameters={"type": "object"}),
        arguments_type=dict[str, Any],
        run=wait,
    )
    serve(Model(_calls(_call("1", "w"), _call("2", "b", word="x"))))
    tools = [waiting, _tool("b", block)]
    limits = RunLimits(seconds=0.05)
    with pytest.raises(AgentError, match=r"no answer within 0\.05 s; allow more seconds"):
        await run_agent("hi", model=_MODEL, tools=tools, limits=limits)
    hangs.set()

    class Hanging:
        requires_credentials = False

        async def stream_simple(self, *_: Any) -> AsyncIterator[Any]:
            yield text_events("x")[0]
            await asyncio.Future[None]()

    recording = tmp_path / "x.jsonl"
    serve(RecordingProvider(cast("Any", Hanging()), recording))
    with pytest.raises(AgentError, match="no answer within"):
        await run_agent("hi", model=_MODEL, limits=limits)
    assert ended == ["tool"]
    assert '"outcome":"cancelled"' in recording.read_text()


async def test_a_limit_in_usd_ends_the_run_before_the_next_call(
    serve: Callable[[Any], None],
) -> None:
    usage = t.Usage(input=1000, total_tokens=1000, cost=t.UsageCost(input=0.4, total=0.4))
    calls = _calls(_call("1", "f", word="a"))
    calls[-1] = t.EventDone(
        reason="toolUse", message=message(*calls[-1].message.content, usage=usage)
    )
    priced = msgspec.structs.replace(_MODEL, cost=t.ModelCost(input=400.0, output=1.0))
    model = Model(*[calls] * 5)
    serve(model)
    tools = [_tool("f", _echo)]
    with pytest.raises(AgentError, match=r"0.800000 USD are spent, and one more call is needed"):
        await run_agent("hi", model=priced, tools=tools, limits=RunLimits(usd=0.7))
    assert len(model.contexts) == 2
    with pytest.raises(AgentError, match=r"the prices of '.*' are not known"):
        await run_agent("hi", model=_MODEL, limits=RunLimits(usd=0.7))
    assert len(model.contexts) == 2


def _task(path: str = "notes.txt") -> tuple[list[Any], list[Any]]:
    return _calls(_call("1", "read_file", path=path), _call("2", "list_dir")), text_events("done")


async def test_the_same_task_asks_the_same_but_for_the_timestamps(
    serve: Callable[[Any], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[dict[str, Any]]] = []
    for number, name in enumerate(("here", "there")):
        root = tmp_path / name
        root.mkdir()
        (root / "notes.txt").write_text("the same")
        monkeypatch.chdir(root)
        for module in ("loop", "_tool_calls"):
            monkeypatch.setattr(f"openprogram.agent.{module}.now_ms", lambda number=number: number)
        model = Model(*_task())
        serve(model)
        await run_agent("hi", model=_MODEL, tools=file_tools(root))
        asked.append([dump_request(_MODEL, context, None) for context in model.contexts])
    for first, second in zip(*asked, strict=True):
        assert first != second
        assert find_first_request_difference(first, second, ignore=()) is None


async def test_a_recorded_task_replays_until_a_file_changes(
    serve: Callable[[Any], None], tmp_path: Path
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "notes.txt").write_text("as it was")
    recording = tmp_path / "x.jsonl"
    serve(RecordingProvider(Model(*_task()), recording))
    recorded = await run_agent("hi", model=_MODEL, tools=file_tools(root))

    replay = ReplayProvider(recording)
    serve(replay)
    assert await run_agent("hi", model=_MODEL, tools=file_tools(root)) == recorded
    replay.assert_consumed()

    (root / "notes.txt").write_text("as it is")
    replay = ReplayProvider(recording)
    serve(replay)
    with pytest.raises(ReplayMismatch) as caught:
        await run_agent("hi", model=_MODEL, tools=file_tools(root))
    assert caught.value.field_path == "context.messages[2].content[0].text"
    assert (caught.value.recorded, caught.value.incoming) == ("as it was", "as it is")
    with pytest.raises(ReplayMismatch):
        replay.assert_consumed()
