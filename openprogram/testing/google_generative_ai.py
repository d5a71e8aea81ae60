"""The `google-generative-ai` protocol, from the vendor's side.

Source: https://ai.google.dev/api/generate-content and
https://ai.google.dev/gemini-api/docs/troubleshooting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import openprogram.testing.answers as a
from openprogram.testing._google_rules import bare_part, first_fault

if TYPE_CHECKING:
    from openprogram.testing.protocol import ReceivedRequest, Step

Json: TypeAlias = dict[str, Any]

ERROR_KINDS: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""The vendor's word for each status."""

_STATUS_BY_KIND: Final = {kind: status for status, kind in ERROR_KINDS.items()}
_OVERLOADED_STATUS: Final = 503
_PATH = re.compile(r"/v1beta/(models/[^/?:]+|tunedModels/[^/?:]+):streamGenerateContent\?alt=sse")


class GoogleGenerativeAi:
    """Checks requests and renders answers; remembers the signatures that it gave out.

    The API gives no ids to calls unless the script does. Interludes inside the arguments of a call
    come before it, as a call is always one chunk.
    """

    base_path = "/v1beta"

    def __init__(self) -> None:
        self._issued: dict[str, Json] = {}

    def refuse(self, request: ReceivedRequest) -> a.HttpError | None:
        """Judge a request as the vendor would; see `VendorProtocol.refuse`."""
        address = _PATH.fullmatch(request.path)
        if request.method != "POST" or address is None:
            return a.HttpError(status=404, message=f"no such endpoint: {request.path}")
        if not (request.headers.get("x-goog-api-key") or request.headers.get("authorization")):
            return a.HttpError(
                status=403,
                message="Method doesn't allow unregistered callers (callers without established "
                "identity). Please use API Key or other form of API consumer identity to call "
                "this API.",
            )
        fault = first_fault(request.raw_body, address[1], self._issued)
        return None if fault is None else a.HttpError(status=400, message=fault)

    def error_body(self, error: a.HttpError, request: ReceivedRequest) -> bytes:
        """Say a refusal in the vendor's words; see `VendorProtocol.error_body`."""
        del request  # the vendor does not name it
        kind = error.kind or ERROR_KINDS.get(error.status, "UNKNOWN")
        return _dump(_error(error.status, kind, error.message), indent=2)

    def render(self, answer: a.Answer, request: ReceivedRequest) -> Iterator[Step]:
        """Say an answer in the vendor's words; see `VendorProtocol.render`."""
        about: Json = {
            "modelVersion": request.path.partition("models/")[2].partition(":")[0],
            "responseId": f"loopback{request.number}",
        }
        asked = _prompt_usage(answer.usage)
        for part in answer.parts:
            for step in self._part(part):
                if isinstance(step, dict):
                    yield _event({**_candidate(step), "usageMetadata": asked, **about})
                    continue
                yield _interlude(step)
                if isinstance(step, a.Drop | a.MidStreamError):
                    return
        end = _candidate({"text": ""}, finishReason=answer.stop_reason or "STOP")
        yield _event({**end, "usageMetadata": _whole_usage(answer), **about})

    def _part(self, part: a.Part) -> Iterator[Json | a.Interlude]:
        match part:
            case a.Text():
                yield from self._signed(_texts(part.text), part.signature)
            case a.Thinking():
                pieces = part.signature
                signature = pieces if isinstance(pieces, str) else "".join(pieces)
                yield from self._signed(_texts(part.thinking, thought=True), signature)
            case a.RedactedThinking():
                yield self._sign({"text": "", "thought": True}, part.data)
            case a.ToolCall():
                yield from self._signed(_call(part), part.signature)
            case _:
                yield part

    def _signed(
        self, steps: Iterator[Json | a.Interlude], signature: str | None
    ) -> Iterator[Json | a.Interlude]:
        """Put a signature on the last part, as the vendor does."""
        pending: list[Json | a.Interlude] = []
        for step in steps:
            if isinstance(step, dict):
                yield from pending
                pending = [step]
            elif pending and signature:
                pending.append(step)
            else:
                yield from [*pending, step]
                pending = []
        if pending and signature and isinstance(pending[0], dict):
            pending[0] = self._sign(pending[0], signature)
        yield from pending

    def _sign(self, part: Json, signature: str) -> Json:
        self._issued[signature] = bare_part(part)
        return {**part, "thoughtSignature": signature}


def _texts(deltas: a.Deltas, **fields: Any) -> Iterator[Json | a.Interlude]:
    has_text = False
    for delta in a.iterate_deltas(deltas):
        if isinstance(delta, str):
            has_text = True
            yield {"text": delta, **fields}
        else:
            yield delta
    if not has_text:
        yield {"text": "", **fields}


def _call(part: a.ToolCall) -> Iterator[Json | a.Interlude]:
    arguments = part.arguments
    if isinstance(arguments, Mapping):
        args: object = dict(arguments)
    else:
        yield from (step for step in a.iterate_deltas(arguments) if not isinstance(step, str))
        args = _Verbatim(a.whole_text(arguments) or "{}")
    call: Json = {"name": part.name, "args": args}
    yield {"functionCall": {"id": part.id, **call} if part.id else call}


class _Verbatim(str):
    """JSON text as it shall stand on the wire, sound or not."""

    __slots__ = ()


def _candidate(part: Json, **fields: Any) -> Json:
    content = {"parts": [part], "role": "model"}
    return {"candidates": [{"content": content, **fields, "index": 0}]}


def _prompt_usage(counts: a.TokenCounts) -> Json:
    # What came from the cache is part of the prompt. There is no count of what went into it.
    prompt = counts.input + counts.cache_read
    usage: Json = {"promptTokenCount": prompt, "totalTokenCount": prompt}
    return {**usage, "cachedContentTokenCount": counts.cache_read} if counts.cache_read else usage


def _whole_usage(answer: a.Answer) -> Json:
    usage = _prompt_usage(answer.usage)
    output = answer.usage.output
    has_thoughts = any(isinstance(p, a.Thinking | a.RedactedThinking) for p in answer.parts)
    thoughts = output // 2 if has_thoughts else 0
    usage["candidatesTokenCount"] = output - thoughts
    usage["totalTokenCount"] += output
    return {**usage, "thoughtsTokenCount": thoughts} if thoughts else usage


def _interlude(step: a.Interlude) -> Step:
    match step:
        case a.Ping():
            # The vendor sends none; a proxy before it says so as a comment.
            return b": ping\r\n\r\n"
        case a.MidStreamError():
            status = _STATUS_BY_KIND.get(step.kind)
            kind = step.kind if status else ERROR_KINDS[_OVERLOADED_STATUS]
            return _event(_error(status or _OVERLOADED_STATUS, kind, step.message))
        case a.RawBytes():
            return step.data
        case a.Pause() | a.Drop():
            return step


def _error(status: int, kind: str, message: str) -> Json:
    return {"error": {"code": status, "message": message, "status": kind}}


def _event(data: Json) -> bytes:
    return b"data: " + _dump(data) + b"\r\n\r\n"


def _dump(data: Json, *, indent: int | None = None) -> bytes:
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    for part in _parts(data):
        args = part.get("functionCall", {}).get("args")
        if isinstance(args, _Verbatim):
            text = text.replace(json.dumps(args, ensure_ascii=False), args, 1)
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form; a vendor can only have sent it as an escape.
        return json.dumps(data, indent=indent).encode()


def _parts(data: Json) -> list[Json]:
    return [
        part for candidate in data.get("candidates", ()) for part in candidate["content"]["parts"]
    ]
