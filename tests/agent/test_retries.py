from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from openprogram.agent import retries
from openprogram.agent.retries import RetryPolicy, plan_retry
from openprogram.testing import FauxProvider
from scripted import message

if TYPE_CHECKING:
    from openprogram.agent.retries import Retry


@pytest.fixture(autouse=True)
def live(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a provider answer that is no replay."""

    def get_api_provider(_: str) -> Any:
        return FauxProvider([])

    monkeypatch.setattr(retries, "get_api_provider", get_api_provider)


def _plan(policy: RetryPolicy, attempt: int, **fields: Any) -> Retry | None:
    failed = message(stop_reason="error", **{"error_retryable": True} | fields)
    return plan_retry(policy, failed, attempt=attempt, api="faux")


def test_waits_double_spread_and_stay_in_bounds() -> None:
    policy = RetryPolicy(attempt_limit=2000, first_wait_seconds=2.0, longest_wait_seconds=50.0)
    for attempt, (least, most) in {1: (1, 3), 3: (4, 12), 9: (50, 50), 1500: (50, 50)}.items():
        plans = [_plan(policy, attempt) for _ in range(20)]
        waits = [plan.wait_seconds for plan in plans if plan is not None]
        assert len(waits) == 20
        assert least <= min(waits) <= max(waits) <= most
        assert len(set(waits)) > 1 or least == most


def test_what_the_vendor_asks_for_is_the_least_wait_or_the_end() -> None:
    plan = _plan(RetryPolicy(), 1, error_retry_after_s=30.0)
    assert plan is not None
    assert (plan.wait_seconds, plan.attempt, plan.attempt_limit) == (30.0, 2, 4)
    assert _plan(RetryPolicy(), 1, error_retry_after_s=60.5) is None


def test_what_may_not_or_was_tried_enough_is_final() -> None:
    assert _plan(RetryPolicy(), 1, error_retryable=False) is None
    assert _plan(RetryPolicy(), 1, error_retryable=None) is None
    assert _plan(RetryPolicy(), 3) is not None
    assert _plan(RetryPolicy(), 4) is None
