"""Replay never reaches a network or a credential: every way out is a sentinel that ends it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from fresh_interpreter import run_fresh
from openprogram.providers import types as t
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.sink import RecordingSink
from scripted import Scripted, drain, text_events

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Ask = Callable[..., "subprocess.CompletedProcess[str]"]

_WENT_LIVE: Final = 70
_MODEL: Final = t.Model(
    id="some-model",
    name="some-model",
    api="anthropic-messages",
    provider="anthropic",
    base_url="https://api.anthropic.com",
    input=["text", "image"],
)

_SENTINELS: Final = """
import os, socket, sys

def sentinel(name):
    def refuse(*_, **__):
        os.write(2, f"went live: {name}\\n".encode())
        os._exit(70)
    return refuse

for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, sentinel(f"socket.{name}"))
for name in ("create_connection", "getaddrinfo", "gethostbyname", "gethostbyname_ex"):
    setattr(socket, name, sentinel(name))
for library in ("httpx", "httpx2"):
    try:
        module = __import__(library)
    except ModuleNotFoundError:
        continue
    for name in ("Client", "AsyncClient"):
        getattr(module, name).__init__ = sentinel(f"{library}.{name}")

from openprogram.auth import resolver, store
from openprogram.providers import registry
from importlib import import_module

for module in (resolver, registry, import_module("openprogram.providers.stream")):
    module.resolve_api_key = sentinel("resolve_api_key")
store.read_credentials = sentinel("read_credentials")
"""

_ASK: Final = """
import asyncio
from openprogram.providers import create_runtime, complete_simple, types as t

def ask(text):
    context = t.Context(messages=[t.UserMessage(content=text, timestamp=7)])
    try:
        runtime = create_runtime("anthropic", "some-model")
        answer = asyncio.run(complete_simple(runtime.model, context, runtime.options))
        print(answer.content[0].text)
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])

for text in sys.argv[1:]:
    ask(text)
assert "anthropic" not in sys.modules
"""


def _record(path: Path, *texts: str, spoilt: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with RecordingSink(path) as sink:
        for text in texts:
            events = text_events("so", " said")
            source = Scripted([*events[:3], ValueError("lost")] if spoilt else events)
            context = t.Context(messages=[t.UserMessage(content=text, timestamp=1)])
            provider = RecordingProvider(source, sink)
            try:
                drain(provider.stream_simple(_MODEL, context, t.SimpleStreamOptions(api_key="k")))
            except ValueError:
                assert spoilt


@pytest.fixture
def path(state_dir: Path) -> Path:
    """The recording that the settings replay, not there yet."""
    folder = state_dir / "recordings"
    folder.mkdir(parents=True)
    (state_dir / "config.json").write_text(
        json.dumps({"record_replay": {"mode": "replay", "file": "run"}})
    )
    return folder / "run.jsonl"


@pytest.fixture
def ask() -> Ask:
    """A function that asks these things one after the other, with every way out closed."""

    def run(*texts: str) -> subprocess.CompletedProcess[str]:
        return run_fresh(_SENTINELS + _ASK, *texts, ANTHROPIC_API_KEY="a-live-key")

    return run


def test_the_sentinels_stand_where_a_live_call_goes(ask: Ask) -> None:
    done = ask("hi")
    assert (done.returncode, done.stdout) == (_WENT_LIVE, "")
    assert done.stderr.startswith("went live: resolve_api_key")


@pytest.mark.parametrize(
    "call",
    [
        "socket.create_connection(('127.0.0.1', 9))",
        "socket.socket().connect(('127.0.0.1', 9))",
        "__import__('httpx2').AsyncClient()",
        "__import__('anthropic').AsyncAnthropic(api_key='k')",
        "__import__('urllib.request').request.urlopen('http://127.0.0.1:9')",
    ],
)
def test_the_sentinels_stand_in_every_library(call: str) -> None:
    assert run_fresh(f"{_SENTINELS}\n{call}").returncode == _WENT_LIVE


def test_success(ask: Ask, path: Path) -> None:
    _record(path, "one", "two")
    done = ask("one", "two")
    assert (done.returncode, done.stdout, done.stderr) == (0, "so said\nso said\n", "")


def test_mismatch(ask: Ask, path: Path) -> None:
    _record(path, "one")
    done = ask("other", "one")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "ReplayMismatch replay mismatch at call 0, field context.messages[0].content: "
        "recorded 'one', incoming 'other'\nso said\n"
    )


def test_exhaustion(ask: Ask, path: Path) -> None:
    _record(path, "one")
    done = ask("one", "one", "one")
    assert done.returncode == 0, done.stderr
    first, *others = done.stdout.splitlines()
    assert first == "so said"
    assert all("field call_index" in line for line in others)


def test_a_call_that_was_cut_short(ask: Ask, path: Path) -> None:
    _record(path, "one", spoilt=True)
    done = ask("one")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("RecordedCallInterrupted ")
    assert "recorded call 0 ended as error" in done.stdout


@pytest.mark.parametrize(
    "spoil",
    ["corrupt", "missing", "empty", "torn", "another version", "open to others", "bad settings"],
)
def test_what_cannot_be_replayed_blocks(
    ask: Ask, path: Path, state_dir: Path, tmp_path: Path, spoil: str
) -> None:
    _record(path, "one")
    content = path.read_bytes()
    match spoil:
        case "corrupt":
            path.write_bytes(content.replace(b'"type":"request"', b'"type":"reqest"'))
        case "missing":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "torn":
            path.write_bytes(content[:-10])
        case "another version":
            path.write_bytes(content.replace(b'"format_version":1', b'"format_version":9', 1))
        case "open to others":
            outside = tmp_path / "outside.jsonl"
            outside.write_bytes(content)
            outside.chmod(0o644)
            chosen = {"mode": "replay", "file": str(outside)}
            (state_dir / "config.json").write_text(json.dumps({"record_replay": chosen}))
        case _:
            (state_dir / "config.json").write_text("{,}")
    done = ask("one", "one")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == second
    assert first.startswith("ProviderBlockedError provider calls are blocked: ")
    assert "openprogram recordings off" in first


_CHOOSE: Final = """
import subprocess
from openprogram.providers import create_runtime
for name in ("Popen", "run"):
    setattr(subprocess, name, sentinel(f"subprocess.{name}"))
