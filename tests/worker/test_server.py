"""One worker serves many clients, survives bad ones, and ends clean."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from openprogram.providers.recording.reader import iterate_rows
from openprogram.testing import Answer, LoopbackVendor, Pause, Text
from openprogram.worker import protocol
from openprogram.worker.client import read_worker_status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Start = Callable[..., subprocess.Popen[str]]

REQUEST = protocol.RunRequest(prompt="hi", root="/tmp", provider="anthropic")


def openprogram(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openprogram", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def begin(vendor: LoopbackVendor | None = None) -> subprocess.Popen[str]:
        if vendor is not None:
            monkeypatch.setenv("OPENPROGRAM_ANTHROPIC_BASE_URL", vendor.base_url)
            monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
        process = subprocess.Popen(
            [sys.executable, "-m", "openprogram", "worker"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Listening on ")
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def connect() -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(60)
    with protocol.socket_address() as address:
        connection.connect(address)
    return connection


def ask(data: bytes) -> list[dict[str, object]]:
    """Send bytes, and return all that comes back."""
    with connect() as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(data)
        received = b""
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(65536):
                received += piece
    return [json.loads(line) for line in received.splitlines()]


def outcomes(path: Path) -> list[str]:
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [row["outcome"] for row in rows if row["type"] == "call_end"]


def test_fifty_clients_at_once_each_get_their_answer_beside_hostile_ones(start: Start) -> None:
    with LoopbackVendor([Answer(parts=[Text("Hello.")])] * 50) as vendor:
        start(vendor)
        with connect() as silent, ThreadPoolExecutor(25) as pool:
            silent.sendall(b'{"type": "sta')
            line = protocol.encode_line(REQUEST)
            hostile = [
                pool.submit(ask, data)
                for data in (b"x" * 10_000_000, b"\0\xff\n", b"[" * 50_000 + b"\n", b"{}\n")
            ]
            answers = list(pool.map(ask, [line] * 50))
        for answer in answers:
            assert [message["type"] for message in answer] == ["turn", "text", "text_end", "end"]
            assert answer[1]["text"] == "Hello."
        for one in hostile[1:]:
            assert [message["type"] for message in one.result()] == ["error"]
        assert len(vendor.requests) == 50


def test_a_client_that_leaves_and_a_stop_cancel_their_calls(start: Start, state_dir: Path) -> None:
    openprogram("recordings", "record", "--name", "cut")
    pauses = [Pause(), Pause()]
    with LoopbackVendor([[Text(("They ", pause, "say"))] for pause in pauses]) as vendor:
        process = start(vendor)
        with connect() as leaving:
            leaving.sendall(protocol.encode_line(REQUEST))
            pauses[0].reached.result(60)
        assert vendor.requests[0].outcome.result(60) == "disconnected"
        with connect() as staying:
            staying.sendall(protocol.encode_line(REQUEST))
            pauses[1].reached.result(60)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
            received = staying.makefile("rb").read().splitlines()
        for pause in pauses:
            pause.release()
    assert (process.returncode, err) == (0, "")
    assert json.loads(received[-1])["code"] == "worker_stopped"
    path = state_dir / "recordings" / "cut.jsonl"
    assert outcomes(path) == ["cancelled", "cancelled"]
    with path.open("rb") as file:
        assert sum(1 for _ in iterate_rows(file.fileno(), path)) > 4
    assert not protocol.socket_path().exists()


def test_a_client_that_reads_nothing_is_given_up_and_its_call_cancelled(
    start: Start, state_dir: Path
) -> None:
    openprogram("recordings", "record", "--name", "unread")
    pause = Pause()
    pieces = ("x" * 1_000_000,) * 28
    with LoopbackVendor([[Text(("a", pause, *pieces))]]) as vendor:
        start(vendor)
        with connect() as deaf:
            deaf.sendall(protocol.encode_line(REQUEST))
            pause.reached.result(60)
            pause.release()
            assert vendor.requests[0].outcome.result(60) == "disconnected"
            status = read_worker_status(timeout_seconds=30)
            assert status is not None
            assert status.running_count == 0
    assert outcomes(state_dir / "recordings" / "unread.jsonl") == ["cancelled"]


def test_a_second_worker_is_refused_and_a_killed_ones_socket_taken_over(start: Start) -> None:
    first = start()
    assert protocol.socket_path().stat().st_mode & 0o777 == 0o600
    second = openprogram("worker")
    assert (second.returncode, second.stdout) == (1, "")
    assert f"process {first.pid} is the worker already" in second.stderr
    assert second.stderr.count("\n") == 1
    first.kill()
    first.wait()
    assert protocol.socket_path().exists()
    assert read_worker_status() is None
    third = start()
    status = read_worker_status(timeout_seconds=30)
    assert status is not None
    assert (status.pid, status.mode, status.total) == (third.pid, "off", None)


def test_of_racing_starters_one_wins(start: Start) -> None:
    first = start()
    first.kill()
    first.wait()
    command = [sys.executable, "-m", "openprogram", "worker"]
    racers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(4)
    ]
    try:
        ready = [racer.stdout.readline() for racer in racers if racer.stdout is not None]
        assert sum(line.startswith("Listening") for line in ready) == 1
        status = read_worker_status(timeout_seconds=30)
        assert status is not None
        assert status.pid in {racer.pid for racer in racers}
    finally:
        for racer in racers:
            racer.kill()
            racer.communicate()


def test_the_status_says_what_the_worker_does_and_whether_it_is_behind(start: Start) -> None:
    openprogram("recordings", "record", "--name", "one")
    with LoopbackVendor([Answer(parts=[Text("Hello.")])]) as vendor:
        first = start(vendor)
        done = openprogram("run", "--worker", "--provider", "anthropic", "hi")
        assert (done.stdout, done.stderr, done.returncode) == ("Hello.\n", "", 0)
        first.send_signal(signal.SIGINT)
        assert first.wait(60) == 0
        openprogram("recordings", "replay", "one")
        start(vendor)
        done = openprogram("run", "--worker", "--provider", "anthropic", "--json", "hi")
        document = json.loads(done.stdout)
        assert (document["answer"], document["mode"]) == ("Hello.", "replay")
        status = json.loads(openprogram("recordings", "status", "--json").stdout)
        assert status["restart_required"] is False
        assert (status["worker"]["consumed"], status["worker"]["total"]) == (1, 1)
        openprogram("recordings", "off")
        shown = openprogram("recordings", "status").stdout
        assert "replay" in shown
        assert "1 of 1 calls served" in shown
        assert "restart it" in shown
        again = openprogram("run", "--worker", "--provider", "anthropic", "hi")
        assert again.returncode == 1
        assert again.stderr.count("\n") == 1


def test_without_a_worker_one_line_says_so(state_dir: Path) -> None:
    done = openprogram("run", "--worker", "hi")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no worker is running; start one with 'openprogram worker'" in done.stderr
    assert not state_dir.exists()


def test_a_long_state_directory_and_what_is_no_socket(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 120)
    monkeypatch.setenv("OPENPROGRAM_STATE_DIR", str(deep))
    deep.mkdir(mode=0o700)
    protocol.socket_path().write_text("mine")
    refused = openprogram("worker")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert protocol.socket_path().read_text() == "mine"
    protocol.socket_path().unlink()
    process = start()
    assert read_worker_status(timeout_seconds=30) is not None
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert [path.name for path in deep.iterdir()] == ["worker.lock"]
