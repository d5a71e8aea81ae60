"""An agent with a tool of its own beside those that read files; both calls run side by side.

python examples/tool_loop.py
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
from pretend_model import choose_model

from openprogram.agent.loop import RunLimits, run_agent
from openprogram.agent.tools import AgentTool, ToolOutput, file_tools
from openprogram.errors import ToolError
from openprogram.providers.types import Tool
from openprogram.testing import Text, ToolCall

ROOT = Path(__file__).parent / "demo"
SCRIPT = [
    [ToolCall("read_file", {"path": "notes.txt"}), ToolCall("days_until", {"day": "Friday"})],
    [Text("The notes plan the release; Friday is in 2 days.")],
]
SCHEMA = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
DEFINITION = Tool(name="days_until", description="Count days from today.", parameters=SCHEMA)
DAYS = ["Wednesday", "Thursday", "Friday", "Saturday"]


class Arguments(msgspec.Struct, forbid_unknown_fields=True):
    """What the tool takes; what does not fit never reaches it."""

    day: str


def days_until(arguments: Arguments) -> ToolOutput:
    """Count days; what is raised as `ToolError` is an answer that the model reads."""
    if arguments.day not in DAYS:
        raise ToolError(f"no such day; there are: {', '.join(DAYS)}")
    return ToolOutput(text=f"{DAYS.index(arguments.day)} days")


async def main() -> None:
    """Run one task."""
    model, options = choose_model([*SCRIPT])
    own_tool = AgentTool(definition=DEFINITION, arguments_type=Arguments, run=days_until)
    answer = await run_agent(
        "When is the release, and in how many days?",
        model=model,
        options=options,
        tools=[*file_tools(ROOT), own_tool],
        limits=RunLimits(turns=5, seconds=120),
        on_tool_result=lambda result: print(f"> {result.tool_name}: {result.is_error=}"),
    )
    print("".join(block.text for block in answer.content if block.type == "text"))


if __name__ == "__main__":
    asyncio.run(main())
