"""`openprogram run`: one task for an agent that can list and read files, and use tool servers."""

from __future__ import annotations

import asyncio
import contextlib
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openprogram.cli import _diagnostics, _output
from openprogram.cli._commands import Command, JsonOption, examples
from openprogram.cli._streaming import AnswerPrinter, ReaderLeftError
from openprogram.errors import AgentError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from openprogram.agent.loop import RunLimits
    from openprogram.agent.retries import Retry
    from openprogram.agent.tools import AgentTool
    from openprogram.agent.totals import RunTotals
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

# Plain words: the table of providers itself would cost the help page the model types.
_PROVIDERS_HELP = """\
Providers, and where their keys come from:
  anthropic     ANTHROPIC_API_KEY
  openai        OPENAI_API_KEY
  google        GEMINI_API_KEY, GOOGLE_API_KEY
  openai-codex  the login of the Codex tool
  gemini-cli    none: its recordings are replayed, no live call is made
  openrouter    OPENROUTER_API_KEY
  groq          GROQ_API_KEY
  deepseek      DEEPSEEK_API_KEY
  ollama, lmstudio, vllm  none needed
'openprogram auth set PROVIDER' stores a key instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """What the command line asks for."""

    prompt: str
    system_prompt: str | None
    root: Path
    limits: RunLimits
    server_commands: list[list[str]]
    runtime: Runtime
    totals: RunTotals


class _Run(Command):
    stray_remedy = "write the prompt as one word, in quotes"


@app.command(
    cls=_Run,
    epilog=examples(
        ("openprogram run 'What does notes.txt say?'", "print the answer as it comes"),
        ("openprogram run 'Summarize' --root ~/notes", "look at files elsewhere"),
        ("openprogram run 'Tea?' --mcp 'python tea.py'", "use a server's tools"),
        ("openprogram recordings record", "record the next run"),
    )
    + "\n\n\b\n"
    + _PROVIDERS_HELP
    + "\n\n\b\n"
    + "AGENTIC_PROVIDER and AGENTIC_MODEL hold a choice;\n"
    + "OPENPROGRAM_ANTHROPIC_BASE_URL and the like name another place.",
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
    max_seconds: Annotated[
        float | None,
        typer.Option(metavar="N", help="End the run after so many seconds."),
    ] = None,
    max_usd: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="Make no further call once so many USD are spent; needs a model whose prices are "
            "known.",
        ),
    ] = None,
    prices: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What models cost: a JSON file of yours, see docs/agents.md; else the one that "
            "the setting prices_file names.",
        ),
    ] = None,
    mcp: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
            help="Start this MCP server and use its tools too; one word, in quotes, that no shell "
            "reads. Can be given again.",
        ),
    ] = None,
    root: Annotated[
        str,
        typer.Option(
            metavar="DIR", help="The directory that the tools can see; nothing leads out of it."
        ),
    ] = ".",
    worker: Annotated[
        bool,
        typer.Option("--worker", help="Let the running 'openprogram worker' do it."),
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Give a task to an agent that can list and read files, and use the tools of MCP servers.

    The answer is printed as it comes. What the settings say is done with the calls: they are
    recorded, or answered from a recording, or neither.
    """
    if not prompt.strip():
        raise _diagnostics.UsageError("the prompt is empty; say what the agent shall do")
    _require_positive("--max-seconds", max_seconds)
    _require_positive("--max-usd", max_usd)
    server_commands = [_split_command(command) for command in mcp or []]
    if worker:
        if server_commands:
            raise _diagnostics.UsageError("--mcp: a worker starts no tool servers; leave it out")
        if prices is not None:
            raise _diagnostics.UsageError(
                "--prices: a worker reads the file that the setting prices_file names; set that"
            )
        from openprogram.cli.worker import run_there  # late: only this needs it

        return run_there(
            prompt,
            root=root,
            system_prompt=(SYSTEM_PROMPT if system is None else system) or None,
            provider=provider,
            model=model,
            turns=max_turns,
            seconds=max_seconds,
            usd=max_usd,
            as_json=as_json,
        )
    # Late: help needs neither the runtime nor what runs in it.
    from openprogram.agent.loop import DEFAULT_TURN_LIMIT, RunLimits
    from openprogram.agent.totals import RunTotals
    from openprogram.providers.initialization import initialize_provider_runtime
    from openprogram.providers.registry import create_runtime

    snapshot = initialize_provider_runtime()
    runtime = create_runtime(provider, model, prices_file=None if prices is None else Path(prices))
    turns = DEFAULT_TURN_LIMIT if max_turns is None else max_turns
    task = _Task(
        prompt=prompt,
        system_prompt=(SYSTEM_PROMPT if system is None else system) or None,
        root=Path(root),
        limits=RunLimits(turns=turns, seconds=max_seconds, usd=max_usd),
        server_commands=server_commands,
        runtime=runtime,
        totals=RunTotals(prices=runtime.model.cost),
    )
    answer = _finish(task, snapshot, as_json=as_json)
    if answer is not None and as_json:
        _output.write_json(task.totals.to_json(answer, snapshot))
    return _diagnostics.DONE


