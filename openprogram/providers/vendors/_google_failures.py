"""What an error object of the vendor means; knows no SDK.

Sources: https://ai.google.dev/gemini-api/docs/troubleshooting and the error model of
https://google.aip.dev/193.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from openprogram.providers.vendors._failures import (
    failure,
    reason_for_status,
    retry_after_seconds,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from openprogram.errors import FailureReason, ModelRequestError

Json: TypeAlias = dict[str, Any]

_REASONS: Final[Mapping[str, FailureReason]] = {
    "ABORTED": "overloaded",
    "CANCELLED": "server",
    "DATA_LOSS": "server",
    "DEADLINE_EXCEEDED": "server",
    "FAILED_PRECONDITION": "bad_request",
    "INTERNAL": "server",
    "INVALID_ARGUMENT": "bad_request",
    "NOT_FOUND": "bad_request",
    "OUT_OF_RANGE": "bad_request",
    "PERMISSION_DENIED": "auth",
    "RESOURCE_EXHAUSTED": "rate_limit",
    "UNAUTHENTICATED": "auth",
    "UNAVAILABLE": "overloaded",
    "UNIMPLEMENTED": "bad_request",
    "UNKNOWN": "server",
}
"""By the error's `status`, which is the vendor's own word."""

_OVERLOADED_STATUS: Final = 503
_FIRST_HTTP_ERROR: Final = 400
_LAST_HTTP_ERROR: Final = 599

_KEY_REASONS: Final = frozenset({"API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_MISSING"})
"""In the details: the vendor refuses a wrong key as an invalid argument."""
_WRONG_KEY = re.compile(r"API key (?:not valid|expired|not found|missing)", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"token count .{0,40}exceeds the maximum number of tokens"
    r"|exceeds the (?:maximum|context) (?:context|window)"
    r"|(?:request|content|context).{0,30}(?:is )?too (?:large|long)"
    r"|payload size exceeds the limit",
    re.IGNORECASE,
)
_NO_BILLING = re.compile(r"enable billing|billing (?:is|to be) (?:not )?enabled", re.IGNORECASE)
_RETRY_DELAY = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)s")


def error_of(
    body: object, *, http_status: int | None = None, headers: Mapping[str, str] | None = None
) -> ModelRequestError:
    """Read an error object, as a whole answer or inside a stream.

    Args:
        body: What stands in the answer: `{"error": {...}}`, that in a list, or anything else.
        http_status: The status, where the answer itself was a refusal.
        headers: The answer's headers, looked up in lower case.

    Returns:
        The error. The wait that its details name counts before that of the headers.
    """
    told = _told(body)
    code = told.get("code")
    if http_status is None and isinstance(code, int) and _is_http_error(code):
        http_status = code
    word = told.get("status")
    message = told.get("message")
    text = message if isinstance(message, str) and message else "the vendor reported an error"
    details = list(_details(told))
    seconds = next((s for s in map(_retry_delay_seconds, details) if s is not None), None)
    if seconds is None and headers is not None:
        seconds = retry_after_seconds(headers)
    return failure(
        _reason(word, http_status, text, details),
        text,
        http_status=http_status,
        retry_after_seconds=seconds,
    )


def _told(body: object) -> Json:
    """Find the object that tells of the error."""
    if isinstance(body, list):
        body = next(iter(cast("list[object]", body)), None)
    match body:
        case {"error": str(message)}:
            return {"message": message}
        case {"error": dict()}:
            return cast("dict[str, Json]", body)["error"]
        case dict():
            return cast("Json", body)
        case _:
            return {}


def _reason(word: object, status: int | None, text: str, details: list[Json]) -> FailureReason:
    if _WRONG_KEY.search(text) or any(detail.get("reason") in _KEY_REASONS for detail in details):
        return "auth"
    if word in {"FAILED_PRECONDITION", "PERMISSION_DENIED"} and _NO_BILLING.search(text):
        return "billing"
    by_status: FailureReason = "unknown"
    if status is not None:
        by_status = reason_for_status(status)
    if status == _OVERLOADED_STATUS:
        by_status = "overloaded"
    reason = (_REASONS.get(word) if isinstance(word, str) else None) or by_status
    if reason == "bad_request" and _TOO_LONG.search(text):
        return "context_length"
    return reason


def _is_http_error(code: int) -> bool:
    return not isinstance(code, bool) and _FIRST_HTTP_ERROR <= code <= _LAST_HTTP_ERROR


def _details(told: Json) -> Iterator[Json]:
    details = told.get("details")
    for detail in cast("list[object]", details) if isinstance(details, list) else []:
        if isinstance(detail, dict):
            yield cast("Json", detail)


def _retry_delay_seconds(detail: Json) -> float | None:
    """Read a `RetryInfo`, whose delay is a duration such as `34.07s`."""
    delay = detail.get("retryDelay")
    found = _RETRY_DELAY.fullmatch(delay) if isinstance(delay, str) else None
    return float(found[1]) if found else None
