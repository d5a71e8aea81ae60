"""Recordings as rows of a list, judged by the strict parser; a bad one never hides the others."""

from __future__ import annotations

import dataclasses
import os
import stat
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from openprogram import _private_files, paths
from openprogram.errors import ConfigError, RecordingFileError, RecordingNotFoundError, quoted
from openprogram.providers import file_safety, inspection
from openprogram.providers.events import FAILED_STOP_REASONS
from openprogram.providers.management.progress import counted
from openprogram.providers.management.selection import (
    managed_id_of,
    read_active_identity,
    require_present,
    resolve_selector,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_Identity: TypeAlias = "tuple[int, int] | None"
_Key: TypeAlias = "tuple[str, str | None, bool, int, int, int, int, int]"

_INDEX_LIMIT = 4096
_EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)
UNTELLABLE_TIMES = frozenset({_EARLIEST, _LATEST})
"""Stand for times that no calendar has."""
_SETTLED_AFTER_NS = 100_000_000
_index: OrderedDict[_Key, RecordingSummary] = OrderedDict()
"""What unchanged files were found to be, so that a list of them costs a stat each."""
_index_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingSummary:
    """One recording as a row of a list; holds no request content."""

    recording_id: str | None
    """Its ID, that is its file's name; None for a file that is not managed."""
    path: Path
    """Where it is."""
    created_at: datetime
    """As its header says, for display only; else when it was last written."""
    modified_at: datetime
    """When it was last written."""
    format_version: int | None
    """As its header says; None without a readable one."""
    redaction_version: int | None
    """Likewise."""
    legacy: bool
    """Whether its header has no metadata."""
    event_count: int
    """How many events were read."""
    size_bytes: int
    """How big the file is."""
    complete: bool
    """Whether it is valid and every call's outcome is `complete`."""
    active: bool
    """Whether the settings use it for the next start."""
    error: RecordingFileError | None
    """Why it is not valid; None when it is."""
    calls: tuple[inspection.CallInspection, ...]
    """Its calls, without their content; for a broken file, those before the fault."""
    warning: str | None
    """What is unsafe about its permissions, for a file that may be looked at all the same."""

    @property
    def valid(self) -> bool:
        """Whether the strict parser accepts it."""
        return self.error is None

    @property
    def call_count(self) -> int:
        """How many calls were read."""
        return len(self.calls)

    @property
    def failed_count(self) -> int:
        """How many calls ended in an error: the vendor's, as their last event, or an exception."""
        return sum(is_failed(call) for call in self.calls)

    def to_json(self, *, include_calls: bool = False) -> dict[str, Any]:
        """Give the stable fields of a list row.

        Args:
            include_calls: Give one object per call too, as `show` does.

        Returns:
            A JSON object.
        """
        row: dict[str, Any] = {
            "recording_id": self.recording_id,
            "path": str(self.path),
            "created_at": _rfc3339(self.created_at),
            "modified_at": _rfc3339(self.modified_at),
            "format_version": self.format_version,
            "redaction_version": self.redaction_version,
            "legacy": self.legacy,
            "call_count": self.call_count,
            "failed_count": self.failed_count,
            "event_count": self.event_count,
            "size_bytes": self.size_bytes,
            "complete": self.complete,
            "valid": self.valid,
            "active": self.active,
            "error": None if self.error is None else _error_json(self.error),
        }
        if include_calls:
            row["calls"] = [_call_json(call) for call in self.calls]
        return row


def is_failed(call: inspection.CallInspection) -> bool:
    """Say whether a call ended in an error.

    Its outcome may be `complete` all the same: that says only that its stream came to its end.

    Args:
        call: The call.

    Returns:
        True when its last event is an error, or an exception ended it.
    """
    return call.outcome == "error" or call.stop_reason in FAILED_STOP_REASONS


