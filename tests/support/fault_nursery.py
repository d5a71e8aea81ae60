"""Run as a program: forks children that record until they are killed, one at a time.

Each line of standard input is a recording, a FIFO, a name, and in how many pieces the system takes
what is written; the answers are the child's process ID, and later how it ended.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from pathlib import Path

import scripted
from fault_drives import ByLabel
from openprogram import _private_files
from openprogram.providers.recording.provider import RecordingProvider


def main() -> None:
    for line in sys.stdin:
        path, fifo, name, piece_count = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            os.close(0)
            os.close(1)
            acknowledge = _Acknowledge(fifo)
            if piece_count != "1":
                _write_in_pieces(int(piece_count))
            asyncio.run(_record_for_ever(Path(path), acknowledge, name))
        print(child, flush=True)  # noqa: T201 - this is how it answers
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - as above


class _Acknowledge:
    """Says at once, in one write, what has been handed out."""

    def __init__(self, fifo: str) -> None:
        self._fd = os.open(fifo, os.O_WRONLY)
        self._write = os.write

    def __call__(self, text: str) -> None:
        self._write(self._fd, f"{text}\n".encode())


def _write_in_pieces(count: int) -> None:
    """Let the system take less than it is given, as it may, so that rows can be cut in two."""
    write = os.write

    def write_less(fd: int, data: memoryview) -> int:
        return write(fd, data[: max(1, len(data) // count)])

    _private_files.os.write = write_less


async def _record_for_ever(path: Path, acknowledge: _Acknowledge, name: str) -> None:
    acknowledge("ready")
    provider = RecordingProvider(ByLabel(), path)

    async def record(label: str) -> None:
        position = 0
        async for _ in provider.stream(*scripted.request(label)):
            acknowledge(f"{label}\t{position}")
            position += 1
            # Let the other call have its turn, so that rows of two calls interleave.
            await asyncio.sleep(0)

    for number in itertools.count():
        await asyncio.gather(*(record(f"{name} call {number} {twin}") for twin in "ab"))


if __name__ == "__main__":
    main()
