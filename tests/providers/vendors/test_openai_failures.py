"""Error objects of many servers, each read as what it means."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.providers.vendors._openai_failures import failure_of


@pytest.mark.parametrize(
    ("error", "status", "reason", "message"),
    [
        ({"message": "m", "code": "invalid_api_key"}, 400, "auth", "m"),
        ({"message": "m", "type": "invalid_request_error", "code": None}, 401, "auth", "m"),
        ({"message": "m", "type": "insufficient_quota"}, 429, "billing", "m"),
        ({"message": "m", "code": "rate_limit_exceeded"}, 413, "context_length", "m"),
        ({"message": "m", "code": "content_filter"}, 400, "refusal", "m"),
        ({"message": "Token limit", "code": 400}, None, "bad_request", "Token limit"),
        ({"message": "m", "code": "502"}, None, "server", "m"),
        ({"message": "m", "code": 429}, None, "rate_limit", "m"),
        ({"message": "m", "type": "server_error"}, None, "server", "m"),
        ({"message": "m", "type": "invalid_request_error"}, None, "bad_request", "m"),
        ({"message": "m"}, None, "unknown", "m"),
        ({"object": "error", "message": "maximum context length is 9", "code": 400}, 400,
         "context_length", "maximum context length is 9"),
        ({"message": "Rate limit: context window per minute", "code": 429}, 429, "rate_limit",
         "Rate limit: context window per minute"),
        ([{"error": {"message": "m", "status": "RESOURCE_EXHAUSTED"}}], None, "rate_limit", "m"),
        ({"detail": "m"}, 422, "bad_request", "m"),
        ({"error": "model not found"}, 404, "bad_request", "model not found"),
        ("plain words", 500, "server", "plain words"),
        ("<html>502</html>", 502, "server",
         "the vendor refused the request (HTTP 502) and gave no reason"),
        (None, 498, "overloaded", "the vendor refused the request (HTTP 498) and gave no reason"),
        ([], None, "unknown", "the vendor reported an error and gave no reason"),
        ({"message": "Provider returned error", "code": 429, "metadata": {"raw": "busy"}}, None,
         "rate_limit", "Provider returned error: busy"),
        ({"message": 5, "code": [1], "type": {}}, None, "unknown",
         "the vendor reported an error and gave no reason"),
    ],
)  # fmt: skip
def test_an_error_is_read_in_any_shape(error: Any, status: int | None, reason: str, message: str):
    failure = failure_of(error, http_status=status)
    assert (failure.reason, str(failure), failure.http_status) == (reason, message, status)


def test_the_headers_say_when_to_try_again_and_whether():
    headers = {"retry-after-ms": "1500", "x-should-retry": "true"}
    failure = failure_of({"message": "m"}, http_status=400, headers=headers)
    assert (failure.retry_after_seconds, failure.is_retryable) == (1.5, True)
