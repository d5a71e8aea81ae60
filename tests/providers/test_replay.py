from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shlex
import threading
from typing import TYPE_CHECKING, Any

import pytest

from openprogram import config
from openprogram.__main__ import main
from openprogram.errors import RecordedCallInterrupted, RecordingFileError, ReplayMismatch
from openprogram.providers import types as t
from openprogram.providers.mismatches import list_mismatch_reports
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.sink import RecordingSink
from openprogram.providers.replay import ReplayProvider
from scripted import (
    Scripted,
    collect,
    drain,
    message,
    request,
    rows_of,
    text_events,
    tool_events,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.jsonl"


def record(path: Path, **answers: list[Any]) -> None:
    """Record one call for each request text, with its events."""
    with RecordingSink(path) as sink:
        for text, events in answers.items():
            drain(RecordingProvider(Scripted(events), sink).stream(*request(text)))


def ask(provider: ReplayProvider, text: str) -> list[Any]:
    return drain(provider.stream_simple(*request(text)))


def test_the_recorded_events_come_back_typed_and_in_order(path: Path) -> None:
    events = text_events("one ", "two")
    record(path, first=events, second=tool_events('{"a":', "1}"))
    provider = ReplayProvider(path)
    assert ask(provider, "first") == events
    assert ask(provider, "second") == tool_events('{"a":', "1}")
    provider.assert_consumed()


def test_it_knows_its_recording_and_needs_no_key(path: Path) -> None:
    record(path, first=text_events("x"), second=text_events("y"))
    provider = ReplayProvider(str(path))
    assert (provider.recording_path, provider.requires_credentials) == (path, False)
    assert (provider.call_count, provider.call_total) == (0, 2)
    ask(provider, "first")
    assert (provider.call_count, provider.call_total) == (1, 2)


def test_a_mismatch_names_the_field_and_uses_nothing_up(path: Path) -> None:
    record(path, first=text_events("x"))
    provider = ReplayProvider(path)
    with pytest.raises(ReplayMismatch) as caught:
        ask(provider, "other")
    assert isinstance(caught.value, AssertionError)
    assert caught.value.call_index == 0
    assert caught.value.field_path == "context.messages[0].content"
    assert (caught.value.recorded, caught.value.incoming) == ("first", "other")
    assert str(caught.value).startswith(
        "replay mismatch at call 0, field context.messages[0].content: "
        "recorded 'first', incoming 'other'\n"
    )
    assert provider.call_count == 0
    assert ask(provider, "first") == text_events("x")


def test_a_mismatch_says_what_to_do_next(path: Path) -> None:
    record(path, first=text_events("x"), second=text_events("y"))
    with pytest.raises(ReplayMismatch) as caught:
        ask(ReplayProvider(path), "second")
    assert "recorded call 1 asked exactly this" in caught.value.hint
    assert '"context.messages[0].content"' in caught.value.hint
    assert "record_replay.ignore" in caught.value.hint
    assert "ReplayProvider" in caught.value.hint
    assert "--mismatch" not in caught.value.hint


def _hint_of(provider: ReplayProvider, text: str) -> list[str]:
    with pytest.raises(ReplayMismatch) as caught:
        ask(provider, text)
    assert str(caught.value).split("\n")[1:] == caught.value.hint.split("\n")
    return caught.value.hint.split("\n")


def test_a_mismatch_names_the_line_of_the_recorded_request(path: Path) -> None:
    record(path, first=text_events("x"), second=text_events("y"))
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n\n".join(lines))
    provider = ReplayProvider(path)
    ask(provider, "first")
    (line,) = [at for at, text in enumerate(path.read_text().split("\n"), 1) if '"second"' in text]
    assert _hint_of(provider, "other")[0] == f"the recorded request is line {line} of {path}"
    with pytest.raises(ReplayMismatch, match=f"in line {line} of"):
        provider.assert_consumed()


def test_a_mismatch_gives_a_command_that_adds_the_field_to_what_settings_ignore(path: Path) -> None:
    record(path, first=text_events("x"))
    provider = ReplayProvider(path, ignore=["model.cost"], report_mismatches=True)
    (hint,) = [line for line in _hint_of(provider, "other") if "leave it out" in line]
    _, _, command = hint.partition("comparison: ")
    program, *words = shlex.split(command)
    assert program == "openprogram"
    assert main(words) == 0
    assert config.read_record_replay().ignore == ("model.cost", "context.messages[0].content")


_ANEW = "to make a recording of the run as it is now: openprogram recordings record"


def test_what_cannot_be_left_out_of_the_comparison_has_a_next_step_too(path: Path) -> None:
    record(path, first=text_events("x"))
    rows = rows_of(path)
    rows[1]["model"]["future"] = 1
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert _hint_of(ReplayProvider(path), "first")[1:] == [_ANEW]


def test_a_request_that_was_served_already_is_said_to_be(path: Path) -> None:
    record(path, first=text_events("x"), second=text_events("y"))
    provider = ReplayProvider(path)
    ask(provider, "first")
    used_up = "recorded call 0 asked exactly this, and was served already"
    assert _hint_of(provider, "first")[1] == used_up
    ask(provider, "second")
    more = "the run asks the model more often than the recorded one did"
    assert _hint_of(provider, "first") == [more, used_up, _ANEW]
    assert _hint_of(provider, "other") == [more, _ANEW]


def test_tasks_that_ask_in_another_order_hear_which_call_each_of_them_would_have_had(
    path: Path,
) -> None:
    texts = [f"task {number}" for number in range(40)]
    record(path, **{text: text_events(text) for text in texts})
    provider = ReplayProvider(path)

    async def ask_all(order: list[str]) -> list[Any]:
        streams = [collect(provider.stream_simple(*request(text))) for text in order]
        return list(await asyncio.gather(*streams, return_exceptions=True))

    # The first of them is in its place; no other is, and none of those uses anything up.
    order = [texts[0], *reversed(texts[1:])]
    served, *mismatches = asyncio.run(ask_all(order))
    assert served == text_events(texts[0])
    *early, last = mismatches
    assert last == text_events(texts[1])
    for text, mismatch in zip(order[1:-1], early, strict=True):
        assert isinstance(mismatch, ReplayMismatch)
        assert mismatch.call_index == 1
        assert f"recorded call {texts.index(text)} asked exactly this" in mismatch.hint
    assert provider.call_count == 2
    assert asyncio.run(ask_all(texts[2:])) == [text_events(text) for text in texts[2:]]
    provider.assert_consumed()


def test_a_mismatch_reads_no_more_of_the_file_than_it_may(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(path, first=text_events("x"), second=text_events("y"), third=text_events("z"))
    size = len(path.read_bytes().split(b"\n")[1])
    monkeypatch.setattr("openprogram.providers.replay._SEARCHED_BYTES", size * 2 - 1)
    assert "recorded call 1" in "".join(_hint_of(ReplayProvider(path), "second"))
    assert "recorded call 2" not in "".join(_hint_of(ReplayProvider(path), "third"))


def test_a_file_spoilt_behind_the_request_does_not_hide_the_mismatch(path: Path) -> None:
    record(path, first=text_events("x"), second=text_events("y"))
    provider = ReplayProvider(path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"second"', b"'second'"))
    assert len(_hint_of(provider, "second")) == 3


def test_a_path_of_endless_keys_is_cut_and_not_offered(path: Path) -> None:
    key = "\x1b" + "k" * 100_000
    model, context, _ = request("first")
    one, other = (t.SimpleStreamOptions(metadata={key: number}) for number in (1, 2))
    drain(RecordingProvider(Scripted(text_events("x")), path).stream(model, context, one))
    with pytest.raises(ReplayMismatch) as caught:
        drain(ReplayProvider(path).stream(model, context, other))
    assert len(str(caught.value)) < 1000
    assert str(caught.value).replace("\n", "").isprintable()
    assert "characters): recorded 1, incoming 2" in str(caught.value)
    assert key[1:] in caught.value.field_path


def test_a_long_text_is_shown_where_it_parts(path: Path) -> None:
    start = "the same words " * 100
    record(path, **{start + "one": text_events("x")})
    with pytest.raises(ReplayMismatch) as caught:
        ask(ReplayProvider(path), start + "two")
    line = str(caught.value).splitlines()[0]
    assert "words one'" in line
    assert "words two'" in line
    assert "from character 1,4" in line
    assert len(line) < 300


def test_hostile_values_cannot_act(path: Path) -> None:
    record(path, **{"\x1b[2J\u202e": text_events("x")})
    with pytest.raises(ReplayMismatch) as caught:
        ask(ReplayProvider(path), "\x1b]52;c;AAAA\x07{0}%s")
    assert str(caught.value).replace("\n", "").isprintable()
    assert "{0}%s" in str(caught.value)


def test_past_the_end(path: Path) -> None:
    record(path, first=text_events("x"))
    provider = ReplayProvider(path)
    ask(provider, "first")
    with pytest.raises(ReplayMismatch) as caught:
        ask(provider, "first")
    assert (caught.value.call_index, caught.value.field_path) == (1, "call_index")
    assert "1 call, all served" in str(caught.value)


def test_an_empty_recording_has_nothing_to_serve(path: Path) -> None:
    RecordingSink(path).close()
    provider = ReplayProvider(path)
    provider.assert_consumed()
    with pytest.raises(ReplayMismatch, match="0 calls"):
        ask(provider, "first")


def test_left_over_calls_are_named(path: Path) -> None:
    record(path, first=text_events("x"), second=text_events("y"), third=text_events("z"))
    provider = ReplayProvider(path)
    ask(provider, "first")
    with pytest.raises(ReplayMismatch, match="recorded '3 calls', incoming '1 call'") as caught:
        provider.assert_consumed()
    assert (caught.value.call_index, caught.value.field_path) == (1, "call_index")


@pytest.mark.parametrize("outcome", ["error", "cancelled", "abandoned"])
def test_an_interrupted_call_serves_its_events_and_ends_there(path: Path, outcome: str) -> None:
    record(path, first=text_events("x"), second=text_events("y"))
    rows = rows_of(path)
    rows[-1]["outcome"] = outcome
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    provider = ReplayProvider(path)
    ask(provider, "first")
    served: list[Any] = []

    async def consume() -> None:
        async for event in provider.stream(*request("second")):
            served.append(event)  # noqa: PERF401 - what came before the error is the point

    with pytest.raises(RecordedCallInterrupted) as caught:
        asyncio.run(consume())
    assert served == text_events("y")
    assert (caught.value.call_index, caught.value.outcome) == (1, outcome)
    assert str(caught.value).startswith(f"'{path}': recorded call 1 ended as {outcome}; ")
    provider.assert_consumed()


def test_an_interrupted_call_is_compared_first(path: Path) -> None:
    record(path, first=[*text_events("x")[:3]])
    rows = rows_of(path)
    rows[-1]["outcome"] = "error"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    provider = ReplayProvider(path)
    with pytest.raises(ReplayMismatch):
        ask(provider, "other")
    assert provider.call_count == 0


def test_ignored_paths_are_not_compared(path: Path) -> None:
    record(path, first=text_events("x"))
    provider = ReplayProvider(path, ignore=["context.messages[*].content"])
    assert ask(provider, "other") == text_events("x")


@pytest.mark.parametrize("line", ["context", "no such", "options.sesion_id", ""])
def test_a_wrong_path_to_ignore_is_refused(path: Path, line: str) -> None:
    record(path, first=text_events("x"))
    with pytest.raises(ValueError, match=r"field|path|wide"):
        ReplayProvider(path, ignore=[line])


def test_secrets_differ_without_a_mismatch(path: Path) -> None:
    model, context, _ = request("first")
    one = t.SimpleStreamOptions(api_key="sk-ant-one-000000000000000000000000")
    other = t.SimpleStreamOptions(api_key="sk-ant-two-111111111111111111111111")
    drain(RecordingProvider(Scripted(text_events("x")), path).stream(model, context, one))
    assert drain(ReplayProvider(path).stream(model, context, other)) == text_events("x")
    assert drain(ReplayProvider(path).stream(model, context, t.SimpleStreamOptions())) == (
        text_events("x")
    )


def test_no_call_is_served_twice(path: Path) -> None:
    with RecordingSink(path) as sink:
        for n in range(60):
            drain(RecordingProvider(Scripted(text_events(str(n))), sink).stream(*request("same")))
    provider = ReplayProvider(path)
    answers: list[str] = []

    def consume() -> None:
        for _ in range(10):
            answers.append(ask(provider, "same")[-1].message.content[0].text)  # noqa: PERF401 - shared by threads

    threads = [threading.Thread(target=consume) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers, key=int) == [str(n) for n in range(60)]
    provider.assert_consumed()


def test_a_stream_that_is_not_begun_uses_nothing_up(path: Path) -> None:
    record(path, first=text_events("x"))
    provider = ReplayProvider(path)
    provider.stream(*request("first"))
    assert provider.call_count == 0


def test_other_tasks_run_between_events(path: Path) -> None:
    record(path, first=text_events(*"abcdef"))
    turns: list[str] = []

    async def consume() -> None:
        async def other() -> None:
            for _ in range(4):
                turns.append("other")
                await asyncio.sleep(0)

        async def replay() -> None:
            async for event in ReplayProvider(path).stream(*request("first")):
                turns.append(event.type)  # noqa: PERF401 - each as it comes

        await asyncio.gather(replay(), other())

    asyncio.run(consume())
    assert "other" in turns[: turns.index("done")]


def test_a_file_that_is_removed_or_replaced_is_still_served(path: Path) -> None:
    record(path, first=text_events("x"))
    provider = ReplayProvider(path)
    path.unlink()
    path.write_text("something else")
    assert ask(provider, "first") == text_events("x")


def test_a_file_that_is_written_over_is_noticed(path: Path) -> None:
    record(path, first=text_events("x"))
    provider = ReplayProvider(path)
    with path.open("r+b") as file:
        file.write(b" " * path.stat().st_size)
    with pytest.raises(RecordingFileError, match="was changed while it was being read"):
        ask(provider, "first")


def test_an_unsound_file_is_refused_at_construction(path: Path) -> None:
    record(path, first=text_events("x"))
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(RecordingFileError) as caught:
        ReplayProvider(path)
    assert caught.value.code == "truncated_row"


@pytest.mark.parametrize(
    "noise", [b"\x00", b"[" * 4000, b'{"type":"event","call_index":0,"event_index":1,"event":{']
)
def test_whatever_is_written_over_a_file_only_one_error_comes_of_it(
    path: Path, noise: bytes
) -> None:
    record(path, first=text_events("x", "y"))
    size = path.stat().st_size
    for offset in range(0, size, 37):
        provider = ReplayProvider(path)
        content = path.read_bytes()
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(noise[: size - offset])
        with contextlib.suppress(RecordingFileError, ReplayMismatch):
            ask(provider, "first")
        provider.close()
        path.write_bytes(content)


def test_a_recording_of_other_redaction_rules_is_not_replayed(path: Path) -> None:
    record(path, first=text_events("x"))
    rows = rows_of(path)
    rows[0]["redaction_version"] = 99
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(RecordingFileError, match="redaction version 99") as caught:
        ReplayProvider(path)
    assert caught.value.code == "unsupported_version"


def test_a_file_that_others_may_read_is_refused_with_the_command(path: Path) -> None:
    record(path, first=text_events("x"))
    path.chmod(0o644)
    with pytest.raises(RecordingFileError, match=r"chmod 600") as caught:
        ReplayProvider(path)
    assert caught.value.code == "unsafe_permissions"
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_placeholder_in_tool_arguments_is_served_and_said_once(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    events = tool_events('{"password": "correct horse battery"}')
    record(path, first=events, second=events)
    provider = ReplayProvider(path)
    with caplog.at_level(logging.WARNING):
        served = ask(provider, "first")
        ask(provider, "second")
    assert served[-1].message.content[0].arguments == {"password": "[secret removed]"}
    assert caplog.text.count("where a secret was") == 1


def test_an_error_event_is_served_as_the_answer_it_was(path: Path) -> None:
    error = t.EventError(reason="error", error=message(stop_reason="error", error_message="busy"))
    record(path, first=[error])
    assert ask(ReplayProvider(path), "first") == [error]


def test_a_product_replay_keeps_a_report(path: Path) -> None:
    record(path, first=text_events("x"))
    provider = ReplayProvider(path, ignore=["model.cost"], report_mismatches=True)
    with pytest.raises(ReplayMismatch) as caught:
        ask(provider, "other")
    (report,) = list_mismatch_reports()
    assert f"openprogram recordings tui --mismatch {report.report_id}" in caught.value.hint
    assert report.field_path == "context.messages[0].content"


def test_a_report_that_cannot_be_kept_hides_nothing(
    path: Path, state_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    record(path, first=text_events("x"))
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    (state_dir / "mismatches").write_text("in the way")
    with pytest.raises(ReplayMismatch), caplog.at_level(logging.WARNING):
        ask(ReplayProvider(path, report_mismatches=True), "other")
    assert "no report" in caplog.text


def test_an_old_file_is_held_against_the_types_of_today(path: Path) -> None:
    record(path, first=text_events("x"))
    rows = rows_of(path)
    del rows[1]["model"]["fast"]
    del rows[1]["options"]["metadata"]
    rows[1]["options"] |= {"signal": None, "on_payload": None}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert ask(ReplayProvider(path), "first") == text_events("x")


@pytest.mark.parametrize(
    "header",
    [
        {"format_version": 1},
        {"format_version": 1, "recording_id": 7, "created_at": "never", "future": {"a": 1}},
        {"format_version": 2, "redaction_version": 1},
    ],
)
def test_the_header_is_never_compared(path: Path, header: dict[str, Any]) -> None:
    record(path, first=text_events("x"))
    rows = [{"type": "header", **header}, *rows_of(path)[1:]]
    if header["format_version"] == 2:
        end = {
            "type": "structured_output_end",
            "attempt": 1,
            "mode": "m",
            "value": {"__class__": 1},
        }
        *events, last = rows[2:]
        rows[2:] = [*events[:-1], {**events[-1], "event": end}, last]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    served = ask(ReplayProvider(path), "first")
    assert served[:-1] == text_events("x")[:-1]
    assert served[-1].type == ("done" if header["format_version"] == 1 else "structured_output_end")


def test_lone_surrogates_are_served(path: Path) -> None:
    record(path, **{"\udcb2": text_events("\ud83d", "\u2028")})
    assert ask(ReplayProvider(path), "\udcb2") == text_events("\ud83d", "\u2028")


def test_it_closes_its_file(path: Path) -> None:
    record(path, first=text_events("x"))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None  # noqa: PTH112, PTH208 - counts descriptors
    for _ in range(3):
        ReplayProvider(path).close()
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - counts descriptors


def test_a_fork_in_mid_comparison_leaves_the_child_free(path: Path) -> None:
    record(path, first=text_events("x"))
    provider = ReplayProvider(path)
    with provider._lock:
        child = os.fork()
        if child == 0:
            code = 1
            with contextlib.suppress(BaseException):
                code = int(ask(provider, "first") != text_events("x"))
            os._exit(code)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_two_streams_at_once_take_two_calls(path: Path) -> None:
    record(path, a=text_events("x"))
    with RecordingSink(path) as sink:
        drain(RecordingProvider(Scripted(text_events("y")), sink).stream(*request("a")))
    provider = ReplayProvider(path)

    async def consume() -> list[list[Any]]:
        streams = [provider.stream(*request("a")) for _ in range(2)]
        return list(await asyncio.gather(*map(collect, streams)))

    texts = [events[-1].message.content[0].text for events in asyncio.run(consume())]
    assert texts == ["x", "y"]
