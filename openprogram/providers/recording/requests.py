"""How a request looks in a recording: one rule for the recorder and for replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openprogram.providers.recording.redaction import is_secret_field, remove_secret_values

if TYPE_CHECKING:
    from openprogram.providers.types import Context, Model, StreamOptions

_SHORTEST_CREDENTIAL = 6
"""A shorter text stands in sentences by chance."""


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


def credentials_of(options: StreamOptions | None) -> list[str]:
    """Name the credentials that a request is sent with, so that they can be found in its answer.

    Args:
        options: How the request is sent.

    Returns:
        The key, and the values of headers that hold one, with and without their scheme.
    """
    if options is None:
        return []
    found = [options.api_key or ""]
    for name, value in (options.headers or {}).items():
        if is_secret_field(name):
            found += [value, value.partition(" ")[2]]
    return [secret for secret in found if len(secret) >= _SHORTEST_CREDENTIAL]
