"""An error inside a stream is of the class that its words say."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.providers.vendors._responses_failures import stream_error


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"code": "server_error"}, "server"),
        ({"code": "rate_limit_exceeded"}, "rate_limit"),
        ({"code": "insufficient_quota", "type": "rate_limit_error"}, "billing"),
        ({"code": "context_length_exceeded"}, "context_length"),
        ({"code": "invalid_prompt"}, "bad_request"),
        ({"code": "image_content_policy_violation"}, "refusal"),
        ({"code": "image_too_large"}, "bad_request"),
        ({"code": "failed_to_download_image"}, "bad_request"),
        ({"code": "server_is_overloaded"}, "overloaded"),
        ({"code": "vector_store_timeout"}, "server"),
        ({"code": None, "type": "error"}, "unknown"),
        ({"code": 429}, "rate_limit"),
        ({"type": "error", "status": 429, "error": {"type": "odd"}}, "rate_limit"),
        ({"type": "error", "error": {"type": "usage_limit_reached"}}, "rate_limit"),
        ({"type": "error", "error": {"code": "invalid_api_key"}}, "auth"),
        ({"code": ["odd"], "type": {"odd": 1}}, "unknown"),
        ({}, "unknown"),
        ([], "unknown"),
        (None, "unknown"),
        (5, "unknown"),
    ],
)
def test_the_class_of_an_error(told: Any, reason: str):
    error = stream_error(told)
    assert error.reason == reason
    assert error.is_retryable == (reason in {"server", "rate_limit", "overloaded"})
    assert str(error)


def test_the_sentence_is_kept_and_says_how_long_to_wait():
    sentences = {
        "Rate limit reached. Please try again in 11.054s. See the docs.": 11.054,
        "Please try again in 250ms.": 0.25,
        "please TRY AGAIN IN 6 m": 360.0,
        "try again in 20 minutes": None,
        "try again in " + "9" * 400 + "s": None,
        "try again later": None,
    }
    for sentence, seconds in sentences.items():
        error = stream_error({"code": "rate_limit_exceeded", "message": sentence})
        assert error.retry_after_seconds == seconds
        assert str(error) == sentence
    assert stream_error({"message": "try again in 2s"}).reason == "rate_limit"
