"""The demo holds from the first step to the last, in a copy of its own."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import warm_commands
from openprogram.providers.registry import PROVIDERS

CHECKOUT = Path(__file__).resolve().parents[2]
FIELD = "context.messages[2].content[0].text"
VENDORS = ["openai-completions", "openai-responses", "google-generative-ai", "openai-codex"]
"""Those besides the one that is shown unless another is named."""
PATIENCE_SECONDS = 120

SENTINELS = """
import http.client
import os
import socket
import sys

CLIENTS = {"aiohttp", "anthropic", "httpcore", "httpx", "requests", "urllib3"}


def refuse(name):
    with open(os.environ["TOUCHED"], "a") as touched:
        touched.write(name + "\\n")
    raise AssertionError(f"{name} was used")


class RefuseClients:
    def find_spec(self, name, path=None, target=None):
        if name in CLIENTS:
            refuse(name)


sys.meta_path.insert(0, RefuseClients())
for holder, name in (
    (socket.socket, "connect"),
    (socket.socket, "connect_ex"),
    (socket, "create_connection"),
    (socket, "getaddrinfo"),
    (socket, "gethostbyname"),
    (http.client.HTTPConnection, "__init__"),
    (http.client.HTTPSConnection, "__init__"),
):
    setattr(holder, name, lambda *_, name=name, **__: refuse(name))
"""

OFFLINE_DRIVER = """
import sys

import demo

replay_offline = demo.replay_offline


def without_network(stage, answer):
    stage.environment["PYTHONPATH"] = sys.argv[1]
    stage.environment["TOUCHED"] = sys.argv[2]
    replay_offline(stage, answer)


