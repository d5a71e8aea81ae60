"""Keys are stored and removed by the command line, and no part of one ever comes back out."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from openprogram.auth.adapters import KNOWN_PROVIDERS
from openprogram.auth.resolver import resolve_api_key
from openprogram.auth.store import Credential, read_credentials, store_credential
from openprogram.providers.registry import PROVIDERS

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import OpenTerminal, RunCli

KEY = "sk-ant-4f9aQ7"


def pipe(text: str | bytes, *argv: str) -> subprocess.CompletedProcess[str]:
    data = text if isinstance(text, bytes) else text.encode()
    done = subprocess.run(
        [sys.executable, "-m", "openprogram", *argv], input=data, capture_output=True, check=False
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def test_every_provider_that_can_be_chosen_can_have_a_key():
    assert {metadata.model_namespace for metadata in PROVIDERS.values()} <= set(KNOWN_PROVIDERS)


def test_a_piped_key_is_stored_and_found_but_never_printed(state_dir: Path) -> None:
    done = pipe(f"  {KEY}\n", "auth", "set", "anthropic")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == (
        f"The key of anthropic is stored in {state_dir}/credentials.json."
    )
    assert resolve_api_key("anthropic") == KEY
    document = json.loads(pipe(KEY, "auth", "set", "openai-codex", "--json").stdout)
    assert document["replaced"] is False
    assert read_credentials()["openai-codex"] == Credential(access_token=KEY)


def test_a_key_typed_at_the_prompt_is_not_echoed_and_the_terminal_is_left_as_it_was(
    open_terminal: OpenTerminal,
) -> None:
    terminal = open_terminal("auth", "set", "anthropic")
    terminal.wait_for("(not shown): ")
    assert not terminal.echoes()
    terminal.type(f"{KEY}\n")
    terminal.wait_for("next call on.")
    assert terminal.echoes()
    assert terminal.end() == 0
    assert KEY not in terminal.seen
    assert read_credentials() == {"anthropic": Credential(api_key=KEY)}


def test_ctrl_c_and_ctrl_d_at_the_prompt_store_nothing_and_bring_the_echo_back(
    open_terminal: OpenTerminal, state_dir: Path
) -> None:
    for typed, exit_code, said in (("sk-", 130, "interrupted"), ("\x04", 2, "no key")):
        terminal = open_terminal("auth", "set", "anthropic")
        terminal.wait_for("(not shown): ")
        terminal.type(typed)
        if exit_code == 130:
            # A terminal that is nobody's controlling one sends no signal by itself.
            terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for(said)
        assert terminal.echoes()
        assert terminal.end() == exit_code
        assert "sk-" not in terminal.seen
    assert not state_dir.exists()


def test_a_line_that_a_terminal_would_cut_is_refused(
    open_terminal: OpenTerminal, state_dir: Path
) -> None:
    terminal = open_terminal("auth", "set", "anthropic")
    terminal.wait_for("(not shown): ")
    terminal.type("k" * 4500)
    terminal.type("\n")
    terminal.wait_for("pipe it in instead")
    assert terminal.end() == 2
    assert "kkk" not in terminal.seen
    assert not state_dir.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["set", "anthropic", KEY],
        ["set", KEY],
        ["set", KEY, "anthropic"],
        ["set", "anthropic", f"--key={KEY}"],
        ["set", "anthropic", f"--{KEY}"],
        ["set", "anthropic", f"--json={KEY}"],
        ["set", "anthropic", KEY, "--profile", "work"],
        ["list", KEY],
        ["remove", KEY],
        ["remove", "anthropic", KEY],
        [KEY],
        [f"--{KEY}"],
    ],
)
def test_a_key_on_the_command_line_is_refused_and_not_repeated(
    run_cli: RunCli, state_dir: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("OPENPROGRAM_DEBUG", "1")
    ended = run_cli("auth", *words)
    assert ended.exit_code == 2
    assert "error: " in ended.err
    assert "4f9a" not in ended.out + ended.err
    assert not state_dir.exists()


def test_what_standard_input_holds_must_be_one_plain_word(state_dir: Path) -> None:
    for text in ("", "two words", "a\nb", b"k\xff", "k\x1b[0m", "k" * 70_000):
        done = pipe(text, "auth", "set", "anthropic")
        assert (done.returncode, done.stdout) == (2, ""), text
        assert done.stderr.startswith("error: ")
        assert "kkk" not in done.stderr
    assert not state_dir.exists()


def test_a_provider_that_is_none_is_answered_by_a_near_one(run_cli: RunCli) -> None:
    assert "did you mean 'anthropic'?" in run_cli("auth", "set", "Antropic").err
    assert "there are amazon-bedrock, anthropic" in run_cli("auth", "remove", "zzz").err


def test_the_list_says_where_keys_come_from_and_nothing_of_them(
    run_cli: RunCli, monkeypatch: pytest.MonkeyPatch, state_dir: Path
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    codex = state_dir.parent / ".codex"
    codex.mkdir(mode=0o700)
    (codex / "auth.json").write_text(json.dumps({"tokens": {"access_token": KEY}}))
    store_credential("anthropic", Credential(api_key=KEY))
    store_credential("my\x1b[31mown", Credential(api_key=KEY))
    shown = run_cli("auth", "list").out
    rows = dict(line.split(maxsplit=1) for line in shown.splitlines())
    assert rows["anthropic"] == "the store"
    assert rows["groq"] == "environment variable GROQ_API_KEY"
    assert rows["openai-codex"] == "the vendor's own tool"
    assert rows["openai"] == "nowhere"
    assert rows["ollama"] == "nowhere; none is needed"
    assert "\x1b" not in shown
    document = json.loads(run_cli("auth", "list", "--json").out)
    found = {row["provider"]: row for row in document["credentials"]}
    assert found["groq"] == {
        "provider": "groq",
        "source": "environment",
        "variable": "GROQ_API_KEY",
        "key_needed": True,
        "reason": None,
    }
    (codex / "auth.json").write_text(f"{{{KEY}")
    broken = run_cli("auth", "list")
    assert broken.exit_code == 0
    assert "nowhere: '" in broken.out
    assert "4f9a" not in shown + broken.out + json.dumps(document)


def test_remove_forgets_one_key_and_says_which_is_left(
    run_cli: RunCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_credential("anthropic", Credential(api_key=KEY))
    store_credential("openai", Credential(api_key=KEY))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    ended = run_cli("auth", "remove", "anthropic")
    assert ended.exit_code == 0
    assert ended.out.endswith("Calls still find one: environment variable ANTHROPIC_API_KEY.\n")
    assert list(read_credentials()) == ["openai"]
    again = run_cli("auth", "remove", "anthropic")
    assert (again.exit_code, again.out) == (1, "")
    assert "nothing is stored" in again.err
    assert json.loads(run_cli("auth", "remove", "openai", "--json").out)["provider"] == "openai"
    assert read_credentials() == {}


def test_a_store_open_to_others_is_refused_with_the_remedy(
    run_cli: RunCli, state_dir: Path
) -> None:
    store_credential("anthropic", Credential(api_key=KEY))
    (state_dir / "credentials.json").chmod(0o644)
    for words in (["list"], ["remove", "anthropic"]):
        ended = run_cli("auth", *words)
        assert ended.exit_code == 1
        assert "chmod 600" in ended.err
    done = pipe(KEY, "auth", "set", "anthropic")
    assert done.returncode == 1
    assert "4f9a" not in done.stderr


def test_help_and_completion_load_no_provider() -> None:
    code = (
        "import sys; from openprogram.__main__ import main; main(['auth', 'list'])\n"
        "heavy = {'anthropic', 'openai', 'openprogram.providers', 'asyncio'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
