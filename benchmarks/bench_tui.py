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
import struct
import sys
import termios
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import Row, Taken, ratios, run_alone
from sample_recordings import write_recording

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from measuring import Scale

AREA = "terminal UI"
KEYS_PER_ROUND = 12
RECORDING_COUNT = 1_000
SMALL_ROW_COUNT, LARGE_ROW_COUNT, ROWS_PER_CALL = 1_000, 1_000_000, 500
COLUMNS, ROWS = 120, 40
KEY_MS, LATE_KEY_MS = 8.0, 33.0
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


def measure_first_paint(folder: Path, scale: Scale) -> list[Row]:
    bare = folder / "bare.py"
    bare.write_text(BARE_APP)
    recordings = folder / "many" / "recordings"
    recordings.mkdir(parents=True, mode=0o700)
    count = scale.count(RECORDING_COUNT, least=5)
    for number in range(count):
        path = recordings / f"recording-{number:04}.jsonl"
        write_recording(path, row_count=20, delta="word ", per_call=15)
    names = ("bare", "first words", "list")
    taken: Taken = {name: [] for name in names}
    for _ in range(scale.rounds):
        with Process(str(bare), state=folder / "none") as process:
            taken["bare"].append(process.seconds_until("ready to be read"))
        with Process(*UI, state=folder / "many") as process:
            taken["first words"].append(process.seconds_until("Recordings"))
            taken["list"].append(process.seconds_until("recording-"))
    return [
        Row(
            area=AREA,
            work=f"process start to {name} / a bare Textual app's first words",
            values=ratios(taken[name], taken["bare"]),
            at_most=1.3,
            sizes=f"{count:,} recordings",
        )
        for name in names[1:]
    ]


def measure_keys(folder: Path, scale: Scale) -> list[Row]:
    small, large = folder / "small.jsonl", folder / "large.jsonl"
    small_count = scale.count(SMALL_ROW_COUNT, least=4 * ROWS_PER_CALL)
    large_count = scale.count(LARGE_ROW_COUNT, least=8 * ROWS_PER_CALL)
    for path, row_count in ((small, small_count), (large, large_count)):
        write_recording(path, row_count=row_count, delta="word " * 8, per_call=ROWS_PER_CALL - 5)
    sizes = f"{large_count:,} rows, {large.stat().st_size / 1e6:.0f} MB"
    middle = str(large_count // ROWS_PER_CALL // 2)
    with ExitStack() as stack:

        def opened(*words: str) -> Process:
            return stack.enter_context(Process(*UI, *words, state=folder / "none"))

        places = {
            "small": opened(str(small)),
            "top": opened(str(large)),
            "middle": opened(str(large), "--call", middle),
            "end": opened(str(large)),
        }
        firsts = [process.seconds_until("word word") for process in list(places.values())[:2]]
        for name, process in places.items():
            process.seconds_until("sound")
            process.type("4")
            process.type("G" if name == "end" else "")
        taken = press(places, scale)
        memory = places["end"].memory_mb("VmHWM")
    floor = taken.pop("small")
    rows = [
        Row(
            area=AREA,
            work=f"first call shown / in a recording of {small_count:,} rows",
            values=(firsts[1] / firsts[0],),
            sizes=sizes,
        ),
        Row(
            area=AREA,
            work="memory at the most",
            values=(memory,),
            unit="MB",
            at_most=MEMORY_TARGET_MB,
            sizes=sizes,
        ),
    ]
    for name, values in taken.items():
        rows += [
            Row(
                area=AREA,
                work=f"key press to first byte back, {name}",
                values=tuple(values),
                unit="ms",
                at_most=KEY_MS,
                sizes=sizes,
            ),
            Row(
                area=AREA,
                work=f"key press to first byte back, {name}, 95th of 100",
                values=(sorted(values)[int(len(values) * 0.95)],),
                unit="ms",
                at_most=LATE_KEY_MS,
                sizes=sizes,
            ),
            Row(
                area=AREA,
                work=f"key press, {name} / in a recording of {small_count:,} rows",
                values=ratios(values, floor),
                sizes=sizes,
            ),
        ]
    return rows


def press(places: dict[str, Process], scale: Scale) -> Taken:
    """Press the same keys in all of them, in turn; milliseconds for each."""
    taken: Taken = {name: [] for name in places}
    back = {"k": "j", "\x1b[5~": "\x1b[6~"}
    for process in places.values():
        # Room to go up: the keys go up and down in turn, and never meet an end.
        process.type("\x1b[6~" * 3)
        process.type("\x1b[5~" * 2)
    for _ in range(scale.rounds):
        for key, other in back.items():
            for name, process in places.items():
                for number in range(KEYS_PER_ROUND):
                    taken[name].append(process.key_ms(other if number % 2 else key))
    return taken


def measure(folder: Path, scale: Scale) -> list[Row]:
    """Measure all of it."""
    (folder / "none").mkdir(mode=0o700)
    return [*measure_first_paint(folder, scale), *measure_keys(folder, scale)]


if __name__ == "__main__":
    run_alone(measure, __doc__)