def find_recordings() -> list[Path]:
    """Name what lies in the managed root and may be a recording; reads none of it.

    Returns:
        The paths, by name; `summarize_recording` describes each.

    Raises:
        UnsafeFileError: The recordings directory is a link, or another user's.
    """
    return [Path(path) for path, _ in _managed_places()]


def list_recordings(
    *, on_progress: Callable[[int, int], object] | None = None
) -> list[RecordingSummary]:
    """List the managed recordings, newest first by what their headers say.

    Every name in the managed root that ends in `.jsonl` gets a row. A link, a directory or a FIFO
    is shown as invalid, with its code; so is a file that is not sound. None hides the others.

    Args:
        on_progress: Called before each recording with how many are done, and of how many.

    Returns:
        One summary per name.

    Raises:
        UnsafeFileError: The recordings directory is a link, or another user's.
    """
    active = _active_if_known()
    places = counted(_managed_places(), on_progress)
    return _newest_first(_summarize(*place, active) for place in places)


def summarize_recording(path: Path) -> RecordingSummary:
    """Describe one recording; changes nothing on disk.

    Args:
        path: The file.

    Returns:
        Its summary; a file that is not sound, or not there, is described by its error.
    """
    path = paths.absolute_path(path)
    return _summarize(str(path), _id_of(path), _active_if_known())


def verify_recordings(
    selectors: Iterable[str] = (), *, on_progress: Callable[[int, int], object] | None = None
) -> list[RecordingSummary]:
    """Judge recordings strictly, and whether only their owner can use them.

    Args:
        selectors: IDs or paths; none means all managed recordings.
        on_progress: Called before each recording with how many are done, and of how many.

    Returns:
        One summary per selector in their order, or all of them, newest first.

    Raises:
        InvalidSelectorError: A selector names nothing.
        UnsafeFileError: The recordings directory is a link, or another user's.
    """
    active = _active_if_known()
    chosen = [resolve_selector(selector) for selector in selectors]
    if chosen:
        each = counted(chosen, on_progress)
        return [_verify(str(s.path), s.recording_id, active) for s in each]
    places = counted(_managed_places(), on_progress)
    return _newest_first(_verify(*place, active) for place in places)


def _managed_places() -> list[tuple[str, str]]:
    """Find path and ID of whatever lies in the managed root and may be a recording."""
    root = paths.recordings_dir()
    try:
        directory_fd = _private_files.open_private_directory(root)
    except FileNotFoundError:
        return []
    try:
        names = file_safety.recording_names(directory_fd)
    finally:
        os.close(directory_fd)
    # Plain strings: a path object would cost more than the rest of an unchanged file's row.
    return [(f"{root}{os.sep}{name}", name.removesuffix(file_safety.SUFFIX)) for name in names]


def _newest_first(summaries: Iterable[RecordingSummary]) -> list[RecordingSummary]:
    """Sort by the headers' times; among equals the later written comes first, then by name."""
    return sorted(summaries, key=lambda s: (s.created_at, s.modified_at), reverse=True)


def _active_if_known() -> _Identity:
    try:
        return read_active_identity()
    except ConfigError:
        # Broken settings block every call, so no recording is in use; looking must go on.
        return None


def _verify(place: str, recording_id: str | None, active: _Identity) -> RecordingSummary:
    summary = _summarize(place, recording_id, active)
    try:
        require_present(summary.path)
        os.close(file_safety.open_recording_for_reading(summary.path, require_private=True))
    except RecordingNotFoundError as absent:
        fault = RecordingFileError(summary.path, "unreadable", absent.reason)
        return dataclasses.replace(summary, error=fault, complete=False)
    except RecordingFileError as unsafe:
        return dataclasses.replace(summary, error=unsafe, complete=False)
    return summary


