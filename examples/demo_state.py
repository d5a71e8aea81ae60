"""A state directory that always looks the same: what the screenshots and the UI's tests show.

The recordings are written row by row as JSON, as any program could; nothing here calls a model.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW_AT = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
"""The instant at which the demo is looked at."""

HOSTILE_TEXT = (
    "\x1b]52;c;AAAA\x07 \x1b[2J\x1bc \x9b31m \u202egnp.exe\u202c a\u200bb \ufeff"
    " [/x] [bold]x[/] [@click=app.quit]y[/] [b \x00\x7f\r\n\ttab 日本語 👨‍👩‍👧 ❤️ e\u0301"
    " \ud83d 100%|\u2028end"
)
"""Everything at once that a terminal or a toolkit could act on."""

SYSTEM_PROMPT = (
    "You are a careful engineer working in a small repository. Read before you write, "
    "run the tests after each change, and say plainly what you did not check."
)

_FLAKY_RESULT = 6
"""Which message of the flaky test's fifth call tells how the tests went."""

_NOTHING: dict[str, Any] = {"text": "", "thinking": "", "toolCall": {}}

Rows = list[dict[str, Any]]


@dataclass
class Author:
    """Writes one recording, row by row."""

    name: str
    age: timedelta
    model: str = "claude-sonnet-4-5"
    provider: str = "anthropic"
    api: str = "anthropic-messages"
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    rows: Rows = field(default_factory=list[dict[str, Any]])
    call_count: int = 0

    def __post_init__(self) -> None:
        created_at = NOW_AT - self.age
        self.time_ms = int(created_at.timestamp() * 1000)
        self.rows.append(
            {
                "type": "header",
                "format_version": 1,
                "recording_id": self.name,
                "created_at": created_at.isoformat().replace("+00:00", "Z"),
                "redaction_version": 1,
            }
        )

    def user(self, text: str) -> None:
        """Let the user say something."""
        self.messages.append({"role": "user", "content": text, "timestamp": self._tick()})

    def result(self, call_id: str, tool: str, text: str, *, failed: bool = False) -> None:
        """Let a tool answer."""
        self.messages.append(
            {
                "role": "toolResult",
                "tool_call_id": call_id,
                "tool_name": tool,
                "content": [{"type": "text", "text": text}],
                "details": None,
                "is_error": failed,
                "timestamp": self._tick(),
            }
        )

    def answer(self, *blocks: dict[str, Any], outcome: str = "complete") -> None:
        """Let the model answer, as a stream."""
        index = self.call_count
        self.call_count += 1
        self.rows.append({"type": "request", "call_index": index, **self.request()})
        asks_for_tools = any(block["type"] == "toolCall" for block in blocks)
        message = self._message(list(blocks), "toolUse" if asks_for_tools else "stop")
        events = list(self._events(blocks))
        if outcome != "complete":
            events = events[: len(events) // 2]
            message["content"] = events[-1]["message_so_far"]
        if outcome == "error":
            message |= {"stop_reason": "error", "error_message": "overloaded: try again later"}
            events.append({"type": "error", "reason": "error", "error": message})
        elif outcome == "complete":
            events.append({"type": "done", "reason": message["stop_reason"], "message": message})
        for number, event in enumerate(events):
            event.pop("message_so_far", None)
            row = {"type": "event", "call_index": index, "event_index": number, "event": event}
            self.rows.append(row)
        end = {"type": "call_end", "call_index": index, "event_count": len(events)}
        self.rows.append({**end, "outcome": outcome})
        self.messages.append(message)

    def _events(self, blocks: tuple[dict[str, Any], ...]) -> Iterator[dict[str, Any]]:
        """Stream blocks; a snapshot stands whole only where it cannot be told from the rest."""
        so_far: list[dict[str, Any]] = []
        yield {"type": "start", "partial": self._message([], "stop"), "message_so_far": []}
        for place, block in enumerate(blocks):
            so_far.append(_empty(block))
            for event in _block_events(place, block):
                if event["type"].endswith("_delta") and block["type"] != "toolCall":
                    so_far[place][block["type"]] += event["delta"]
                elif event["type"].endswith("_end"):
                    so_far[place] = block
                is_whole = event["type"] == "toolcall_start"
                event["partial"] = self._message(list(so_far) if is_whole else [], "stop")
                if not is_whole:
                    event["partial_derived"] = True
                event["message_so_far"] = [dict(each) for each in so_far]
                yield event

    def request(self) -> dict[str, Any]:
        """Give the request that would go out now."""
        return json.loads(
            json.dumps(
                {
                    "model": {
                        "id": self.model,
                        "name": self.model,
                        "api": self.api,
                        "provider": self.provider,
                        "base_url": "https://api.anthropic.com",
                        "reasoning": True,
                        "input": ["text", "image"],
                        "cost": {"input": 3.0, "output": 15.0},
                        "context_window": 200_000,
                        "max_tokens": 8192,
                    },
                    "context": {
                        "system_prompt": SYSTEM_PROMPT,
                        "messages": self.messages,
                        "tools": [_tool("read_file", "path"), _tool("run_tests", "target")],
                    },
                    "options": {
                        "temperature": 0.2,
                        "max_tokens": 4096,
                        "api_key": "[secret removed]",
                        "cache_retention": "short",
                        "session_id": "s-41",
                        "headers": {"x-team": "checkout"},
                        "reasoning": "medium",
                    },
                }
            )
        )

    def write(self, directory: Path) -> Path:
        """Write the file, its times included."""
        path = directory / f"{self.name}.jsonl"
        path.write_bytes(b"".join(_line(row) for row in self.rows))
        path.chmod(0o600)
        written_s = self.time_ms / 1000
        os.utime(path, (written_s, written_s))
        return path

    def _message(self, content: list[dict[str, Any]], stop_reason: str) -> dict[str, Any]:
        read = 900 + 310 * len(self.messages)
        out = sum(len(json.dumps(block)) for block in content) // 4
        spent = {"input": read * 3e-6, "output": out * 15e-6, "cache_read": 0.0, "cache_write": 0.0}
        return {
            "role": "assistant",
            "content": content,
            "api": self.api,
            "provider": self.provider,
            "model": self.model,
            "usage": {
                "input": read,
                "output": out,
                "cache_read": 0,
                "cache_write": 0,
                "total_tokens": read + out,
                "cost": {**spent, "total": sum(spent.values())},
            },
            "stop_reason": stop_reason,
            "timestamp": self._tick(),
        }

    def _tick(self) -> int:
        self.time_ms += 1700
        return self.time_ms


def text(words: str) -> dict[str, Any]:
    """Make a text block."""
    return {"type": "text", "text": words, "text_signature": None}


def thinking(words: str) -> dict[str, Any]:
    """Make a thinking block."""
    return {"type": "thinking", "thinking": words, "thinking_signature": "c2lnbmVk"}


def tool_call(call_id: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """Make a tool call."""
    return {"type": "toolCall", "id": call_id, "name": tool, "arguments": arguments}


def _tool(name: str, argument: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"The tool {name}.",
        "parameters": {
            "type": "object",
            "properties": {argument: {"type": "string"}},
            "required": [argument],
        },
    }


def _empty(block: dict[str, Any]) -> dict[str, Any]:
    return {
        **block,
        "arguments" if block["type"] == "toolCall" else block["type"]: _NOTHING[block["type"]],
    }


def _block_events(place: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    kind = "toolcall" if block["type"] == "toolCall" else str(block["type"])
    words = json.dumps(block["arguments"]) if kind == "toolcall" else block[kind]
    parts = [words[i : i + 12] for i in range(0, len(words), 12)]
    at = {"content_index": place}
    end = {"tool_call": block} if kind == "toolcall" else {"content": words}
    return [
        {"type": f"{kind}_start", **at},
        *({"type": f"{kind}_delta", **at, "delta": part} for part in parts),
        {"type": f"{kind}_end", **at, **end},
    ]


def _line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def flaky_test(name: str = "fix-flaky-test", hours: float = 0.2) -> Author:
    """Write the recording most pictures are about: six calls that mend a test."""
    author = Author(name, timedelta(hours=hours))
    author.user("tests/test_cart.py::test_total is flaky in CI. Find out why and mend it.")
    author.answer(
        thinking("A flaky total: ordering, floats or time. I should read the test before I guess."),
        text("I will read the test first."),
        tool_call("call_01", "read_file", path="tests/test_cart.py"),
    )
    author.result(
        "call_01",
        "read_file",
        "def test_total():\n    cart = Cart()\n    for price in {0.1, 0.2, 0.7}:\n"
        "        cart.add(price)\n    assert cart.total() == 1.0\n",
    )
    author.answer(
        thinking(
            "It iterates over a set: the order of the additions is not fixed, and float addition "
            "is not associative. 0.1 + 0.2 + 0.7 is 0.9999999999999999 in one order and 1.0 in "
            "another. With hash randomisation off for floats the order is still stable per build, "
            "but the set literal may be folded differently."
        ),
        text("The prices stand in a set, and float sums depend on their order. Now the cart."),
        tool_call("call_02", "read_file", path="shop/cart.py"),
    )
    author.result(
        "call_02",
        "read_file",
        "class Cart:\n    def __init__(self):\n        self.prices = []\n\n"
        "    def add(self, price):\n        self.prices.append(price)\n\n"
        "    def total(self):\n        return sum(self.prices)\n",
    )
    author.answer(
        text("`total` adds floats. I will reproduce it with every order."),
        tool_call("call_03", "run_tests", target="tests/test_cart.py", repeat=40),
    )
    author.result("call_03", "run_tests", "exit 1: 13 failed, 27 passed in 0.61s", failed=True)
    author.answer(text("The model is overloaded, this answer never ends."), outcome="error")
    author.answer(
        text("13 of 40 fail. `math.fsum` is exact for any order; I will use it in `total`."),
        tool_call("call_04", "run_tests", target="tests/test_cart.py", repeat=40),
    )
    author.result("call_04", "run_tests", "exit 0: 40 passed in 0.58s")
    author.answer(
        text(
            "The test summed floats in the order of a set, so its result depended on the order.\n\n"
            "- `Cart.total` now uses `math.fsum`, which is exact in any order.\n"
            "- 40 of 40 repeats pass; before it were 27.\n\n"
            "Not checked: prices that are not floats. `Decimal` would be the better type for money."
        )
    )
    return author


def hostile() -> Author:
    """Write a recording in which every text is hostile."""
    author = Author("hostile", timedelta(hours=5), model=HOSTILE_TEXT, provider=HOSTILE_TEXT)
    author.user(HOSTILE_TEXT)
    author.answer(
        thinking(HOSTILE_TEXT),
        text(HOSTILE_TEXT),
        tool_call(HOSTILE_TEXT, HOSTILE_TEXT, **{HOSTILE_TEXT: HOSTILE_TEXT}),
    )
    author.result(HOSTILE_TEXT, HOSTILE_TEXT, HOSTILE_TEXT)
    author.answer(text(HOSTILE_TEXT), outcome="error")
    return author


def _small(name: str, age: timedelta, question: str, calls: int, **kind: str) -> Author:
    author = Author(name, age, **cast("dict[str, Any]", kind))
    author.user(question)
    for number in range(calls):
        last = number == calls - 1
        call = tool_call(f"call_{number:02}", "read_file", path=f"src/part_{number}.py")
        author.answer(text(f"Step {number + 1} of {calls}."), *([] if last else [call]))
        if not last:
            author.result(f"call_{number:02}", "read_file", "pass\n" * (number + 1))
    return author


def write_state(state: Path) -> None:
    """Write the whole demo state.

    Args:
        state: The state directory; it must not be there.
    """
    recordings = state / "recordings"
    recordings.mkdir(parents=True, mode=0o700)
    state.chmod(0o700)
    recordings.chmod(0o700)
    for author in _authors():
        author.write(recordings)
    _break(recordings)
    _report_mismatches(state)
    settings = {"record_replay": {"mode": "replay", "file": "fix-flaky-test"}}
    (state / "config.json").write_text(json.dumps(settings))
    (state / "config.json").chmod(0o600)


def _authors() -> list[Author]:
    openai = {"model": "gpt-5-mini", "provider": "openai", "api": "openai-completions"}
    google = {"model": "gemini-2.5-pro", "provider": "google", "api": "google-generative-ai"}
    day = timedelta(days=1)
    cancelled = _small("ask-for-a-plan", 3 * day, "Plan the move to the new API.", 2)
    cancelled.user("Stop, that is enough.")
    cancelled.answer(text("I was about to go on with the plan"), outcome="cancelled")
    crashed = _small("nightly-triage", 9 * day, "Go through the new issues.", 4, **openai)
    crashed.answer(text("The process was killed here"), outcome="abandoned")
    return [
        flaky_test(),
        _small("review-pull-request", 0.1 * day, "Review the change to the parser.", 9),
        hostile(),
        _small("20261130T091412Z-5be7a1c9", 1.1 * day, "What is in this folder?", 2, **openai),
        cancelled,
        _small("summarise-changelog", 6 * day, "Summarise the last release.", 1, **google),
        crashed,
        _small("port-to-python-3.13", 21 * day, "Port the package to Python 3.13.", 38),
        _small("20260811T134502Z-0c44d2aa", 112 * day, "List the files.", 1, **google),
        Author("prepared-not-used", timedelta(hours=30)),
    ]


def _break(recordings: Path) -> None:
    """Write a recording that is sound for two calls and broken in the third."""
    author = _small("broken-by-an-editor", timedelta(days=2), "Read all the parts.", 4)
    lines = [_line(row) for row in author.rows]
    third = next(i for i, row in enumerate(author.rows) if row.get("call_index") == 2)
    lines[third + 2] = (
        b'{"type":"event","call_index":2,"event_index":1,\x1b[31m oops \xff\xfe\x00\n'
    )
    path = recordings / f"{author.name}.jsonl"
    path.write_bytes(b"".join(lines))
    path.chmod(0o600)
    os.utime(path, (author.time_ms / 1000, author.time_ms / 1000))


def mismatch_requests() -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the two requests of the demo's first mismatch: recorded, and incoming."""
    rows = [row for row in flaky_test().rows if row["type"] == "request"]
    recorded = {name: rows[4][name] for name in ("model", "context", "options")}
    incoming = json.loads(json.dumps(recorded))
    incoming["context"]["messages"][_FLAKY_RESULT]["content"][0]["text"] = (
        "exit 1: 11 failed, 29 passed in 0.64s"
    )
    incoming["options"]["temperature"] = 0.7
    incoming["options"]["headers"]["x-trace"] = "on"
    del incoming["context"]["tools"][1]
    return recorded, incoming


def _report_mismatches(state: Path) -> None:
    """Write the reports of three replays that went another way."""
    directory = state / "mismatches"
    directory.mkdir(mode=0o700)
    recorded, incoming = mismatch_requests()
    other_model, other_header = json.loads(json.dumps([recorded, recorded]))
    other_model["model"]["id"] = "claude-opus-4-5"
    other_header["options"]["headers"][HOSTILE_TEXT] = HOSTILE_TEXT
    _write_report(
        directory,
        age=timedelta(minutes=3),
        call=("fix-flaky-test", 4),
        field_path=f"context.messages[{_FLAKY_RESULT}].content[0].text",
        values=tuple(
            request["context"]["messages"][_FLAKY_RESULT]["content"][0]["text"]
            for request in (recorded, incoming)
        ),
        requests=(recorded, incoming),
    )
    _write_report(
        directory,
        age=timedelta(hours=2),
        call=("review-pull-request", 0),
        field_path="model.id",
        values=(recorded["model"]["id"], other_model["model"]["id"]),
        requests=(recorded, other_model),
    )
    _write_report(
        directory,
        age=timedelta(hours=5),
        call=("hostile", 1),
        field_path=f"options.headers[{json.dumps(HOSTILE_TEXT)}]",
        values=(None, HOSTILE_TEXT),
        requests=(recorded, other_header),
    )


def _write_report(
    directory: Path,
    *,
    age: timedelta,
    call: tuple[str, int],
    field_path: str,
    values: tuple[Any, ...],
    requests: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    created_at = NOW_AT - age
    recorded, incoming = ({} if value is None else {"value": value} for value in values)
    summary: dict[str, Any] = {
        "created_at": created_at.isoformat(),
        "recording": str(directory.parent / "recordings" / f"{call[0]}.jsonl"),
        "call_index": call[1],
        "field_path": field_path,
        "recorded": recorded,
        "incoming": incoming,
        "ignore": [],
    }
    path = directory / f"{created_at:%Y%m%dT%H%M%S%f}Z-0a1b2c3d.json"
    bodies = {"recorded_request": requests[0], "incoming_request": requests[1]}
    path.write_bytes(_line(summary) + _line(bodies))
    path.chmod(0o600)


if __name__ == "__main__":
    write_state(Path(sys.argv[1]))
