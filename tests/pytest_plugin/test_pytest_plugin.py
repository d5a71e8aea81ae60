"""Tests record once and replay offline: whole runs of pytest on suites of their own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from openprogram.providers import types as t
from openprogram.providers.recording import RecordingProvider, RecordingSink
from openprogram.testing import FauxProvider, Text
from suite import ANSWERS, SUITE, write_suite

if TYPE_CHECKING:
    from pathlib import Path

    from suite import Run


def _recordings(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.jsonl"))


@pytest.fixture
def recorded(pytester: pytest.Pytester, run: Run) -> pytest.Pytester:
    """A suite with its recordings, as a run with `--record-mode=once` makes them."""
    del run  # it makes the suite's conftest
    write_suite(pytester, SUITE)
    folder = pytester.path / "recordings" / "test_agent"
    folder.mkdir(parents=True)

    async def record(name: str, *texts: str) -> None:
        faux = FauxProvider([[Text(ANSWERS[text])] for text in texts])
        model = t.Model(id="m", name="M", api="faux", provider="faux", base_url="")
        with RecordingSink(folder / f"{name}.jsonl") as sink:
            for text in texts:
                context = t.Context(messages=[t.UserMessage(content=text, timestamp=1)])
                provider = RecordingProvider(faux, sink)
                async for _ in provider.stream(model, context, t.StreamOptions()):
                    pass
        (folder / f"{name}.jsonl.lock").unlink(missing_ok=True)

    asyncio.run(record("test_greets", "hi"))
    asyncio.run(record("test_asks_twice", "one", "two"))
    return pytester


def test_it_records_once_then_replays_offline(pytester: pytest.Pytester, run: Run):
    write_suite(pytester, SUITE)
    # This run finds the plugin by its entry point, among all others.
    run("--record-mode=once", PYTEST_DISABLE_PLUGIN_AUTOLOAD="").assert_outcomes(passed=2)
    files = [
        "recordings/test_agent/test_asks_twice.jsonl",
        "recordings/test_agent/test_greets.jsonl",
    ]
    assert _recordings(pytester.path) == files
    (pytester.path / files[0]).chmod(0o644)
    before = {name: (pytester.path / name).read_bytes() for name in files}
    asked = (pytester.path / "asked.txt").read_text()
    assert asked == "hi\none\ntwo\n"
    for mode in ("--record-mode=once", "-q"):
        run(mode, answers={}).assert_outcomes(passed=2)
    assert before == {name: (pytester.path / name).read_bytes() for name in files}
    assert (pytester.path / "asked.txt").read_text() == asked


def test_no_sdk_is_loaded_by_a_replay(recorded: pytest.Pytester, run: Run):
    write_suite(
        recorded,
        SUITE
        + """
def test_nothing_was_loaded():
    import sys
    assert not {"anthropic", "openai", "textual"} & sys.modules.keys()
""",
    )
    run().assert_outcomes(passed=3)


def test_a_changed_prompt_fails_that_test_with_every_path(recorded: pytest.Pytester, run: Run):
    changed = SUITE.replace('ask("two")', 'ask("two or so")')
    write_suite(recorded, changed)
    result = run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*replay mismatch at call 1, field context.messages[[]0[]].content: *",
            "*the recorded request: */recordings/test_agent/test_asks_twice.jsonl:*",
            "*context.messages[[]0[]].content*",
            "*recorded  two*",
            "*incoming  two or so*",
            "*^ line 1, column 4*",
            "*to accept what the test does today: pytest *test_asks_twice* --record-mode=rewrite*",
        ]
    )


def test_a_mismatch_that_the_code_swallows_and_leftovers_fail_too(
    recorded: pytest.Pytester, run: Run
):
    write_suite(
        recorded,
        """
import pytest

@pytest.mark.provider_recording
def test_greets(ask):
    try:
        ask("ho")
    except AssertionError:
        pass

def test_asks_twice(provider_recording, ask):
    assert ask("one") == "first"
""",
    )
    result = run()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*recorded  hi*", "*incoming  ho*"])
    result.stdout.fnmatch_lines(["*call_index*2 calls*1 call*", "*asks, in line *"])


def test_without_a_recording_nothing_goes_live(pytester: pytest.Pytester, run: Run):
    write_suite(pytester, SUITE)
    setting = ("-o", "provider_record_mode=once")
    for result in (run(), run(*setting, CI="1")):
        result.assert_outcomes(failed=2)
        result.stdout.fnmatch_lines(
            ["*no recording of this test*pytest *test_greets* --record-mode=once*"]
        )
    assert _recordings(pytester.path) == []
    assert not (pytester.path / "asked.txt").exists()
    run(*setting).assert_outcomes(passed=2)
    wrong = run("--record-mode=sometimes")
    wrong.stdout.fnmatch_lines(["*no mode of provider recordings; choose one of none, once*"])


def test_the_network_is_blocked_while_a_recording_is_replayed(recorded: pytest.Pytester, run: Run):
    write_suite(
        recorded,
        """
import asyncio, socket, pytest

@pytest.mark.provider_recording
def test_greets(ask):
    assert ask("hi") == "hello"
    for reach in (
        lambda: socket.create_connection(("127.0.0.1", 9), 1),
        lambda: socket.getaddrinfo("model.test", 443),
        lambda: asyncio.run(asyncio.open_connection("127.0.0.1", 9)),
    ):
        with pytest.raises(Exception, match="the network is blocked"):
            reach()

