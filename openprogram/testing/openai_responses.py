"""The `openai-responses` protocol, from the vendor's side.

Source: https://platform.openai.com/docs/api-reference/responses-streaming and .../error-codes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import openprogram.testing.answers as a
from openprogram.testing._responses_rules import IssuedItems, first_fault

if TYPE_CHECKING:
    from openprogram.testing.protocol import ReceivedRequest, Step

Json: TypeAlias = dict[str, Any]
Block: TypeAlias = a.Text | a.Thinking | a.RedactedThinking | a.ToolCall

Detail: TypeAlias = Literal["deltas", "items", "response"]
"""How finely an answer is told: in deltas and all that follows them, in whole items, or only as the
response at its end."""

ERROR_CODES: Mapping[int, tuple[str, str | None]] = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", None),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
    500: ("server_error", None),
    503: ("server_error", "server_is_overloaded"),
}
"""The vendor's type and code for each status."""

_CUT_REASONS = frozenset({"max_output_tokens", "content_filter"})
_GROWING_FIELDS = ("content", "summary", "arguments")
"""What of an item is empty when it begins."""


class OpenAIResponses:
    """Checks requests and renders answers; remembers the items that it gave out.

    An answer's `stop_reason` is a status, a reason for an incomplete answer, or `refusal`, which
    makes its texts refusals. Each text is an item, and so is each thinking and each tool call. What
    stands between deltas is told only where deltas are.

    Args:
        detail: How finely answers are told.
        is_interleaved: Whether the deltas of tool calls that stand in a row come in turns, the last
            call first.
        base_path: What a client's base URL has after the port.
        path: The endpoint below it.
    """

    def __init__(
        self,
        *,
        detail: Detail = "deltas",
        is_interleaved: bool = False,
        base_path: str = "/v1",
        path: str = "/responses",
    ) -> None:
        self.base_path = base_path
        self._path = base_path + path
        self._detail: Detail = detail
        self._is_interleaved = is_interleaved
        self._issued = IssuedItems()

    def refuse(self, request: ReceivedRequest) -> a.HttpError | None:
        """Judge a request as the vendor would; see `VendorProtocol.refuse`."""
        if (request.method, request.path) != ("POST", self._path):
            message = f"Invalid URL ({request.method} {request.path})"
            return a.HttpError(status=404, kind="not_found", message=message)
        if not request.headers.get("authorization", "").removeprefix("Bearer "):
            return a.HttpError(status=401, message="You didn't provide an API key.")
        fault = first_fault(request.raw_body, self._issued)
        return None if fault is None else a.HttpError(status=400, message=fault)

    def error_body(self, error: a.HttpError, request: ReceivedRequest) -> bytes:
        """Say a refusal in the vendor's words; see `VendorProtocol.error_body`."""
        del request  # the vendor names it in a header only
        kind, code = ERROR_CODES.get(error.status, ("api_error", None))
        told = {"message": error.message, "type": kind, "param": None, "code": error.kind or code}
        return _dump({"error": told})

    def render(self, answer: a.Answer, request: ReceivedRequest) -> Iterator[Step]:
        """Say an answer in the vendor's words; see `VendorProtocol.render`."""
        telling = _Telling(answer, request)
        yield telling.event("response.created", response=telling.response("in_progress"))
        yield telling.event("response.in_progress", response=telling.response("in_progress"))
        for step in self._steps(answer, telling):
            if isinstance(step, a.MidStreamError):
                yield from telling.failure(step.kind, step.message)
                return
            yield step
            if isinstance(step, a.Drop):
                return
        yield telling.end()

    def _steps(self, answer: a.Answer, telling: _Telling) -> Iterator[Step | a.MidStreamError]:
        reasoning_id: str | None = None
        for is_call, group in groupby(answer.parts, lambda part: isinstance(part, a.ToolCall)):
            blocks: list[Iterator[Step | a.MidStreamError]] = []
            for part in group:
                if not isinstance(part, a.Text | a.Thinking | a.RedactedThinking | a.ToolCall):
                    yield telling.interlude(part)
                    continue
                item = telling.item_of(part)
                self._remember(item, reasoning_id)
                reasoning_id = item["id"] if item["type"] == "reasoning" else reasoning_id
                steps = telling.block(part, item, self._detail)
                if is_call and self._is_interleaved:
                    blocks.append(steps)
                else:
                    yield from steps
            yield from _in_turns(blocks)

    def _remember(self, item: Json, reasoning_id: str | None) -> None:
        if item["type"] == "reasoning":
            summary = "".join(part["text"] for part in item["summary"])
            self._issued.summaries[item["encrypted_content"]] = summary
        elif reasoning_id is not None:
            self._issued.reasoning_by_item[item["id"]] = reasoning_id


