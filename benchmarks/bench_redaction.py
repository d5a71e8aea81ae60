"""Measure redaction: throughput, growth on hostile text, cost of a delta; ratios side by side."""

from __future__ import annotations

import math
import random
import statistics
import time
from typing import TYPE_CHECKING

from openprogram.providers.recording.redaction import remove_secret_values, remove_secrets_from_text
from openprogram.providers.recording.stream_redaction import DeltaRedactor

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7
SIZES = (1_000_000, 5_000_000, 10_000_000)
WORDS = (
    "the quick brown fox jumps over a lazy dog while reading many files and then writes results "
    "into another place with care because people like clear things (see docs) - and so on; x = 3, "
    'y: 4 def f(a_b, c): return {"name": a_b[0]} // https://example.test/path?x=1 2024-01-01'
).split()


def plain_text(size: int) -> str:
    """Make prose with some code in it, without a secret."""
    source = random.Random(7)
    text = "".join(
        source.choice(WORDS) + ("\n" if source.random() < 0.07 else " ") for _ in range(size // 4)
    )
    return text[:size]


HOSTILE = {
    "a@": "a@",
    "sk-": "sk-",
    "Bearer": "Bearer ",
    "token=": "token=",
    "token:": "token: ",
    "[": "[",
    '{"a":': '{"a":',
    '{"token":': '{"token":',
    "\\": '\\\\\\\\"',
    "://": "://u:",
    "eyJ": "eyJ-eyJ.",
    "key lines": "the key idea\n",
    "password lines": "password: see below\n",
    "PEM": "-----BEGIN PRIVATE KEY-----\n",
    "%3D": "token%3D",
    "quotes": '"token": \\"',
    "gh": "ghp_a ",
}


def seconds(work: Callable[[], object]) -> float:
    """Time one run."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure_hostile() -> None:
    """Compare hostile texts with plain text of the same size, in alternating rounds."""
    texts = {name: unit * (SIZES[-1] // len(unit) + 1) for name, unit in HOSTILE.items()}
    plain = plain_text(SIZES[-1])
    taken: dict[tuple[str, int], list[float]] = {}
    for _ in range(ROUNDS):
        for size in SIZES:
            for name, text in (("plain", plain), *texts.items()):
                part = text[:size]
                taken.setdefault((name, size), []).append(
                    seconds(lambda part=part: remove_secrets_from_text(part))
                )
    print(f"\n{'text':16}{'MB/s at 10 MB':>14}{'x plain':>9}{'min-max':>16}{'growth':>8}")
    for name in ("plain", *texts):
        small, large = (statistics.median(taken[name, size]) for size in (SIZES[0], SIZES[-1]))
        ratios = [
            a / b for a, b in zip(taken[name, SIZES[-1]], taken["plain", SIZES[-1]], strict=True)
        ]
        exponent = math.log(large / small) / math.log(SIZES[-1] / SIZES[0])
        print(
            f"{name:16}{SIZES[-1] / 1e6 / large:14.0f}{statistics.median(ratios):9.1f}"
            f"{min(ratios):8.1f}-{max(ratios):<7.1f}{exponent:8.2f}"
        )


def measure_deltas() -> None:
    """Time one delta of ordinary text, small and of one character."""
    text = plain_text(200_000)
    for width in (1, 4, 20):
        deltas = [text[at : at + width] for at in range(0, len(text), width)]

        def run(deltas: list[str] = deltas) -> None:
            redactor = DeltaRedactor()
            for delta in deltas:
                redactor.feed(delta)
            redactor.finish()

        runs = [seconds(run) / len(deltas) * 1e6 for _ in range(ROUNDS)]
        print(
            f"delta of {width:2} characters: {statistics.median(runs):5.2f} us "
            f"({min(runs):.2f}-{max(runs):.2f})"
        )


def measure_event() -> None:
    """Time an event whose partial message holds 1 KB of text, as plain values."""
    event = {
        "type": "text_delta",
        "content_index": 0,
        "delta": "word",
        "partial": {
            "role": "assistant",
            "content": [{"type": "text", "text": plain_text(1000), "text_signature": None}],
            "api": "anthropic-messages",
            "provider": "anthropic",
            "model": "some-model",
            "usage": {"input": 1, "output": 2, "cost": {"total": 0.0}},
            "stop_reason": "stop",
            "timestamp": 1_786_000_000_000,
        },
    }
    runs = [
        seconds(lambda: [remove_secret_values(event) for _ in range(1000)]) * 1e3
        for _ in range(ROUNDS)
    ]
    print(f"event with 1 KB: {statistics.median(runs):.1f} us ({min(runs):.1f}-{max(runs):.1f})")


if __name__ == "__main__":
    measure_event()
    measure_deltas()
    measure_hostile()
