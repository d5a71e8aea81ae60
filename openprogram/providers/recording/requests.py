"""How a request looks in a recording: one rule for the recorder and for replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openprogram.providers.recording.redaction import remove_secret_values

if TYPE_CHECKING:
    from openprogram.providers.types import Context, Model, StreamOptions


def dump_request(model: Model, context: Context, options: StreamOptions | None) -> dict[str, Any]:
    """Turn a request into JSON values with the secrets removed.

    Args:
        model: Which model is asked.
        context: What it is asked.
        options: How; None stays null. Request-local fields are left out.

    Returns:
        A fresh dict with the keys `model`, `context` and `options`.
    """
    return {
        "model": remove_secret_values(model),
        "context": remove_secret_values(context),
        "options": remove_secret_values(options),
    }
