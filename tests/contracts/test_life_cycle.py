"""A process starts its provider runtime once, whoever asks; each start in a fresh interpreter."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from fresh_interpreter import output_of, run_fresh
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.sink import RecordingSink
from scripted import Scripted, drain, request, rows_of, text_events

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Choose = Callable[..., None]

_THREAD_COUNT: Final = 32
_REPEATS: Final = 2


@pytest.fixture
def root(state_dir: Path) -> Path:
    """The managed root, empty."""
    folder = state_dir / "recordings"
    folder.mkdir(parents=True, mode=0o700)
    state_dir.chmod(0o700)
    return folder


@pytest.fixture
def choose(root: Path) -> Choose:
    """A function that writes the settings of recording and replay by hand."""

    def write(**values: str) -> None:
        (root.parent / "config.json").write_text(json.dumps({"record_replay": values}))

    return write


def _record_answers(path: Path, count: int) -> None:
    """Record the same request again and again, each time with another answer."""
    with RecordingSink(path) as sink:
        for number in range(count):
            provider = RecordingProvider(Scripted(text_events(str(number))), sink)
            drain(provider.stream_simple(*request("same")))


_RACE: Final = """
import asyncio, sys, threading
from openprogram.providers import (
    get_api_provider, initialize_provider_runtime, register, register_api_provider
)
from openprogram.providers.register import Builtin
from scripted import Scripted, collect, request, text_events

sys.setswitchinterval(1e-6)
count, want = int(sys.argv[1]), sys.argv[2]
if want == "failed":
    register._REGISTRATION._builtins = (Builtin(api="x", module="no_such_vendor"),)
register_api_provider("scripted", Scripted(text_events("live")))
start = threading.Barrier(count)
snapshots, providers, answers, errors = [], [], [], []

def ask(number):
    text = "same" if want == "replay" else str(number)
    start.wait()
    try:
        provider = get_api_provider("scripted")
        snapshots.append(initialize_provider_runtime())
        providers.append(provider)
        events = asyncio.run(collect(provider.stream_simple(*request(text))))
        answers.append(events[-1].message.content[0].text)
    except Exception as error:
        errors.append(error)

threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len({id(each) for each in snapshots}) <= 1, "several snapshots"
assert len({id(each) for each in providers}) <= 1, "several wrappers"
assert len({id(each) for each in errors}) == len(errors), "an error was shared"
assert all(each.__cause__ is None and each.__context__ is None for each in errors)
modes = sorted({each.mode for each in snapshots})
said = sorted({f"{type(each).__name__}: {each}" for each in errors})
print(modes, sorted(answers, key=str), len(errors), said, sep="\\n")
"""


def _race(want: str) -> list[str]:
    done = run_fresh(_RACE, str(_THREAD_COUNT), want)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("repeat", range(_REPEATS))
def test_first_callers_at_once_record_into_one_file(
    choose: Choose, root: Path, repeat: int
) -> None:
    choose(mode="record", file=f"run-{repeat}")
    modes, answers, *errors = _race("record")
    assert (modes, errors) == ("['record']", ["0", "[]"])
    assert answers == str(["live"] * _THREAD_COUNT)
    (path,) = root.glob("*.jsonl")
    rows = rows_of(path)
    asked = [row for row in rows if row["type"] == "request"]
    assert [row["type"] for row in rows].count("header") == 1
    assert [row["call_index"] for row in asked] == list(range(_THREAD_COUNT))
    texts = {row["context"]["messages"][0]["content"] for row in asked}
    assert texts == {str(number) for number in range(_THREAD_COUNT)}


@pytest.mark.parametrize("repeat", range(_REPEATS))
def test_first_callers_at_once_are_answered_each_from_a_call_of_its_own(
    choose: Choose, root: Path, repeat: int
) -> None:
    _record_answers(root / f"run-{repeat}.jsonl", _THREAD_COUNT)
    choose(mode="replay", file=f"run-{repeat}")
    modes, answers, *errors = _race("replay")
    assert (modes, errors) == ("['replay']", ["0", "[]"])
    assert answers == str(sorted(str(number) for number in range(_THREAD_COUNT)))


@pytest.mark.parametrize("repeat", range(_REPEATS))
@pytest.mark.parametrize("want", ["blocked", "failed"])
def test_first_callers_at_once_fail_with_errors_that_are_equal_and_their_own(
    choose: Choose, want: str, repeat: int
) -> None:
    del repeat
    choose(mode="replay", file="missing")
    modes, answers, count, said = _race(want)
    assert (answers, count) == ("[]", str(_THREAD_COUNT))
    if want == "blocked":
        assert modes == "['blocked']"
        assert said.startswith("[\"ProviderBlockedError: provider calls are blocked: '")
    else:
        assert modes == "[]"
        assert said == (
            '["ProviderRuntimeInitializationError: provider runtime failed at register_builtins: '
            "ModuleNotFoundError: No module named 'no_such_vendor'\"]"
        )


_WATCHED: Final = """
import os, sys
seen = []
def watch(event, words):
    if event.startswith("socket.") or event == "subprocess.Popen":
        seen.append(event)
    if event == "open" and "credentials" in str(words[0]):
        seen.append("credentials")
sys.addaudithook(watch)

from importlib import import_module
from openprogram.auth import resolver, store
def refuse(*_, **__):
    os._exit(70)
names = ("openprogram.providers.registry", "openprogram.providers.stream")
for module in (resolver, *map(import_module, names)):
    module.resolve_api_key = refuse
store.read_credentials = refuse

