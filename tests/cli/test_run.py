from __future__ import annotations

import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from fresh_interpreter import run_fresh
from openprogram.auth.adapters import ENVIRONMENT_VARIABLES
from openprogram.cli.app import app
from openprogram.providers.registry import PROVIDERS
from openprogram.testing import (
    Answer,
    HttpError,
    LoopbackVendor,
    Pause,
    Text,
    TokenCounts,
    ToolCall,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.conftest import Ended, RunCli

    from openprogram.testing import ReceivedRequest, ScriptEntry

    Environment = dict[str, str]
    Replay = Callable[..., Ended]

_TASK: list[ScriptEntry] = [
    Answer(
        parts=[Text("Reading.\n"), ToolCall("read_file", {"path": "notes.txt"}, id="toolu_1")],
        usage=TokenCounts(input=400, output=50),
    ),
    Answer(parts=[Text("They say hello.")], usage=TokenCounts(input=500, output=10)),
]
_TOOL_SERVER = Path(__file__).resolve().parents[1] / "support" / "pretend_tool_server.py"
CHECKOUT = Path(__file__).resolve().parents[2]
_ANSWER = "Reading.\nThey say hello.\n"
_WORDS = ("run", "What do the notes say?", "--provider", "anthropic")


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of each command, with a file to read; and no proxy in the way."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "notes.txt").write_text("hello")
    monkeypatch.chdir(folder)
    return folder


@dataclass(frozen=True, kw_only=True)
class Live:
    """A task that was done live and recorded: what it left, and what the vendor saw."""

    ended: subprocess.CompletedProcess[str]
    recording: bytes
    requests: list[ReceivedRequest]
    environment: Environment


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Live:
    """Do the task live once, as loading the vendor's SDK takes seconds."""
    folder = tmp_path_factory.mktemp("live")
    (folder / "notes.txt").write_text("hello")
    environment = _environment(OPENPROGRAM_STATE_DIR=str(folder / "state"))

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "openprogram", *words],
            cwd=folder,
            env=environment | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )

    run("recordings", "record", "--name", "first")
    with LoopbackVendor(_TASK) as vendor:
        place = {"OPENPROGRAM_ANTHROPIC_BASE_URL": vendor.base_url}
        ended = run(*_WORDS, ANTHROPIC_API_KEY="pretend-key", **place)
        requests = vendor.requests
    recording = (folder / "state" / "recordings" / "first.jsonl").read_bytes()
    return Live(ended=ended, recording=recording, requests=requests, environment=place)


@pytest.fixture
def replay(live: Live, run_process: RunCli, state_dir: Path) -> Replay:
    """A function that replays the task, without a vendor and without a key."""
    folder = state_dir / "recordings"
    folder.mkdir(parents=True)
    (folder / "first.jsonl").write_bytes(live.recording)
    choose = {"record_replay": {"mode": "replay", "file": "first"}}
    (state_dir / "config.json").write_text(json.dumps(choose))

    def run(*options: str) -> Ended:
        return run_process(*_WORDS, *options, env=live.environment)

    return run


def _environment(**more: str) -> Environment:
    return os.environ | {"NO_PROXY": "127.0.0.1"} | more


def _of(vendor: LoopbackVendor) -> Environment:
    return {"OPENPROGRAM_ANTHROPIC_BASE_URL": vendor.base_url, "ANTHROPIC_API_KEY": "pretend-key"}


def _parts(ended: Ended) -> tuple[int, str, str]:
    return (ended.exit_code, ended.out, ended.err)


def _rows(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def test_the_agent_asks_uses_its_tools_and_prints_the_answer(live: Live) -> None:
    assert (live.ended.stdout, live.ended.stderr) == (_ANSWER, "")
    first, second = live.requests
    assert any("pretend-key" in value for value in first.headers.values())
    assert first.body["messages"][0]["content"][0]["text"] == "What do the notes say?"
    assert {tool["name"] for tool in first.body["tools"]} == {"list_dir", "read_file"}
    (result,) = second.body["messages"][2]["content"]
    assert result["content"] == [{"type": "text", "text": "hello"}]


def test_the_recording_of_a_run_is_whole_and_holds_no_key(live: Live) -> None:
    assert b"pretend-key" not in live.recording
    ends = [row for row in _rows(live.recording) if row["type"] == "call_end"]
    assert [row["outcome"] for row in ends] == ["complete", "complete"]


def test_a_replay_gives_the_same_answer_until_a_file_changes(
    replay: Replay, workspace: Path
) -> None:
    assert _parts(replay()) == (0, _ANSWER, "")
    (workspace / "notes.txt").write_text("changed")
    differing = replay()
    assert (differing.exit_code, differing.out) == (1, "Reading.\n")
    assert differing.err.startswith(
        "error: replay mismatch at call 1, field context.messages[2].content[0].text: "
        "recorded 'hello', incoming 'changed'\n"
    )
    assert "openprogram recordings tui --mismatch " in differing.err
    as_json = replay("--json")
    assert as_json.exit_code == 1
    error = json.loads(as_json.out)["error"]
    assert (error["code"], error["call_index"]) == ("replay_mismatch", 1)
    assert error["field_path"] == "context.messages[2].content[0].text"
    assert (error["recorded"], error["incoming"]) == ("hello", "changed")


def test_a_replay_that_ends_too_early_is_an_error_after_the_answer(
    replay: Replay, live: Live, state_dir: Path
) -> None:
    again = [
        row | {"call_index": row["call_index"] + 2}
        for row in _rows(live.recording)
        if row["type"] != "header"
    ]
    with (state_dir / "recordings" / "first.jsonl").open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in again)
    ended = replay()
    assert (ended.exit_code, ended.out) == (1, _ANSWER)
    assert "field call_index: recorded '4 calls', incoming '2 calls'" in ended.err


