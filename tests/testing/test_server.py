"""The loopback vendor, seen through a bare socket: byte for byte, in order, gone when left."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.testing import (
    Answer,
    AnthropicMessages,
    Drop,
    HttpError,
    LoopbackVendor,
    MidStreamError,
    Pause,
    Ping,
    RawBytes,
    Text,
    ToolCall,
    chunking,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openprogram.testing import ReceivedRequest, ScriptEntry
    from openprogram.testing.protocol import Step

BODY: dict[str, Any] = {
    "model": "m",
    "max_tokens": 10,
    "stream": True,
    "messages": [{"role": "user", "content": "hi"}],
}


def connect(vendor: LoopbackVendor, body: dict[str, Any] = BODY) -> socket.socket:
    host, port = vendor.base_url.removeprefix("http://").split(":")
    client = socket.create_connection((host, int(port)), timeout=20)
    raw = json.dumps(body).encode()
    client.sendall(
        b"POST /v1/messages HTTP/1.1\r\nHost: loopback\r\nX-Api-Key: k\r\n"
        b"Anthropic-Version: 1\r\nContent-Length: %d\r\n\r\n%b" % (len(raw), raw)
    )
    return client


def read_all(client: socket.socket) -> bytes:
    with client, client.makefile("rb") as file:
        return file.read()


def ask(vendor: LoopbackVendor, body: dict[str, Any] = BODY) -> tuple[bytes, list[bytes]]:
    """Return the head and the pieces of the chunked body, without the empty last one."""
    head, _, rest = read_all(connect(vendor, body)).partition(b"\r\n\r\n")
    pieces: list[bytes] = []
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        pieces.append(rest[: int(size, 16)])
        rest = rest[int(size, 16) + 2 :]
    return head, pieces[:-1] if pieces and not pieces[-1] else pieces


def test_an_answer_is_the_vendors_own_event_stream():
    with LoopbackVendor([[Text("hi"), Ping(), ToolCall("t", {"a": 1})]]) as vendor:
        head, pieces = ask(vendor)
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"content-type: text/event-stream" in head
    names = [piece.split(b"\n")[0].removeprefix(b"event: ").decode() for piece in pieces]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    call = ["content_block_start", *["content_block_delta"] * 2, "content_block_stop"]
    end = ["message_delta", "message_stop"]
    assert names == ["message_start", *block, "ping", *call, *end]
    stop = json.loads(pieces[-2].split(b"data: ")[1])
    assert stop["delta"]["stop_reason"] == "tool_use"


def test_a_port_can_be_kept_from_one_vendor_to_the_next():
    with LoopbackVendor([]) as vendor:
        place = vendor.base_url
    with LoopbackVendor([[Text("two")]], port=int(place.rpartition(":")[2])) as vendor:
        assert vendor.base_url == place
        assert b"two" in b"".join(ask(vendor)[1])


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_port_that_is_none_is_refused(port: int):
    with pytest.raises(ValueError, match=f"port {port}: give one from 0"):
        LoopbackVendor([], port=port)


def test_it_is_entered_once():
    with LoopbackVendor([[Text("x")]]) as vendor:
        with pytest.raises(RuntimeError, match="entered once"), vendor:
            pass
        assert ask(vendor)[0].startswith(b"HTTP/1.1 200")
    with pytest.raises(RuntimeError, match="make another"), vendor:
        pass


def test_an_answer_without_end_is_sent_while_it_is_made():
    class Endless(AnthropicMessages):
        def render(self, answer: Answer, request: ReceivedRequest) -> Iterator[Step]:
            first = next(super().render(answer, request))
            return itertools.repeat(first)

    with LoopbackVendor([[]], protocol=Endless()) as vendor:
        client = connect(vendor)
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.close()
        assert vendor.requests[0].outcome.result(20) == "disconnected"


def test_parts_may_come_from_a_generator_and_what_is_none_is_reported():
    with LoopbackVendor(iter([(Text(word) for word in "ab")])) as vendor:
        assert b'"b"' in b"".join(ask(vendor)[1])

    def run(entry: Any) -> None:
        with LoopbackVendor([entry]) as vendor:
            read_all(connect(vendor))

    with pytest.raises(TypeError, match="a bare Text; put it into a list"):
        run(Text("x"))


@pytest.mark.parametrize(
    "policy", [chunking.whole, chunking.every_byte, chunking.every(5), chunking.inside_characters]
)
def test_every_chunking_sends_the_same_bytes_in_its_own_pieces(policy: chunking.Chunking):
    parts = [Text("é😀")]
    with LoopbackVendor([parts, Answer(parts=parts, chunking=policy)]) as vendor:
        expected = b"".join(ask(vendor)[1]).replace(b"loopback_0", b"loopback_1")
        _, pieces = ask(vendor)
    assert pieces == policy(expected)


def test_requests_are_kept_as_they_came():
    with LoopbackVendor([[Text("x")]]) as vendor:
        ask(vendor)
        (request,) = vendor.requests
    assert (request.method, request.path, request.body) == ("POST", "/v1/messages", BODY)
    assert request.headers["x-api-key"] == "k"
    assert json.loads(request.raw_body) == BODY
    assert request.outcome.result(10) == "answered"


def test_a_pause_holds_what_follows_until_it_is_released():
    pause = Pause()
    with LoopbackVendor([[Text(("before", pause, "after"))]]) as vendor:
        client = connect(vendor)
        seen = b""
        while b"before" not in seen:
            seen += client.recv(65536)
        pause.reached.result(10)
        assert b"after" not in seen
        pause.release()
        assert b"after" in read_all(client)


def test_a_client_that_leaves_is_noticed_while_the_answer_waits():
    pause = Pause()
    with LoopbackVendor([[Text(("a", pause))]]) as vendor:
        client = connect(vendor)
        pause.reached.result(10)
        client.close()
        assert vendor.wait_for_request().outcome.result(10) == "disconnected"


def test_a_drop_cuts_the_answer_in_the_middle_or_gives_none():
    with LoopbackVendor([[Text(("a", Drop(), "b"))], Drop()]) as vendor:
        cut = read_all(connect(vendor))
        assert read_all(connect(vendor)) == b""
        outcomes = [request.outcome.result(10) for request in vendor.requests]
    assert b'"a"' in cut
    assert b'"b"' not in cut
    assert not cut.endswith(b"0\r\n\r\n")
    assert outcomes == ["dropped", "dropped"]


def test_an_error_in_mid_stream_ends_the_answer():
    with LoopbackVendor([[Text(("a", MidStreamError("api_error", "no"), "b"))]]) as vendor:
        _, pieces = ask(vendor)
    assert pieces[-1].startswith(b"event: error\n")
    assert b'{"type": "api_error", "message": "no"}' in pieces[-1]


def test_raw_bytes_are_sent_as_they_are():
    raw = b"data: \xff\n\n"
    with LoopbackVendor([RawBytes(raw), [RawBytes(b": comment\n\n"), Text("x")]]) as vendor:
        assert ask(vendor)[1] == [raw]
        assert ask(vendor)[1][1] == b": comment\n\n"


def test_a_refusal_has_status_headers_and_the_vendors_format():
    error = HttpError(status=429, message="slow down", headers={"retry-after": "7"})
    html = HttpError(status=599, body=b"<html>", headers={"content-type": "text/html"})
    with LoopbackVendor([error, html]) as vendor:
        head, _, body = read_all(connect(vendor)).partition(b"\r\n\r\n")
        second = read_all(connect(vendor))
    assert head.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    assert b"retry-after: 7\r\n" in head
    assert json.loads(body)["error"] == {"type": "rate_limit_error", "message": "slow down"}
    assert second.startswith(b"HTTP/1.1 599 Unknown\r\n")
    assert second.endswith(b"\r\n\r\n<html>")


def test_a_faulty_request_is_refused_and_uses_up_no_entry():
    with LoopbackVendor([[Text("x")]]) as vendor:
        refused = read_all(connect(vendor, {**BODY, "messages": []}))
        assert b'"invalid_request_error"' in refused
        assert ask(vendor)[0].startswith(b"HTTP/1.1 200")
        assert len(vendor.requests) == 2


def test_a_used_up_script_says_so():
    with LoopbackVendor([]) as vendor:
        assert b"the script holds only 0 answers" in read_all(connect(vendor))


def test_a_function_answers_from_the_request():
    def answer(request: ReceivedRequest) -> ScriptEntry:
        return [Text(request.body["messages"][0]["content"])]

    with LoopbackVendor(answer) as vendor:
        assert b'"hi"' in b"".join(ask(vendor)[1])


def test_a_function_that_raises_drops_the_connection_and_is_reported():
    def answer(request: ReceivedRequest) -> ScriptEntry:
        raise LookupError(request.path)

    def run() -> None:
        with LoopbackVendor(answer) as vendor:
            assert read_all(connect(vendor)) == b""

    with pytest.raises(LookupError, match="/v1/messages"):
        run()


def test_leaving_stops_at_once_with_clients_waiting_and_leaves_no_thread():
    pause = Pause()
    before = threading.active_count()
    with LoopbackVendor([[Text(("a", pause))]]) as vendor:
        waiting = connect(vendor)
        idle = socket.create_connection(waiting.getpeername())
        pause.reached.result(10)
    assert threading.active_count() == before
    with waiting, idle:
        assert not read_all(waiting).endswith(b"0\r\n\r\n")


def test_waiting_for_a_request_that_never_comes_ends():
    with LoopbackVendor([]) as vendor, pytest.raises(TimeoutError, match="request 0"):
        vendor.wait_for_request(timeout_seconds=0.01)


def test_a_plain_script_can_use_it_and_ends_without_a_sound():
    code = (
        "import urllib.request, urllib.error\n"
        "from openprogram.testing import LoopbackVendor, Text\n"
        "with LoopbackVendor([[Text('x')]]) as vendor:\n"
        "    try: urllib.request.urlopen(vendor.base_url + '/nowhere')\n"
        "    except urllib.error.HTTPError as error:\n"
        "        with error: print(error.code, error.read().decode())\n"
    )
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("404 {")