def _require_positive(option: str, value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise _diagnostics.UsageError(f"{option}: {quoted(value)} is not a number above 0")


def _split_command(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        # shlex says "No closing quotation" and the like.
        raise _diagnostics.UsageError(
            f"--mcp: {quoted(command)}: {str(error).lower()}; quote it as for a shell"
        ) from error
    if not words:
        raise _diagnostics.UsageError("--mcp: the command is empty; name a program")
    return words


def _finish(task: _Task, snapshot: RuntimeSnapshot, *, as_json: bool) -> t.AssistantMessage | None:
    """Run the task, and demand of a replay that nothing is left; None when nobody reads."""
    try:
        answer = asyncio.run(_run(task, task.totals.add)) if as_json else _show_run(task)
    except ReaderLeftError:
        return None
    except AgentError as error:
        if snapshot.replay_provider is None or not task.totals.has_failed:
            raise
        raise _as_replayed(error, snapshot.replay_provider) from error
    if answer.stop_reason == "length":
        _diagnostics.warn("the answer was cut: it reached the model's limit")
    if snapshot.replay_provider is not None:
        snapshot.replay_provider.assert_consumed()
    return answer


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
        return asyncio.run(_run(task, show, printer.end_line))
    finally:
        with contextlib.suppress(ReaderLeftError):
            printer.end_line()


async def _run(
    task: _Task,
    on_event: Callable[[t.AssistantMessageEvent], None],
    before_note: Callable[[], None] = lambda: None,
) -> t.AssistantMessage:
    from openprogram.agent.loop import run_agent  # late, like the runtime
    from openprogram.agent.tools import file_tools

    def note_retry(retry: Retry) -> None:
        task.totals.retry_count += 1
        before_note()
        _diagnostics.warn(_describe_retry(task, retry))

    tools = [*file_tools(task.root)]
    async with contextlib.AsyncExitStack() as servers:
        if task.server_commands:
            from openprogram.agent.mcp_tools import mcp_tools  # late: only this needs it

            for command in task.server_commands:
                added = await servers.enter_async_context(mcp_tools(command))
                _require_new_names(tools, added, command)
                tools += added
        return await run_agent(
            task.prompt,
            model=task.runtime.model,
            tools=tools,
            system_prompt=task.system_prompt,
            options=task.runtime.options,
            limits=task.limits,
            on_event=on_event,
            on_tool_result=task.totals.add_tool_result,
            on_retry=note_retry,
        )


def _require_new_names(
    tools: list[AgentTool], added: tuple[AgentTool, ...], command: list[str]
) -> None:
    known = {tool.definition.name for tool in tools}
    for tool in added:
        if tool.definition.name in known:
            raise AgentError(
                f"tool server {quoted(shlex.join(command))}: another tool is called "
                f"{quoted(tool.definition.name)} too",
                remedy="leave this server out",
            )


def _describe_retry(task: _Task, retry: Retry) -> str:
    reason = retry.failed.error_reason or retry.failed.stop_reason
    wait = f" in {retry.wait_seconds:.1f} s" if retry.wait_seconds else ""
    return (
        f"{quoted(task.runtime.model.provider)}: the request failed ({reason}); asking again{wait},"
        f" attempt {retry.attempt} of {retry.attempt_limit}"
    )