def test_a_vendors_error_that_is_replayed_says_so(
    replay: Replay, live: Live, state_dir: Path
) -> None:
    rows = _rows(live.recording)
    message = rows[-2]["event"].pop("message") | {
        "stop_reason": "error",
        "error_message": "too busy",
        "error_reason": "overloaded",
        "error_retryable": True,
    }
    rows[-2]["event"] = {"type": "error", "reason": "error", "error": message}
    path = state_dir / "recordings" / "first.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ended = replay()
    assert ended.exit_code == 1
    assert ended.out.startswith("Reading.\n")
    assert ended.err == (
        f"error: '{path}', call 1: replayed, not asked anew: 'anthropic': the request failed "
        "(overloaded): 'too busy'; it comes again in each replay; to ask the vendor run "
        "'openprogram recordings off'\n"
    )
    assert "replayed, not asked anew" in json.loads(replay("--json").out)["error"]["reason"]


def test_with_json_the_answer_is_one_document(replay: Replay, state_dir: Path) -> None:
    ended = replay("--json")
    assert (ended.exit_code, ended.err) == (0, "")
    assert json.loads(ended.out) == {
        "answer": "They say hello.",
        "stop_reason": "stop",
        "provider": "anthropic",
        "api": "anthropic-messages",
        "model": "claude-sonnet-4-5",
        "mode": "replay",
        "recording": str(state_dir / "recordings" / "first.jsonl"),
        "turn_count": 2,
        "tool_call_count": 1,
        "retry_count": 0,
        "input_tokens": 900,
        "output_tokens": 60,
        "cost_usd": None,
    }


def test_a_model_that_wants_too_many_turns_is_stopped(replay: Replay) -> None:
    assert _parts(replay("--max-turns", "1")) == (
        1,
        "Reading.\n",
        "error: no answer after 1 turn, the model still wants tools; allow more turns\n",
    )


def test_a_limit_in_usd_is_refused_where_prices_are_not_known(replay: Replay) -> None:
    assert _parts(replay("--max-usd", "0.5")) == (
        1,
        "",
        (
            "error: the prices of 'anthropic/claude-sonnet-4-5' are not known, so a limit of 0.5 "
            "USD cannot be kept; leave the limit out, or give the prices: in Model.cost, or to "
            "openprogram run in a file, with --prices or the setting prices_file\n"
        ),
    )


def test_prices_of_a_file_make_the_cost_and_keep_the_limit(
    replay: Replay, state_dir: Path, tmp_path: Path
) -> None:
    entry = {"input": 1000.0, "output": 2000.0, "source": "made up", "as_of": "2026-12-01"}
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"anthropic/claude-sonnet-4-5": entry}))
    assert "replay mismatch at call 0, field model.cost." in replay("--prices", str(path)).err
    choose = {"mode": "replay", "file": "first", "ignore": ["model.cost"]}
    (state_dir / "config.json").write_text(json.dumps({"record_replay": choose}))
    done = replay("--prices", str(path), "--max-usd", "0.6", "--json")
    assert (done.exit_code, json.loads(done.out)["cost_usd"]) == (0, 1.02)
    assert replay("--prices", str(path), "--max-usd", "0.4").err == (
        "error: no answer for 0.4 USD: 0.500000 USD are spent, and one more call is needed; "
        "allow more\n"
    )


def test_a_tool_server_that_cannot_start_is_one_line(replay: Replay) -> None:
    assert _parts(replay("--mcp", "no-such-program --now")) == (
        1,
        "",
        (
            "error: tool server 'no-such-program --now': cannot be started: no such file or "
            "directory; name a program\n"
        ),
    )


