"""The face of redaction: what it is called, and what it does to values and texts.

The rules load on first use: compiling them costs some 40 ms, and whoever only asks for the version
or the placeholder, as `recordings status` does, need not pay for them.
"""

from __future__ import annotations

from openprogram._lazy_names import TYPE_CHECKING, serve_lazily
from openprogram.providers.recording.redaction.field_names import (
    DATA_FIELD_NAMES,
    SECRET_FIELD_NAMES,
    is_secret_field,
)
from openprogram.providers.recording.redaction.text_values import PLACEHOLDER

if TYPE_CHECKING:
    from openprogram.providers.recording.redaction.texts import remove_secrets_from_text
    from openprogram.providers.recording.redaction.values import remove_secret_values

__all__ = [
    "DATA_FIELD_NAMES",
    "PLACEHOLDER",
    "REDACTION_VERSION",
    "SECRET_FIELD_NAMES",
    "is_secret_field",
    "remove_secret_values",
    "remove_secrets_from_text",
]

REDACTION_VERSION = 1
"""Grows when the same value would be redacted to something else."""

__getattr__, __dir__ = serve_lazily(
    __name__,
    {
        "remove_secret_values": "openprogram.providers.recording.redaction.values",
        "remove_secrets_from_text": "openprogram.providers.recording.redaction.texts",
    },
)
