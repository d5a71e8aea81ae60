"""How finding differences grows, between two values and between two recordings.

The floors: `==` on the values, and reading and validating both files. Run it as
`python benchmarks/bench_diff.py`.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from measuring import Row, growth_of, in_turns, ratios, run_alone
from sample_recordings import STUB, call_lines, message

from openprogram.providers import types as t
from openprogram.providers.comparison import find_first_difference
from openprogram.providers.diffing import diff_recordings
from openprogram.providers.inspection import inspect_recording
from openprogram.providers.recording.format import encode_header, encode_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from measuring import Scale

AREA = "diff"
DELTAS_PER_CALL = 4
WORDS = ("agent", "reads", "a", "file", "and", "says", "what", "it", "found", "there")

Call = tuple[str, str]
"""What a call asks last, and what it is answered."""


def encoded_events(answered: str) -> list[bytes]:
    """The events of one answer, as writers lay them out."""
    derived: dict[str, Any] = {"partial": STUB, "partial_derived": True}
    cut = max(len(answered) // DELTAS_PER_CALL, 1)
    whole = t.to_wire(message(answered))
    deltas = [answered[part * cut : (part + 1) * cut] for part in range(DELTAS_PER_CALL)]
    events: list[dict[str, Any]] = [
        {"type": "start", "partial": {**whole, "content": []}},
        {"type": "text_start", "content_index": 0, **derived},
        *({"type": "text_delta", "content_index": 0, "delta": each, **derived} for each in deltas),
        {"type": "text_end", "content_index": 0, "content": answered, **derived},
        {"type": "done", "reason": "stop", "message": whole},
    ]
    return [encode_row(event)[:-1] for event in events]


def write_recording(path: Path, calls: list[Call]) -> Path:
    """Write a recording of these calls."""
    with path.open("wb") as file:
        file.write(encode_header("bench"))
        for index, (asked, answered) in enumerate(calls):
            file.writelines(call_lines(index, encoded_events(answered), text=asked))
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
    half = len(calls) // 2
    new = make_calls(max(len(calls) // 10, 1), seed=2)
    cases: dict[str, list[Call]] = {
        "a tenth more in the middle": [*calls[:half], *new, *calls[half:]],
        "one question again and again": [
            ("the same question", f"answer {index % 3}") for index in range(len(calls))
        ],
    }
    return {
        name: write_recording(folder / f"{number}.jsonl", case)
        for number, (name, case) in enumerate(cases.items())
    }


def measure_recordings(folder: Path, scale: Scale) -> list[Row]:
    """Compare recordings of every size with what became of them."""
    sizes = scale.counts(1_000, 3_000, 10_000, least=10)
    works: dict[tuple[str, int], Callable[[], object]] = {}
    for size in sizes:
        inner = folder / str(size)
        inner.mkdir()
        calls = make_calls(size, seed=1)
        first = write_recording(inner / "first.jsonl", calls)
        if size == sizes[-1]:
            works["read", size] = lambda first=first: [inspect_recording(first) for _ in range(2)]
        for case, other in make_others(calls, inner).items():
            works[case, size] = lambda one=first, two=other: diff_recordings(one, two)
    by_name = {f"{case} {size}": work for (case, size), work in works.items()}
    taken = in_turns(by_name, scale)
    of = {key: taken[f"{key[0]} {key[1]}"] for key in works}
    least, most = sizes[0], sizes[-1]
    rows: list[Row] = []
    for case in dict.fromkeys(case for case, _ in works if case != "read"):
        rows += [
            Row(
                area=AREA,
                work=f"{case}, {most:,} calls / {least:,} calls",
                values=ratios(of[case, most], of[case, least]),
                at_most=12,
                growth=growth_of(sizes, [of[case, size] for size in sizes]),
                sizes="9 rows a call",
            ),
            Row(
                area=AREA,
                work=f"{case} / inspect both",
                values=ratios(of[case, most], of["read", most]),
                sizes=f"{most:,} calls",
            ),
        ]
    return rows


def measure_values(scale: Scale) -> list[Row]:
    """Compare two values of 1 MB that are equal but for what comes last."""
    part = scale.count(1_000, least=2)
    values: dict[str, Any] = {
        "text in messages": [{"role": "user", "content": "w" * 1_000} for _ in range(part)],
        "one long text": {"text": "w" * 1_000 * part},
        "small fields": [{"a": n, "b": str(n), "c": [n, None, True]} for n in range(20 * part)],
    }
    rows: list[Row] = []
    for name, value in values.items():
        text = json.dumps(value)
        one, other = json.loads(text), json.loads(text)
        last = other if isinstance(value, dict) else other[-1]
        key = list(last)[-1]
        last[key] = last[key][:-1] + ("x" if isinstance(last[key], str) else ["x"])
        taken = in_turns(
            {
                "ours": lambda one=one, other=other: find_first_difference(one, other),
                "equal": lambda one=one, other=other: [one == other for _ in range(10)],
            },
            scale,
        )
        rows.append(
            Row(
                area=AREA,
                work=f"first difference, {name} / ==",
                values=ratios(taken["ours"], [seconds / 10 for seconds in taken["equal"]]),
                at_most=4,
                sizes=f"{len(text) / 1e6:.1f} MB, the last byte differs",
            )
        )
    return rows


def measure(folder: Path, scale: Scale) -> list[Row]:
    """Measure all of it."""
    return [*measure_values(scale), *measure_recordings(folder, scale)]


if __name__ == "__main__":
    run_alone(measure, __doc__)
