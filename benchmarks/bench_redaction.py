"""Redaction: throughput, growth on hostile text, cost of an event and of a delta.

Hostile texts are compared with plain text of the same size. Run it as
`python benchmarks/bench_redaction.py`.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from measuring import Row, Taken, growth_of, in_turns, ratios, run_alone, scaled
from sample_recordings import message

from openprogram.providers import types as t
from openprogram.providers.recording.redaction import remove_secret_values, remove_secrets_from_text
from openprogram.providers.recording.redaction.deltas import DeltaRedactor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from measuring import Scale

AREA = "redaction"
PLAIN = "plain"
ORDINARY_CHARACTERS = (2_000, 6_000, 20_000)
ORDINARY_TIMES = 3
NEAR_MISS_BYTES = (30_000, 100_000, 300_000)
MATCH_BYTES = (10_000, 30_000, 100_000)
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


def text_of(words: str, size_bytes: int) -> str:
    """Put words in a random order, some of them on new lines."""
    source = random.Random(7)
    choice = words.split()
    pieces = [
        source.choice(choice) + ("\n" if source.random() < 0.07 else " ")
        for _ in range(size_bytes // 4)
    ]
    return "".join(pieces)[:size_bytes]


def ordinary_texts(size: int) -> dict[str, str]:
    """Texts without a secret, of one size in characters."""
    objects = [
        {"id": number, "name": "a file", "tags": ["x", "y"], "max_tokens": 5, "text": PROSE[:80]}
        for number in range(size // 170 + 1)
    ]
    return {
        "prose": text_of(PROSE, size),
        "prose and code": text_of(f"{PROSE} {CODE}", size),
        "JSON": json.dumps(objects),
        "Chinese": "你好世界这是一个测试。" * (size // 11),
    }


def measure_ordinary(scale: Scale) -> list[Row]:
    """Ordinary texts at three sizes; the floor is the fastest pass over all characters."""
    sizes = scale.counts(*ORDINARY_CHARACTERS, least=200)
    texts = {size: ordinary_texts(size) for size in sizes}
    rows: list[Row] = []
    for name, text in texts[sizes[-1]].items():
        works: dict[str, Callable[[], object]] = {
            str(size): lambda text=texts[size][name]: [
                remove_secrets_from_text(text) for _ in range(ORDINARY_TIMES)
            ]
            for size in sizes
        }
        works["lower"] = lambda text=text: [text.lower() for _ in range(100)]
        taken = in_turns(works, scale)
        ours = scaled(taken[str(sizes[-1])], 1 / ORDINARY_TIMES)
        shown = f"{len(text):,} characters"
        rows += [
            Row(
                area=AREA,
                work=f"ordinary text, {name}",
                values=tuple(len(text) / 1e6 / (seconds or 1e-9) for seconds in ours),
                unit="MB/s",
                at_least=60,
                growth=growth_of(sizes, [taken[str(size)] for size in sizes]),
                sizes=shown,
            ),
            Row(
                area=AREA,
                work=f"ordinary text, {name} / str.lower",
                values=ratios(ours, scaled(taken["lower"], 0.01)),
                sizes=shown,
            ),
        ]
    return rows


def measure_hostile(units: dict[str, str], kind: str, scale: Scale) -> list[Row]:
    """Redact each text at each size, in turns with plain text of the same size."""
    full = NEAR_MISS_BYTES if kind == "near-miss" else MATCH_BYTES
    sizes = scale.counts(*full, least=500)
    plain = text_of(f"{PROSE} {CODE}", sizes[-1])
    texts = {PLAIN: plain} | {
        name: unit * (sizes[-1] // len(unit) + 1) for name, unit in units.items()
    }
    taken: Taken = in_turns(
        {
            f"{name} {size}": lambda part=text[:size]: remove_secrets_from_text(part)
            for name, text in texts.items()
            for size in sizes
        },
        scale,
    )
    return [
        Row(
            area=AREA,
            work=f"{kind}, `{name}` / plain text",
            values=ratios(taken[f"{name} {sizes[-1]}"], taken[f"{PLAIN} {sizes[-1]}"]),
            at_most=3 if kind == "near-miss" else None,
            growth=growth_of(sizes, [taken[f"{name} {size}"] for size in sizes]),
            sizes=f"{sizes[-1] / 1e6:g} MB",
        )
        for name in units
    ]


def measure_deltas(scale: Scale) -> list[Row]:
    """One delta of ordinary text, from a single character on."""
    text = text_of(PROSE, scale.count(50_000, least=200))
    rows: list[Row] = []
    for width in (1, 4, 20):
        deltas = [text[at : at + width] for at in range(0, len(text), width)]

        def run(deltas: list[str] = deltas) -> None:
            redactor = DeltaRedactor()
            for delta in deltas:
                redactor.feed(delta)
            redactor.finish()

        taken = in_turns({"ours": run}, scale)
        rows.append(
            Row(
                area=AREA,
                work=f"one delta of {width} characters",
                values=scaled(taken["ours"], 1e6 / len(deltas)),
                unit="us",
                sizes=f"{len(deltas):,} deltas",
            )
        )
    return rows


def measure_event(scale: Scale) -> list[Row]:
    """A whole event, and as much text as it holds."""
    text = text_of(PROSE, 1_000)
    event = t.to_wire(t.EventTextDelta(content_index=0, delta="word", partial=message(text)))
    times = scale.count(500)
    taken = in_turns(
        {
            "text": lambda: [remove_secrets_from_text(text) for _ in range(times)],
            "event": lambda: [remove_secret_values(event) for _ in range(times)],
        },
        scale,
    )
    names = {"text": "1 kB of text", "event": "an event with 1 kB of text, written whole"}
    return [
        Row(area=AREA, work=names[name], values=scaled(seconds, 1e6 / times), unit="us")
        for name, seconds in taken.items()
    ]


def measure(folder: Path, scale: Scale) -> list[Row]:  # noqa: ARG001 - every bench is called alike
    """Measure all of it."""
    return [
        *measure_event(scale),
        *measure_deltas(scale),
        *measure_ordinary(scale),
        *measure_hostile(NEAR_MISSES, "near-miss", scale),
        *measure_hostile(MATCHES, "secret after secret", scale),
    ]


if __name__ == "__main__":
    run_alone(measure, __doc__)
