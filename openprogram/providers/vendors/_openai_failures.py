"""The error objects of servers that speak like OpenAI; knows no SDK.

Compatible servers agree on little: an error may be an object, a sentence, a list, or a page of
HTML, and its `code` a word or the status of another server behind the one that answered.
Source: https://platform.openai.com/docs/guides/error-codes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from openprogram.providers.vendors._failures import (
    failure,
    reason_for_status,
    retry_after_seconds,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram.errors import FailureReason, ModelRequestError

Json: TypeAlias = dict[str, Any]

_REASON_BY_WORD: Mapping[str, FailureReason] = {
    "account_deactivated": "auth",
    "authentication_error": "auth",
    "billing_hard_limit_reached": "billing",
    "content_filter": "refusal",
    "content_policy_violation": "refusal",
    "context_length_exceeded": "context_length",
    "engine_overloaded": "overloaded",
    "exceed_context_size_error": "context_length",
    "insufficient_balance": "billing",
    "insufficient_quota": "billing",
    "invalid_api_key": "auth",
    "model_not_found": "bad_request",
    "overloaded_error": "overloaded",
    "permission_denied": "auth",
    "permission_error": "auth",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "request_too_large": "context_length",
    "resource_exhausted": "rate_limit",
    "slow_down": "overloaded",
    "timeout": "server",
    "unauthenticated": "auth",
    "unavailable": "overloaded",
}
"""Words for one thing only; they say more than a status."""
_REASON_BY_VAGUE_WORD: Mapping[str, FailureReason] = {
    "api_error": "server",
    "bad_request": "bad_request",
    "badrequesterror": "bad_request",
    "internal": "server",
    "internal_error": "server",
    "internal_server_error": "server",
    "invalid_argument": "bad_request",
    "invalid_request_error": "bad_request",
    "server_error": "server",
    "upstream_error": "server",
}
"""Words that servers use for several things; asked when there is no status."""
_REASON_BY_STATUS: Mapping[int, FailureReason] = {498: "overloaded", 503: "overloaded"}
"""What differs from other vendors; 498 is Groq's word for full capacity."""

_TOO_LONG = re.compile(
    r"context (?:length|window|size|overflow)|maximum context|prompt is too long"
    r"|input is too long|too many (?:input )?tokens|reduce the length of the (?:messages|prompt)",
    re.IGNORECASE,
)
_CAN_BE_TOO_LONG = frozenset({"bad_request", "server", "unknown"})
_REQUEST_TOO_LARGE = 413
_STATUS = re.compile(r"[345][0-9][0-9]")
_FIRST_CLIENT_ERROR = 400
_HIDES_ITS_CAUSE = "Provider returned error"


def failure_of(
    error: object, *, http_status: int | None = None, headers: Mapping[str, str] | None = None
) -> ModelRequestError:
    """Read an error object, in whichever shape a server put it.

    Args:
        error: What stands under `error`, or the whole body of a refusal.
        http_status: The status of a refusal; None for an error inside a stream.
        headers: The headers of a refusal, looked up in lower case.

    Returns:
        The error; raise it.

    Example:
        >>> failure_of({"message": "slow down", "code": "rate_limit_exceeded"}).reason
        'rate_limit'
        >>> failure_of({"message": "no", "code": 401}).reason
        'auth'
        >>> failure_of("This model's maximum context length is 8 tokens", http_status=400).reason
        'context_length'
    """
    headers = headers or {}
    fields = _fields(error)
    status = http_status if http_status is not None else _status_in(fields)
    message = _message(error, fields) or _sentence(status)
    return failure(
        _reason(fields, status, message),
        message,
        http_status=http_status,
        retry_after_seconds=retry_after_seconds(headers),
        is_retryable={"true": True, "false": False}.get(headers.get("x-should-retry", "")),
    )


def _fields(error: object) -> Json:
    """Find the object that describes the error; empty when there is none."""
    if isinstance(error, list):
        error = next(iter(cast("list[object]", error)), None)
    if not isinstance(error, dict):
        return {}
    fields = cast("Json", error)
    inner: object = fields.get("error")
    return cast("Json", inner) if isinstance(inner, dict) else fields


def _reason(fields: Json, status: int | None, message: str) -> FailureReason:
    words = [str(fields.get(name) or "").lower() for name in ("code", "type", "status")]
    reason = _first_known(words, _REASON_BY_WORD)
    if status == _REQUEST_TOO_LARGE:
        reason = "context_length"
    if reason is None and status is not None:
        is_redirect = status < _FIRST_CLIENT_ERROR
        known = None if is_redirect else _REASON_BY_STATUS.get(status)
        reason = "bad_request" if is_redirect else known or reason_for_status(status)
    if reason is None:
        reason = _first_known(words, _REASON_BY_VAGUE_WORD) or "unknown"
    if reason in _CAN_BE_TOO_LONG and _TOO_LONG.search(message):
        return "context_length"
    return reason


def _first_known(words: list[str], known: Mapping[str, FailureReason]) -> FailureReason | None:
    for word in words:
        if word in known:
            return known[word]
    return None


def _status_in(fields: Json) -> int | None:
    """Read the status of the server behind: routers put it into `code`."""
    for name in ("code", "status", "status_code"):
        text = str(fields.get(name))
        if _STATUS.fullmatch(text):
            return int(text)
    return None


def _message(error: object, fields: Json) -> str:
    for name in ("message", "detail", "error", "msg"):
        if isinstance(text := fields.get(name), str) and text:
            break
    else:
        text = error if isinstance(error, str) and not error.lstrip().startswith("<") else ""
    if text == _HIDES_ITS_CAUSE:
        match fields.get("metadata"):
            case {"raw": str(cause)} if cause:
                return f"{text}: {cause}"
            case _:
                pass
    return text


def _sentence(status: int | None) -> str:
    if status is None:
        return "the vendor reported an error and gave no reason"
    if status < _FIRST_CLIENT_ERROR:
        return f"the vendor answered with a redirect ({status}); set model.base_url to its end"
    return f"the vendor refused the request (HTTP {status}) and gave no reason"
