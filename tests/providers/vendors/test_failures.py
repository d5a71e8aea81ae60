"""One vocabulary of failures for every vendor."""

from __future__ import annotations

import email.utils
from datetime import UTC, datetime, timedelta

import pytest

from openprogram.providers.vendors import _failures
from openprogram.providers.vendors._failures import failure, retry_after_seconds


def test_a_long_message_is_bounded_and_says_so():
    error = failure("server", "x" * 5000)
    assert len(str(error)) < 2100
    assert "(5,000 characters)" in str(error)


def test_a_reason_tells_whether_to_try_again_unless_the_vendor_does():
    assert failure("rate_limit", "").is_retryable
    assert not failure("auth", "").is_retryable
    assert failure("auth", "", is_retryable=True).is_retryable


def test_every_retryable_reason_is_explained():
    for reason in _failures.RETRYABLE_REASONS:
        assert f"\n{reason} " in (_failures.__doc__ or "")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "30"}, 30.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "259200"}, 259_200.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00"}, 0.0),
        ({"retry-after": "Wed, 99 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None):
    assert retry_after_seconds(headers) == seconds


def test_a_date_to_come_is_told_in_seconds_from_now():
    date = email.utils.format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    seconds = retry_after_seconds({"retry-after": date})
    assert seconds is not None
    assert 0 < seconds <= 3600
