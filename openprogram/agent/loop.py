"""Model, tool calls, results, model again, until there is an answer.

What is asked depends on the prompt, the tools and their answers alone; only the `timestamp` fields
come from the clock. So a recorded task that is run again asks the same.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from openprogram.agent._tool_calls import now_ms, use_tools
from openprogram.agent.costs import CostLimit
from openprogram.agent.retries import RetryPolicy, plan_retry
from openprogram.errors import (
    AgentError,
    ProviderError,
    ascii_if_unprintable,
    quoted,
)
from openprogram.providers import types as t
from openprogram.providers.events import FAILED_STOP_REASONS, final_message, is_terminal
from openprogram.providers.recording.redaction import remove_secrets_from_text
from openprogram.providers.stream import stream_simple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from openprogram.agent.retries import Retry
    from openprogram.agent.tools import AgentTool

DEFAULT_TURN_LIMIT: Final = 20
"""How often the model is asked before the loop gives up."""
DEFAULT_PARALLEL_TOOL_LIMIT: Final = 8
"""How many tool calls of a turn run at a time."""

_ERROR_CHARACTERS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What a run may use up before it is ended."""

    turns: int = DEFAULT_TURN_LIMIT
    """How often the model answers at most, at least 1; a failed attempt is none."""
    seconds: float | None = None
    """How long the run takes at most; tools and the answer that still run are cancelled."""
    usd: float | None = None
    """How much it may cost; looked at between calls, so the last call may go over it."""


async def run_agent(
    prompt: str,
    *,
    model: t.Model,
    tools: Sequence[AgentTool] = (),
    system_prompt: str | None = None,
    options: t.SimpleStreamOptions | None = None,
    limits: RunLimits | None = None,
    retries: RetryPolicy | None = None,
    parallel_tool_limit: int = DEFAULT_PARALLEL_TOOL_LIMIT,
    on_event: Callable[[t.AssistantMessageEvent], None] | None = None,
    on_tool_result: Callable[[t.ToolResultMessage], None] | None = None,
    on_retry: Callable[[Retry], None] | None = None,
) -> t.AssistantMessage:
    """Give a model a task, and let it use tools until it has an answer.

    The tool calls of one turn run side by side, and their results stand in the order of the calls.
    A tool that is not there, arguments that do not fit and a tool that refuses are results too,
    marked as errors, so that the model can try otherwise. A request that failed and may be made
    again is, as a call of its own. Cancelling the task ends the request and the tools; a tool that
    blocks in a thread is left to itself.

    Args:
        prompt: The task.
        model: Who answers.
        tools: What it may use.
        system_prompt: What the model is told beforehand.
        options: How it is called.
        limits: What the run may use up; `RunLimits()` when None.
        retries: When a failed request is made again; `RetryPolicy()` when None.
        parallel_tool_limit: How many tool calls of a turn run at a time; 1 for one after the other.
        on_event: Called with each event of each answer as it comes, those of failed attempts too.
            What it raises ends the run.
        on_tool_result: Called with each result before the model sees it, in the order of the calls.
        on_retry: Called before the wait for another attempt.

    Returns:
        The last answer; its `stop_reason` is `stop`, or `length` when the model's limit cut it.

    Raises:
        AgentError: An answer ended in an error, or a limit was reached before an answer came, or
            there is a limit in USD and the prices are not known.
        ReplayMismatch: In a replay, something else was asked than in the recorded run.
        ProviderError: The model could not be asked.
        ValueError: Two tools have one name, or a limit is too small.
    """
    limits = limits or RunLimits()
    named = {tool.definition.name: tool for tool in tools}
    if len(named) < len(tools):
        raise ValueError("two tools have the same name")
    if limits.turns < 1 or parallel_tool_limit < 1:
        raise ValueError("limits on turns and parallel tools are at least 1")
    asker = _Asker(
        model=model,
        options=options,
        cost=CostLimit(model, limits.usd),
        retries=retries or RetryPolicy(),
        on_event=on_event,
        on_retry=on_retry,
    )
    context = t.Context(
        system_prompt=system_prompt,
        messages=[t.UserMessage(content=prompt, timestamp=now_ms())],
        tools=[tool.definition for tool in tools] or None,
    )
    clock = asyncio.timeout(limits.seconds)
    try:
        async with clock:
            for _ in range(limits.turns):
                answer = await asker.ask(context)
                calls = [block for block in answer.content if isinstance(block, t.ToolCall)]
                if not calls:
                    return answer
                results = await use_tools(named, calls, parallel_limit=parallel_tool_limit)
                if on_tool_result is not None:
                    for result in results:
                        on_tool_result(result)
                context = _extended(context, answer, results)
    except TimeoutError:
        if not clock.expired():
            raise
        rule = f"no answer within {limits.seconds:g} s"
        raise AgentError(rule, remedy="allow more seconds") from None
    turns = "1 turn" if limits.turns == 1 else f"{limits.turns:,} turns"
    rule = f"no answer after {turns}, the model still wants tools"
    raise AgentError(rule, remedy="allow more turns")


def _extended(
    context: t.Context, answer: t.AssistantMessage, results: list[t.ToolResultMessage]
) -> t.Context:
    """Add a turn, in a new list: providers may still hold the one that they were given."""
    return t.Context(
        system_prompt=context.system_prompt,
        messages=[*context.messages, answer, *results],
        tools=context.tools,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asker:
    """Asks one model, again where that may help."""

    model: t.Model
    options: t.SimpleStreamOptions | None
    cost: CostLimit
    retries: RetryPolicy
    on_event: Callable[[t.AssistantMessageEvent], None] | None
    on_retry: Callable[[Retry], None] | None

    async def ask(self, context: t.Context) -> t.AssistantMessage:
        """Get an answer that ended well; the same request is made each time."""
        attempt = 1
        while True:
            self.cost.require_rest()
            answer = await self._stream(context)
            self.cost.add(answer)
            if answer.stop_reason not in FAILED_STOP_REASONS:
                return answer
            retry = plan_retry(self.retries, answer, attempt=attempt, api=self.model.api)
            if retry is None:
                rule = _describe_failure(self.model, answer)
                raise AgentError(rule, remedy=_remedy_for(answer))
            if self.on_retry is not None:
                self.on_retry(retry)
            await _pause(retry.wait_seconds)
            attempt = retry.attempt

    async def _stream(self, context: t.Context) -> t.AssistantMessage:
        last: t.AssistantMessageEvent | None = None
        async with aclosing(stream_simple(self.model, context, self.options)) as events:
            async for last in events:
                if self.on_event is not None:
                    self.on_event(last)
        if last is None or not is_terminal(last):
            place = quoted(self.model.api)
            raise ProviderError(f"{place}: the stream ended without 'done' or 'error'")
        return final_message(last)


async def _pause(seconds: float) -> None:
    await asyncio.sleep(seconds)


def _describe_failure(model: t.Model, answer: t.AssistantMessage) -> str:
    reason = ascii_if_unprintable(answer.error_reason or answer.stop_reason)
    words = remove_secrets_from_text(answer.error_message or "no reason given")
    text = f"{quoted(model.provider)}: the request failed ({reason}): "
    return text + quoted(words, limit=_ERROR_CHARACTERS)


def _remedy_for(answer: t.AssistantMessage) -> str:
    if answer.error_retry_after_s is not None:
        return f"try again in {answer.error_retry_after_s:,.0f} s"
    return "try again later" if answer.error_retryable else ""
