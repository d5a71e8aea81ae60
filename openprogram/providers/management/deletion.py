"""Removes managed recordings: one by its ID, or all that nobody has written to for a while."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from openprogram import _compat, _private_files, paths
from openprogram._private_files import Rule
from openprogram.errors import (
    FileLockedError,
    OpenProgramError,
    RecordingActiveError,
    RecordingError,
    UnsafeFileError,
    quoted,
)
from openprogram.providers import file_safety
from openprogram.providers.management.progress import counted
from openprogram.providers.management.selection import (
    not_found,
    read_active_identity,
    resolve_id,
)
from openprogram.providers.management.unlinking import unlink_open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

PruneAction: TypeAlias = Literal["deleted", "would_delete", "failed", "skipped"]
"""What became of an old recording; `would_delete` in a dry run only."""

_DAY_NANOSECONDS = 86_400 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    status: os.stat_result
    fd: int
    lock_fd: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedRecording:
    """A recording that is gone."""

    recording_id: str
    """Its ID."""
    path: Path
    """Where it was."""
    size_bytes: int
    """How big it was."""

    def to_json(self) -> dict[str, Any]:
        """Give the fields.

        Returns:
            A JSON object.
        """
        return asdict(self) | {"path": str(self.path)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedRecording:
    """What became of one old recording."""

    recording_id: str
    """The file's name without `.jsonl`."""
    action: PruneAction
    """What became of it."""
    reason: str | None
    """Why it was skipped or failed."""
    size_bytes: int
    """How big it is, or was."""

    def to_json(self) -> dict[str, Any]:
        """Give the stable fields.

        Returns:
            A JSON object.
        """
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneReport:
    """What pruning did, or in a dry run would do."""

    recordings: tuple[PrunedRecording, ...]
    """Every recording that is old enough, by name."""

    @property
    def matched_count(self) -> int:
        """How many are old enough and not to be skipped."""
        return len(self.recordings) - self.skipped_count

    @property
    def deleted_count(self) -> int:
        """How many are gone."""
        return self._count("deleted")

    @property
    def failed_count(self) -> int:
        """How many could not be deleted."""
        return self._count("failed")

    @property
    def skipped_count(self) -> int:
        """How many are old enough, but active, in use or not plain files."""
        return self._count("skipped")

    @property
    def freed_bytes(self) -> int:
        """How many bytes that freed, or in a dry run would free."""
        done = {"deleted", "would_delete"}
        return sum(row.size_bytes for row in self.recordings if row.action in done)

    def to_json(self) -> dict[str, Any]:
        """Give the stable fields.

        Returns:
            A JSON object.
        """
        return {
            "matched": self.matched_count,
            "deleted": self.deleted_count,
            "failed": self.failed_count,
            "skipped": self.skipped_count,
            "bytes": self.freed_bytes,
            "recordings": [row.to_json() for row in self.recordings],
        }

    def _count(self, action: PruneAction) -> int:
        return sum(row.action == action for row in self.recordings)


def delete_recording(recording_id: str) -> DeletedRecording:
    """Delete one managed recording, and its lock file.

    Args:
        recording_id: Its ID, with or without `.jsonl`; never a path.

    Returns:
        What is gone.

    Raises:
        InvalidSelectorError: It is no ID.
        RecordingNotFoundError: There is no such recording.
        RecordingActiveError: The settings use it.
        FileLockedError: Somebody is writing to it.
        UnsafeFileError: It is a link, has a second name, is no regular file, or another user's.
        RecordingError: The system does not let it go.
        ConfigError: The settings are broken, so nobody knows what is active.
    """
    path = resolve_id(recording_id)
    try:
        with (
            _private_files.parent_directory(path) as directory_fd,
            _held_alone(directory_fd, path) as held,
        ):
            _unlink(directory_fd, path, held)
    except FileNotFoundError as error:
        raise not_found(path) from error
    except OSError as error:
        message = (
            f"{quoted(str(path))}: cannot be deleted: {error.strerror}; "
            "see to its directory's permissions and disk"
        )
        raise RecordingError(message, path=path) from error
    return DeletedRecording(
        recording_id=path.name.removesuffix(file_safety.SUFFIX),
        path=path,
        size_bytes=held.status.st_size,
    )


