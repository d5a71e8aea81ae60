"""How comparing two recordings grows with the number of their calls, beside reading both.

Ours and the floor, which reads and validates both files, take turns in every round. Run it as
`python benchmarks/bench_diff.py`.
"""

from __future__ import annotations

import math
import random
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openprogram.providers import types as t
from openprogram.providers.diffing import diff_recordings
from openprogram.providers.inspection import inspect_recording
from openprogram.providers.recording.format import encode_header, encode_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROUNDS = 7
FLOOR = "floor: reading both"
SIZES = (1_000, 3_000, 10_000)
DELTAS_PER_CALL = 4
MESSAGES_PER_REQUEST = 2
WORDS = ("agent", "reads", "a", "file", "and", "says", "what", "it", "found", "there")
NAMES: dict[str, Any] = {"api": "scripted", "provider": "pretend", "model": "pretend-1"}
STUB: dict[str, Any] = {"role": "assistant", "content": [], **NAMES, "timestamp": 1_786_000_000_000}
MODEL = t.to_wire(
    t.Model(
        id="pretend-1", name="P", api="scripted", provider="pretend", base_url="https://model.test"
    )
)
OPTIONS = t.to_wire(t.SimpleStreamOptions())

Call = tuple[str, str]
"""What a call asks last, and what it is answered."""


def call_rows(call_index: int, call: Call, system_prompt: str) -> Iterable[bytes]:
    """One call with its events, as writers lay them out."""
    asked, answered = call
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": f"{asked}, part {part}", "timestamp": call_index}
        for part in range(MESSAGES_PER_REQUEST)
    ]
    context = {"system_prompt": system_prompt, "messages": messages, "tools": None}
    request = {"model": MODEL, "context": context, "options": OPTIONS}
    yield encode_row({"type": "request", "call_index": call_index, **request})
    content: list[Any] = [t.TextContent(text=answered)]
    whole = t.AssistantMessage(content=content, timestamp=call_index, **NAMES)
    derived: dict[str, Any] = {"partial": STUB, "partial_derived": True}
    cut = max(len(answered) // DELTAS_PER_CALL, 1)
    events: list[dict[str, Any]] = [
        {"type": "start", "partial": t.to_wire(whole) | {"content": []}},
        {"type": "text_start", "content_index": 0, **derived},
        *(
            {
                "type": "text_delta",
                "content_index": 0,
                "delta": answered[part * cut : (part + 1) * cut],
                **derived,
            }
            for part in range(DELTAS_PER_CALL)
        ),
        {"type": "text_end", "content_index": 0, "content": answered, **derived},
        {"type": "done", "reason": "stop", "message": t.to_wire(whole)},
    ]
    for index, event in enumerate(events):
        row = {"type": "event", "call_index": call_index, "event_index": index, "event": event}
        yield encode_row(row)
    end = {"type": "call_end", "call_index": call_index, "event_count": len(events)}
    yield encode_row({**end, "outcome": "complete"})


def write_recording(path: Path, calls: list[Call], system_prompt: str = "be brief") -> Path:
    """Write a recording of these calls."""
    with path.open("wb") as file:
        file.write(encode_header("bench"))
        for index, call in enumerate(calls):
            file.writelines(call_rows(index, call, system_prompt))
    return path


def make_calls(count: int, *, seed: int) -> list[Call]:
    """Make calls that are all different."""
    source = random.Random(seed)
    return [
        (
            f"question {seed} {index} {' '.join(source.choices(WORDS, k=20))}",
            f"answer {seed} {index} {' '.join(source.choices(WORDS, k=60))}",
        )
        for index in range(count)
    ]


def make_others(calls: list[Call], folder: Path) -> dict[str, Path]:
    """Write what a recording is compared with, by what happened to it."""
    count = len(calls)
    new = make_calls(count // 10, seed=2)
    repeated = [("the same question", f"answer {index % 3}") for index in range(count)]
    return {
        "equal": write_recording(folder / "equal.jsonl", calls),
        "a tenth put into the middle": write_recording(
            folder / "inserted.jsonl", [*calls[: count // 2], *new, *calls[count // 2 :]]
        ),
        "every request changed": write_recording(folder / "asked.jsonl", calls, "be thorough"),
        "one question again and again": write_recording(folder / "repeated.jsonl", repeated),
    }


def seconds_for(work: Callable[[], object]) -> float:
    """Time one run."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def spread(values: list[float]) -> str:
    """Write the median, least and most of some ratios."""
    return f"{statistics.median(values):5.2f} ({min(values):.2f} to {max(values):.2f})"


def main() -> None:
    """Compare recordings of every size with what became of them, and print how time grows."""
    taken: dict[tuple[str, int], list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        firsts: dict[int, Path] = {}
        others: dict[int, dict[str, Path]] = {}
        for size in SIZES:
            folder = Path(name) / str(size)
            folder.mkdir()
            calls = make_calls(size, seed=1)
            firsts[size] = write_recording(folder / "first.jsonl", calls)
            others[size] = make_others(calls, folder)
            print(f"{size:>6,} calls: {firsts[size].stat().st_size / 1e6:6.1f} MB a file")
        for _ in range(ROUNDS):
            for size, first in firsts.items():
                seconds = seconds_for(lambda first=first: inspect_recording(first))
                taken.setdefault((FLOOR, size), []).append(2 * seconds)
                for case, other in others[size].items():
                    seconds = seconds_for(lambda one=first, two=other: diff_recordings(one, two))
                    taken.setdefault((case, size), []).append(seconds)
    show(taken)


def show(taken: dict[tuple[str, int], list[float]]) -> None:
    """Print growth, and how much more it is than the floor."""
    least, most = SIZES[0], SIZES[-1]
    print(f"\n{'':<34} {f'{most:,} over {least:,} calls':<26} n^     over the floor, at {most:,}")
    for case in dict.fromkeys(case for case, _ in taken):
        growth = [y / x for x, y in zip(taken[case, least], taken[case, most], strict=True)]
        floor = [y / x for x, y in zip(taken[FLOOR, most], taken[case, most], strict=True)]
        exponent = math.log(statistics.median(growth)) / math.log(most / least)
        print(f"{case:<34} {spread(growth):<26} {exponent:.2f}   {spread(floor)}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"\npeak memory of all of it: {peak:.0f} MB")


if __name__ == "__main__":
    main()
