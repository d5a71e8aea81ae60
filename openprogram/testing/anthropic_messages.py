"""The `anthropic-messages` protocol, from the vendor's side.

Source: https://platform.claude.com/docs/en/api/messages-streaming and .../api/errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import openprogram.testing.answers as a
from openprogram.testing._anthropic_rules import first_fault

if TYPE_CHECKING:
    from openprogram.testing.protocol import ReceivedRequest, Step

Json: TypeAlias = dict[str, Any]

ERROR_KINDS: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The vendor's word for each status."""


class AnthropicMessages:
    """Checks requests and renders answers; remembers the signatures that it gave out."""

    base_path = ""

    def __init__(self) -> None:
        self._issued: dict[str, str] = {}

    def refuse(self, request: ReceivedRequest) -> a.HttpError | None:
        """Judge a request as the vendor would; see `VendorProtocol.refuse`."""
        if (request.method, request.path) != ("POST", "/v1/messages"):
            return a.HttpError(status=404, message=f"no such endpoint: {request.path}")
        if not (request.headers.get("x-api-key") or request.headers.get("authorization")):
            return a.HttpError(status=401, message="x-api-key header is required")
        if not request.headers.get("anthropic-version"):
            return a.HttpError(status=400, message="anthropic-version: header is required")
        fault = first_fault(request.raw_body, self._issued)
        return None if fault is None else a.HttpError(status=400, message=fault)

    def error_body(self, error: a.HttpError, request: ReceivedRequest) -> bytes:
        """Say a refusal in the vendor's words; see `VendorProtocol.error_body`."""
        kind = error.kind or ERROR_KINDS.get(error.status, "api_error")
        return _dump(
            {
                "type": "error",
                "error": {"type": kind, "message": error.message},
                "request_id": f"req_loopback_{request.number}",
            }
        )

    def render(self, answer: a.Answer, request: ReceivedRequest) -> Iterator[Step]:
        """Say an answer in the vendor's words; see `VendorProtocol.render`."""
        yield _message_start(answer, request)
        index = 0
        for part in answer.parts:
            if isinstance(part, a.Text | a.Thinking | a.RedactedThinking | a.ToolCall):
                for step in self._block(part, index):
                    yield step
                    if _is_end(step):
                        return
                index += 1
            else:
                step = _interlude(part)
                yield step
                if _is_end(step):
                    return
        yield _message_delta(answer)
        yield _event({"type": "message_stop"})

    def _block(
        self, part: a.Text | a.Thinking | a.RedactedThinking | a.ToolCall, index: int
    ) -> Iterator[Step]:
        start, deltas = self._start_and_deltas(part, index)
        yield _event({"type": "content_block_start", "index": index, "content_block": start})
        for delta in deltas:
            if isinstance(delta, dict):
                yield _event({"type": "content_block_delta", "index": index, "delta": delta})
            else:
                yield _interlude(delta)
        yield _event({"type": "content_block_stop", "index": index})

    def _start_and_deltas(
        self, part: a.Text | a.Thinking | a.RedactedThinking | a.ToolCall, index: int
    ) -> tuple[Json, Iterator[Json | a.Interlude]]:
        match part:
            case a.Text():
                return {"type": "text", "text": ""}, _deltas("text_delta", "text", part.text)
            case a.Thinking():
                signature = part.signature
                pieces = (signature,) if isinstance(signature, str) else signature
                self._issued["".join(pieces)] = a.whole_text(part.thinking)
                start: Json = {"type": "thinking", "thinking": "", "signature": ""}
                return start, _thinking_deltas(part.thinking, pieces)
            case a.RedactedThinking():
                return {"type": "redacted_thinking", "data": part.data}, iter(())
            case a.ToolCall():
                id_ = part.id or f"toolu_loopback_{index}"
                start = {"type": "tool_use", "id": id_, "name": part.name, "input": {}}
                return start, _argument_deltas(part.arguments)


def _thinking_deltas(
    thinking: a.Deltas, signature: tuple[str, ...]
) -> Iterator[Json | a.Interlude]:
    yield from _deltas("thinking_delta", "thinking", thinking)
    for piece in signature:
        yield {"type": "signature_delta", "signature": piece}


def _argument_deltas(arguments: Mapping[str, Any] | a.Deltas) -> Iterator[Json | a.Interlude]:
    if isinstance(arguments, Mapping):
        arguments = json.dumps(arguments, ensure_ascii=False) if arguments else ""
    # The vendor opens the arguments of every call with an empty piece.
    yield {"type": "input_json_delta", "partial_json": ""}
    yield from _deltas("input_json_delta", "partial_json", arguments)


def _deltas(kind: str, field: str, text: a.Deltas) -> Iterator[Json | a.Interlude]:
    for delta in a.iterate_deltas(text):
        yield {"type": kind, field: delta} if isinstance(delta, str) else delta


def _interlude(part: a.Interlude) -> Step:
    match part:
        case a.Ping():
            return _event({"type": "ping"})
        case a.MidStreamError():
            error = {"type": part.kind, "message": part.message}
            return _event({"type": "error", "error": error})
        case a.RawBytes():
            return part.data
        case a.Pause() | a.Drop():
            return part


def _is_end(step: Step) -> bool:
    return isinstance(step, a.Drop) or (
        isinstance(step, bytes) and step.startswith(b"event: error")
    )


def _message_start(answer: a.Answer, request: ReceivedRequest) -> bytes:
    usage = answer.usage
    message: Json = {
        "id": f"msg_loopback_{request.number}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", ""),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": 1,
        },
    }
    return _event({"type": "message_start", "message": message})


def _message_delta(answer: a.Answer) -> bytes:
    has_tool_call = any(isinstance(part, a.ToolCall) for part in answer.parts)
    stop_reason = answer.stop_reason or ("tool_use" if has_tool_call else "end_turn")
    return _event(
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": None},
            "usage": {"output_tokens": answer.usage.output},
        }
    )


def _event(data: Json) -> bytes:
    return b"event: " + data["type"].encode() + b"\ndata: " + _dump(data) + b"\n\n"


def _dump(data: Json) -> bytes:
    try:
        return json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form; a vendor can only have sent it as an escape.
        return json.dumps(data).encode()
