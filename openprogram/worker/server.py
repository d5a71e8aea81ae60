"""The worker: a socket, one task per client, and the provider runtime that they share."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import socket
import stat
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from openprogram import _compat, _private_files
from openprogram.agent.loop import RunLimits, run_agent
from openprogram.agent.tools import file_tools
from openprogram.agent.totals import RunTotals
from openprogram.errors import OpenProgramError, UnsafeFileError, WorkerError, quoted
from openprogram.providers.initialization import initialize_provider_runtime
from openprogram.providers.registry import create_runtime
from openprogram.worker import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

    from openprogram.agent.retries import Retry
    from openprogram.providers import types as t
    from openprogram.providers.activation import RuntimeSnapshot

REQUEST_SECONDS: Final = 10.0
"""How long a client may take for its request."""
_MOST_UNREAD_BYTES: Final = 16 << 20
"""How much a client may leave unread before it is given up."""
_REASON_CHARACTERS: Final = 4000
_MOST_TURNS: Final = 1000
_BACKLOG: Final = 128
_PEER_CREDENTIALS: Final = struct.Struct("3i")
_STOPPED: Final = protocol.Failure("worker_stopped", "the worker was stopped; start it again")


def serve(*, on_ready: Callable[[Path], None]) -> None:
    """Answer clients until SIGTERM or SIGINT; then cancel what runs, and leave nothing behind.

    Args:
        on_ready: Called with the socket's path once clients can connect.

    Raises:
        WorkerError: Another worker serves this state directory.
        UnsafeFileError: The state directory, or what stands in the socket's place, breaks a rule.
        ProviderRuntimeInitializationError: The provider runtime could not start.
    """
    with _only_worker(), _listening() as listener:
        # Before any loop and thread: everything that follows sees one and the same runtime.
        snapshot = initialize_provider_runtime()
        asyncio.run(_Worker(snapshot).serve(listener, on_ready))


@contextlib.contextmanager
def _only_worker() -> Generator[None]:
    """Hold the lock that makes this the one worker; it ends with the process, however that ends."""
    path = protocol.socket_path()
    os.close(_private_files.ensure_private_directory(path.parent))
    lock_path = path.with_name("worker.lock")
    fd = _private_files.open_private_file(lock_path, os.O_RDWR | os.O_CREAT, tighten=True)
    try:
        try:
            _compat.lock_exclusive(fd, timeout_seconds=0)
        except BlockingIOError as error:
            pid = os.pread(fd, 20, 0).decode("ascii", "replace").strip()
            shown = f"process {pid}" if pid.isdigit() else "another process"
            raise WorkerError(
                f"{quoted(str(path))}: {shown} is the worker already; stop it first"
            ) from error
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(fd)


@contextlib.contextmanager
def _listening() -> Generator[socket.socket]:
    """Bind the socket, owner-only; with the lock held, one that is there is a dead worker's."""
    path = protocol.socket_path()
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener,
        protocol.socket_address() as address,
    ):
        _remove_stale(path)
        before = os.umask(0o177)
        try:
            listener.bind(address)
        finally:
            os.umask(before)
        try:
            listener.listen(_BACKLOG)
            yield listener
        finally:
            _remove_stale(path)


