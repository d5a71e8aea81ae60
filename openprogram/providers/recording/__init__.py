"""Recordings: their format, how they are written, and how secrets are kept out of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openprogram.errors import RecordingFileError as RecordingFileError
    from openprogram.providers.recording.format import (
        RECORDING_FORMAT_VERSION as RECORDING_FORMAT_VERSION,
    )
    from openprogram.providers.recording.provider import RecordingProvider as RecordingProvider
    from openprogram.providers.recording.reader import validate_recording as validate_recording
    from openprogram.providers.recording.redaction import (
        PLACEHOLDER as PLACEHOLDER,
    )
    from openprogram.providers.recording.redaction import (
        REDACTION_VERSION as REDACTION_VERSION,
    )
    from openprogram.providers.recording.redaction import (
        SECRET_FIELD_NAMES as SECRET_FIELD_NAMES,
    )
    from openprogram.providers.recording.redaction import (
        remove_secret_values as remove_secret_values,
    )
    from openprogram.providers.recording.sink import RecordingSink as RecordingSink

_HERE = "openprogram.providers.recording"
_PLACES = {
    "PLACEHOLDER": f"{_HERE}.redaction",
    "RECORDING_FORMAT_VERSION": f"{_HERE}.format",
    "REDACTION_VERSION": f"{_HERE}.redaction",
    "RecordingFileError": "openprogram.errors",
    "RecordingProvider": f"{_HERE}.provider",
    "RecordingSink": f"{_HERE}.sink",
    "SECRET_FIELD_NAMES": f"{_HERE}.redaction",
    "remove_secret_values": f"{_HERE}.redaction",
    "validate_recording": f"{_HERE}.reader",
}
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


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {_HERE!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value


def __dir__() -> list[str]:
    return [*__all__]
