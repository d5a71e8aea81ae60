"""Runs the command line, in this process where that is enough and in one of its own where not."""

from __future__ import annotations

import contextlib
import logging
import os
import pty
import subprocess
import sys
import termios
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    RunCli = Callable[..., "Ended"]
    OpenTerminal = Callable[..., "Terminal"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    exit_code: int
    out: str
    err: str


@pytest.fixture
def run_cli(capsys: pytest.CaptureFixture[str]) -> Iterator[RunCli]:
    from openprogram.__main__ import main

    handlers = logging.getLogger("openprogram").handlers

    def run(*argv: str) -> Ended:
        exit_code = main(argv)
        captured = capsys.readouterr()
        return Ended(exit_code, captured.out, captured.err)

    yield run
    logging.getLogger("openprogram").handlers = handlers


@pytest.fixture
def run_process() -> RunCli:
    def run(*argv: str, env: dict[str, str] | None = None) -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", "openprogram", *argv],
            env=os.environ | (env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


class Terminal:
    """A command on a pseudo-terminal of its own."""

    def __init__(self, argv: tuple[str, ...]) -> None:
        self._fd, inner = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "openprogram", *argv], stdin=inner, stdout=inner, stderr=inner
        )
        os.close(inner)
        self.seen = ""

    def wait_for(self, text: str) -> None:
        while text not in self.seen:
            more = self._read()
            assert more, f"{text!r} never came, only {self.seen!r}"

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def echoes(self) -> bool:
        """Say whether the terminal shows what is typed."""
        return bool(termios.tcgetattr(self._fd)[3] & termios.ECHO)

    def end(self) -> int:
        """Read to the end, and return the exit code."""
        while self._read():
            pass
        os.close(self._fd)
        return self.process.wait(timeout=60)

    def _read(self) -> str:
        # When the last program on the terminal has ended, reading fails instead of giving nothing.
        with contextlib.suppress(OSError):
            more = os.read(self._fd, 4096).decode()
            self.seen += more
            return more
        return ""


@pytest.fixture
def open_terminal() -> Iterator[OpenTerminal]:
    opened: list[Terminal] = []

    def start(*argv: str) -> Terminal:
        opened.append(Terminal(argv))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.process.kill()
        terminal.process.wait()
