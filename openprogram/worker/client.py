"""Asks a worker; needs no provider, and starts nothing."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

from openprogram.errors import OpenProgramError, WorkerError, quoted
from openprogram.worker import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from io import BufferedReader

_START_REMEDY = "start one with 'openprogram worker'"


def read_worker_status(*, timeout_seconds: float = 0.5) -> protocol.WorkerStatus | None:
    """Ask the worker of this state directory what it does.

    Args:
        timeout_seconds: How long to wait for each step.

    Returns:
        What it says, or None when there is none, or it does not answer in time.
    """
    with contextlib.suppress(OpenProgramError, OSError):
        with _connected(timeout_seconds) as (connection, lines):
            connection.sendall(protocol.encode_line(protocol.StatusRequest()))
            answer = _read(lines)
        if isinstance(answer, protocol.WorkerStatus):
            return answer
    return None


def run_on_worker(
    request: protocol.RunRequest,
    *,
    on_progress: Callable[[protocol.Progress], None],
) -> dict[str, object]:
    """Let the worker of this state directory run a prompt; leaving early cancels the run.

    Args:
        request: What to run.
        on_progress: Called with what comes before the end.

    Returns:
        What `openprogram run --json` writes, without the answer.

    Raises:
        WorkerError: There is no worker, it went away, or the run failed there.
        UnsafeFileError: The state directory is not the owner's.
    """
    line = protocol.encode_line(request)
    try:
        with _connected(None) as (connection, lines):
            connection.sendall(line)
            while True:
                answer = _read(lines)
                if isinstance(answer, protocol.End):
                    return answer.document
                if isinstance(answer, protocol.Failure):
                    raise WorkerError(answer.reason, code=answer.code)
                if not isinstance(answer, protocol.WorkerStatus):
                    on_progress(answer)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        place = quoted(str(protocol.socket_path()))
        raise WorkerError(f"{place}: no worker is running; {_START_REMEDY}") from error
    except (ConnectionError, TimeoutError) as error:
        raise WorkerError(f"the worker went away; {_START_REMEDY}") from error


@contextlib.contextmanager
def _connected(timeout_seconds: float | None) -> Generator[tuple[socket.socket, BufferedReader]]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_seconds)
        with protocol.socket_address() as address:
            connection.connect(address)
        with connection.makefile("rb") as lines:
            yield connection, lines


def _read(lines: BufferedReader) -> protocol.Answer:
    line = lines.readline(protocol.MAX_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise WorkerError(f"the worker went away; {_START_REMEDY}")
    return protocol.decode_answer(line)