demo.replay_offline = without_network
sys.exit(demo.main([]))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the demo, so that what it leaves is not in the checkout."""
    directory = tmp_path / "copy"
    shutil.copytree(
        CHECKOUT / "examples", directory / "examples", ignore=shutil.ignore_patterns("__pycache__")
    )
    return directory


@pytest.fixture
def sentinels(tmp_path: Path) -> Path:
    """Make a directory that takes the network from every Python that has it on its path."""
    directory = tmp_path / "sentinels"
    directory.mkdir()
    (directory / "sitecustomize.py").write_text(SENTINELS)
    return directory


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "create_connection"),
        ("import socket; socket.socket().connect(('127.0.0.1', 9))", "connect"),
        ("import socket; socket.getaddrinfo('localhost', 80)", "getaddrinfo"),
        ("import http.client; http.client.HTTPConnection('localhost')", "__init__"),
        ("import anthropic", "anthropic"),
        ("import httpx", "httpx"),
    ],
)
def test_the_sentinels_notice(tmp_path: Path, sentinels: Path, code: str, name: str) -> None:
    touched = tmp_path / "touched"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(sentinels), "TOUCHED": str(touched)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert touched.read_text() == f"{name}\n"


def test_without_a_terminal_it_holds_and_the_replay_half_needs_no_network(
    tmp_path: Path, copy: Path, sentinels: Path
) -> None:
    touched = tmp_path / "touched"
    driver = copy / "examples" / "offline_driver.py"
    driver.write_text(OFFLINE_DRIVER)
    done = subprocess.run(
        [sys.executable, str(driver), str(sentinels), str(touched)],
        cwd=copy,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not touched.exists()
    _assert_is_a_pleasure(done.stdout.splitlines())
    _assert_left_behind(copy / ".demo")


def _assert_is_a_pleasure(lines: list[str]) -> None:
    assert f"  error: replay mismatch at call 1, field {FIELD}:" in lines
    assert [line.split()[0] for line in lines if "planned for " in line and "…" in line] == [
        "recorded",
        "incoming",
    ]
    assert any(line.startswith("  release-question ") for line in lines)
    assert any("Every step held" in line for line in lines[-4:])
    assert len(lines) < 45
    # A directory cannot be cut where a command is to be copied; it stands on a line of its own.
    assert max(len(line) for line in lines if "OPENPROGRAM_STATE_DIR=" not in line) <= 80
    assert all(line.isprintable() for line in lines)


def _assert_left_behind(stage: Path) -> None:
    assert (stage / "state" / "recordings" / "release-question.jsonl").is_file()
    assert not list((stage / "home").iterdir())
    pictures = {path.name: path.read_text() for path in (stage / "screenshots").iterdir()}
    assert set(pictures) == {"recordings.svg", "mismatch.svg"}
    assert all(text.startswith("<svg") for text in pictures.values())
    assert "release-question" in pictures["recordings.svg"]
    assert "Friday" in pictures["mismatch.svg"]


def _load_demo() -> Any:
    spec = importlib.util.spec_from_file_location("demo", CHECKOUT / "examples" / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    # Its dataclasses look their module up by name.
    sys.modules["demo"] = demo
    spec.loader.exec_module(demo)
    return demo


def test_it_holds_with_each_vendor_and_parts_at_the_same_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = _load_demo()
    asked: list[str] = []

    def run(command: list[str], *, cwd: Path, env: dict[str, str], **_: object) -> Any:
        asked.append(command[3])
        return warm_commands.run(command[3:], cwd=cwd, env=env)

    def look(stage: Any, report_id: str) -> None:
        # The pictures are the same whoever answered.
        assert (stage.state / "mismatches" / f"{report_id}.json").is_file()

    monkeypatch.setattr(demo, "STAGE", tmp_path / "stage")
    monkeypatch.setattr(demo, "subprocess", SimpleNamespace(run=run, DEVNULL=None))
    monkeypatch.setattr(demo, "look", look)
    recording = tmp_path / "stage" / "state" / "recordings" / "release-question.jsonl"
    for name in VENDORS:
        asked.clear()
        assert demo.main([name]) == 0, capsys.readouterr()
        shown = capsys.readouterr().out
        assert shown.startswith(f"A pretend vendor ({name}) on this machine answers;")
        assert f"  error: replay mismatch at call 1, field {FIELD}:" in shown, name
        assert asked.count("run") == 3
        assert json.loads(recording.read_text("utf-8").split("\n")[1])["model"]["api"] == name


def test_the_vendors_are_those_that_are_called_live() -> None:
    replayed_only = {each.api for each in PROVIDERS.values() if each.is_replayed_only}
    apis = {each.api for each in PROVIDERS.values()} - replayed_only
    assert set(_load_demo().VENDORS) == apis == {"anthropic-messages", *VENDORS}
    for name, vendor in _load_demo().VENDORS.items():
        assert PROVIDERS[vendor.provider].api == name


def _read_until(fd: int, wanted: str, seen: str) -> str:
    """Read a terminal until it has shown a text, or, for an empty one, to its end."""
    while not wanted or wanted not in seen:
        ready, _, _ = select.select([fd], [], [], PATIENCE_SECONDS)
        assert ready, f"{wanted!r} never came, only {seen[-2000:]!r}"
        more = b""
        with contextlib.suppress(OSError):  # the last program on the terminal has ended
            more = os.read(fd, 65_536)
        if not more:
            assert not wanted, f"it ended before {wanted!r}, with {seen[-2000:]!r}"
            return seen
        seen += more.decode(errors="replace")
    return seen


@pytest.mark.terminal
def test_in_a_terminal_the_ui_opens_on_the_mismatch(copy: Path) -> None:
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    with subprocess.Popen(
        [sys.executable, str(copy / "examples" / "demo.py")],
        cwd=copy,
        env=os.environ | {"TERM": "xterm-256color"},
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
    ) as process:
        os.close(inner)
        try:
            seen = _read_until(outer, "INCOMING", "")
            os.write(outer, b"q")
            seen = _read_until(outer, "", seen)
        finally:
            process.kill()
        os.close(outer)
    assert process.returncode == 0, seen[-2000:]
    words = re.sub(r"\x1b\[[0-9;]*m", "", seen)
    assert f"error: replay mismatch at call 1, field {FIELD}:" in words
    assert "Every step held" in words
