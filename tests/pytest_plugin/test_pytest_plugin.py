"""Tests record once and replay offline: whole runs of pytest on suites of their own."""

from __future__ import annotations

import asyncio
import shutil
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
    wrong.stderr.fnmatch_lines(["*no mode of provider recordings; choose one of none, once*"])
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR


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


def test_calls_of_many_threads_are_one_recording(pytester: pytest.Pytester, run: Run):
    write_suite(
        pytester,
        """
import pytest
from concurrent.futures import ThreadPoolExecutor

@pytest.mark.provider_recording
def test_threads(ask):
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, ["same"] * 16)) == ["yes"] * 16
""",
    )
    run("--record-mode=once", answers={"same": "yes"}).assert_outcomes(passed=1)
    path = pytester.path / "recordings/test_agent/test_threads.jsonl"
    assert path.read_text().count('"type":"request"') == 16
    run(answers={}).assert_outcomes(passed=1)


def test_nothing_is_read_or_written_through_a_link(recorded: pytest.Pytester, run: Run):
    outside = recorded.path.parent / f"{recorded.path.name}-outside"
    (recorded.path / "recordings").rename(outside)
    (recorded.path / "recordings").symlink_to(outside)
    before = {path: path.read_bytes() for path in outside.rglob("*.jsonl")}
    for path in before:
        path.chmod(0o644)
    for mode in ("none", "rewrite"):
        result = run(f"--record-mode={mode}")
        result.assert_outcomes(errors=2)
        result.stdout.fnmatch_lines(["*/recordings: is a symbolic link; recordings are neither*"])
    assert before == {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    assert {path.stat().st_mode & 0o777 for path in before} == {0o644}
    assert not (recorded.path / "asked.txt").exists()


def test_calls_that_cannot_be_placed_are_kept(recorded: pytest.Pytester, run: Run):
    shutil.rmtree(recorded.path / "recordings")
    (recorded.path / "recordings").mkdir()
    (recorded.path / "recordings" / "test_agent").touch()
    result = run("--record-mode=once")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*/recordings/test_agent: is no folder; move it away*"])
    shutil.rmtree(recorded.path / "recordings")
    write_suite(
        recorded,
        """
import pathlib, pytest

@pytest.mark.provider_recording
def test_greets(ask):
    assert ask("hi") == "hello"
    (pathlib.Path(__file__).parent / "recordings").touch()
""",
    )
    result = run(
        "--record-mode=once", f"--basetemp={recorded.path}/temp", TMPDIR=str(recorded.path)
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*is no folder*; the calls of this run stay in */calls.jsonl*"])
    [kept] = recorded.path.glob("provider-recording-*/calls.jsonl")
    assert "hello" in kept.read_text()


def test_two_tests_never_make_one_recording(recorded: pytest.Pytester, run: Run):
    write_suite(
        recorded,
        """
import pytest

@pytest.mark.provider_recording(path="Shared.jsonl")
def test_one(ask):
    assert ask("one") == "first"

@pytest.mark.provider_recording(path="shared.jsonl")
def test_two(ask):
    assert ask("two") == "second"
""",
    )
    result = run("--record-mode=rewrite")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*test_one* have one recording, and each would replace*"])
    assert not (recorded.path / "asked.txt").exists()


def test_a_mark_that_says_what_none_can_say_is_refused(recorded: pytest.Pytester, run: Run):
    write_suite(
        recorded,
        """
import pytest

@pytest.mark.provider_recording(ignroe=["a"])
def test_one(ask):
    pass
""",
    )
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*takes path, ignore, allow_hosts, by name; not ignroe*"])


def test_another_owner_of_the_short_option_keeps_it(recorded: pytest.Pytester, run: Run):
    (recorded.path / "other_recorder.py").write_text(
        "def pytest_addoption(parser):\n"
        "    parser.getgroup('other').addoption('--record-mode', default='once')\n"
    )
    for plugins in (("-p", "other_recorder"),):
        run(*plugins).assert_outcomes(passed=2)
        run(*plugins, "--provider-record-mode=verify").assert_outcomes(passed=2)
    assert (recorded.path / "asked.txt").read_text() == "hi\none\ntwo\n"


def test_a_host_is_allowed_by_its_name(recorded: pytest.Pytester, run: Run):
    write_suite(
        recorded,
        """
import socket, pytest

@pytest.mark.provider_recording(path="recordings/test_agent/test_greets.jsonl",
                                allow_hosts="localhost")
def test_greets(ask):
    assert ask("hi") == "hello"
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1])).close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        with pytest.raises(Exception, match="the network is blocked"):
            datagrams.sendmsg([b"x"], [], 0, ("127.0.0.2", 9))
""",
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test tried to reach '127.0.0.2'*"])