class _Telling:
    """One answer while it is told."""

    def __init__(self, answer: a.Answer, request: ReceivedRequest) -> None:
        self._answer = answer
        self._request = request
        self._sequence_number = 0
        self._output: list[Json] = []

    def event(self, kind: str, **fields: Any) -> bytes:
        """Write an event with the next number."""
        data = {"type": kind, "sequence_number": self._sequence_number, **fields}
        self._sequence_number += 1
        return b"event: " + kind.encode() + b"\ndata: " + _dump(data) + b"\n\n"

    def interlude(self, part: a.Interlude) -> Step | a.MidStreamError:
        """Write what stands between blocks or deltas."""
        match part:
            case a.Ping():
                return b": still there\n\n" + self.event("keepalive")
            case a.RawBytes():
                return part.data
            case a.Pause() | a.Drop() | a.MidStreamError():
                return part

    def item_of(self, part: Block) -> Json:
        """Describe a whole item, and keep it for the end."""
        number = f"loopback_{self._request.number}_{len(self._output)}"
        status = "completed"
        item: Json
        match part:
            case a.Text():
                content = [self._text_part(a.whole_text(part.text))]
                item = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
                item |= {"status": status, "content": content}
            case a.Thinking():
                signature = part.signature
                whole = signature if isinstance(signature, str) else "".join(signature)
                text = a.whole_text(part.thinking)
                summary = [{"type": "summary_text", "text": text}] if text else []
                item = {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
                item |= {"encrypted_content": whole, "status": None}
            case a.RedactedThinking():
                item = {"type": "reasoning", "id": f"rs_{number}", "summary": []}
                item |= {"encrypted_content": part.data, "status": None}
            case a.ToolCall():
                item = {"type": "function_call", "id": f"fc_{number}", "name": part.name}
                item |= {"call_id": part.id or f"call_{number}", "status": status}
                item |= {"arguments": a.whole_text(_arguments(part))}
        self._output.append(item)
        return item

    def block(self, part: Block, item: Json, detail: Detail) -> Iterator[Step | a.MidStreamError]:
        """Tell of one item."""
        place: Json = {"output_index": self._output.index(item)}
        if detail == "response":
            return
        if detail == "deltas":
            begun = {**item, "status": "in_progress"}
            begun |= {name: type(item[name])() for name in _GROWING_FIELDS if name in item}
            yield self.event("response.output_item.added", **place, item=begun)
            yield from self._deltas(part, item, {**place, "item_id": item["id"]})
        yield self.event("response.output_item.done", **place, item=item)

    def _deltas(self, part: Block, item: Json, place: Json) -> Iterator[Step | a.MidStreamError]:
        match part:
            case a.Text():
                whole = item["content"][0]
                kind = whole["type"].removeprefix("output_")
                name = "refusal" if kind == "refusal" else "output_text"
                place = {**place, "content_index": 0}
                begun = {**whole, kind: ""}
                yield self.event("response.content_part.added", **place, part=begun)
                yield from self._told(name, kind, part.text, place)
                yield self.event("response.content_part.done", **place, part=whole)
            case a.Thinking() if item["summary"]:
                place = {**place, "summary_index": 0}
                whole = item["summary"][0]
                name = "reasoning_summary_part"
                yield self.event(f"response.{name}.added", **place, part={**whole, "text": ""})
                yield from self._told("reasoning_summary_text", "text", part.thinking, place)
                yield self.event(f"response.{name}.done", **place, part=whole)
            case a.ToolCall():
                name = "function_call_arguments"
                yield from self._told(name, "arguments", _arguments(part), place)
            case _:
                pass

    def _told(
        self, name: str, field: str, text: a.Deltas, place: Json
    ) -> Iterator[Step | a.MidStreamError]:
        for delta in a.iterate_deltas(text):
            if isinstance(delta, str):
                yield self.event(f"response.{name}.delta", **place, delta=delta, obfuscation="x7Qa")
            else:
                yield self.interlude(delta)
        yield self.event(f"response.{name}.done", **place, **{field: a.whole_text(text)})

    def _text_part(self, text: str) -> Json:
        if self._answer.stop_reason == "refusal":
            return {"type": "refusal", "refusal": text}
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def end(self) -> bytes:
        """Tell the whole response."""
        status = self._answer.stop_reason or "completed"
        status = "completed" if status == "refusal" else status
        details = {"reason": status} if status in _CUT_REASONS else None
        status = "incomplete" if details else status
        if details and self._output and "status" in self._output[-1]:
            self._output[-1] |= {"status": status}
        usage = self._answer.usage
        counted = usage.input + usage.cache_read + usage.cache_write
        told = {
            "input_tokens": counted,
            "input_tokens_details": {
                "cached_tokens": usage.cache_read,
                "cache_write_tokens": usage.cache_write,
            },
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counted + usage.output,
        }
        response = {**self.response(status), "output": self._output, "usage": told}
        return self.event(f"response.{status}", response=response | {"incomplete_details": details})

    def failure(self, code: str, message: str) -> Iterator[bytes]:
        """Tell that the vendor failed, in both ways that it has."""
        yield self.event("error", code=code, message=message, param=None)
        response = {**self.response("failed"), "error": {"code": code, "message": message}}
        yield self.event("response.failed", response=response)

    def response(self, status: str) -> Json:
        """Describe the response without its output."""
        return {
            "id": f"resp_loopback_{self._request.number}",
            "object": "response",
            "created_at": 1_786_000_000,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "model": self._request.body.get("model", ""),
            "output": [],
            "usage": None,
        }


def _arguments(part: a.ToolCall) -> a.Deltas:
    arguments = part.arguments
    if isinstance(arguments, Mapping):
        return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return arguments


def _in_turns(
    blocks: list[Iterator[Step | a.MidStreamError]],
) -> Iterator[Step | a.MidStreamError]:
    """Begin all blocks in order, then take one step of each, the last one first."""
    waiting = blocks
    while waiting:
        still: list[Iterator[Step | a.MidStreamError]] = []
        for block in waiting:
            if (step := next(block, None)) is not None:
                yield step
                still.append(block)
        waiting = list(reversed(still)) if waiting is blocks else still


def _dump(data: Json) -> bytes:
    try:
        return json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form; a vendor can only have sent it as an escape.
        return json.dumps(data).encode()
