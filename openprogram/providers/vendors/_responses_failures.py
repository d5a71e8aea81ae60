"""What an error inside a stream of the Responses dialect means; knows no SDK.

Source: the codes of `ResponseError` in the vendor's SDK, and the sentences that come with them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._openai_failures import failure_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram.errors import FailureReason, ModelRequestError

_REASONS: Final[Mapping[str, FailureReason]] = {
    "bio_policy": "refusal",
    "cyber_policy": "refusal",
    "data_residency_mismatch": "bad_request",
    "image_content_policy_violation": "refusal",
    "invalid_prompt": "bad_request",
    "misalignment_policy_violation": "refusal",
    "server_is_overloaded": "overloaded",
    "usage_limit_reached": "rate_limit",
    "usage_not_included": "billing",
    "vector_store_timeout": "server",
}
"""The words of this dialect, beside those that all servers of the family share."""

_TRY_AGAIN = re.compile(r"try again in (\d{1,9}(?:\.\d{1,9})?) ?(ms|s|m)\b", re.IGNORECASE)
_SECONDS: Mapping[str, float] = {"ms": 0.001, "s": 1.0, "m": 60.0}


def stream_error(told: object) -> ModelRequestError:
    """Read an `error` event, or the error of a failed response.

    Args:
        told: The event or the error object; the object may lie inside the event.

    Returns:
        The error.

    Example:
        >>> stream_error({"type": "error", "code": "server_is_overloaded", "message": "x"}).reason
        'overloaded'
    """
    if not isinstance(told, dict):
        return failure_of(told)
    fields = cast("dict[str, object]", told)
    inner = fields.get("error")
    if isinstance(inner, dict):
        fields = {**fields, **cast("dict[str, object]", inner), "error": None}
    general = failure_of(fields)
    seconds = _seconds_in(str(general))
    reason = _reason(fields) or general.reason
    if reason == "unknown" and seconds is not None:
        reason = "rate_limit"
    return failure(reason, str(general), retry_after_seconds=seconds)


def _reason(fields: Mapping[str, object]) -> FailureReason | None:
    for name in ("code", "type"):
        word = fields.get(name)
        if isinstance(word, str) and word in _REASONS:
            return _REASONS[word]
    code = fields.get("code")
    # A dozen codes say what is wrong with an image.
    return "bad_request" if isinstance(code, str) and "image" in code else None


def _seconds_in(text: str) -> float | None:
    """Read how long to wait; inside a stream the vendor says it in its sentence only."""
    found = _TRY_AGAIN.search(text)
    return None if found is None else float(found[1]) * _SECONDS[found[2].lower()]
