"""Model, tool calls, results, model again, until there is an answer.

What is asked depends on the prompt, the tools and their answers alone; only the `timestamp` fields
come from the clock. So a recorded task that is run again asks the same.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from openprogram.errors import (
    AgentError,
    ProviderError,
    ToolError,
    ascii_if_unprintable,
    quoted,
)
from openprogram.providers import types as t
from openprogram.providers.events import final_message, is_terminal
from openprogram.providers.recording.redaction import remove_secrets_from_text
from openprogram.providers.stream import stream_simple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from openprogram.agent.tools import AgentTool

DEFAULT_TURN_LIMIT: Final = 20
"""How often the model is asked before the loop gives up."""

_ERROR_CHARACTERS = 1000


async def run_agent(
    prompt: str,
    *,
    model: t.Model,
    tools: Sequence[AgentTool] = (),
    system_prompt: str | None = None,
    options: t.SimpleStreamOptions | None = None,
    turn_limit: int = DEFAULT_TURN_LIMIT,
    on_event: Callable[[t.AssistantMessageEvent], None] | None = None,
    on_tool_result: Callable[[t.ToolResultMessage], None] | None = None,
) -> t.AssistantMessage:
    """Give a model a task, and let it use tools until it has an answer.

    The tool calls of one turn are done one after the other, and their results stand in the order of
    the calls. A tool that is not there, arguments that do not fit and a tool that refuses are
    results too, marked as errors, so that the model can try otherwise.

    Args:
        prompt: The task.
        model: Who answers.
        tools: What it may use.
        system_prompt: What the model is told beforehand.
        options: How it is called.
        turn_limit: How often it is asked at most, at least 1.
        on_event: Called with each event of each answer as it comes. What it raises ends the run.
        on_tool_result: Called with each result before the model sees it.

    Returns:
        The last answer; its `stop_reason` is `stop`, or `length` when the model's limit cut it.

    Raises:
        AgentError: An answer ended in an error, or no answer without tool calls came in time.
        ReplayMismatch: In a replay, something else was asked than in the recorded run.
        ProviderError: The model could not be asked.
        ValueError: Two tools have one name, or the limit is below 1.
    """
    named = {tool.definition.name: tool for tool in tools}
    if len(named) < len(tools):
        raise ValueError("two tools have the same name")
    if turn_limit < 1:
        raise ValueError("turn_limit is at least 1")
    context = t.Context(
        system_prompt=system_prompt,
        messages=[t.UserMessage(content=prompt, timestamp=_now_ms())],
        tools=[tool.definition for tool in tools] or None,
    )
    for _ in range(turn_limit):
        answer = await _ask(model, context, options, on_event)
        calls = [block for block in answer.content if isinstance(block, t.ToolCall)]
        if not calls:
            return answer
        results = [await _use_tool(named, call, on_tool_result) for call in calls]
        # A new list: providers may still hold the one that they were given.
        context = t.Context(
            system_prompt=system_prompt,
            messages=[*context.messages, answer, *results],
            tools=context.tools,
        )
    turns = "1 turn" if turn_limit == 1 else f"{turn_limit:,} turns"
    rule = f"no answer after {turns}, the model still wants tools"
    raise AgentError(rule, remedy="allow more turns")


async def _ask(
    model: t.Model,
    context: t.Context,
    options: t.SimpleStreamOptions | None,
    on_event: Callable[[t.AssistantMessageEvent], None] | None,
) -> t.AssistantMessage:
    last: t.AssistantMessageEvent | None = None
    async with aclosing(stream_simple(model, context, options)) as events:
        async for last in events:
            if on_event is not None:
                on_event(last)
    if last is None or not is_terminal(last):
        raise ProviderError(f"{quoted(model.api)}: the stream ended without 'done' or 'error'")
    answer = final_message(last)
    if isinstance(last, t.EventError) or answer.stop_reason in {"error", "aborted"}:
        raise AgentError(_describe_failure(model, answer), remedy=_remedy_for(answer))
    return answer


async def _use_tool(
    tools: dict[str, AgentTool],
    call: t.ToolCall,
    on_tool_result: Callable[[t.ToolResultMessage], None] | None,
) -> t.ToolResultMessage:
    is_error = False
    content: list[t.InputContent]
    try:
        tool = _find_tool(tools, call.name)
        # In a thread: a slow disk must not hold up whatever else runs in this event loop.
        output = await asyncio.to_thread(tool.call, call.arguments)
        texts = [output.text, *output.notes] if output.text else output.notes
        content = [t.TextContent(text=text) for text in texts]
    except ToolError as error:
        is_error = True
        content = [t.TextContent(text=str(error))]
    result = t.ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=content,
        is_error=is_error,
        timestamp=_now_ms(),
    )
    if on_tool_result is not None:
        on_tool_result(result)
    return result


def _find_tool(tools: dict[str, AgentTool], name: str) -> AgentTool:
    tool = tools.get(name)
    if tool is None:
        known = ", ".join(tools) or "none"
        raise ToolError(f"{quoted(name)}: no such tool; there are: {known}")
    return tool


def _describe_failure(model: t.Model, answer: t.AssistantMessage) -> str:
    reason = ascii_if_unprintable(answer.error_reason or answer.stop_reason)
    words = remove_secrets_from_text(answer.error_message or "no reason given")
    text = f"{quoted(model.provider)}: the request failed ({reason}): "
    return text + quoted(words, limit=_ERROR_CHARACTERS)


def _remedy_for(answer: t.AssistantMessage) -> str:
    if answer.error_retry_after_s is not None:
        return f"try again in {answer.error_retry_after_s:,.0f} s"
    return "try again later" if answer.error_retryable else ""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
