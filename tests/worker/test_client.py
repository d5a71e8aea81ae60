"""A client bounds how long it waits, and says in one line what went wrong."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from openprogram.errors import WorkerError
from openprogram.worker.client import read_worker_status, run_on_worker
from openprogram.worker.protocol import Progress, RunRequest, Text, encode_line, socket_address

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

REQUEST = RunRequest(prompt="p", root="/")


@contextlib.contextmanager
def answering(data: bytes | None) -> Generator[None]:
    """Pretend to be a worker that sends these bytes and closes; None is one that says nothing."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        with socket_address() as address:
            listener.bind(address)
        listener.listen()

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                if data is None:
                    connection.recv(1)
                else:
                    connection.sendall(data)

        thread = threading.Thread(target=answer)
        thread.start()
        yield
        thread.join(60)


@pytest.fixture(autouse=True)
def made_state_dir(state_dir: Path) -> None:
    os.mkdir(state_dir, 0o700)  # noqa: PTH102 - as the worker makes it


def test_what_comes_before_the_end_is_passed_on() -> None:
    seen: list[Progress] = []
    with answering(encode_line(Text("a")) + b'{"type": "end", "document": {"turn_count": 1}}\n'):
        assert run_on_worker(REQUEST, on_progress=seen.append) == {"turn_count": 1}
    assert seen == [Text("a")]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "went away"),
        (b'{"type": "te', "went away"),
        (b"garbage\n", "no message"),
        (b"x" * (1 << 20), "went away"),
        (b'{"type": "error", "code": "usage", "reason": "no"}\n', "^no$"),
    ],
)
def test_a_worker_that_fails_is_one_error(data: bytes, said: str) -> None:
    with answering(data), pytest.raises(WorkerError, match=said):
        run_on_worker(REQUEST, on_progress=lambda _: None)


def test_a_status_is_not_waited_for_for_ever() -> None:
    assert read_worker_status() is None
    with answering(None):
        assert read_worker_status(timeout_seconds=0.1) is None
    assert read_worker_status() is None
