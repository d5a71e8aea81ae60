"""The demo holds from the first step to the last, in a copy of its own."""

from __future__ import annotations

import contextlib
import fcntl
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

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
FIELD = "context.messages[2].content[0].text"
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
sys.exit(demo.main())
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
