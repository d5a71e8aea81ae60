"""Tools of a server that speaks the Model Context Protocol over its standard streams.

The server is a program that somebody else wrote: its words are cut to bounds and never acted on,
its time is bounded, it inherits no key, and its process ends with the block that started it.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import logging
import os
import re
import shlex
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

from openprogram.agent.tools import AgentTool, ToolOutput
from openprogram.errors import AgentError, ToolError, quoted
from openprogram.providers.recording.format import is_too_deep
from openprogram.providers.types import Tool

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Sequence

    import anyio
    import mcp

TOOL_LIMIT: Final = 128
"""How many tools of a server are taken."""
RESULT_CHARACTERS: Final = 100_000
"""How much of a result's text is taken."""
START_SECONDS: Final = 30.0
"""How long a server may take until its tools are listed."""
CALL_SECONDS: Final = 120.0
"""How long one call may take."""

_DESCRIPTION_CHARACTERS = 4000
_SCHEMA_CHARACTERS = 50_000
_REASON_CHARACTERS = 1000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_SPARE_DEPTH = 16
"""A definition stands some way inside a request, which must not be too deep to be recorded."""

_log = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def mcp_tools(
    command: Sequence[str],
    *,
    start_seconds: float = START_SECONDS,
    call_seconds: float = CALL_SECONDS,
) -> AsyncGenerator[tuple[AgentTool, ...]]:
    """Start a tool server, and end it with the block.

    Args:
        command: The program and its arguments; no shell reads them. It inherits PATH, HOME and a
            few more variables, and no key.
        start_seconds: How long it may take until its tools are listed.
        call_seconds: How long one call may take.

    Yields:
        Its tools, sorted by name, so that a request does not depend on the server's order. They
        work until the block ends; one whose name, size or schema no vendor would take is left out,
        with a warning.

    Raises:
        AgentError: The server cannot be started, or did not say what tools it has; or the `mcp`
            package is not installed.
    """
    server = _Server(command, start_seconds=start_seconds, call_seconds=call_seconds)
    try:
        yield await server.start()
    finally:
        await server.stop()


class _Server:
    """A server's process, in a task of its own: there its scopes begin and end, whoever calls."""

    def __init__(
        self, command: Sequence[str], *, start_seconds: float, call_seconds: float
    ) -> None:
        self._command = tuple(command)
        self._start_seconds = start_seconds
        self._call_seconds = call_seconds
        self._task: asyncio.Task[None] | None = None
        self._scope: anyio.CancelScope | None = None

    async def start(self) -> tuple[AgentTool, ...]:
        _require_sdk()
        ready: asyncio.Future[tuple[AgentTool, ...]] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._own(ready))
        await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            return ready.result()
        task, self._task = self._task, None
        raise self._as_agent_error(task.exception())

    async def stop(self) -> None:
        """End the process, however often the caller is cancelled meanwhile: it is over in seconds.

        The task is not cancelled itself, as that would cut the orderly end short; its scope is.
        """
        task, self._task = self._task, None
        is_cancelled = False
        while task is not None and not task.done():
            if self._scope is not None:
                self._scope.cancel()
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                is_cancelled = True
        if task is not None and not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("a tool server did not end in order: %s", quoted(str(error)))
        if is_cancelled:
            raise asyncio.CancelledError

    async def _own(self, ready: asyncio.Future[tuple[AgentTool, ...]]) -> None:
        import anyio  # late, with the SDK: it takes a second, and only this needs it
        import mcp

        parameters = mcp.StdioServerParameters(command=self._command[0], args=[*self._command[1:]])
        with anyio.CancelScope() as self._scope, _nowhere() as nowhere:
            async with (
                mcp.stdio_client(parameters, errlog=nowhere) as streams,
                mcp.ClientSession(*streams, read_timeout_seconds=self._start_seconds) as session,
            ):
                with anyio.fail_after(self._start_seconds):
                    await session.initialize()
                    listed = await _list_tools(session)
                if not ready.done():
                    ready.set_result(self._take_tools(session, listed))
                await anyio.sleep_forever()

    def _take_tools(
        self, session: mcp.ClientSession, listed: list[mcp.types.Tool]
    ) -> tuple[AgentTool, ...]:
        taken: dict[str, AgentTool] = {}
        for tool in sorted(listed, key=lambda each: each.name):
            reason = "it is there twice" if tool.name in taken else _reason_against(tool)
            if len(taken) == TOOL_LIMIT:
                reason = f"there are more than {TOOL_LIMIT}"
            if reason:
                _log.warning("the tool %s is left out: %s", quoted(tool.name), reason)
                continue
            definition = Tool(
                name=tool.name,
                description=(tool.description or "")[:_DESCRIPTION_CHARACTERS],
                parameters=tool.input_schema,
            )
            run = partial(_call, session, tool.name, self._call_seconds)
            taken[tool.name] = AgentTool(
                definition=definition, arguments_type=dict[str, Any], run=run
            )
        return tuple(taken.values())

    def _as_agent_error(self, error: BaseException | None) -> BaseException:
        """Say what became of the start; an error that no server can cause stays as it is."""
        import mcp  # late, like above

        error = _innermost(error)
        place = f"tool server {quoted(shlex.join(self._command))}"
        by_hand = "run it by hand to see why"
        if isinstance(error, TimeoutError):
            rule = f"{place}: its tools were not listed within {self._start_seconds:g} s"
            return AgentError(rule, remedy=by_hand)
        if isinstance(error, OSError):
            reason = (error.strerror or type(error).__name__).lower()
            return AgentError(f"{place}: cannot be started: {reason}", remedy="name a program")
        if isinstance(error, (mcp.MCPError, ValueError, RuntimeError)):
            reason = quoted(str(error), limit=_REASON_CHARACTERS)
            return AgentError(f"{place}: did not say what tools it has: {reason}", remedy=by_hand)
        return error or AgentError(f"{place}: ended before its tools were listed", remedy=by_hand)


