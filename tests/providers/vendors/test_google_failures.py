"""Each error object of the vendor is of its class, and no odd one is a crash."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.providers.vendors._google_failures import error_of


def told(message: str = "m", *details: Any, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, "details": list(details), **fields}}


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}
WRONG_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


@pytest.mark.parametrize(
    ("body", "reason", "is_retryable"),
    [
        (told(code=429, status="RESOURCE_EXHAUSTED"), "rate_limit", True),
        (told(code=503, status="UNAVAILABLE"), "overloaded", True),
        (told(code=500, status="INTERNAL"), "server", True),
        (told(code=504, status="DEADLINE_EXCEEDED"), "server", True),
        (told(code=403, status="PERMISSION_DENIED"), "auth", False),
        (told(code=400, status="INVALID_ARGUMENT"), "bad_request", False),
        (told("m", WRONG_KEY, code=400, status="INVALID_ARGUMENT"), "auth", False),
        (told("API key expired. Please renew.", code=400), "auth", False),
        (
            told("The input token count exceeds the maximum number of tokens", code=400),
            "context_length",
            False,
        ),
        (
            told("Request payload size exceeds the limit: 9 bytes.", code=400),
            "context_length",
            False,
        ),
        (told("Please enable billing.", status="FAILED_PRECONDITION"), "billing", False),
        (told(status="UNAVAILABLE"), "overloaded", True),
        (told(status="A_LATER_WORD", code=503), "overloaded", True),
        (told(status="A_LATER_WORD"), "unknown", False),
        (told(code=7), "unknown", False),
        (told(code=True), "unknown", False),
    ],
)
def test_classes(body: Any, reason: str, is_retryable: bool) -> None:
    error = error_of(body)
    assert (error.reason, error.is_retryable) == (reason, is_retryable)
    assert str(error) == body["error"]["message"]


def test_the_status_of_the_answer_counts_before_the_code_in_its_body() -> None:
    assert error_of(told(code=500), http_status=401).reason == "auth"
    assert error_of(told(code=500)).http_status == 500
    assert error_of([told(code=500)]).http_status == 500


def test_the_wait_in_the_details_counts_before_that_of_the_headers() -> None:
    headers = {"retry-after": "7"}
    assert error_of(told("m", "odd", RETRY), headers=headers).retry_after_seconds == 3.0
    assert error_of(told(), headers=headers).retry_after_seconds == 7.0
    for delay in ("soon", "-1s", "1e9s", 3, None, "9" * 400 + "s"):
        odd = {**RETRY, "retryDelay": delay}
        assert error_of(told("m", odd), headers=headers).retry_after_seconds == 7.0
    assert error_of(told("m", {**RETRY, "retryDelay": "0.25s"})).retry_after_seconds == 0.25


@pytest.mark.parametrize(
    "body", [None, 5, "text", [], [[]], {}, {"error": None}, {"error": 5}, {"message": ""}]
)
def test_an_odd_body_is_an_error_like_others(body: Any) -> None:
    error = error_of(body, http_status=418)
    assert (error.reason, error.http_status) == ("bad_request", 418)
    assert str(error) == "the vendor reported an error"


def test_a_plain_sentence_is_kept() -> None:
    assert str(error_of({"error": "gone"})) == "gone"
    assert str(error_of({"message": "gone", "status": "Not Found"}, http_status=404)) == "gone"
