"""A model vendor on this machine's loopback interface, for tests, demonstrations and examples.

It speaks HTTP/1.1 with chunked bodies from a thread of its own, answers by script, keeps every
request, and notices when a client leaves. It resolves nothing and reaches nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeAlias, cast

from openprogram.testing.answers import Drop, HttpError, RawBytes, ScriptEntry, as_answer
from openprogram.testing.anthropic_messages import AnthropicMessages
from openprogram.testing.chunking import Chunking, per_event
from openprogram.testing.protocol import Outcome, ReceivedRequest, Step, VendorProtocol

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self

Script: TypeAlias = Iterable[ScriptEntry] | Callable[[ReceivedRequest], ScriptEntry]
"""One entry per request, or a function that finds the entry from the request."""

_WAIT_SECONDS = 30.0
_HIGHEST_PORT = 65_535
_FLUSHED_BYTES = 1_000_000


class LoopbackVendor:
    """A vendor that answers by script; use it as a context manager.

    A request that the vendor would refuse is refused in the vendor's format and uses up no entry.
    A script function runs in the server's thread; if it raises, the connection is dropped and
    leaving the context raises the same error.

    Args:
        script: What to answer.
        protocol: The wire protocol; `AnthropicMessages` when None.
        chunking: How bodies are cut, where an answer does not say.
        port: Where to listen; 0 takes a free one, another each time. A model's base URL is part of
            a request, so a replay at another port is a mismatch at `model.base_url`: give both runs
            one port, or put `model.base_url` into `record_replay.ignore`.

    Raises:
        ValueError: The port is none.

    Example:
        >>> from openprogram.testing import LoopbackVendor, Text
        >>> with LoopbackVendor([[Text("hello")]]) as vendor:
        ...     vendor.base_url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(
        self,
        script: Script,
        *,
        protocol: VendorProtocol | None = None,
        chunking: Chunking = per_event,
        port: int = 0,
    ) -> None:
        if not 0 <= port <= _HIGHEST_PORT:
            raise ValueError(f"port {port}: give one from 0, which takes a free one, to 65535")
        self._script: Sequence[ScriptEntry] | Callable[[ReceivedRequest], ScriptEntry] = (
            script if callable(script) or isinstance(script, Sequence) else list(script)
        )
        self._port = port
        self._protocol = protocol or AnthropicMessages()
        self._chunking = chunking
        self._changed = threading.Condition()
        self._requests: list[ReceivedRequest] = []
        self._used_entry_count = 0
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._base_url = ""
        self._stop: Callable[[], object] = lambda: None

    @property
    def base_url(self) -> str:
        """Where it listens, as a client's base URL; empty before it was entered."""
        return self._base_url

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The requests that were read whole so far, the refused ones too."""
        with self._changed:
            return list(self._requests)

    def wait_for_request(
        self, number: int = 0, *, timeout_seconds: float = _WAIT_SECONDS
    ) -> ReceivedRequest:
        """Block until a request was read whole.

        Args:
            number: Which one, from 0.
            timeout_seconds: How long to wait.

        Returns:
            The request.

        Raises:
            TimeoutError: It did not come.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._requests) > number, timeout_seconds):
                raise TimeoutError(f"request {number} did not come in {timeout_seconds} s")
            return self._requests[number]

    def __enter__(self) -> Self:
        if self._base_url:
            raise RuntimeError("a LoopbackVendor is entered once; make another for another run")
        listening = socket.create_server(("127.0.0.1", self._port))
        listening.setblocking(False)
        port = listening.getsockname()[1]
        self._base_url = f"http://127.0.0.1:{port}{self._protocol.base_path}"
        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(listening, ready)), name="loopback-vendor"
        )
        self._thread.start()
        ready.result(_WAIT_SECONDS)
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()
        if self._thread is not None:
            self._thread.join()
        if error is None and self._failure is not None:
            raise self._failure

    async def _serve(self, listening: socket.socket, ready: Future[None]) -> None:
        loop = asyncio.get_running_loop()
        stopped = asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        connections: set[asyncio.Task[None]] = set()

        # Not `asyncio.start_server`: closed while it accepts, it drops the new socket unclosed.
        def accept() -> None:
            with contextlib.suppress(BlockingIOError, ConnectionError):
                connection, _ = listening.accept()
                connection.setblocking(False)
                task = loop.create_task(self._serve_connection(connection))
                connections.add(task)
                task.add_done_callback(self._note_failure)
                task.add_done_callback(connections.discard)
                # Not in the task: one that is cancelled before its first step runs no `finally`.
                task.add_done_callback(lambda _: connection.close())

        with listening:
            loop.add_reader(listening, accept)
            ready.set_result(None)
            await stopped.wait()
            loop.remove_reader(listening)
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    def _note_failure(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and self._failure is None:
            self._failure = task.exception()

    async def _serve_connection(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        # Only so does a finished `drain` mean that the bytes are out of this process.
        writer.transport.set_write_buffer_limits(high=0)
        request: ReceivedRequest | None = None
        try:
            request = await self._read_request(reader)
            if request is not None:
                await self._answer_unless_left(request, reader, writer)
        finally:
            writer.transport.abort()
            if request is not None:
                _conclude(request, "dropped")

    async def _answer_unless_left(
        self, request: ReceivedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer, and give up as soon as the client closes its end."""
        answering = asyncio.create_task(self._answer(request, writer))
        leaving = asyncio.create_task(_wait_until_closed(reader))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
            else:
                _conclude(request, "disconnected")
        except ConnectionError:
            _conclude(request, "disconnected")
        finally:
            for task in (answering, leaving):
                task.cancel()
            await asyncio.wait({answering, leaving})

    async def _read_request(self, reader: asyncio.StreamReader) -> ReceivedRequest | None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")[:-2]
            pairs = (line.split(":", 1) for line in lines)
            headers = {name.strip().lower(): value.strip() for name, value in pairs}
            raw_body = await reader.readexactly(int(headers.get("content-length", "0")))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        method, path, _version = first.split(" ", 2)
        with self._changed:
            request = ReceivedRequest(
                number=len(self._requests),
                method=method,
                path=path,
                headers=headers,
                raw_body=raw_body,
                body=_json_object(raw_body),
            )
            self._requests.append(request)
            self._changed.notify_all()
        return request

    def _entry_for(self, request: ReceivedRequest) -> ScriptEntry:
        if (refusal := self._protocol.refuse(request)) is not None:
            return refusal
        if callable(self._script):
            return self._script(request)
        used = self._used_entry_count
        if used >= len(self._script):
            return HttpError(status=500, message=f"the script holds only {used} answers")
        self._used_entry_count += 1
        return self._script[used]

    async def _answer(self, request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        entry = self._entry_for(request)
        match entry:
            case Drop():
                return
            case HttpError():
                body = entry.body
                if body is None:
                    body = self._protocol.error_body(entry, request)
                head = _head(
                    entry.status, request, {"content-type": "application/json", **entry.headers}
                )
                await _send(writer, head + f"content-length: {len(body)}\r\n\r\n".encode() + body)
                _conclude(request, "answered")
                return
            case RawBytes():
                steps, chunking = [entry.data], self._chunking
            case _:
                answer = as_answer(entry)
                steps, chunking = self._protocol.render(answer, request), answer.chunking
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        head = _head(HTTPStatus.OK, request, headers) + b"transfer-encoding: chunked\r\n\r\n"
        if await _send_steps(writer, head, steps, chunking or self._chunking):
            _conclude(request, "answered")


async def _send_steps(
    writer: asyncio.StreamWriter, head: bytes, steps: Iterable[Step], chunking: Chunking
) -> bool:
    """Send a chunked body and say whether it is whole.

    Bytes between two pauses are cut as one, except that a long body goes out megabyte by megabyte:
    it may have no end.
    """
    unsent = head
    body: list[bytes] = []
    size_bytes = 0
    for step in steps:
        if isinstance(step, bytes):
            body.append(step)
            size_bytes += len(step)
            if size_bytes < _FLUSHED_BYTES:
                continue
        await _send(writer, unsent + _chunked(chunking(b"".join(body))))
        unsent, body, size_bytes = b"", [], 0
        if isinstance(step, bytes):
            continue
        if isinstance(step, Drop):
            return False
        if not step.reached.done():
            step.reached.set_result(None)
        await asyncio.shield(asyncio.wrap_future(step.released))
    # The end goes with the last piece, so that a client which leaves at its last event is on time.
    await _send(writer, unsent + _chunked(chunking(b"".join(body))) + b"0\r\n\r\n")
    return True


def _conclude(request: ReceivedRequest, outcome: Outcome) -> None:
    """Say how a request ended; the first word counts."""
    if not request.outcome.done():
        request.outcome.set_result(outcome)


def _chunked(pieces: list[bytes]) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)


def _head(status: int, request: ReceivedRequest, headers: Mapping[str, str]) -> bytes:
    known = status in HTTPStatus.__members__.values()
    phrase = HTTPStatus(status).phrase if known else "Unknown"
    lines = {"request-id": f"req_loopback_{request.number}", "connection": "close", **headers}
    fields = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} {phrase}\r\n{fields}".encode("latin-1")


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def _wait_until_closed(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(4096):
            pass
    except ConnectionError:
        return


def _json_object(raw_body: bytes) -> dict[str, Any]:
    try:
        body: object = json.loads(raw_body)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", body) if isinstance(body, dict) else {}
