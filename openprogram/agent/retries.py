"""When a failed request is made again, and how long to wait before it.

The loop asks again above the provider boundary, so each attempt is a call of its own and stands in
the recording.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from openprogram.providers.api_registry import get_api_provider
from openprogram.providers.replay import ReplayProvider

if TYPE_CHECKING:
    from openprogram.providers import types as t

_LONGEST_DOUBLING: Final = 30
"""From here on doubling only makes numbers that no bound lets through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a request is made, and how long to wait in between."""

    attempt_limit: int = 4
    """How often one request is made at most; 1 never makes it again."""
    first_wait_seconds: float = 1.0
    """The wait before the second attempt; it doubles with each further one."""
    longest_wait_seconds: float = 60.0
    """No wait is longer; a vendor that asks for more is not asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """A request is about to be made again."""

    attempt: int
    """The number of the attempt that comes, from 2."""
    attempt_limit: int
    """How many there are at most."""
    wait_seconds: float
    """How long it waits; 0 in a replay."""
    failed: t.AssistantMessage
    """What came of the attempt before."""


def plan_retry(
    policy: RetryPolicy, failed: t.AssistantMessage, *, attempt: int, api: str
) -> Retry | None:
    """Decide whether a failed request is made again.

    A replay decides as the recorded run did, but waits for nothing, and takes the error as final
    where the recording has no further call.

    Args:
        policy: How often, and how long to wait.
        failed: What came of the last attempt.
        attempt: Its number, from 1.
        api: Who was asked, as `Model.api` says.

    Returns:
        The next attempt; None when the error is final.
    """
    asked_seconds = failed.error_retry_after_s or 0.0
    is_final = (
        not failed.error_retryable
        or attempt >= policy.attempt_limit
        or asked_seconds > policy.longest_wait_seconds
    )
    if is_final:
        return None
    provider = get_api_provider(api)
    # Whoever leads calls elsewhere, as the pytest plugin does, says who answers now.
    while (answering := getattr(provider, "answering_provider", None)) is not None:
        provider = answering
    if isinstance(provider, ReplayProvider):
        if provider.call_count >= provider.call_total:
            return None
        wait_seconds = 0.0
    else:
        wait_seconds = _wait_seconds(policy, asked_seconds, attempt)
    return Retry(
        attempt=attempt + 1,
        attempt_limit=policy.attempt_limit,
        wait_seconds=wait_seconds,
        failed=failed,
    )


def _wait_seconds(policy: RetryPolicy, asked_seconds: float, attempt: int) -> float:
    """Double with each attempt, and spread by half so that many clients do not come at once."""
    doubled = policy.first_wait_seconds * 2 ** min(attempt - 1, _LONGEST_DOUBLING)
    spread = random.uniform(0.5, 1.5)  # noqa: S311 - it spreads load and guards nothing
    # Never earlier than the vendor asked for.
    return min(max(doubled * spread, asked_seconds), policy.longest_wait_seconds)
