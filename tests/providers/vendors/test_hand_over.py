"""A conversation goes on with any other vendor, and back; a recording of all replays without any.

The loopback sides refuse what their vendors would: ids of another form, calls without their
results, reasoning that they did not sign.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING

import pytest

from fresh_interpreter import output_of
from openprogram.providers import types as t
from openprogram.providers.recording import RecordingSink
from openprogram.testing import Text, Thinking, ToolCall
from vendor_sides import SIDES, Side

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.testing import Part

IDS = {
    "anthropic-messages": "toolu_01A",
    "openai-completions": "functions.look:0",
    "openai-responses": "call_" + "x" * 70,
    "openai-codex": "call_codex",
}
"""Ids of calls as the vendors give them; one gives none."""


UNSIGNED = "openai-completions"
"""Most servers that speak it sign nothing."""


def _signature(side: Side) -> str:
    return "c2ln" + base64.b64encode(side.api.encode()).decode()


def _turn(side: Side) -> list[Part]:
    """What a vendor says that thinks, speaks, and wants a tool."""
    return [
        Thinking(f"thought of {side.api}", signature=_signature(side)),
        Text(f"text of {side.api}"),
        ToolCall("look", {"by": side.api}, id=IDS.get(side.api)),
    ]


async def _take_turn(
    side: Side, base_url: str, messages: list[t.Message], sink: RecordingSink | None = None
) -> None:
    """Let a vendor say its next words, and add them and the results of its calls."""
    asked = side if sink is None else side.recorded(sink)
    events = [event async for event in asked.stream(base_url, *messages)]
    last = events[-1]
    assert isinstance(last, t.EventDone), last
    messages.append(last.message)
    for block in last.message.content:
        if isinstance(block, t.ToolCall):
            said: list[t.InputContent] = [t.TextContent(text=f"result for {side.api}")]
            messages.append(
                t.ToolResultMessage(
                    tool_call_id=block.id, tool_name=block.name, content=said, timestamp=0
                )
            )


@pytest.mark.parametrize("api", SIDES)
async def test_a_conversation_goes_on_with_each_other_vendor_and_back(api: str):
    first = SIDES[api]
    for second in SIDES.values():
        if second is first:
            continue
        messages: list[t.Message] = [t.UserMessage(content="hi", timestamp=0)]
        with (
            first.vendor([_turn(first), [Text("the end")]]) as begun,
            second.vendor([_turn(second)]) as other,
        ):
            for side, vendor in ((first, begun), (second, other), (first, begun)):
                await _take_turn(side, vendor.base_url, messages)
            sent, back = (json.dumps(each.requests[-1].body) for each in (other, begun))
        roles = ["user", *["assistant", "toolResult"] * 2, "assistant"]
        assert [message.role for message in messages] == roles
        for words in (f"text of {api}", f"result for {api}"):
            assert words in sent, second.api
        # What one vendor thought goes back to it alone, under its own signature.
        assert f"thought of {api}" not in sent, second.api
        assert f"thought of {second.api}" not in back, second.api
        assert _signature(first) not in sent, second.api
        assert _signature(second) not in back, second.api
        assert (_signature(first) in back) is (api != UNSIGNED), second.api


async def _record(path: Path) -> list[str]:
    """Let each vendor take a turn of one conversation, and give their texts."""
    sink = RecordingSink(path)
    messages: list[t.Message] = [t.UserMessage(content="hi", timestamp=0)]
    for side in SIDES.values():
        with side.vendor([_turn(side)]) as vendor:
            await _take_turn(side, vendor.base_url, messages, sink)
    return [f"text of {api}" for api in SIDES]


def test_a_recording_of_all_vendors_replays_with_no_sdk_loaded(state_dir: Path):
    folder = state_dir / "recordings"
    folder.mkdir(parents=True, mode=0o700)
    state_dir.chmod(0o700)
    texts = asyncio.run(_record(folder / "all.jsonl"))
    choose = {"record_replay": {"mode": "replay", "file": "all"}}
    settings = state_dir / "config.json"
    settings.write_text(json.dumps(choose))
    settings.chmod(0o600)
    assert output_of(REPLAY, str(folder / "all.jsonl")) == "".join(f"{text}\n" for text in texts)


REPLAY = """
    import asyncio, json, sys
    from openprogram.providers import complete_simple, initialize_provider_runtime
    from openprogram.providers import types as t

    snapshot = initialize_provider_runtime()
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        if row["type"] == "request":
            message = asyncio.run(
                complete_simple(
                    t.from_wire(t.Model, row["model"]),
                    t.from_wire(t.Context, row["context"]),
                    t.from_wire(t.SimpleStreamOptions, row["options"]),
                )
            )
            print(*(block.text for block in message.content if block.type == "text"))
    snapshot.replay_provider.assert_consumed()
    sdks = {"anthropic", "openai", "google.genai", "httpx", "httpx2", "mcp"}
    assert not sdks & set(sys.modules), sdks & set(sys.modules)
"""
