"""A real pseudo-terminal with the UI's process in it: every byte that comes out is kept."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

import pyte

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

PATIENCE_SECONDS = 60.0
"""A limit for what hangs; nothing is measured by it."""
PRESS_SECONDS = 5.0
"""How long a key that changes nothing on the screen is waited for."""
QUIET_SECONDS = 0.2
"""How long nothing comes before the screen counts as still."""

SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
_MODE = re.compile(r"\x1b\[\?([\d;]+)([hl])")


class Terminal:
    """The UI in a terminal of its own; leave the block to end it whatever happens."""

    def __init__(
        self,
        *arguments: str,
        size: tuple[int, int] = (100, 30),
        environment: Mapping[str, str] | None = None,
        command: tuple[str, ...] = ("-m", "openprogram_recordings_tui"),
    ) -> None:
        self.sent = ""
        """Everything the process wrote."""
        self._screen = pyte.Screen(*size)
        self._stream = pyte.Stream(self._screen)
        self._master, self.slave = os.openpty()
        self.resize(*size)
        self.modes_before = termios.tcgetattr(self.slave)
        """The settings of the terminal before the process came."""
        self._pending = b""
        self.process = subprocess.Popen(
            [sys.executable, *command, *arguments],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", **(environment or {})},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self.slave)

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(self._screen.display)

    @property
    def modes_on(self) -> set[str]:
        """The private modes that were switched on and not off again."""
        on: set[str] = set()
        for numbers, switch in _MODE.findall(self.sent):
            for number in numbers.split(";"):
                (on.add if switch == "h" else on.discard)(number)
        return on

    def resize(self, columns: int, rows: int) -> None:
        """Change the size, as a terminal emulator does."""
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        if hasattr(self, "process"):
            self._screen.resize(rows, columns)
            self.process.send_signal(signal.SIGWINCH)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def press(self, *keys: str) -> None:
        """Press keys one by one, each once the one before was answered and the screen is still."""
        for key in keys:
            known = len(self.sent)
            self.type(key)
            limit = time.monotonic() + PRESS_SECONDS
            while len(self.sent) == known and time.monotonic() < limit:
                self._read(0.05)
            self._read(QUIET_SECONDS)

    def wait_for(self, words: str) -> None:
        """Read until some words are on the screen."""
        self._read_until(lambda: words in self.text, f"{words!r} on the screen")

    def wait_until_gone(self, words: str) -> None:
        """Read until some words are no longer on the screen."""
        self._read_until(lambda: words not in self.text, f"{words!r} gone")

    def wait_for_end(self) -> int:
        """Read until the process ends, and return its exit code."""
        self._read_until(lambda: self.process.poll() is not None, "the end")
        self._read(0.2)
        return self.process.wait()

    def _read_until(self, is_done: Callable[[], bool], what: str) -> None:
        limit = time.monotonic() + PATIENCE_SECONDS
        while not is_done():
            assert time.monotonic() < limit, f"waited for {what}; the screen:\n{self.text}"
            self._read(0.05)

    def _read(self, seconds: float) -> None:
        while select.select([self._master], [], [], seconds)[0]:
            self._pending += os.read(self._master, 1 << 16)
            try:
                text = self._pending.decode()
                self._pending = b""
            except UnicodeDecodeError as cut:
                text = self._pending[: cut.start].decode()
                self._pending = self._pending[cut.start :]
            self.sent += text
            self._stream.feed(text)


def shapes(sent: str) -> set[str]:
    """Give the kinds of escape sequences in what was sent: without their numbers."""
    return {re.sub(r"\d+", "0", found) for found in SEQUENCE.findall(sent)}
