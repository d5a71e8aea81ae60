"""Sets what the next start does with provider calls, and says what that will be."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from openprogram import _compat, _private_files, config, paths
from openprogram.errors import (
    ConfigError,
    FileLockedError,
    RecordingFileError,
    RecordingWriteError,
)
from openprogram.providers import file_safety
from openprogram.providers.file_safety import permission_problem
from openprogram.providers.ignored_paths import parse_ignored_path
from openprogram.providers.management.selection import (
    Selection,
    require_present,
    resolve_selector,
    selection_of,
)
from openprogram.providers.management.unlinking import unlink_open_file
from openprogram.providers.recorded_calls import RecordedCalls
from openprogram.providers.recording.format import encode_header
from openprogram.providers.recording.redaction import REDACTION_VERSION

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_LOCK_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReplayStatus:
    """What the next start does with provider calls, as far as settings and stat can tell."""

    mode: str
    """`off`, `record` or `replay`; `blocked` when the settings give none of these."""
    file: str
    """The recording as the settings name it; empty when they name none."""
    path: str | None
    """Where that recording is, or would be."""
    source: str
    """The settings file, or `default` when it says nothing about recording."""
    valid: bool
    """Whether the next start can honour the settings; otherwise it blocks provider calls."""
    file_exists: bool
    """Whether the recording is there."""
    size_bytes: int | None
    """How big it is; None when it is not there."""
    reason: str | None
    """Why the settings are not valid, with the remedy."""
    restart_required: bool = False
    """Whether a running worker still uses other settings."""
    worker: dict[str, Any] | None = None
    """The running worker, where somebody asked it."""
    ignore: tuple[str, ...] = ()
    """The field paths that a replay would not compare."""

    def to_json(self) -> dict[str, Any]:
        """Give the stable fields.

        Returns:
            A JSON object.
        """
        return asdict(self) | {"ignore": list(self.ignore)}


def read_status() -> RecordReplayStatus:
    """Say what the next start will do; reads settings and stat, never a recording's content.

    Returns:
        The status; broken settings are part of it, not an error.
    """
    path = str(paths.config_path())
    try:
        settings = config.read_settings()
    except ConfigError as error:
        return _status("blocked", "", source=path, reason=str(error))
    source = path if "record_replay" in settings.values else "default"
    try:
        chosen = config.record_replay_of(settings)
    except ConfigError as error:
        return _status(*_readable_part(settings), source=source, reason=str(error))
    try:
        selection = selection_of(chosen)
    except ConfigError as error:
        reason = None if chosen.mode == "off" else str(error)
        return _status(chosen.mode, chosen.file, source=source, reason=reason)
    found = _stat_of(selection.path)
    reason = None if chosen.mode == "off" else _problem_of(selection, found, mode=chosen.mode)
    if chosen.mode == "replay" and reason is None:
        reason = _problem_of_ignored(chosen.ignore)
    status = _status(
        chosen.mode, chosen.file, source=source, reason=reason, path=selection.path, found=found
    )
    return replace(status, ignore=chosen.ignore)


def prepare_record(name: str | None = None) -> Selection:
    """Make a new recording, and let the next start record into it.

    Args:
        name: Its ID; by default the time in UTC and eight random hex digits.

    Returns:
        The recording; it holds its header only.

    Raises:
        InvalidSelectorError: The name cannot be an ID.
        RecordingExistsError: The name is taken.
        RecordingFileError: The file cannot be made owner-only.
        RecordingWriteError: Its header cannot be written.
        ConfigError: The settings cannot be changed. Nothing is left behind in any of these cases.
    """
    recording_id = file_safety.validate_recording_id(_new_id() if name is None else name)
    path = file_safety.managed_path(recording_id)
    with _new_recording(path, recording_id):
        _set_mode("record", recording_id)
    return Selection(path=path, recording_id=recording_id, managed=True, setting=recording_id)


def prepare_replay(selector: str) -> Selection:
    """Check a recording strictly, and let the next start replay it.

    Args:
        selector: A managed ID, or a path. A managed file's mode is tightened; a file elsewhere
            must already be the user's own and 0600.

    Returns:
        The recording.

    Raises:
        InvalidSelectorError: The selector names nothing.
        RecordingNotFoundError: There is no such recording.
        RecordingFileError: The file is not sound, or not safe; the settings are as they were.
        FileLockedError: The recording is just being deleted.
        ConfigError: The settings cannot be changed.
    """
    selection = resolve_selector(selector)
    path = selection.path
    require_present(path)
    fd = file_safety.open_recording_for_reading(path, require_private=True, tighten=True)
    try:
        # Held until the settings name the recording: nobody can delete it in between.
        _compat.lock_shared(fd, timeout_seconds=_LOCK_TIMEOUT_SECONDS)
        RecordedCalls(path).close()
        _require_unchanged(fd, path)
        _set_mode("replay", selection.setting)
    except BlockingIOError as error:
        raise FileLockedError(path) from error
    finally:
        os.close(fd)
    return selection


def turn_off() -> None:
    """Let the next start neither record nor replay; the chosen recording stays chosen.

    A wrong type or an unknown mode in the settings of recording is repaired.

    Raises:
        ConfigError: The settings file cannot be parsed; it is left as it is.
    """
    config.turn_off_record_replay()


@contextlib.contextmanager
def _new_recording(path: Path, recording_id: str) -> Generator[None]:
    """Make a recording with its header, and take it away again when the block fails."""
    opened = file_safety.open_recording_for_append(path, create=True, exclusive=True)
    try:
        _write_header(opened.fd, path, recording_id)
        yield
    except BaseException:
        with _private_files.parent_directory(path) as directory_fd:
            unlink_open_file(directory_fd, path, opened.fd)
        raise
    finally:
        os.close(opened.fd)


def _write_header(fd: int, path: Path, recording_id: str) -> None:
    try:
        # Nobody can delete the recording before the settings name it.
        _compat.lock_shared(fd, timeout_seconds=_LOCK_TIMEOUT_SECONDS)
        header = encode_header(recording_id, redaction_version=REDACTION_VERSION)
        _private_files.write_all(fd, header)
        os.fsync(fd)
        _compat.sync_directory(path.parent)
    except OSError as error:
        reason = f"the header cannot be written: {error.strerror}"
        raise RecordingWriteError(path, reason) from error


def _set_mode(mode: config.Mode, file: str) -> None:
    config.update_settings({"record_replay.mode": mode, "record_replay.file": file})


def _new_id() -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"


def _require_unchanged(fd: int, path: Path) -> None:
    if not file_safety.is_same_file(fd, path):
        raise RecordingFileError(path, "unreadable", "was replaced while it was read; try again")


def _readable_part(settings: config.Settings) -> tuple[str, str]:
    """Pick mode and file out of settings that are wrong somewhere."""
    picked: list[str] = []
    for key, fallback in (("record_replay.mode", "blocked"), ("record_replay.file", "")):
        try:
            picked.append(str(settings.get(key)))
        except ConfigError:
            picked.append(fallback)
    return picked[0], picked[1]


def _stat_of(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def _problem_of(
    selection: Selection, found: os.stat_result | None, *, mode: config.Mode
) -> str | None:
    """Say what stat alone shows to be wrong with the chosen recording."""
    if found is None:
        if mode == "record":
            # The next start makes it.
            return None
        rule = "is not there"
    elif stat.S_ISLNK(found.st_mode):
        rule = "is a symbolic link"
    elif not stat.S_ISREG(found.st_mode):
        rule = "is not a regular file"
    elif mode == "replay" and found.st_size == 0:
        rule = "is empty"
    elif selection.managed and found.st_nlink > 1:
        rule = "has a second name (a hard link)"
    elif not selection.managed and (problem := permission_problem(found, selection.path)):
        rule = f"is not safe: {problem}"
    else:
        return None
    return f"the chosen recording {rule}; choose another or run 'openprogram recordings off'"


def _problem_of_ignored(ignore: tuple[str, ...]) -> str | None:
    """Say which path replay would refuse to leave out of the comparison."""
    for text in ignore:
        try:
            parse_ignored_path(text)
        except ValueError as error:
            return f"record_replay.ignore: {error}"
    return None


def _status(
    mode: str,
    file: str,
    *,
    source: str,
    reason: str | None,
    path: Path | None = None,
    found: os.stat_result | None = None,
) -> RecordReplayStatus:
    return RecordReplayStatus(
        mode=mode,
        file=file,
        path=None if path is None else str(path),
        source=source,
        valid=reason is None,
        file_exists=found is not None,
        size_bytes=None if found is None else found.st_size,
        reason=reason,
    )
