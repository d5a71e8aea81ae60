"""What the fault drives share: their strength, their calls, and children to be killed."""

from __future__ import annotations

import functools
import itertools
import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scripted
from openprogram.providers import types as t
from openprogram.providers.inspection import (
    RecordingInspection,
    first_user_text,
    inspect_recording,
    read_call,
)
from openprogram.providers.recording.provider import RecordingProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence
    from typing import Self

HELD_CHARACTERS = 32
"""Deltas that lie in the last so many characters of a block may be held back from the file."""
_SUPPORT = Path(__file__).parent


@dataclass
class Strength:
    """How many rounds a drive makes; in full it tells its counts."""

    is_full: bool
    title: str
    lines: list[str]

    def of(self, few: int, full: int) -> int:
        return full if self.is_full else few

    def tell(self, **counts: int | str) -> None:
        if self.is_full:
            told = ", ".join(f"{name.replace('_', ' ')}: {n}" for name, n in counts.items())
            self.lines.append(f"{self.title}: {told}")


def events_for(label: str) -> list[Any]:
    """The events of a call, made from its label alone, so that whoever checks can make them too.

    A call of a writer that will be killed may have rows so long that the kill comes amid a write.
    """
    dice = random.Random(label)
    if dice.random() < 0.3:
        value = {"label": label, "text": "é 漢字 \u2028 🎉 " * dice.randrange(8, 60)}
        text = json.dumps(value, ensure_ascii=False)
        cuts = range(0, len(text), HELD_CHARACTERS * 2)
        pieces = [text[at : at + HELD_CHARACTERS * 2] for at in cuts]
        return scripted.tool_events(*pieces)
    sizes = [dice.choice((0, 1, 40, 900)) for _ in range(dice.randrange(1, 12))]
    if label.startswith("round") and dice.random() < 0.2:
        sizes.append(dice.randrange(200_000, 2_000_000))
    return scripted.text_events(*(f"{label}: é 漢字 🎉 {'x' * size}\n" for size in sizes))


class ByLabel:
    """Answers each call with the events of the label in its request."""

    requires_credentials = False

    async def stream(self, model: Any, context: Any, options: Any = None) -> AsyncIterator[Any]:
        del model, options
        for event in events_for(context.messages[0].content):
            yield event

    stream_simple = stream


async def record(path_or_provider: Path | RecordingProvider, label: str) -> list[Any]:
    """Record one call, and return what its consumer got."""
    provider = path_or_provider
    if isinstance(provider, Path):
        provider = RecordingProvider(ByLabel(), provider)
    return await scripted.collect(provider.stream(*scripted.request(label)))


@dataclass
class FoundCall:
    """A call as an inspection finds it."""

    outcome: str | None
    events: list[dict[str, Any]]


def find_calls(path: Path) -> tuple[RecordingInspection, dict[str, FoundCall]]:
    """Inspect a recording, sound or not, and read every call in it, by its label."""
    inspection = inspect_recording(path)
    calls: dict[str, FoundCall] = {}
    for call in inspection.calls:
        read = read_call(path, call)
        label = first_user_text(read.request)
        assert label is not None
        assert label not in calls
        calls[label] = FoundCall(call.outcome, [one.event for one in read.iterate_events()])
    return inspection, calls


def wire_events(label: str, count: int | None = None) -> list[dict[str, Any]]:
    """The first events of a call as a recording holds them."""
    return [t.to_wire(event) for event in events_for(label)[:count]]


def expected_fault(data: bytes) -> tuple[str, int | None, int | None] | None:
    """Say what is wrong with a recording that was cut, by counting lines and nothing else.

    Of a sound recording any first part is one of these: empty, torn, with a call that has no end,
    or sound.
    """
    if not data:
        return ("empty_file", None, None)
    *rows, rest = data.split(b"\n")
    if rest:
        return ("truncated_row", len(rows) + 1, None)
    open_calls: dict[int, int] = {}
    for number, (kind, call_index) in enumerate(map(_kind_and_call, rows), 1):
        if kind == "request":
            open_calls[call_index] = number
        elif kind == "call_end":
            del open_calls[call_index]
    if not open_calls:
        return None
    index = min(open_calls)
    return ("missing_call_end", open_calls[index], index)


@functools.cache
def _kind_and_call(row: bytes) -> tuple[str, int]:
    value = json.loads(row)
    return value["type"], value.get("call_index", -1)


def found_fault(inspection: RecordingInspection) -> tuple[str, int | None, int | None] | None:
    error = inspection.error
    return None if error is None else (error.code, error.line_number, error.call_index)


def run_child(*arguments: object, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start `python -m ARGUMENTS` with `tests/support` on its path; the caller waits for it."""
    return subprocess.Popen(
        [*before, sys.executable, "-m", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(_SUPPORT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@dataclass
class Child:
    """A process that records until it is killed."""

    process_id: int
    acknowledgements: int
    """Where it says what it has handed to its consumer; ends when it ends."""


class Nursery:
    """A process that forks children with everything imported, one at a time."""

    def __init__(self) -> None:
        self._process = run_child("fault_nursery")
        self._numbers = itertools.count()

    def fork(self, path: Path, name: str, *, piece_count: int) -> Child:
        """Start a child that records until it is killed; the system takes each row in pieces."""
        fifo = path.with_name(f"fifo-{next(self._numbers)}")
        os.mkfifo(fifo, 0o600)
        self._say(str(path), str(fifo), name, str(piece_count))
        process_id = int(self._hear())
        acknowledgements = os.open(fifo, os.O_RDONLY)
        fifo.unlink()
        return Child(process_id, acknowledgements)

    def wait(self) -> int:
        """Wait until the child is gone, and its locks with it; return how it ended."""
        return int(self._hear())

    def _say(self, *words: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\t".join(words) + "\n")
        self._process.stdin.flush()

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        with self._process:
            pass


def labels_of(words: Iterable[str]) -> dict[str, int]:
    """Count the events that were acknowledged, by call."""
    counts: dict[str, int] = {}
    for word in words:
        label, _, position = word.partition("\t")
        assert counts.get(label, 0) == int(position)
        counts[label] = int(position) + 1
    return counts
