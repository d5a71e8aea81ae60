"""The `openai-completions` protocol, from the side of a vendor that speaks it.

Source: https://platform.openai.com/docs/api-reference/chat/streaming, and what compatible servers
send.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import openprogram.testing.answers as a
from openprogram.testing._openai_completions_rules import first_fault

if TYPE_CHECKING:
    from openprogram.testing.protocol import ReceivedRequest, Step

Json: TypeAlias = dict[str, Any]
Block: TypeAlias = a.Text | a.Thinking | a.RedactedThinking | a.ToolCall
Delta: TypeAlias = Json | a.Interlude

ReasoningField: TypeAlias = Literal[
    "reasoning_content", "reasoning", "reasoning_text", "reasoning_details"
]
"""Where reasoning stands; `reasoning_details` comes beside `reasoning`, as at OpenRouter."""
UsagePlace: TypeAlias = Literal["own_chunk", "last_choice", "each_chunk", "nowhere"]
"""Which chunks tell the usage."""

ERROR_WORDS: Mapping[int, tuple[str, str | None]] = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", None),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
    500: ("server_error", None),
    503: ("server_error", None),
}
"""The vendor's type and code for each status."""


class OpenAICompletions:
    """Checks requests and renders answers.

    An answer's `stop_reason` is a `finish_reason`, or `refusal`, which makes its texts refusals.

    Args:
        reasoning_field: Where reasoning stands.
        usage_place: Which chunks tell the usage; the first asks for `stream_options`.
        is_interleaved: Whether the pieces of tool calls that stand in a row come in turns, the last
            call first.
        needs_key: Whether a request without a key is refused.
        base_path: What a client's base URL has after the port.
    """

    def __init__(
        self,
        *,
        reasoning_field: ReasoningField = "reasoning_content",
        usage_place: UsagePlace = "own_chunk",
        is_interleaved: bool = False,
        needs_key: bool = True,
        base_path: str = "/v1",
    ) -> None:
        self.base_path = base_path
        self._reasoning_field: ReasoningField = reasoning_field
        self._usage_place: UsagePlace = usage_place
        self._is_interleaved = is_interleaved
        self._needs_key = needs_key

    def refuse(self, request: ReceivedRequest) -> a.HttpError | None:
        """Judge a request as the vendor would; see `VendorProtocol.refuse`."""
        if (request.method, request.path) != ("POST", f"{self.base_path}/chat/completions"):
            message = f"Invalid URL ({request.method} {request.path})"
            return a.HttpError(status=404, kind="invalid_request_error", message=message)
        if self._needs_key and not request.headers.get("authorization", "").removeprefix("Bearer "):
            return a.HttpError(status=401, message="You didn't provide an API key.")
        fault = first_fault(request.raw_body)
        return None if fault is None else a.HttpError(status=400, message=fault)

    def error_body(self, error: a.HttpError, request: ReceivedRequest) -> bytes:
        """Say a refusal in the vendor's words; see `VendorProtocol.error_body`."""
        del request  # the vendor does not quote it
        type_, code = ERROR_WORDS.get(error.status, ("invalid_request_error", None))
        told = {"message": error.message, "type": type_, "param": None, "code": error.kind or code}
        return _dump({"error": told})

    def render(self, answer: a.Answer, request: ReceivedRequest) -> Iterator[Step]:
        """Say an answer in the vendor's words; see `VendorProtocol.render`."""
        head: Json = {
            "id": f"chatcmpl-loopback-{request.number}",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": request.body.get("model", ""),
        }
        usage = _usage(answer.usage)
        spread: Json = {"usage": usage} if self._usage_place == "each_chunk" else {}
        yield _chunk(head, {"role": "assistant", "content": ""}, **spread)
        for delta in self._deltas(answer):
            if isinstance(delta, dict):
                yield _chunk(head, delta, **spread)
                continue
            yield _interlude(delta)
            if isinstance(delta, a.MidStreamError):
                yield b"data: [DONE]\n\n"
            if isinstance(delta, a.Drop | a.MidStreamError):
                return
        last: Json = {"usage": usage} if self._usage_place == "last_choice" else spread
        yield _chunk(head, {}, finish_reason=_finish_reason(answer), **last)
        if self._usage_place == "own_chunk" and _wants_usage(request):
            yield _data({**head, "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    def _deltas(self, answer: a.Answer) -> Iterator[Delta]:
        is_refusal = answer.stop_reason == "refusal"
        number = 0
        for is_call, run in groupby(answer.parts, lambda part: isinstance(part, a.ToolCall)):
            if is_call:
                calls = [part for part in run if isinstance(part, a.ToolCall)]
                pieces = [list(_call_deltas(call, number + i)) for i, call in enumerate(calls)]
                yield from _in_turns(pieces) if self._is_interleaved else chain(*pieces)
                number += len(calls)
                continue
            for part in run:
                match part:
                    case a.Text():
                        yield from _text_deltas(part.text, "refusal" if is_refusal else "content")
                    case a.Thinking():
                        yield from self._thinking_deltas(part)
                    case a.RedactedThinking():
                        detail = {"type": "reasoning.encrypted", "data": part.data, "index": 0}
                        yield {"reasoning_details": [detail]}
                    case a.Ping() | a.Pause() | a.Drop() | a.MidStreamError() | a.RawBytes():
                        yield part
                    case a.ToolCall():
                        raise AssertionError("tool calls stand in runs of their own")

    def _thinking_deltas(self, part: a.Thinking) -> Iterator[Delta]:
        if self._reasoning_field != "reasoning_details":
            yield from _text_deltas(part.thinking, self._reasoning_field)
            return
        detail: Json = {"type": "reasoning.text", "format": "loopback-v1", "index": 0}
        for delta in _text_deltas(part.thinking, "reasoning"):
            if isinstance(delta, dict):
                delta["reasoning_details"] = [{**detail, "text": delta["reasoning"]}]
            yield delta
        signature = part.signature
        for piece in (signature,) if isinstance(signature, str) else signature:
            yield {"reasoning_details": [{**detail, "signature": piece}]}


def _text_deltas(text: a.Deltas, name: str) -> Iterator[Delta]:
    for delta in a.iterate_deltas(text):
        yield {name: delta} if isinstance(delta, str) else delta


def _call_deltas(call: a.ToolCall, index: int) -> Iterator[Delta]:
    arguments = call.arguments
    if isinstance(arguments, Mapping):
        arguments = json.dumps(arguments, ensure_ascii=False)
    first: Json = {
        "index": index,
        "id": call.id or f"call_loopback_{index}",
        "type": "function",
        "function": {"name": call.name, "arguments": ""},
    }
    if call.signature is not None:
        first["extra_content"] = {"google": {"thought_signature": call.signature}}
    yield {"tool_calls": [first]}
    for delta in a.iterate_deltas(arguments):
        piece: Json = {"index": index, "function": {"arguments": delta}}
        yield {"tool_calls": [piece]} if isinstance(delta, str) else delta


def _in_turns(calls: list[list[Delta]]) -> Iterator[Delta]:
    """Take a piece of each call in turn, the last call first."""
    for turn in range(max(map(len, calls))):
        yield from (pieces[turn] for pieces in reversed(calls) if turn < len(pieces))


def _interlude(part: a.Interlude) -> Step:
    match part:
        case a.Ping():
            return b": loopback processing\n\n"
        case a.MidStreamError():
            return _data({"error": {"message": part.message, "type": part.kind, "code": None}})
        case a.RawBytes():
            return part.data
        case a.Pause() | a.Drop():
            return part


def _finish_reason(answer: a.Answer) -> str:
    if answer.stop_reason == "refusal":
        return "stop"
    has_tool_call = any(isinstance(part, a.ToolCall) for part in answer.parts)
    return answer.stop_reason or ("tool_calls" if has_tool_call else "stop")


def _wants_usage(request: ReceivedRequest) -> bool:
    match request.body.get("stream_options"):
        case {"include_usage": True}:
            return True
        case _:
            return False


def _usage(counts: a.TokenCounts) -> Json:
    prompt = counts.input + counts.cache_read + counts.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": counts.output,
        "total_tokens": prompt + counts.output,
        "prompt_tokens_details": {
            "cached_tokens": counts.cache_read,
            "cache_write_tokens": counts.cache_write,
        },
    }


def _chunk(head: Json, delta: Json, finish_reason: str | None = None, **fields: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return _data({**head, "choices": [choice], **fields})


def _data(value: Json) -> bytes:
    return b"data: " + _dump(value) + b"\n\n"


def _dump(data: Json) -> bytes:
    try:
        return json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form; a vendor can only have sent it as an escape.
        return json.dumps(data).encode()
