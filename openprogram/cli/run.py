"""`openprogram run`: one task for an agent that can list and read files."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openprogram.cli import _diagnostics, _output
from openprogram.cli._commands import Command, JsonOption, examples
from openprogram.cli._streaming import AnswerPrinter, ReaderLeftError
from openprogram.errors import AgentError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from openprogram.providers import types as t
    from openprogram.providers.activation import RuntimeSnapshot
    from openprogram.providers.registry import Runtime
    from openprogram.providers.replay import ReplayProvider

app = typer.Typer(rich_markup_mode=None, add_completion=False)

SYSTEM_PROMPT = (
    "You answer questions about the files of a workspace. Look at them with your tools before you "
    "answer, and say plainly what you could not find."
)
"""What the model is told beforehand, unless `--system` says otherwise; it is part of a request."""


@dataclass
class _Totals:
    """What a run came to."""

    turn_count: int = 0
    tool_call_count: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    has_failed: bool = False

    def add(self, event: t.AssistantMessageEvent) -> None:
        """Count an answer that ended well, and note one that did not."""
        if event.type == "error":
            self.has_failed = True
        if event.type != "done":
            return
        usage = event.message.usage
        self.turn_count += 1
        self.input_tokens += usage.input + usage.cache_read + usage.cache_write
        self.output_tokens += usage.output
        self.cost_usd += usage.cost.total

    def add_tool_result(self, result: t.ToolResultMessage) -> None:
        """Count a tool call."""
        del result
        self.tool_call_count += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """What the command line asks for."""

    prompt: str
    system_prompt: str | None
    root: Path
    turn_limit: int
    runtime: Runtime
    totals: _Totals = field(default_factory=_Totals)


class _Run(Command):
    stray_remedy = "write the prompt as one word, in quotes"


@app.command(
    cls=_Run,
    epilog=examples(
        ("openprogram run 'What does notes.txt say?'", "print the answer as it comes"),
        ("openprogram run 'Summarize' --root ~/notes", "look at files elsewhere"),
        ("openprogram recordings record", "record the next run"),
    )
    + "\n\n\b\n"
    + "ANTHROPIC_API_KEY holds the key, AGENTIC_PROVIDER and AGENTIC_MODEL a choice,\n"
    + "OPENPROGRAM_ANTHROPIC_BASE_URL another place than https://api.anthropic.com.",
)
def run(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="The task, in words.")],
    *,
    provider: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who answers, such as anthropic. A replay needs it, unless AGENTIC_PROVIDER or "
            "the setting default_provider names one.",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model, by its vendor's name for it.")
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Tell the model this beforehand; '' tells it nothing at all."
        ),
    ] = None,
    max_turns: Annotated[
        int | None,
        typer.Option(
            min=1, max=1000, metavar="N", help="How often the model is asked at most: 20, or N."
        ),
    ] = None,
    root: Annotated[
        str,
        typer.Option(
            metavar="DIR", help="The directory that the tools can see; nothing leads out of it."
        ),
    ] = ".",
    as_json: JsonOption = False,
) -> int:
    """Give a task to an agent that can list and read files.

    The answer is printed as it comes. What the settings say is done with the calls: they are
    recorded, or answered from a recording, or neither.
    """
    if not prompt.strip():
        raise _diagnostics.UsageError("the prompt is empty; say what the agent shall do")
    # Late: help needs neither the runtime nor what runs in it.
    from openprogram.agent.loop import DEFAULT_TURN_LIMIT
    from openprogram.providers.initialization import initialize_provider_runtime
    from openprogram.providers.registry import create_runtime

    snapshot = initialize_provider_runtime()
    task = _Task(
        prompt=prompt,
        system_prompt=(SYSTEM_PROMPT if system is None else system) or None,
        root=Path(root),
        turn_limit=DEFAULT_TURN_LIMIT if max_turns is None else max_turns,
        runtime=create_runtime(provider, model),
    )
    try:
        answer = _show_run(task) if not as_json else asyncio.run(_run(task, task.totals.add))
    except ReaderLeftError:
        return _diagnostics.DONE
    except AgentError as error:
        if snapshot.replay_provider is None or not task.totals.has_failed:
            raise
        raise _as_replayed(error, snapshot.replay_provider) from error
    if answer.stop_reason == "length":
        _diagnostics.warn("the answer was cut: it reached the model's limit")
    if snapshot.replay_provider is not None:
        snapshot.replay_provider.assert_consumed()
    if as_json:
        _output.write_json(_to_json(task, answer, snapshot))
    return _diagnostics.DONE


def _as_replayed(error: AgentError, provider: ReplayProvider) -> AgentError:
    """Say that a vendor's error is the recorded one: to try again would give it again."""
    place = f"{quoted(str(provider.recording_path))}, call {provider.call_count - 1}"
    return AgentError(
        f"{place}: replayed, not asked anew: {error.rule}",
        remedy="it comes again in each replay; to ask the vendor run 'openprogram recordings off'",
    )


def _show_run(task: _Task) -> t.AssistantMessage:
    printer = AnswerPrinter()

    def show(event: t.AssistantMessageEvent) -> None:
        task.totals.add(event)
        printer.show(event)

    try:
        return asyncio.run(_run(task, show))
    finally:
        with contextlib.suppress(ReaderLeftError):
            printer.end_line()


async def _run(
    task: _Task, on_event: Callable[[t.AssistantMessageEvent], None]
) -> t.AssistantMessage:
    from openprogram.agent.loop import run_agent  # late, like the runtime
    from openprogram.agent.tools import file_tools

    return await run_agent(
        task.prompt,
        model=task.runtime.model,
        tools=file_tools(task.root),
        system_prompt=task.system_prompt,
        options=task.runtime.options,
        turn_limit=task.turn_limit,
        on_event=on_event,
        on_tool_result=task.totals.add_tool_result,
    )


def _to_json(
    task: _Task, answer: t.AssistantMessage, snapshot: RuntimeSnapshot
) -> dict[str, object]:
    path = snapshot.recording_path
    totals = task.totals
    return {
        "answer": "".join(block.text for block in answer.content if block.type == "text"),
        "stop_reason": answer.stop_reason,
        "provider": answer.provider,
        "api": answer.api,
        "model": answer.model,
        "mode": snapshot.mode,
        "recording": None if path is None else str(path),
        "turn_count": totals.turn_count,
        "tool_call_count": totals.tool_call_count,
        "input_tokens": totals.input_tokens,
        "output_tokens": totals.output_tokens,
        "cost_usd": totals.cost_usd,
    }
