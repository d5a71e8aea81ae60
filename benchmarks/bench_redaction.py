"""Measure redaction: throughput, growth on hostile text, cost of an event and of a delta.

Every figure is taken side by side in alternating rounds; ratios are to plain text of one size.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

from openprogram.providers.recording.redaction import remove_secret_values, remove_secrets_from_text
from openprogram.providers.recording.redaction.deltas import DeltaRedactor

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7
SIZES_BYTES = (1_000_000, 3_000_000, 10_000_000)
PROSE = (
    "the quick brown fox jumps over a lazy dog while reading many files and then writes results "
    "into another place with care because people like clear things (see docs) - and so on; 2024-01"
)
CODE = (
    "x = 3, y: 4 def f(a_b, c): return a_b[0] // https://example.test/path?x=1 if self.name_of(x) "
    "is None: raise ValueError(f'{x!r} is no name') for item in items: print(item.id, end='')"
)
NEAR_MISSES = {
    "sk-": "sk-",
    "eyJ": "eyJ",
    "ghp_": "ghp_a ",
    "AKIA": "AKIA",
    "BEGIN": "-----BEGIN ",
    "dashes": "-",
    "key idea": "the key idea\n",
    "Bearer": "Bearer ",
    "basic idea": "the basic idea ",
    "key=": "key=",
    "page_token=": "page_token=",
    "a@": "a@",
    "://": "://",
    "%41": "%41",
    "&quot;": "&quot;",
    "brackets": "[",
    "objects": '{"a":',
    "quotes": '"',
    "backslashes": "\\\\",
    "password: prose": "the password: see below\n",
}
"""Texts that begin like secrets again and again and hold none."""
MATCHES = {
    "token=": "token=",
    "?key=": "?key=a1&",
    "token: x1": "token: x1 ",
    '{"token":': '{"token":',
    '"token": "a"': '"token": "a", ',
    "Cookie": "Cookie: ",
    "PEM": "-----BEGIN PRIVATE KEY-----\n",
    "%3D": "token%3D",
    "token={": "token={ ",
    "continued": "a \\\n",
}
"""Texts that are one secret after the other, or call for a reader at each word."""


class Measured(NamedTuple):
    """One row of the table."""

    name: str
    mb_per_second: float
    ratios: list[float]
    exponent: float
    """Time grows with the size to this power."""


def text_of(words: str, size_bytes: int) -> str:
    """Put words in a random order, some of them on new lines."""
    source = random.Random(7)
    choice = words.split()
    pieces = [
        source.choice(choice) + ("\n" if source.random() < 0.07 else " ")
        for _ in range(size_bytes // 4)
    ]
    return "".join(pieces)[:size_bytes]


def seconds(work: Callable[[], object]) -> float:
    """Time one run on the processor."""
    started = time.process_time()
    work()
    return time.process_time() - started


def measure(texts: dict[str, str], *, rounds: int) -> list[Measured]:
    """Redact each text at each size, round by round; the first text is the one compared with."""
    taken: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for size in SIZES_BYTES:
            for name, text in texts.items():
                part = text[:size]
                spent = seconds(lambda part=part: remove_secrets_from_text(part))
                taken.setdefault((name, size), []).append(spent)
    small, large = SIZES_BYTES[0], SIZES_BYTES[-1]
    first = next(iter(texts))
    rows: list[Measured] = []
    for name in texts:
        at_small, at_large = (statistics.median(taken[name, size]) for size in (small, large))
        ratios = [a / b for a, b in zip(taken[name, large], taken[first, large], strict=True)]
        exponent = math.log(at_large / at_small) / math.log(large / small)
        rows.append(Measured(name, large / 1e6 / at_large, sorted(ratios), exponent))
    return rows


def print_rows(title: str, rows: list[Measured]) -> None:
    """Print one table."""
    print(f"\n{title:22}{'MB/s':>8}{'x plain':>9}{'min-max':>15}{'growth':>8}")
    for row in rows:
        spread = f"{row.ratios[0]:.1f}-{row.ratios[-1]:.1f}"
        ratio = statistics.median(row.ratios)
        print(f"{row.name:22}{row.mb_per_second:8.1f}{ratio:9.1f}{spread:>15}{row.exponent:8.2f}")


def measure_ordinary(rounds: int) -> None:
    """Compare ordinary texts without a secret with the fastest pass over their bytes."""
    size = SIZES_BYTES[1]
    rows = [
        {"id": number, "name": "a file", "tags": ["x", "y"], "max_tokens": 5, "text": PROSE[:80]}
        for number in range(size // 170)
    ]
    texts = {
        "prose": text_of(PROSE, size),
        "prose and code": text_of(f"{PROSE} {CODE}", size),
        "JSON": json.dumps(rows),
        "Chinese": "你好世界这是一个测试。" * (size // 11),
    }
    print(f"\n{'ordinary text':22}{'MB/s':>8}{'min-max':>15}{'x lower()':>11}")
    for name, text in texts.items():
        runs = [
            len(text) / 1e6 / seconds(lambda text=text: remove_secrets_from_text(text))
            for _ in range(rounds)
        ]
        floor = statistics.median(seconds(text.lower) for _ in range(rounds))
        median = statistics.median(runs)
        spread = f"{min(runs):.0f}-{max(runs):.0f}"
        print(f"{name:22}{median:8.1f}{spread:>15}{len(text) / 1e6 / median / floor:11.0f}")


def measure_deltas(rounds: int) -> None:
    """Time one delta of ordinary text, small and of one character."""
    text = text_of(PROSE, 100_000)
    print(f"\n{'delta of characters':22}{'us':>8}{'min-max':>15}")
    for width in (1, 4, 20):
        deltas = [text[at : at + width] for at in range(0, len(text), width)]

        def run(deltas: list[str] = deltas) -> None:
            redactor = DeltaRedactor()
            for delta in deltas:
                redactor.feed(delta)
            redactor.finish()

        runs = [seconds(run) / len(deltas) * 1e6 for _ in range(rounds)]
        print(f"{width:<22}{statistics.median(runs):8.2f}{f'{min(runs):.2f}-{max(runs):.2f}':>15}")


def measure_event(rounds: int) -> None:
    """Time an event whose partial message holds 1 KB of text, and the text of it alone."""
    text = text_of(PROSE, 1000)
    event = {
        "type": "text_delta",
        "content_index": 0,
        "delta": "word",
        "partial": {
            "role": "assistant",
            "content": [{"type": "text", "text": text, "text_signature": None}],
            "api": "anthropic-messages",
            "provider": "anthropic",
            "model": "some-model",
            "usage": {"input": 1, "output": 2, "cost": {"total": 0.0}},
            "stop_reason": "stop",
            "timestamp": 1_786_000_000_000,
        },
    }
    print(f"\n{'event':22}{'us':>8}{'min-max':>15}")
    for name, work in (
        ("1 KB of text", lambda: remove_secrets_from_text(text)),
        ("event with 1 KB", lambda: remove_secret_values(event)),
    ):
        runs = [
            seconds(lambda work=work: [work() for _ in range(300)]) / 300 * 1e6
            for _ in range(rounds)
        ]
        print(f"{name:22}{statistics.median(runs):8.1f}{f'{min(runs):.1f}-{max(runs):.1f}':>15}")


def main() -> None:
    """Run all and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    plain = text_of(f"{PROSE} {CODE}", SIZES_BYTES[-1])
    print(
        f"sizes {SIZES_BYTES} characters, {rounds} rounds, processor time; plain is prose and code"
    )
    measure_event(rounds)
    measure_deltas(rounds)
    measure_ordinary(rounds)
    for title, units in (("near-misses, 10 MB", NEAR_MISSES), ("matches, 10 MB", MATCHES)):
        texts = {name: unit * (SIZES_BYTES[-1] // len(unit) + 1) for name, unit in units.items()}
        print_rows(title, measure({"plain": plain, **texts}, rounds=rounds))


if __name__ == "__main__":
    main()