def _summarize(place: str, recording_id: str | None, active: _Identity) -> RecordingSummary:
    try:
        found = os.lstat(place)
    except (OSError, ValueError):
        found = None
    is_active = found is not None and active == (found.st_dev, found.st_ino)
    if found is None or not stat.S_ISREG(found.st_mode):
        return _describe(Path(place), recording_id, found, is_active=is_active)
    key: _Key = (place, recording_id, is_active, *_version_of(found))
    with _index_lock:
        known = _index.get(key)
        if known is not None:
            _index.move_to_end(key)
            return known
    summary = _describe(Path(place), recording_id, found, is_active=is_active)
    # A file touched this instant may change again without a new time stamp.
    is_settled = time.time_ns() - found.st_ctime_ns > _SETTLED_AFTER_NS
    if is_settled and _is_unchanged(place, found):
        with _index_lock:
            _index[key] = summary
            while len(_index) > _INDEX_LIMIT:
                _index.popitem(last=False)
    return summary


def _describe(
    path: Path, recording_id: str | None, found: os.stat_result | None, *, is_active: bool
) -> RecordingSummary:
    inspected = inspection.inspect_recording(path)
    regular = found if found is not None and stat.S_ISREG(found.st_mode) else None
    modified_at = written_at(found)
    header = inspected.header
    return RecordingSummary(
        recording_id=recording_id,
        path=path,
        created_at=(header and _parsed(header.created_at)) or modified_at,
        modified_at=modified_at,
        format_version=inspected.format_version,
        redaction_version=inspected.redaction_version,
        legacy=inspected.legacy,
        event_count=inspected.event_count,
        size_bytes=regular.st_size if regular else 0,
        complete=inspected.complete,
        active=is_active,
        error=inspected.error,
        calls=tuple(inspected.calls),
        warning=_warning_of(regular, path) if regular else None,
    )


def _version_of(found: os.stat_result) -> tuple[int, int, int, int, int]:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _is_unchanged(place: str, found: os.stat_result) -> bool:
    try:
        return _version_of(os.lstat(place)) == _version_of(found)
    except OSError:
        return False


def _id_of(path: Path) -> str | None:
    if path.parent == paths.recordings_dir():
        # Listed under its own name even when that could not be an ID: people must find the file.
        return path.name.removesuffix(file_safety.SUFFIX)
    return managed_id_of(path)


def _warning_of(found: os.stat_result, path: Path) -> str | None:
    problem = file_safety.permission_problem(found, path)
    return None if problem is None else f"{quoted(str(path))}: {problem}"


def written_at(found: os.stat_result | None) -> datetime:
    """Say when a file was last written.

    Args:
        found: What stat says of it; None when it is not there.

    Returns:
        Aware UTC; a time that no calendar has becomes the nearest of `UNTELLABLE_TIMES`, and that
        of no file the start of the epoch.
    """
    if found is None:
        return datetime.fromtimestamp(0, UTC)
    try:
        return datetime.fromtimestamp(found.st_mtime_ns // 1000 / 1_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return _LATEST if found.st_mtime_ns > 0 else _EARLIEST


def _parsed(text: object) -> datetime | None:
    """Read an instant from a header; nonsense is None, for it is display only."""
    if not isinstance(text, str):
        return None
    try:
        instant = datetime.fromisoformat(text)
        return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _rfc3339(instant: datetime) -> str:
    return instant.isoformat().removesuffix("+00:00") + "Z"


def _error_json(error: RecordingFileError) -> dict[str, Any]:
    return {
        "code": error.code,
        "reason": error.reason,
        "line_number": error.line_number,
        "call_index": error.call_index,
    }


def _call_json(call: inspection.CallInspection) -> dict[str, Any]:
    return {
        "call_index": call.call_index,
        "provider": call.provider,
        "api": call.api,
        "model": call.model,
        "event_count": call.event_count,
        "outcome": call.outcome,
        "stop_reason": call.stop_reason,
        "usage": msgspec.to_builtins(call.usage),
        "cost_usd": call.cost_usd,
        "first_line_number": call.first_line_number,
    }
