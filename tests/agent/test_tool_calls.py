from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.agent._tool_calls import use_tools
from openprogram.agent.tools import AgentTool, ToolOutput
from openprogram.providers import types as t

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


def _tool(run: Callable[[Any], Coroutine[Any, Any, ToolOutput]]) -> dict[str, AgentTool]:
    definition = t.Tool(name="f", description="d", parameters={"type": "object"})
    return {"f": AgentTool(definition=definition, arguments_type=dict[str, Any], run=run)}


def _calls(count: int) -> list[t.ToolCall]:
    return [t.ToolCall(id=f"id{at}", name="f", arguments={"at": at}) for at in range(count)]


async def test_results_keep_the_order_of_the_calls_whichever_ends_first() -> None:
    ended: list[int] = []
    last_is_done = asyncio.Event()

    async def run(arguments: dict[str, Any]) -> ToolOutput:
        if arguments["at"] < 2:
            await last_is_done.wait()
        else:
            last_is_done.set()
        ended.append(arguments["at"])
        return ToolOutput(text=str(arguments["at"]), is_error=arguments["at"] == 1)

    results = await use_tools(_tool(run), _calls(3), parallel_limit=3)
    assert ended[0] == 2
    assert [(each.tool_call_id, each.is_error) for each in results] == [
        ("id0", False),
        ("id1", True),
        ("id2", False),
    ]


async def test_no_more_run_at_a_time_than_may() -> None:
    running, most, began = 0, 0, list[int]()

    async def run(arguments: dict[str, Any]) -> ToolOutput:
        nonlocal running, most
        began.append(arguments["at"])
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return ToolOutput(text="x")

    await use_tools(_tool(run), _calls(9), parallel_limit=2)
    assert (most, began) == (2, list(range(9)))


async def test_a_defect_and_a_cancellation_end_the_other_calls() -> None:
    cancelled: list[int] = []

    async def run(arguments: dict[str, Any]) -> ToolOutput:
        if arguments["at"] == 1 and not hold:
            raise ZeroDivisionError
        try:
            return await asyncio.Future[ToolOutput]()
        finally:
            cancelled.append(arguments["at"])

    hold = False
    with pytest.raises(ZeroDivisionError):
        await use_tools(_tool(run), _calls(3), parallel_limit=3)
    assert sorted(cancelled) in ([0], [0, 2])
    cancelled.clear()
    hold = True
    task = asyncio.create_task(use_tools(_tool(run), _calls(3), parallel_limit=3))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(cancelled) == [0, 1, 2]
