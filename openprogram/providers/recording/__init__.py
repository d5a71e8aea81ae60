"""Recordings: their format, how they are written, and how secrets are kept out of them.

Importing it starts nothing: each name below loads its module when it is first asked for.
"""

# pyright: reportImportCycles=false
# Modules below import this package for one another; at run time it imports none of them.

from __future__ import annotations

from openprogram._lazy_names import TYPE_CHECKING, serve_lazily

if TYPE_CHECKING:
    from openprogram.errors import RecordingFileError
    from openprogram.providers.recording.format import RECORDING_FORMAT_VERSION
    from openprogram.providers.recording.provider import RecordingProvider
    from openprogram.providers.recording.reader import validate_recording
    from openprogram.providers.recording.redaction import (
        PLACEHOLDER,
        REDACTION_VERSION,
        SECRET_FIELD_NAMES,
        remove_secret_values,
    )
    from openprogram.providers.recording.sink import RecordingSink

__all__ = [
    "PLACEHOLDER",
    "RECORDING_FORMAT_VERSION",
    "REDACTION_VERSION",
    "SECRET_FIELD_NAMES",
    "RecordingFileError",
    "RecordingProvider",
    "RecordingSink",
    "remove_secret_values",
    "validate_recording",
]

__getattr__, __dir__ = serve_lazily(
    __name__,
    {
        "PLACEHOLDER": "openprogram.providers.recording.redaction",
        "RECORDING_FORMAT_VERSION": "openprogram.providers.recording.format",
        "REDACTION_VERSION": "openprogram.providers.recording.redaction",
        "SECRET_FIELD_NAMES": "openprogram.providers.recording.redaction",
        "RecordingFileError": "openprogram.errors",
        "RecordingProvider": "openprogram.providers.recording.provider",
        "RecordingSink": "openprogram.providers.recording.sink",
        "remove_secret_values": "openprogram.providers.recording.redaction",
        "validate_recording": "openprogram.providers.recording.reader",
    },
)