from openprogram.errors import ProviderNotRegisteredError
from openprogram.providers import get_api_provider, initialize_provider_runtime, stream
from scripted import request
import threading
snapshot = initialize_provider_runtime()
get_api_provider("anthropic-messages")
unknown = []
for call in (lambda: get_api_provider("scripted"), lambda: stream(*request()[:2])):
    try:
        call()
    except ProviderNotRegisteredError as error:
        unknown.append(error.api)
sdks = {"anthropic", "openai", "google.genai", "httpx", "httpx2"} & set(sys.modules)
print(snapshot.mode, unknown, seen, sorted(sdks), threading.active_count())
"""


@pytest.mark.parametrize("mode", ["off", "record", "replay", "blocked"])
def test_starting_looks_up_no_credential_opens_nothing_and_knows_no_unknown_api(
    choose: Choose, root: Path, mode: str
) -> None:
    credentials = root.parent / "credentials.json"
    credentials.write_text('{"anthropic": {"api_key": "k"}}')
    credentials.chmod(0o600)
    if mode == "replay":
        _record_answers(root / "run.jsonl", 1)
    choose(mode="replay" if mode == "blocked" else mode, file="run")
    assert output_of(_WATCHED, ANTHROPIC_API_KEY="k") == (
        f"{mode} ['scripted', 'scripted'] [] [] 1\n"
    )


def test_a_corrupt_recording_does_not_keep_an_adapter_from_being_found(
    choose: Choose, root: Path
) -> None:
    (root / "run.jsonl").write_text("{junk\n")
    choose(mode="replay", file="run")
    code = """
        import sys
        from openprogram.providers.register import find_credential_adapter
        opened = []
        sys.addaudithook(
            lambda event, words: event == "open" and opened.append(str(words[0]))
        )
        print(type(find_credential_adapter("openai-codex")).__name__)
        print([name for name in opened if "state" in name or "recordings" in name])
    """
    assert output_of(code) == "SubscriptionAdapter\n[]\n"


_COMMANDS: Final = """
import contextlib, io, json, sys
from openprogram.__main__ import main

def fail(*_, **__):
    raise AssertionError("the provider runtime was started")

from openprogram.providers import activation, initialization, register
initialization.RuntimeInitializer.run = fail
register.BuiltinRegistration.run = fail
activation.activate = fail
exits = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exits.append(main(words))
print(exits)
"""


def test_managing_recordings_never_starts_the_runtime(choose: Choose, root: Path) -> None:
    _record_answers(root / "run.jsonl", 1)
    choose(mode="replay", file="missing")
    commands = [
        ["recordings", "status"],
        ["recordings", "record", "--name", "new"],
        ["recordings", "replay", "run"],
        ["recordings", "list"],
        ["recordings", "show", "run"],
        ["recordings", "diff", "run", "run"],
        ["recordings", "verify"],
        ["recordings", "delete", "new", "--yes"],
        ["recordings", "prune", "--older-than-days", "1", "--yes"],
        ["config", "get", "record_replay.mode"],
        ["recordings", "off"],
        ["recordings", "status"],
    ]
    said = output_of(_COMMANDS, json.dumps(commands))
    assert said == f"{[1] + [0] * (len(commands) - 1)}\n"


def test_the_one_host_starts_the_runtime_before_any_thread_and_before_its_event_loop(
    choose: Choose,
) -> None:
    choose(mode="replay", file="missing")
    code = """
        import asyncio, sys, threading
        from openprogram.__main__ import main
        from openprogram.providers.initialization import RuntimeInitializer

        run = RuntimeInitializer.run
        def watched(self):
            is_alone = threading.active_count() == 1
            is_outside = asyncio._get_running_loop() is None
            print(is_alone, is_outside, file=sys.stdout)
            return run(self)
        RuntimeInitializer.run = watched
        sys.exit(main(["run", "Hi", "--provider", "anthropic"]))
    """
    done = run_fresh(code)
    assert done.returncode == 1
    assert set(done.stdout.splitlines()) == {"True True"}
    assert "provider calls are blocked" in done.stderr


def test_nothing_of_the_runtime_can_be_set_back() -> None:
    code = """
        from openprogram.providers import _registry, activation, api_registry, initialization
        from openprogram.providers import register
        words = ("reset", "clear", "forget", "restart", "reload", "unregister")
        holders = (
            _registry, activation, api_registry, initialization, register,
            initialization.RuntimeInitializer, register.BuiltinRegistration,
            _registry.ProviderRegistry,
        )
        print([name for each in holders for name in dir(each) if any(w in name for w in words)])
    """
    assert output_of(code) == "[]\n"


def test_the_recording_is_sound_before_any_provider_stands_behind_it(
    choose: Choose, root: Path
) -> None:
    """What is published last was checked first: no call can get in between."""
    _record_answers(root / "sound.jsonl", 1)
    (root / "torn.jsonl").write_bytes((root / "sound.jsonl").read_bytes()[:-5])
    code = """
        import sys
        from openprogram.providers import _registry
        from openprogram.providers.activation import activate
        from scripted import Scripted
        seen = []

        class Watched(_registry.ProviderRegistry):
            def configure_transform(self, transform):
                seen.append(sys.argv[1] if open(sys.argv[2]).read().endswith("}\\n") else "?")
                super().configure_transform(transform)

        registry = Watched()
        registry.register("a", Scripted([]))
        print(activate(registry).mode, seen)
    """
    found: list[Any] = []
    for mode, name in (("record", "new"), ("replay", "sound"), ("replay", "torn")):
        choose(mode=mode, file=name)
        found.append(output_of(code, name, str(root / f"{name}.jsonl")))
    assert found == ["record ['new']\n", "replay ['sound']\n", "blocked []\n"]