os.execv = os.posix_spawn = os.fork = sentinel("a process")

def choose(*words):
    try:
        runtime = create_runtime(*words)
        print(runtime.mode, runtime.model.provider, runtime.model.id)
    except Exception as error:
        print(type(error).__name__, "default_provider" in str(error))

choose()
choose(None, "a-model")
os.environ["AGENTIC_PROVIDER"], os.environ["AGENTIC_MODEL"] = "anthropic", "of-variable"
choose()
choose("anthropic", "explicit")
choose("anthropic", "explicit", "a-key")
"""


@pytest.mark.parametrize("where", ["nowhere", "settings"])
def test_whom_a_replay_asks_is_never_found_by_looking_around(
    path: Path, state_dir: Path, where: str
) -> None:
    _record(path, "one")
    credentials = state_dir / "credentials.json"
    credentials.write_text('{"anthropic": {"api_key": "k"}, "openai-codex": {"access_token": "t"}}')
    credentials.chmod(0o600)
    if where == "settings":
        values = json.loads((state_dir / "config.json").read_text())
        values |= {"default_provider": "anthropic", "default_model": "of-settings"}
        (state_dir / "config.json").write_text(json.dumps(values))
        chosen = ["replay anthropic of-settings", "replay anthropic a-model"]
    else:
        chosen = ["ConfigError True"] * 2
    done = run_fresh(_SENTINELS + _CHOOSE, ANTHROPIC_API_KEY="a-live-key", OPENAI_API_KEY="another")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        *chosen,
        "replay anthropic of-variable",
        "replay anthropic explicit",
        "replay anthropic explicit",
    ]


def test_a_blocked_process_looks_nowhere_for_whom_to_ask(path: Path) -> None:
    path.write_text("{junk\n")
    done = run_fresh(_SENTINELS + _CHOOSE, ANTHROPIC_API_KEY="a-live-key")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["ProviderBlockedError False"] * 5


def test_a_blocked_provider_that_is_called_directly(path: Path) -> None:
    path.touch()
    code = """
from openprogram.providers import get_api_provider, stream, types as t
model = t.Model(id="m", name="m", api="anthropic-messages", provider="anthropic", base_url="x")
provider = get_api_provider(model.api)
for call in (provider.stream, provider.stream_simple, stream):
    try:
        call(model, t.Context(), None)
    except Exception as error:
        print(type(error).__name__)
"""
    done = run_fresh(_SENTINELS + code)
    assert (done.returncode, done.stdout) == (0, "ProviderBlockedError\n" * 3)


def test_the_command_replays_a_whole_task(path: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "notes.txt").write_text("hello")
    make = f"""
        import asyncio
        from importlib import import_module
        from openprogram.agent.loop import run_agent
        from openprogram.agent.tools import file_tools
        from openprogram.cli.run import SYSTEM_PROMPT
        from openprogram.providers import types as t
        from openprogram.providers.recording import RecordingProvider
        from openprogram.providers.registry import create_runtime
        from pathlib import Path
        from scripted import Scripted, message, text_events

        call = t.ToolCall(id="1", name="read_file", arguments={{"path": "notes.txt"}})
        answers = [
            [t.EventDone(reason="toolUse", message=message(call, stop_reason="toolUse"))],
            text_events("It says hello."),
        ]

        class Model:
            requires_credentials = False
            async def stream_simple(self, *_):
                for event in answers.pop(0):
                    yield event

        provider = RecordingProvider(Model(), {str(path)!r})
        import_module("openprogram.providers.stream").get_api_provider = lambda _: provider
        asyncio.run(run_agent(
            "Look.",
            model=t.from_wire(t.Model, {t.to_wire(_MODEL)!r}),
            tools=file_tools(Path({str(workspace)!r})),
            system_prompt=SYSTEM_PROMPT,
        ))
    """
    made = run_fresh(make)
    assert made.returncode == 0, made.stderr
    run = """
from openprogram.__main__ import main
words = ["run", "Look.", "--provider", "anthropic", "--model", "some-model", "--root"]
sys.exit(main([*words, sys.argv[1]]))
"""
    done = run_fresh(_SENTINELS + run, str(workspace))
    assert (done.returncode, done.stdout, done.stderr) == (0, "It says hello.\n", "")
    (workspace / "notes.txt").write_text("changed")
    done = run_fresh(_SENTINELS + run, str(workspace))
    assert (done.returncode, done.stdout) == (1, "")
    assert "field context.messages[2].content[0].text" in done.stderr