def test_a_request_that_failed_is_made_again_and_each_attempt_is_recorded(
    run_process: RunCli, state_dir: Path
) -> None:
    busy = HttpError(
        status=529, kind="overloaded_error", message="busy", headers={"retry-after": "0"}
    )
    run_process("recordings", "record", "--name", "again")
    with LoopbackVendor([busy, [Text("Here.")]]) as vendor:
        ended = run_process(*_WORDS, env=_of(vendor))
        place = {"OPENPROGRAM_ANTHROPIC_BASE_URL": vendor.base_url}
    assert (ended.exit_code, ended.out) == (0, "Here.\n")
    assert ended.err.startswith(
        "warning: 'anthropic': the request failed (overloaded); asking again in "
    )
    run_process("recordings", "replay", "again")
    replayed = run_process(*_WORDS, "--json", env=place)
    assert (replayed.exit_code, replayed.err) == (
        0,
        "warning: 'anthropic': the request failed (overloaded); asking again, attempt 2 of 4\n",
    )
    document = json.loads(replayed.out)
    assert (document["turn_count"], document["retry_count"]) == (1, 1)
    rows = _rows((state_dir / "recordings" / "again.jsonl").read_bytes())
    assert [row["type"] for row in rows].count("request") == 2


def test_an_answer_that_was_cut_is_said_to_be_one(
    replay: Replay, live: Live, state_dir: Path
) -> None:
    rows = _rows(live.recording)
    last = rows[-2]["event"]
    last["reason"] = last["message"]["stop_reason"] = "length"
    path = state_dir / "recordings" / "first.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert _parts(replay()) == (
        0,
        _ANSWER,
        "warning: the answer was cut: it reached the model's limit\n",
    )


def test_the_options_reach_model_and_tools_and_a_refusal_is_one_line_in_the_vendors_words(
    run_process: RunCli, tmp_path: Path, state_dir: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("of the other root")
    refusal = HttpError(status=401, kind="authentication_error", message="bad \x1b[2J key")
    with LoopbackVendor([_TASK[0], refusal]) as vendor:
        options = ("--root", str(other), "--system", "be brief", "--model", "some-model")
        ended = run_process(*_WORDS, *options, env=_of(vendor))
        first, second = vendor.requests
    assert _parts(ended) == (
        1,
        "Reading.\n",
        "error: 'anthropic': the request failed (auth): 'bad \\x1b[2J key'\n",
    )
    assert first.body["model"] == "some-model"
    assert first.body["system"][0]["text"] == "be brief"
    (result,) = second.body["messages"][2]["content"]
    assert result["content"][0]["text"] == "of the other root"
    assert not state_dir.exists()


def test_an_empty_system_prompt_is_none(replay: Replay) -> None:
    ended = replay("--system", "")
    assert ended.exit_code == 1
    assert "field context.system_prompt:\n" in ended.err
    assert "  incoming  None\n" in ended.err


def test_a_missing_key_is_one_line(run_process: RunCli, state_dir: Path) -> None:
    ended = run_process(*_WORDS)
    assert (ended.exit_code, ended.out) == (1, "")
    assert ended.err == (
        "error: no credential for provider 'anthropic'; set ANTHROPIC_API_KEY, "
        "or run 'openprogram auth set anthropic'\n"
    )
    ended = run_process("run", "hi")
    assert (ended.exit_code, ended.out) == (1, "")
    assert ended.err.startswith(
        "error: no credential for any provider; set one of ANTHROPIC_API_KEY, OPENAI_API_KEY, "
    )
    assert not state_dir.exists()


def test_help_readme_and_page_name_every_provider_and_its_keys() -> None:
    page = (CHECKOUT / "docs" / "commands.md").read_text("utf-8")
    readme = (CHECKOUT / "README.md").read_text("utf-8")
    shown = CliRunner().invoke(app, ["run", "--help"]).output
    for name, metadata in PROVIDERS.items():
        keys = ENVIRONMENT_VARIABLES.get(name, ())
        line = next(
            line for line in shown.splitlines() if re.search(rf"^    (\w.*)?{name}[ ,]", line)
        )
        assert all(key in line for key in keys), line
        row = re.search(rf"(?m)^\| `{name}` \| (.*) \| `{metadata.base_url_variable}` \|$", page)
        assert row is not None, name
        assert re.findall(r"`(\w+)`", row[1]) == list(keys)
        assert f"`{name}`" in readme or name == "anthropic"


def test_a_missing_sdk_is_one_line_that_says_how_to_get_it() -> None:
    code = """
        import sys
        from openprogram.__main__ import main
        sys.modules["anthropic"] = None
        sys.exit(main(["run", "hi", "--provider", "anthropic"]))
    """
    done = run_fresh(code, ANTHROPIC_API_KEY="k")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: anthropic-messages: the SDK is not installed; run 'pip install anthropic'\n"
    )


