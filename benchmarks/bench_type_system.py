"""Which type system decodes event rows fastest, with validation: msgspec structs or pydantic.

The same 50,000 rows, 200 to 900 bytes each, from a fixed seed; the same fields and types in both.
The two take turns, seven rounds. Run it as `python benchmarks/bench_type_system.py`; it needs the
`bench` group.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
import pydantic
from measuring import Row, in_turns, ratios, run_alone, scaled

from openprogram.providers import types as t

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from measuring import Scale

AREA = "type system"
ROW_COUNT = 50_000
SEED = 20_260_811


class EventRow(msgspec.Struct):
    """An event row, as the reader decodes it."""

    type: Literal["event"]
    call_index: int
    event_index: int
    event: t.AssistantMessageEvent


class Twin(pydantic.BaseModel):
    """What every pydantic twin shares: unknown fields are ignored, nothing is coerced."""

    model_config: ClassVar[Any] = pydantic.ConfigDict(strict=True, extra="ignore")


class TwinCost(Twin):
    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    total: float = 0.0


class TwinUsage(Twin):
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total_tokens: int = 0
    cost: TwinCost = TwinCost()


class TwinText(Twin):
    type: Literal["text"]
    text: str
    text_signature: str | None = None
    cache_control: Any = None


class TwinThinking(Twin):
    type: Literal["thinking"]
    thinking: str
    thinking_signature: str | None = None
    redacted: bool | None = None


class TwinToolCall(Twin):
    type: Literal["toolCall"]
    id: str
    name: str
    arguments: dict[str, Any]
    thought_signature: str | None = None


TwinContent = Annotated[
    TwinText | TwinThinking | TwinToolCall, pydantic.Field(discriminator="type")
]


class TwinMessage(Twin):
    role: Literal["assistant"]
    content: list[TwinContent]
    api: str
    provider: str
    model: str
    usage: TwinUsage = TwinUsage()
    stop_reason: Literal["stop", "length", "toolUse", "error", "aborted"] = "stop"
    error_message: str | None = None
    error_reason: str | None = None
    error_retryable: bool | None = None
    error_retry_after_s: float | None = None
    structured_output: Any = None
    structured_output_mode: str | None = None
    structured_output_attempt: int | None = None
    timestamp: int


class TwinStart(Twin):
    type: Literal["start"]
    partial: TwinMessage


class TwinBlockStart(Twin):
    type: Literal["text_start", "thinking_start", "toolcall_start"]
    content_index: int
    partial: TwinMessage
    output_attempt: int | None = None


class TwinDelta(Twin):
    type: Literal["text_delta", "thinking_delta", "toolcall_delta"]
    content_index: int
    delta: str
    partial: TwinMessage
    output_attempt: int | None = None


class TwinEnd(Twin):
    type: Literal["text_end", "thinking_end"]
    content_index: int
    content: str
    partial: TwinMessage
    output_attempt: int | None = None


class TwinToolCallEnd(Twin):
    type: Literal["toolcall_end"]
    content_index: int
    tool_call: TwinToolCall
    partial: TwinMessage


class TwinDone(Twin):
    type: Literal["done"]
    reason: Literal["stop", "length", "toolUse"]
    message: TwinMessage


class TwinError(Twin):
    type: Literal["error"]
    reason: Literal["aborted", "error"]
    error: TwinMessage


class TwinRow(Twin):
    type: Literal["event"]
    call_index: int
    event_index: int
    event: Annotated[
        TwinStart | TwinBlockStart | TwinDelta | TwinEnd | TwinToolCallEnd | TwinDone | TwinError,
        pydantic.Field(discriminator="type"),
    ]


def make_rows(row_count: int) -> list[bytes]:
    """Write rows like those of real streams: mostly deltas, some whole messages."""
    chance = random.Random(SEED)
    words = [
        "the",
        "a",
        "file",
        "reads",
        "writes",
        "tests",
        "value",
        "returns",
        "error",
        "when",
        "then",
        "path",
        "Köln",
        "数",
        "ok",
    ]

    def text(count: int) -> str:
        return " ".join(chance.choices(words, k=count))

    def message(*content: t.AssistantContent) -> t.AssistantMessage:
        return t.AssistantMessage(
            content=list(content),
            api="anthropic-messages",
            provider="anthropic",
            model="some-model",
            usage=t.Usage(input=chance.randrange(9999), output=chance.randrange(999)),
            timestamp=1_786_000_000_000 + chance.randrange(10**9),
        )

    def event() -> Any:
        kind = chance.random()
        if kind < 0.7:
            return t.EventTextDelta(
                content_index=0, delta=text(3), partial=message(t.TextContent(text=text(20)))
            )
        if kind < 0.85:
            return t.EventThinkingDelta(
                content_index=0, delta=text(3), partial=message(t.ThinkingContent(thinking=text(9)))
            )
        call = t.ToolCall(id="call_1", name="read_file", arguments={"path": text(2), "limit": 7})
        if kind < 0.95:
            return t.EventToolCallEnd(content_index=1, tool_call=call, partial=message(call))
        return t.EventDone(reason="stop", message=message(t.TextContent(text=text(40)), call))

    return [
        json.dumps(
            {"type": "event", "call_index": 0, "event_index": n, "event": t.to_wire(event())},
            ensure_ascii=False,
            separators=(",", ":"),
        ).encode()
        for n in range(row_count)
    ]


def decode_all(decode: Callable[[bytes], object], rows: list[bytes]) -> None:
    """Decode row after row, and keep none: keeping them would measure memory."""
    for row in rows:
        decode(row)


def measure(folder: Path, scale: Scale) -> list[Row]:  # noqa: ARG001 - every bench is called alike
    """Decode all rows with each, in turns."""
    rows = make_rows(scale.count(ROW_COUNT, least=10))
    contestants: dict[str, Callable[[bytes], object]] = {
        "msgspec": msgspec.json.Decoder(EventRow).decode,
        "pydantic, validated / msgspec, validated": TwinRow.__pydantic_validator__.validate_json,
        "json.loads, not validated / msgspec, validated": json.loads,
    }
    taken = in_turns(
        {
            name: lambda decode=decode: decode_all(decode, rows)
            for name, decode in contestants.items()
        },
        scale,
    )
    base = taken.pop("msgspec")
    sizes = f"{len(rows):,} rows of {sum(map(len, rows)) // len(rows)} B"
    return [
        Row(
            area=AREA,
            work="msgspec, validated: one row",
            values=scaled(base, 1e6 / len(rows)),
            unit="us",
            sizes=sizes,
        ),
        *(
            Row(area=AREA, work=name, values=ratios(seconds, base), sizes=sizes)
            for name, seconds in taken.items()
        ),
    ]


if __name__ == "__main__":
    run_alone(measure, __doc__)
