"""An agent with the tools of an MCP server, which runs for as long as the block.

pip install mcp
python examples/mcp_tools.py
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from pretend_model import choose_model

from openprogram.agent.loop import RunLimits, run_agent
from openprogram.agent.mcp_tools import mcp_tools
from openprogram.testing import Text, ToolCall

SERVER = [sys.executable, str(Path(__file__).with_name("mcp_server.py"))]
SCRIPT = [
    [ToolCall("count", {"item": "tea"}), ToolCall("count", {"item": "sugar"})],
    [Text("There are 4 packets of tea, and sugar has run out.")],
]


async def main() -> None:
    """Run one task."""
    model, options = choose_model([*SCRIPT])
    async with mcp_tools(SERVER) as tools:
        print("tools:", ", ".join(tool.definition.name for tool in tools))
        answer = await run_agent(
            "How much tea and sugar is there?",
            model=model,
            options=options,
            tools=tools,
            limits=RunLimits(turns=5, seconds=120),
            on_tool_result=lambda result: print(f"> {result.tool_name}: {result.content}"),
        )
    print("".join(block.text for block in answer.content if block.type == "text"))


if __name__ == "__main__":
    asyncio.run(main())