@pytest.mark.parametrize(
    "settings", ["{broken", '{"record_replay": {"mode": "replay", "file": "missing"}}']
)
def test_settings_that_block_are_one_line_with_the_remedy(
    run_process: RunCli, state_dir: Path, settings: str
) -> None:
    state_dir.mkdir(mode=0o700)
    (state_dir / "config.json").write_text(settings)
    ended = run_process(*_WORDS, env={"ANTHROPIC_API_KEY": "k"})
    assert (ended.exit_code, ended.out) == (1, "")
    assert ended.err.startswith("error: provider calls are blocked: ")
    is_by_hand = "correct the file by hand or move it away" in ended.err
    assert is_by_hand == (settings == "{broken")
    assert ("or run 'openprogram recordings off'" in ended.err) is not is_by_hand
    assert ended.err.count("\n") == 1
    assert run_process("recordings", "status").exit_code == 1


def test_a_replay_without_a_provider_says_what_to_name(run_process: RunCli) -> None:
    run_process("recordings", "record", "--name", "empty")
    run_process("recordings", "replay", "empty")
    ended = run_process("run", "hi", env={"ANTHROPIC_API_KEY": "k"})
    assert ended.exit_code == 1
    assert ended.err == (
        "error: a replay takes no provider by guess: name it with --provider, AGENTIC_PROVIDER "
        "or the setting default_provider\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "missing argument 'PROMPT'"),
        ((" \n",), "the prompt is empty"),
        (("hi", "--max-turns", "0"), "'0' is not a whole number from 1 to 1000"),
        (("hi", "--max-turns", "9" * 400), "is not a whole number"),
        (("hi", "--max-seconds", "nan"), "--max-seconds: nan is not a number above 0"),
        (("hi", "--max-usd", "0"), "--max-usd: 0.0 is not a number above 0"),
        (("hi", "--mcp", "'open"), "quote it as for a shell"),
        (("hi", "--mcp", " "), "--mcp: the command is empty; name a program"),
    ],
)
def test_wrong_words_are_one_line_and_exit_2(
    run_cli: RunCli, words: tuple[str, ...], message: str
) -> None:
    ended = run_cli("run", *words)
    assert (ended.exit_code, ended.out) == (2, "")
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_a_provider_or_a_root_that_is_not_there_is_one_line(run_process: RunCli) -> None:
    ended = run_process("run", "hi", "--provider", "no\x1bone")
    assert (ended.exit_code, ended.out) == (1, "")
    assert ended.err.startswith(
        "error: provider 'no\\x1bone': no such provider; choose one of anthropic, "
    )
    assert ended.err.count("\n") == 1
    ended = run_process(*_WORDS, "--root", "nowhere", env={"ANTHROPIC_API_KEY": "k"})
    assert ended.exit_code == 1
    assert ended.err.endswith("nowhere': no such file or directory\n")


def test_ctrl_c_closes_the_request_and_the_recording_says_cancelled(
    run_process: RunCli, state_dir: Path
) -> None:
    run_process("recordings", "record", "--name", "cut")
    pause = Pause()
    with LoopbackVendor([[Text(("They ", pause, "say"))]]) as vendor:
        with _started(_of(vendor)) as process:
            pause.reached.result(60)
            assert process.stdout is not None
            assert process.stdout.read(5) == "They "
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert vendor.requests[0].outcome.result(60) == "disconnected"
        pause.release()
    assert (process.returncode, err) == (130, "error: interrupted\n")
    last = _rows((state_dir / "recordings" / "cut.jsonl").read_bytes())[-1]
    assert (last["type"], last["outcome"]) == ("call_end", "cancelled")


def test_ctrl_c_ends_a_tool_that_hangs_and_its_server(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    began = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    call = ToolCall("echo", {"word": "hang", "fifo": str(fifo)})
    server = shlex.join([sys.executable, str(_TOOL_SERVER), "plain"])
    with (
        LoopbackVendor([[call]]) as vendor,
        _started(_of(vendor), "--mcp", server) as process,
    ):
        ready, _, _ = select.select([began], [], [], 60)
        assert ready
        server_pid = int(os.read(began, 100))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    os.close(began)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "error: interrupted"
    with pytest.raises(ProcessLookupError):
        os.kill(server_pid, 0)


@pytest.mark.usefixtures("replay")
def test_a_reader_that_went_away_ends_the_run_without_complaint(live: Live) -> None:
    with _started(live.environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (0, "")


def _started(environment: Environment, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "openprogram", *_WORDS, *options],
        env=_environment(**environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=0,
    )
