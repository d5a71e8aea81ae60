"""What depends on the operating system: advisory locks, and syncing a directory.

A lock belongs to the open file description, not to the process: two descriptors opened apart
exclude each other inside one process too, and a lock ends when its last descriptor is closed.
"""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FIRST_PAUSE_SECONDS = 0.0005
_LONGEST_PAUSE_SECONDS = 0.02


def lock_exclusive(fd: int, *, timeout_seconds: float | None) -> None:
    """Take the exclusive lock of an open file.

    Changing a shared lock into an exclusive one is not atomic: when it fails, the shared one may be
    gone too. Keep one descriptor for each.

    Args:
        fd: An open descriptor of a regular file.
        timeout_seconds: How long to wait; 0 tries once, None waits for ever.

    Raises:
        BlockingIOError: Somebody else holds a lock, and the time is up.
    """
    _lock(fd, fcntl.LOCK_EX, timeout_seconds)


def lock_shared(fd: int, *, timeout_seconds: float | None) -> None:
    """Take a shared lock of an open file.

    Args:
        fd: An open descriptor of a regular file.
        timeout_seconds: How long to wait; 0 tries once, None waits for ever.

    Raises:
        BlockingIOError: Somebody else holds the exclusive lock, and the time is up.
    """
    _lock(fd, fcntl.LOCK_SH, timeout_seconds)


def unlock(fd: int) -> None:
    """Let go of whatever lock this open file holds; holding none is fine.

    Args:
        fd: An open descriptor of a regular file.
    """
    fcntl.flock(fd, fcntl.LOCK_UN)


def sync_directory(path_or_fd: Path | int) -> None:
    """Make the names in a directory survive a power cut.

    Args:
        path_or_fd: The directory, or an open descriptor of it.
    """
    if isinstance(path_or_fd, int):
        os.fsync(path_or_fd)
        return
    fd = os.open(path_or_fd, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _lock(fd: int, operation: int, timeout_seconds: float | None) -> None:
    if timeout_seconds is None:
        fcntl.flock(fd, operation)
        return
    # flock has no time-out of its own, and a signal-based one would not work in threads.
    deadline = time.monotonic() + timeout_seconds
    pause_seconds = _FIRST_PAUSE_SECONDS
    while True:
        try:
            fcntl.flock(fd, operation | fcntl.LOCK_NB)
        except BlockingIOError:
            left_seconds = deadline - time.monotonic()
            if left_seconds <= 0:
                raise
            time.sleep(min(pause_seconds, left_seconds))
            pause_seconds = min(pause_seconds * 2, _LONGEST_PAUSE_SECONDS)
        else:
            return
