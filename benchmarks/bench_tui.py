"""How soon the terminal UI paints and answers keys, in a real pseudo-terminal, as ratios.

The first list of 1,000 recordings is compared with a bare Textual app's first words; keys in a
recording of 1,000,000 rows, at its top, middle and end, with the same keys in one of 1,000 rows.
All take turns, so that a busy machine slows every side. Run `python benchmarks/bench_tui.py`.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import statistics
import struct
import sys
import tempfile
import termios
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from sample_recordings import write_recording

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

ROUNDS = 9
KEYS_PER_ROUND = 12
RECORDING_COUNT = 1_000
SMALL_ROW_COUNT, LARGE_ROW_COUNT, ROWS_PER_CALL = 1_000, 1_000_000, 500
COLUMNS, ROWS = 120, 40
KEY_TARGET_MS = {"median": 8.0, "p95": 33.0}
MEMORY_TARGET_MB = 300

BARE_APP = """\
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("ready to be read")
Bare().run()
"""
UI = ("-m", "openprogram_recordings_tui")


class Process:
    """A Python program in a pseudo-terminal of its own."""

    def __init__(self, *words: str, state: Path) -> None:
        self.started = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
            os.environ["OPENPROGRAM_STATE_DIR"] = str(state)
            os.execv(sys.executable, [sys.executable, *words])
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def seconds_until(self, words: str) -> float:
        """Read until some words were written, and say how long after the start that was."""
        wanted = words.encode()
        while wanted not in self.seen:
            self.seen += os.read(self._fd, 1 << 16)
        return time.perf_counter() - self.started

    def type(self, keys: str) -> None:
        """Press keys, and let them have their effect."""
        os.write(self._fd, keys.encode())
        self.drain(0.3)

    def key_ms(self, key: str) -> float:
        """Press a key, and measure the time to the first byte back."""
        self.drain(0.02)
        started = time.perf_counter()
        os.write(self._fd, key.encode())
        select.select([self._fd], [], [], 10)
        return (time.perf_counter() - started) * 1e3

    def drain(self, quiet_seconds: float) -> None:
        """Read until nothing came for a while."""
        while select.select([self._fd], [], [], quiet_seconds)[0]:
            self.seen = self.seen[-4096:] + os.read(self._fd, 1 << 16)

    def memory_mb(self, kind: str) -> float:
        """Say how much memory it has: `VmRSS` now, `VmHWM` at the most."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) / 1e3 for line in status.splitlines() if kind in line)

    def end(self) -> None:
        """Press the key that leaves, and wait."""
        try:
            os.write(self._fd, b"\x11")
            while os.read(self._fd, 1 << 16):
                pass
        except OSError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self._fd)


def ratios(ours: list[float], floor: list[float]) -> str:
    values = sorted(a / b for a, b in zip(ours, floor, strict=True))
    return f"{statistics.median(values):5.2f}x ({values[0]:.2f} to {values[-1]:.2f})"


def milliseconds(values: list[float]) -> str:
    ordered = sorted(values)
    late = ordered[int(len(ordered) * 0.95)]
    return f"median {statistics.median(ordered):5.1f}, p95 {late:5.1f}, most {ordered[-1]:5.1f} ms"


def measure_first_paint(folder: Path) -> None:
    bare = folder / "bare.py"
    bare.write_text(BARE_APP)
    recordings = folder / "many" / "recordings"
    recordings.mkdir(parents=True, mode=0o700)
    for number in range(RECORDING_COUNT):
        path = recordings / f"recording-{number:04}.jsonl"
        write_recording(path, row_count=20, delta="word ", per_call=15)
    taken: dict[str, list[float]] = {"bare": [], "first words": [], "list": []}
    for _ in range(ROUNDS):
        with Process(str(bare), state=folder / "none") as process:
            taken["bare"].append(process.seconds_until("ready to be read"))
        with Process(*UI, state=folder / "many") as process:
            taken["first words"].append(process.seconds_until("Recordings"))
            taken["list"].append(process.seconds_until("recording-"))
    print(f"from the start of the process, {RECORDING_COUNT:,} recordings")
    print(f"  bare Textual app, first words  {statistics.median(taken['bare']):6.3f} s")
    for name in ("first words", "list"):
        print(f"  ours, {name:<24} {ratios(taken[name], taken['bare'])}   target 1.3x")


def measure_keys(folder: Path) -> None:
    small, large = folder / "small.jsonl", folder / "large.jsonl"
    for path, row_count in ((small, SMALL_ROW_COUNT), (large, LARGE_ROW_COUNT)):
        write_recording(path, row_count=row_count, delta="word " * 8, per_call=ROWS_PER_CALL - 5)
    size = large.stat().st_size / 1e6
    middle = str(LARGE_ROW_COUNT // ROWS_PER_CALL // 2)
    with ExitStack() as stack:

        def opened(*words: str) -> Process:
            return stack.enter_context(Process(*UI, *words, state=folder / "none"))

        places = {
            f"{SMALL_ROW_COUNT:,} rows": opened(str(small)),
            "top": opened(str(large)),
            "middle": opened(str(large), "--call", middle),
            "end": opened(str(large)),
        }
        firsts = [process.seconds_until("word word") for process in list(places.values())[:2]]
        for name, process in places.items():
            process.seconds_until("sound")
            process.type("4")
            process.type("G" if name == "end" else "")
        print(f"\na recording of {LARGE_ROW_COUNT:,} rows, {size:.0f} MB")
        print(f"  first call shown, over that of {SMALL_ROW_COUNT:,} rows  ", end="")
        print(f"{firsts[1] / firsts[0]:.2f}x")
        taken = press(places)
        floor = taken[f"{SMALL_ROW_COUNT:,} rows", "k"]
        for (name, key), values in taken.items():
            word = {"k": "a line up and down", "\x1b[5~": "a screen up and down"}[key]
            print(f"  {name:>10}, {word:<20} {milliseconds(values)}", end="   ")
            print(f"{statistics.median(values) / statistics.median(floor):5.2f}x")
        targets = " and ".join(f"{name} {ms:.0f} ms" for name, ms in KEY_TARGET_MS.items())
        print(f"  target for a key: {targets}, the same at every place")
        memory = places["end"]
        print(f"  memory {memory.memory_mb('VmRSS'):.0f} MB, at the most ", end="")
        print(f"{memory.memory_mb('VmHWM'):.0f} MB; target {MEMORY_TARGET_MB} MB")


def press(places: dict[str, Process]) -> dict[tuple[str, str], list[float]]:
    """Press the same keys in all of them, in turn."""
    taken: dict[tuple[str, str], list[float]] = {}
    back = {"k": "j", "\x1b[5~": "\x1b[6~"}
    for process in places.values():
        # Room to go up: the keys go up and down in turn, and never meet an end.
        process.type("\x1b[6~" * 3)
        process.type("\x1b[5~" * 2)
    for _ in range(ROUNDS):
        for key, other in back.items():
            for name, process in places.items():
                found = taken.setdefault((name, key), [])
                for number in range(KEYS_PER_ROUND):
                    found.append(process.key_ms(other if number % 2 else key))
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "none").mkdir(mode=0o700)
        measure_first_paint(folder)
        measure_keys(folder)


if __name__ == "__main__":
    main()