def prune_recordings(
    *,
    older_than_days: int,
    dry_run: bool = False,
    on_progress: Callable[[int, int], object] | None = None,
) -> PruneReport:
    """Delete managed recordings that nobody has written to for a while, sound or not.

    The time of the last write counts, never what a header says. The active recording, one that is
    being written to, and whatever is not a plain file of this user are skipped. A failure does not
    end the work.

    Args:
        older_than_days: Whole days since the last write, at least 1.
        dry_run: Report what would go, and delete nothing.
        on_progress: Called before each recording with how many are done, and of how many.

    Returns:
        What became of each recording that is old enough.

    Raises:
        ValueError: `older_than_days` is below 1.
        UnsafeFileError: The recordings directory is a link, or another user's.
        ConfigError: The settings are broken, so nobody knows what is active.

    Example:
        >>> prune_recordings(older_than_days=30, dry_run=True).deleted_count
        0
    """
    if isinstance(older_than_days, bool) or older_than_days < 1:
        raise ValueError(f"older_than_days must be at least 1, not {quoted(older_than_days)}")
    read_active_identity()
    latest_ns = time.time_ns() - older_than_days * _DAY_NANOSECONDS
    root = paths.recordings_dir()
    try:
        directory_fd = _private_files.open_private_directory(root)
    except FileNotFoundError:
        return PruneReport(recordings=())
    try:
        names = file_safety.recording_names(directory_fd)
        rows = [
            _prune(directory_fd, root / name, latest_ns, dry_run=dry_run)
            for name in counted(names, on_progress)
        ]
    finally:
        os.close(directory_fd)
    return PruneReport(recordings=tuple(row for row in rows if row is not None))


def _prune(
    directory_fd: int, path: Path, latest_ns: int, *, dry_run: bool
) -> PrunedRecording | None:
    size_bytes, reason = 0, None
    action: PruneAction = "would_delete" if dry_run else "deleted"
    try:
        found = os.stat(path.name, dir_fd=directory_fd, follow_symlinks=False)
        if found.st_mtime_ns > latest_ns:
            return None
        size_bytes = found.st_size if stat.S_ISREG(found.st_mode) else 0
        with _held_alone(directory_fd, path) as held:
            if held.status.st_mtime_ns > latest_ns:
                return None
            if not dry_run:
                _unlink(directory_fd, path, held)
    except FileNotFoundError:
        # Somebody else deleted it just now.
        return None
    except (FileLockedError, RecordingActiveError, UnsafeFileError) as error:
        action, reason = "skipped", str(error)
    except (OpenProgramError, OSError) as error:
        action, reason = "failed", str(error)
    return PrunedRecording(
        recording_id=path.name.removesuffix(file_safety.SUFFIX),
        action=action,
        reason=reason,
        size_bytes=size_bytes,
    )


@contextlib.contextmanager
def _held_alone(directory_fd: int, path: Path) -> Generator[_Held]:
    """Hold a recording and its lock file exclusively; it may be removed as long as this lasts.

    Whether it is active is asked last: `prepare_replay` holds a shared lock until the settings name
    its recording, so by now they either do, or that call comes after us.
    """
    with contextlib.ExitStack() as stack:
        fd = _lock_alone(stack, directory_fd, path, path)
        lock_fd = None
        with contextlib.suppress(FileNotFoundError):
            lock_fd = _lock_alone(stack, directory_fd, file_safety.lock_path_of(path), path)
        status = os.fstat(fd)
        if status.st_nlink != 1:
            raise UnsafeFileError(path, Rule.HARD_LINKED, remedy=Rule.HARD_LINKED.remedy)
        if read_active_identity() == (status.st_dev, status.st_ino):
            raise RecordingActiveError(path)
        yield _Held(status=status, fd=fd, lock_fd=lock_fd)


def _lock_alone(stack: contextlib.ExitStack, directory_fd: int, path: Path, recording: Path) -> int:
    fd = _private_files.open_file_at(directory_fd, path, os.O_RDONLY)
    stack.callback(os.close, fd)
    try:
        _compat.lock_exclusive(fd, timeout_seconds=0)
    except BlockingIOError as error:
        raise FileLockedError(recording, holder="a running writer") from error
    found = os.stat(path.name, dir_fd=directory_fd, follow_symlinks=False)
    if (found.st_dev, found.st_ino) != (os.fstat(fd).st_dev, os.fstat(fd).st_ino):
        raise FileLockedError(recording, holder="whoever just replaced it")
    return fd


def _unlink(directory_fd: int, path: Path, held: _Held) -> None:
    if not unlink_open_file(directory_fd, path, held.fd):
        raise FileLockedError(path, holder="whoever just replaced it")
    if held.lock_fd is not None:
        # Only one that we hold: another may belong to whoever takes the name next.
        unlink_open_file(directory_fd, file_safety.lock_path_of(path), held.lock_fd)
    _compat.sync_directory(directory_fd)