def _remove_stale(path: Path) -> None:
    with _private_files.parent_directory(path) as directory_fd:
        try:
            found = os.stat(path.name, dir_fd=directory_fd, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(found.st_mode):
            remedy = "move it away; a worker's socket belongs there"
            raise UnsafeFileError(path, "not a socket", remedy=remedy)
        os.unlink(path.name, dir_fd=directory_fd)


class _ClientLeftError(Exception):
    """The client closed, or reads so slowly that it is given up."""


class _Worker:
    """Serves clients on one event loop."""

    def __init__(self, snapshot: RuntimeSnapshot) -> None:
        self._snapshot = snapshot
        self._clients: set[asyncio.Task[None]] = set()
        self._running_count = 0

    async def serve(self, listener: socket.socket, on_ready: Callable[[Path], None]) -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopped.set)
        server = await asyncio.start_unix_server(
            self._accept, sock=listener.dup(), limit=protocol.MAX_LINE_BYTES
        )
        on_ready(protocol.socket_path())
        await stopped.wait()
        server.close()
        clients = set(self._clients)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve_client(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _serve_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            last = await self._last_line(reader, writer)
            _send(writer, last)
            async with asyncio.timeout(REQUEST_SECONDS):
                await writer.drain()
        except (_ClientLeftError, ConnectionError, TimeoutError, asyncio.IncompleteReadError):
            writer.transport.abort()
        finally:
            # Also after a defect, so that the client does not wait for ever.
            writer.close()

    async def _last_line(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> protocol.Answer:
        try:
            _require_same_user(writer)
            async with asyncio.timeout(REQUEST_SECONDS):
                line = await reader.readuntil(b"\n")
            return await self._answer(protocol.decode_request(line), reader, writer)
        except (ConnectionError, TimeoutError):
            raise
        except asyncio.CancelledError:
            return _STOPPED
        except asyncio.LimitOverrunError:
            reason = f"a request is one line of at most {protocol.MAX_LINE_BYTES:,} bytes"
            return protocol.Failure("usage", reason)
        except (OpenProgramError, OSError, ValueError) as error:
            return protocol.Failure(type(error).__name__, str(error)[:_REASON_CHARACTERS])

    async def _answer(
        self, request: protocol.Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> protocol.Answer:
        if isinstance(request, protocol.StatusRequest):
            return self._status()
        self._running_count += 1
        try:
            return await _unless_client_leaves(self._run(request, writer), reader)
        finally:
            self._running_count -= 1

    def _status(self) -> protocol.WorkerStatus:
        snapshot = self._snapshot
        replay = snapshot.replay_provider
        return protocol.WorkerStatus(
            pid=os.getpid(),
            mode=snapshot.mode,
            path=None if snapshot.recording_path is None else str(snapshot.recording_path),
            ignore=list(snapshot.ignored_paths),
            consumed=None if replay is None else replay.call_count,
            total=None if replay is None else replay.call_total,
            running_count=self._running_count,
        )

    async def _run(
        self, request: protocol.RunRequest, writer: asyncio.StreamWriter
    ) -> protocol.End:
        _require_sound(request)
        runtime = create_runtime(request.provider, request.model)
        totals = RunTotals(prices=runtime.model.cost)

        def pass_on(event: t.AssistantMessageEvent) -> None:
            totals.add(event)
            if event.type == "start":
                _send(writer, protocol.Turn())
            elif event.type == "text_delta":
                _send_text(writer, event.delta)
            elif event.type == "text_end":
                _send(writer, protocol.TextEnd())

        def note(retry: Retry) -> None:
            totals.retry_count += 1
            _send(writer, protocol.Note(_describe(retry)))

        answer = await run_agent(
            request.prompt,
            model=runtime.model,
            tools=file_tools(Path(request.root)),
            system_prompt=request.system_prompt,
            options=runtime.options,
            limits=RunLimits(turns=request.turns, seconds=request.seconds, usd=request.usd),
            on_event=pass_on,
            on_tool_result=totals.add_tool_result,
            on_retry=note,
        )
        document = totals.to_json(answer, self._snapshot)
        # It may be longer than a line, and has come in pieces.
        del document["answer"]
        return protocol.End(document)


def _describe(retry: Retry) -> str:
    reason = retry.failed.error_reason or retry.failed.stop_reason
    again = f"attempt {retry.attempt} of {retry.attempt_limit}"
    return f"{quoted(retry.failed.provider)}: the request failed ({reason}); asking again, {again}"


def _require_sound(request: protocol.RunRequest) -> None:
    if not request.prompt.strip():
        raise WorkerError("the prompt is empty", code="usage")
    if not 1 <= request.turns <= _MOST_TURNS:
        raise WorkerError(f"turns: not from 1 to {_MOST_TURNS:,}", code="usage")
    for name, value in (("seconds", request.seconds), ("usd", request.usd)):
        if value is not None and not (math.isfinite(value) and value > 0):
            raise WorkerError(f"{name}: not a number above 0", code="usage")
    if not Path(request.root).is_absolute():
        raise WorkerError("root: not an absolute path", code="usage")


def _require_same_user(writer: asyncio.StreamWriter) -> None:
    """Refuse another user where the system tells; the modes of the socket and its place do too."""
    if hasattr(socket, "SO_PEERCRED"):
        connection: socket.socket = writer.get_extra_info("socket")
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_CREDENTIALS.size)
        if _PEER_CREDENTIALS.unpack(found)[1] != os.geteuid():
            raise _ClientLeftError


async def _unless_client_leaves(
    run: Coroutine[Any, Any, protocol.End], reader: asyncio.StreamReader
) -> protocol.End:
    """Run on while the client stays: a client has nothing more to say, so any byte is leaving."""
    running = asyncio.create_task(run)
    leaving = asyncio.create_task(reader.read(1))
    try:
        await asyncio.wait({running, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return running.result()
        raise _ClientLeftError
    finally:
        running.cancel()
        leaving.cancel()
        await asyncio.gather(running, leaving, return_exceptions=True)


def _send_text(writer: asyncio.StreamWriter, text: str) -> None:
    for start in range(0, len(text), protocol.MAX_TEXT_CHARACTERS):
        _send(writer, protocol.Text(text[start : start + protocol.MAX_TEXT_CHARACTERS]))


def _send(writer: asyncio.StreamWriter, message: protocol.Answer) -> None:
    """Send, or give the client up; its run is then cancelled by what watches it, never from here.

    An error raised into the run would end its call as left by its consumer, not as cancelled.
    """
    transport = writer.transport
    if transport.is_closing():
        return
    if transport.get_write_buffer_size() > _MOST_UNREAD_BYTES:
        transport.abort()
        return
    writer.write(protocol.encode_line(message))
