"""What went wrong with a request, in one vocabulary for every vendor.

The reasons, which become `error_reason` of the message:

auth              the key is missing, wrong or may not do this
billing           the account cannot pay
rate_limit        too many requests; `retry_after_seconds` says how long to wait, where known
overloaded        the vendor is busy
context_length    the request is too long for the model
bad_request       the vendor, or this client, cannot make sense of the request
output_limit      max_tokens cut the answer inside a tool call
refusal           the model declined
network           no answer, or the connection was lost
bad_response      the answer breaks the vendor's own protocol
server            the vendor failed
aborted           the caller's signal was set
unknown           none of these
"""

from __future__ import annotations

import email.utils
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from openprogram.errors import ModelRequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram.errors import FailureReason

RETRYABLE_REASONS: Final = frozenset(
    {"rate_limit", "overloaded", "network", "bad_response", "server"}
)
"""After these the same request may succeed later."""

_SHOWN_CHARACTERS = 2000

_REASON_BY_STATUS: Mapping[int, FailureReason] = {
    401: "auth",
    402: "billing",
    403: "auth",
    408: "network",
    413: "context_length",
    429: "rate_limit",
    529: "overloaded",
}
_FIRST_CLIENT_ERROR = 400
_FIRST_SERVER_ERROR = 500


def failure(
    reason: FailureReason,
    message: str,
    *,
    http_status: int | None = None,
    retry_after_seconds: float | None = None,
    is_retryable: bool | None = None,
) -> ModelRequestError:
    """Describe a failed request.

    Args:
        reason: One of this module's words.
        message: The vendor's sentence as it came, or ours; it is bounded. Whoever shows it makes it
            harmless, as with any text of a vendor.
        http_status: The status, where there was an answer.
        retry_after_seconds: How long the vendor asks to wait.
        is_retryable: None takes what holds for the reason.

    Returns:
        The error; raise it inside a vendor module, whose stream ends with an `error` event.
    """
    if len(message) > _SHOWN_CHARACTERS:
        message = f"{message[:_SHOWN_CHARACTERS]}... ({len(message):,} characters)"
    return ModelRequestError(
        message,
        reason=reason,
        is_retryable=reason in RETRYABLE_REASONS if is_retryable is None else is_retryable,
        http_status=http_status,
        retry_after_seconds=retry_after_seconds,
    )


def reason_for_status(status: int) -> FailureReason:
    """Say what an HTTP status means, where the vendor gives no better word.

    Args:
        status: The status of an answer.

    Returns:
        One of this module's words.

    Example:
        >>> [reason_for_status(status) for status in (401, 404, 429, 503, 200)]
        ['auth', 'bad_request', 'rate_limit', 'server', 'unknown']
    """
    if status in _REASON_BY_STATUS:
        return _REASON_BY_STATUS[status]
    if status >= _FIRST_SERVER_ERROR:
        return "server"
    return "bad_request" if status >= _FIRST_CLIENT_ERROR else "unknown"


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Read how long the vendor asks to wait.

    Source: RFC 9110, section 10.2.3; `retry-after-ms` is the vendors' finer twin.

    Args:
        headers: The answer's headers, looked up in lower case.

    Returns:
        Seconds, not negative, or None when nothing sensible is said. Nothing here waits, so the
        value is not bounded; who waits bounds it.

    Example:
        >>> retry_after_seconds({"retry-after": "12"})
        12.0
        >>> retry_after_seconds({"retry-after-ms": "1500", "retry-after": "2"})
        1.5
        >>> retry_after_seconds({"retry-after": "soon"}) is None
        True
    """
    milliseconds = _finite(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _finite(value)
    return seconds if seconds is not None or value is None else _seconds_until(value)


def _finite(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None


def _seconds_until(http_date: str) -> float | None:
    try:
        at = email.utils.parsedate_to_datetime(http_date)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max((at - datetime.now(UTC)).total_seconds(), 0.0)
