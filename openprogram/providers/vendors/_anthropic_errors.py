"""Translates what the `anthropic` SDK raises; imported with it, on the first call.

Source: https://platform.claude.com/docs/en/api/errors.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import anthropic
import httpx2

from openprogram.providers.vendors._failures import (
    failure,
    reason_for_status,
    retry_after_seconds,
)
from openprogram.providers.vendors._network import of_network

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from openprogram.errors import FailureReason, ModelRequestError

_REASON_BY_KIND: Mapping[str, FailureReason] = {
    "api_error": "server",
    "authentication_error": "auth",
    "billing_error": "billing",
    "invalid_request_error": "bad_request",
    "not_found_error": "bad_request",
    "overloaded_error": "overloaded",
    "permission_error": "auth",
    "rate_limit_error": "rate_limit",
    "request_too_large": "context_length",
    "timeout_error": "server",
}
_TOO_LONG = re.compile(
    r"prompt is too long|input is too long|exceeds? (?:the )?context (?:limit|window)"
    r"|context (?:limit|window) exceeded|too many tokens",
    re.IGNORECASE,
)
_MALFORMED = (TypeError, ValueError, RecursionError)
"""What building a request and decoding an answer raise."""
_SPEND_LIMIT_SUFFIX = "spend_limit_reached"


@contextmanager
def translated(phase: Literal["request", "answer"]) -> Generator[None]:
    """Raise what the SDK raises as a `ModelRequestError`.

    Args:
        phase: What is going on, for the errors that do not say themselves whose fault they are.

    Raises:
        ModelRequestError: Whatever a vendor or a network can do to a request.
    """
    try:
        yield
    except anthropic.APIStatusError as error:
        raise _of_status(error) from error
    except anthropic.APIConnectionError as error:
        raise of_network(error.__cause__ or error) from error
    except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
        raise of_network(error) from error
    except (anthropic.AnthropicError, httpx2.InvalidURL, *_MALFORMED) as error:
        # Only the name: the text may quote a header, and so the key.
        if phase == "request":
            raise failure("bad_request", f"the request cannot be sent ({_name(error)})") from error
        raise failure("bad_response", f"the answer cannot be read ({_name(error)})") from error


def _of_status(error: anthropic.APIStatusError) -> ModelRequestError:
    """Read a refusal, or the `error` event of a stream, whose status is that of a success."""
    status = error.status_code
    headers = error.response.headers
    message = str(error.api_message or error.message)
    reason = _REASON_BY_KIND.get(str(error.type)) or reason_for_status(status)
    if reason == "bad_request" and _TOO_LONG.search(message):
        reason = "context_length"
    if (error.error_code or "").endswith(_SPEND_LIMIT_SUFFIX):
        reason = "billing"
    advice = {"true": True, "false": False}.get(headers.get("x-should-retry", ""))
    return failure(
        reason,
        message,
        http_status=status,
        retry_after_seconds=retry_after_seconds(headers),
        is_retryable=advice,
    )


def _name(error: BaseException) -> str:
    return type(error).__name__