@pytest.mark.provider_recording(path="recordings/test_agent/test_greets.jsonl",
                                allow_hosts=["127.0.0.1"])
def test_may(ask):
    assert ask("hi") == "hello"
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()

def test_unmarked():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
""",
    )
    result = run()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*test tried to reach '127.0.0.1'; to let it, say *allow_hosts*"])


def test_a_failed_run_keeps_its_calls_aside_and_replaces_nothing(
    recorded: pytest.Pytester, run: Run
):
    path = recorded.path / "recordings/test_agent/test_greets.jsonl"
    before = path.read_bytes()
    result = run("--record-mode=rewrite", answers={**ANSWERS, "hi": "goodbye"})
    result.assert_outcomes(passed=1, failed=1)
    assert path.read_bytes() == before
    kept = path.with_name("test_greets.failed.jsonl")
    assert "goodbye" in kept.read_text()
    result.stdout.fnmatch_lines(["*the calls of this failed run are kept in *.failed.jsonl*"])
    assert "unused provider recordings" not in result.stdout.str()


def test_rewrite_records_anew_and_verify_compares_with_today(recorded: pytest.Pytester, run: Run):
    write_suite(recorded, SUITE.replace('== "hello"', ""))
    path = recorded.path / "recordings/test_agent/test_greets.jsonl"
    before = path.read_bytes()
    run("--record-mode=verify").assert_outcomes(passed=2)
    today = {**ANSWERS, "hi": "good day"}
    differs = run("--record-mode=verify", answers=today)
    differs.assert_outcomes(passed=1, failed=1)
    differs.stdout.fnmatch_lines(["*First difference: call 0, field answer*", "*good day*"])
    assert path.read_bytes() == before
    run("--record-mode=rewrite", answers=today).assert_outcomes(passed=2)
    assert "good day" in path.read_text()


def test_unused_recordings_are_listed_under_xdist_too(recorded: pytest.Pytester, run: Run):
    folder = recorded.path / "recordings" / "test_agent"
    (folder / "test_gone.jsonl").write_bytes((folder / "test_greets.jsonl").read_bytes())
    for arguments in (("-n2",), ("-k", "greets")):
        result = run(*arguments)
        result.stdout.fnmatch_lines(
            ["*unused provider recordings*", "recordings/test_agent/test_gone.jsonl"]
        )
        assert result.ret == 0
    part = run("test_agent.py::test_greets")
    assert "unused provider recordings" not in part.stdout.str()


def test_coroutines_of_asyncio_and_anyio_replay(recorded: pytest.Pytester, run: Run):
    write_suite(
        recorded,
        """
import pytest

@pytest.mark.asyncio
@pytest.mark.provider_recording
async def test_greets(ask):
    assert await ask.later("hi") == "hello"

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.provider_recording(path="recordings/test_agent/test_asks_twice.jsonl")
async def test_with_anyio(ask, anyio_backend):
    assert await ask.later("one") == "first"
    assert await ask.later("two") == "second"
""",
    )
    result = run()
    result.assert_outcomes(passed=2)


def test_a_large_suite_replays_under_xdist(recorded: pytest.Pytester, run: Run):
    write_suite(
        recorded,
        """
import pytest

@pytest.mark.parametrize("number", range(200))
@pytest.mark.provider_recording(path="recordings/test_agent/test_greets.jsonl")
def test_greets(ask, number):
    assert ask("hi" if number != 117 else "changed") == "hello"
""",
    )
    result = run("-n2", "-q")
    result.assert_outcomes(passed=199, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_agent.py::test_greets[[]117[]]*"])


def test_the_plugin_loads_nothing_until_it_is_used(pytester: pytest.Pytester, run: Run):
    write_suite(
        pytester,
        """
import sys

def test_plain():
    loaded = {name for name in sys.modules if name.startswith("openprogram")}
    assert loaded <= {"openprogram", "openprogram.pytest_plugin"}
""",
    )
    pytester.makeconftest("")
    run().assert_outcomes(passed=1)


@pytest.mark.usefixtures("recorded")
def test_it_says_so_when_this_process_replays_already(run: Run, state_dir: Path):
    state_dir.mkdir(mode=0o700)
    (state_dir / "config.json").write_text('{"record_replay": {"mode": "replay", "file": "x"}}')
    (state_dir / "config.json").chmod(0o600)
    result = run(OPENPROGRAM_STATE_DIR=str(state_dir))
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*records or replays already*recordings off*"])


def test_an_agent_takes_the_last_recorded_error_as_final(pytester: pytest.Pytester, run: Run):
    suite = """
import asyncio, os, pytest
from openprogram.agent.loop import run_agent
from openprogram.agent.retries import RetryPolicy
from openprogram.errors import AgentError
from openprogram.providers import register_api_provider, types as t
from openprogram.testing import FauxProvider, HttpError

@pytest.mark.provider_recording
def test_gives_up():
    busy = HttpError(status=529, kind="overloaded_error", message="busy")
    register_api_provider("busy", FauxProvider([busy]))
    model = t.Model(id="m", name="M", api="busy", provider="faux", base_url="")
    with pytest.raises(AgentError, match="'busy'; try again later"):
        asyncio.run(run_agent("hi", model=model, retries=RetryPolicy(attempt_limit=LIMIT)))
"""
    write_suite(pytester, suite.replace("LIMIT", "1"))
    run("--record-mode=once").assert_outcomes(passed=1)
    write_suite(pytester, suite.replace("LIMIT", "3"))
    run().assert_outcomes(passed=1)