def _innermost(error: BaseException | None) -> BaseException | None:
    """Take the first error out of the groups that task groups make."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _require_sdk() -> None:
    try:
        importlib.import_module("mcp")
    except ModuleNotFoundError as error:
        rule = f"tool servers: the package {quoted(error.name)} is not installed"
        raise AgentError(rule, remedy="run 'pip install mcp'") from error
    # It logs a server's words with tracebacks, which Python prints when nobody listens.
    logger = logging.getLogger("mcp")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


@contextlib.contextmanager
def _nowhere() -> Generator[TextIO]:
    """Open the place for what a server says beside the protocol; it must not reach a terminal."""
    with open(os.devnull, "w", encoding="utf-8") as file:  # noqa: PTH123 - no path, a device
        yield file


async def _list_tools(session: mcp.ClientSession) -> list[mcp.types.Tool]:
    import mcp  # late, like above

    listed: list[mcp.types.Tool] = []
    cursor: str | None = None
    # One more than are taken, so that the rest is known to be there; a page may be empty, too.
    for _ in range(TOOL_LIMIT + 1):
        params = mcp.types.PaginatedRequestParams(cursor=cursor) if cursor else None
        page = await session.list_tools(params=params)
        listed += page.tools
        cursor = page.next_cursor
        if not cursor or len(listed) > TOOL_LIMIT:
            break
    return listed


def _reason_against(tool: mcp.types.Tool) -> str:
    if not _NAME.match(tool.name):
        return "its name is not 1 to 64 letters, digits, '_' or '-'"
    if tool.input_schema.get("type") != "object":
        return "its schema is not that of an object"
    schema = json.dumps(tool.input_schema)
    if is_too_deep(("[" * _SPARE_DEPTH + schema + "]" * _SPARE_DEPTH).encode()):
        return "its schema is nested too deep"
    if len(schema) > _SCHEMA_CHARACTERS:
        return f"its schema has more than {_SCHEMA_CHARACTERS:,} characters"
    return ""


async def _call(
    session: mcp.ClientSession, name: str, seconds: float, arguments: dict[str, Any]
) -> ToolOutput:
    import anyio  # late, like above
    import mcp

    try:
        result = await session.call_tool(name, arguments, read_timeout_seconds=seconds)
    except (mcp.MCPError, ValueError, RuntimeError) as error:
        reason = quoted(str(error), limit=_REASON_CHARACTERS)
        raise ToolError(f"{name}: the tool server failed: {reason}") from error
    except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
        raise ToolError(f"{name}: the tool server has ended") from error
    return _as_output(result)


def _as_output(result: mcp.types.CallToolResult) -> ToolOutput:
    texts: list[str] = []
    left_out: list[str] = []
    for block in result.content:
        text = block.text if block.type == "text" else None
        if block.type == "resource":
            text = getattr(block.resource, "text", None)
        if text is None:
            left_out.append(block.type)
        else:
            texts.append(text)
    if not texts and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False, sort_keys=True))
    whole = "\n".join(texts)
    notes: list[str] = []
    if left_out:
        kinds = ", ".join(sorted(set(left_out)))
        notes.append(f"{len(left_out):,} blocks that are no text are left out: {kinds}")
    if len(whole) > RESULT_CHARACTERS:
        notes.append(f"only the first {RESULT_CHARACTERS:,} of {len(whole):,} characters are shown")
    if not whole and not notes:
        notes.append("the tool said nothing")
    return ToolOutput(
        text=whole[:RESULT_CHARACTERS], notes=tuple(notes), is_error=bool(result.is_error)
    )
