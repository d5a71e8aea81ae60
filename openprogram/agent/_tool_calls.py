"""The tool calls of one turn, done side by side, with results in the order of the calls."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from openprogram.errors import ToolError, quoted
from openprogram.providers import types as t

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from openprogram.agent.tools import AgentTool


async def use_tools(
    tools: Mapping[str, AgentTool], calls: Sequence[t.ToolCall], *, parallel_limit: int
) -> list[t.ToolResultMessage]:
    """Do tool calls, several at a time.

    Args:
        tools: What there is, by name.
        calls: What the model asks for.
        parallel_limit: How many run at a time, at least 1; they begin in the order of the calls.

    Returns:
        One result for each call, in the order of the calls whichever ended first. A tool that is
        not there, arguments that do not fit and a tool that refuses are results too, marked as
        errors.

    Raises:
        BaseException: What a tool raised beyond `ToolError`; the others are cancelled first.
    """
    free = asyncio.Semaphore(parallel_limit)

    async def use(call: t.ToolCall) -> t.ToolResultMessage:
        async with free:
            return await _use_tool(tools, call)

    tasks = [asyncio.create_task(use(call)) for call in calls]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in tasks:
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error
    return [task.result() for task in tasks]


async def _use_tool(tools: Mapping[str, AgentTool], call: t.ToolCall) -> t.ToolResultMessage:
    is_error = False
    try:
        output = await _find_tool(tools, call.name).call(call.arguments)
        is_error = output.is_error
        texts = [output.text, *output.notes] if output.text else [*output.notes]
    except ToolError as error:
        is_error = True
        texts = [str(error)]
    return t.ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=[t.TextContent(text=text) for text in texts],
        is_error=is_error,
        timestamp=now_ms(),
    )


def _find_tool(tools: Mapping[str, AgentTool], name: str) -> AgentTool:
    tool = tools.get(name)
    if tool is None:
        known = ", ".join(tools) or "none"
        raise ToolError(f"{quoted(name)}: no such tool; there are: {known}")
    return tool


def now_ms() -> int:
    """Read the clock.

    Returns:
        Unix milliseconds, for the `timestamp` of a message.
    """
    return time.time_ns() // 1_000_000
