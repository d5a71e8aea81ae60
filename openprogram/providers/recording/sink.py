"""Where the rows of a recording go: one file, many threads and processes, nothing lost or torn.

A sink holds a shared lock on the recording for its whole life, so that whoever wants to delete it
sees a living writer, and an exclusive lock on the lock file beside it for each append. The call
index is given under that lock from what others have appended since; the file is never read again
from its start.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from openprogram import _compat, _private_files
from openprogram.errors import (
    ConfigError,
    FileLockedError,
    RecordingError,
    RecordingFileError,
    RecordingWriteError,
    UnsafeFileError,
)
from openprogram.providers import file_safety
from openprogram.providers.recording.format import RowError, encode_header, encode_row
from openprogram.providers.recording.leftovers import (
    abandoned_rows,
    is_without_writer,
    move_torn_tail,
    survey,
)
from openprogram.providers.recording.reader import survey_rows
from openprogram.providers.recording.redaction import REDACTION_VERSION

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from openprogram.providers.recording.call_rows import SnapshotForm
    from openprogram.providers.recording.reader import Survey

DEFAULT_LOCK_TIMEOUT_SECONDS = 30.0
"""How long an append waits for other writers before it fails."""

_LOCK_ATTEMPTS = 16

_log = logging.getLogger(__name__)


class RecordingSink:
    """An open recording to append to; one sink may serve any number of threads.

    Args:
        path: The recording; made with its header when it is not there yet.
        snapshots: The form in which callers should write snapshots, for `RecordingProvider`.
        lock_timeout_seconds: How long an append waits for other writers.

    Raises:
        RecordingFileError: What stands in the file is not a sound recording.
        UnsafeFileError: The file breaks an ownership or link rule.
        RecordingWriteError: The header cannot be written.
        FileLockedError: Another process holds the file for longer than the limit.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        snapshots: SnapshotForm = "derived",
        lock_timeout_seconds: float = DEFAULT_LOCK_TIMEOUT_SECONDS,
    ) -> None:
        self.path = file_safety.absolute_path(path)
        """The recording, absolute."""
        self.snapshots: SnapshotForm = snapshots
        """How snapshots are written: `derived` or `full`."""
        self.lock_timeout_seconds = lock_timeout_seconds
        """How long an append waits for other writers, in seconds."""
        # Every append looks at it; naming it anew each time took a tenth of an append.
        self._lock_path = file_safety.lock_path_of(self.path)
        self._thread_lock = threading.RLock()
        self._descriptors: list[int] = []
        self._close_descriptors = weakref.finalize(self, _close_all, self._descriptors)
        self._owed_rows: dict[int, bytes] = {}
        # Apart from the thread lock, which a thread may hold while it waits for another process.
        self._owed_lock = threading.Lock()
        self._next_call_index = 0
        self._end = 0
        self._open()

    def begin_call(self, request: dict[str, Any], *, timeout_seconds: float | None = None) -> int:
        """Write a request row and give the call its place.

        Args:
            request: `model`, `context` and `options` as JSON values, secrets removed.
            timeout_seconds: How long to wait for other writers; None means the sink's own limit.

        Returns:
            The call index.

        Raises:
            BlockingIOError: The limit passed while another writer held the file.
            RecordingWriteError: The row could not be written; the file is as it was.
        """
        for name in ("model", "context"):
            # A reader would refuse the row, and with it the whole recording.
            if not isinstance(request.get(name), dict):
                raise RecordingWriteError(
                    self.path, f"cannot hold a request whose {name} is no object; nothing was added"
                )
        with self._exclusive(timeout_seconds):
            self._catch_up()
            index = self._next_call_index
            self._append([self._encode_request(index, request)])
            self._next_call_index = index + 1
            return index

    def append_rows(
        self,
        rows: Sequence[bytes],
        *,
        is_call_end: bool = False,
        timeout_seconds: float | None = None,
    ) -> None:
        """Append whole rows.

        Args:
            rows: Lines as `encode_row` makes them.
            is_call_end: Whether the last row ends a call: the file is then synced to the disk.
            timeout_seconds: How long to wait for other writers; None means the sink's own limit.

        Raises:
            BlockingIOError: The limit passed while another writer held the file.
            RecordingWriteError: The rows could not be written; the file is as it was.
        """
        with self._exclusive(timeout_seconds):
            self._catch_up()
            self._append(rows, sync=is_call_end)

    def owe_call_end(self, call_index: int, row: bytes) -> None:
        """Keep the last row of a call that could not be written, for the next append.

        Args:
            call_index: The call.
            row: Its `call_end` row.
        """
        with self._owed_lock:
            self._owed_rows[call_index] = row

    def close(self) -> None:
        """Let go of the file and its locks; a second call does nothing."""
        with self._thread_lock:
            if self._owed_rows and self._descriptors:
                self._pay_owed_rows()
            self._close_descriptors()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self) -> None:
        opened = file_safety.open_recording_for_append(self.path, create=True)
        self._descriptors.append(opened.fd)
        self._identity = (opened.device, opened.inode)
        self._process_id = os.getpid()
        try:
            self._descriptors.append(file_safety.open_lock_file(self.path))
            with self._exclusive(None):
                self._settle()
        except BlockingIOError as error:
            self.close()
            raise FileLockedError(self.path, holder="another writer") from error
        except BaseException:
            self.close()
            raise

    def _settle(self) -> None:
        """Write the header, or judge what stands in the file and set a dead writer's rest right."""
        fd = self._descriptors[0]
        is_alone = is_without_writer(fd)
        self._check_identity()
        rows: list[bytes] = []
        size = os.fstat(fd).st_size
        if size:
            found = survey(self.path, fd)
            self._set_torn_tail_aside(found)
            if is_alone:
                rows = abandoned_rows(self.path, found)
            self._next_call_index = found.call_count
            size = found.end
        if not size:
            name = self.path.name.removesuffix(file_safety.SUFFIX)
            rows = [encode_header(name, redaction_version=REDACTION_VERSION)]
        if rows:
            self._append(rows, sync=True)
        self._end = os.fstat(fd).st_size
        _compat.lock_shared(fd, timeout_seconds=self.lock_timeout_seconds)

    @contextlib.contextmanager
    def _exclusive(self, timeout_seconds: float | None) -> Generator[None]:
        """Hold the thread lock and the row lock, or raise BlockingIOError at the limit."""
        limit = self.lock_timeout_seconds if timeout_seconds is None else timeout_seconds
        if os.getpid() != self._process_id:
            self._reopen_after_fork(limit)
        started = time.monotonic()
        if (
            not self._thread_lock.acquire(timeout=limit)
            if limit
            else not (self._thread_lock.acquire(blocking=False))
        ):
            raise BlockingIOError(errno.EAGAIN, "another thread is writing")
        try:
            if not self._descriptors:
                raise RecordingWriteError(self.path, "the sink is closed")
            rest = max(0.0, limit - (time.monotonic() - started)) if limit else 0.0
            lock_fd = self._lock_rows(rest)
            try:
                yield
            finally:
                self._unlock(lock_fd)
        except BlockingIOError:
            raise
        except OSError as error:
            # A file system without locks, or one that went away.
            raise RecordingWriteError(
                self.path,
                f"cannot be locked or looked at ({os.strerror(error.errno or 0)}); "
                "record on a local file system",
            ) from error
        finally:
            self._thread_lock.release()

    def _unlock(self, lock_fd: int) -> None:
        try:
            _compat.unlock(lock_fd)
        except OSError as error:
            # The rows are written: to fail now would have them written or counted again.
            _log.warning(
                "%r: other writers wait until this one ends, its lock cannot be let go (%s)",
                str(self.path),
                os.strerror(error.errno or 0),
            )

    def _lock_rows(self, timeout_seconds: float) -> int:
        """Lock the file that the name of the lock file means now.

        Somebody may have removed it: whoever came later would lock another file, and write at the
        same time.
        """
        for _ in range(_LOCK_ATTEMPTS):
            lock_fd = self._descriptors[1]
            _compat.lock_exclusive(lock_fd, timeout_seconds=timeout_seconds)
            if file_safety.is_same_file(lock_fd, self._lock_path):
                return lock_fd
            _compat.unlock(lock_fd)
            # Together with the recording the lock file goes for good.
            self._check_identity()
            self._descriptors[1] = self._open_lock_file()
            os.close(lock_fd)
        raise BlockingIOError(errno.EAGAIN, "the lock file comes and goes")

    def _open_lock_file(self) -> int:
        try:
            return file_safety.open_lock_file(self.path)
        except RecordingFileError as error:
            raise RecordingWriteError(
                self.path, f"its lock file is gone and cannot be made anew: {error.reason}"
            ) from error
        except ConfigError as error:
            raise RecordingWriteError(
                self.path, f"its lock file is gone and cannot be made anew: {error}"
            ) from error

    def _reopen_after_fork(self, timeout_seconds: float) -> None:
        # A forked child shares its parent's descriptors, and with them its locks; it needs its own.
        # The locks of threads may be held by a thread that does not exist here.
        self._thread_lock, self._owed_lock = threading.RLock(), threading.Lock()
        self._close_descriptors.detach()
        _close_all(self._descriptors)
        self._descriptors: list[int] = []
        self._close_descriptors = weakref.finalize(self, _close_all, self._descriptors)
        self._owed_rows.clear()
        try:
            opened = file_safety.open_recording_for_append(self.path, create=False)
            self._descriptors.append(opened.fd)
            self._require_identity(opened.device, opened.inode)
            self._descriptors.append(file_safety.open_lock_file(self.path))
            _compat.lock_shared(opened.fd, timeout_seconds=timeout_seconds)
        except BaseException as error:
            # The next call tries again, and meets the same error, or none.
            _close_all(self._descriptors)
            if isinstance(error, RecordingError | ConfigError | OSError) and not isinstance(
                error, BlockingIOError | RecordingWriteError
            ):
                raise RecordingWriteError(
                    self.path, f"cannot be opened in a forked process: {error}"
                ) from error
            raise
        self._process_id = os.getpid()

    def _encode_request(self, call_index: int, request: dict[str, Any]) -> bytes:
        try:
            return encode_row({"type": "request", "call_index": call_index, **request})
        except RowError as error:
            raise RecordingWriteError(
                self.path, f"cannot hold this request: {error.reason}; nothing was added"
            ) from error

    def _append(self, rows: Sequence[bytes], *, sync: bool = False) -> None:
        """Write all of these rows and those that are owed, or none."""
        fd = self._descriptors[0]
        start = os.fstat(fd).st_size
        with self._owed_lock:
            owed = dict(self._owed_rows)
        data = b"".join([*owed.values(), *rows])
        try:
            _private_files.write_all(fd, data)
            if sync:
                os.fsync(fd)
            with self._owed_lock:
                for call_index in owed:
                    del self._owed_rows[call_index]
        except OSError as error:
            self._roll_back(start)
            raise RecordingWriteError(
                self.path, f"cannot write ({os.strerror(error.errno or 0)}); nothing was added"
            ) from error
        except BaseException:
            # Ctrl-C between two steps.
            self._roll_back(start)
            raise
        self._end = start + len(data)

    def _roll_back(self, size_bytes: int) -> None:
        fd = self._descriptors[0]
        with contextlib.suppress(OSError):
            os.ftruncate(fd, size_bytes)
        if os.fstat(fd).st_size != size_bytes:
            _log.error("a half-written row could not be taken back from %r", str(self.path))

    def _check_identity(self) -> None:
        try:
            found = self.path.lstat()
        except OSError as error:
            raise RecordingWriteError(
                self.path, "was removed or moved while it was being recorded"
            ) from error
        self._require_identity(found.st_dev, found.st_ino)

    def _require_identity(self, device: int, inode: int) -> None:
        if (device, inode) != self._identity:
            raise RecordingWriteError(self.path, "was replaced while it was being recorded")

    def _catch_up(self) -> None:
        """Make sure that the file is the same, and read what others appended since, only that."""
        self._check_identity()
        fd = self._descriptors[0]
        size = os.fstat(fd).st_size
        if size == self._end:
            return
        if size < self._end:
            raise RecordingWriteError(self.path, "was truncated while it was being recorded")
        try:
            news = survey_rows(
                fd, self.path, offset=self._end, next_call_index=self._next_call_index
            )
        except RecordingFileError as error:
            raise RecordingWriteError(
                self.path, f"was changed by something else: {error.reason}"
            ) from error
        self._set_torn_tail_aside(news)
        self._next_call_index = news.call_count
        self._end = news.end

    def _pay_owed_rows(self) -> None:
        try:
            self.append_rows([], is_call_end=True)
        except (BlockingIOError, RecordingWriteError) as error:
            # The next writer finds these calls without an end, and says that they were abandoned.
            _log.warning(
                "%d calls of %r stay without an end: %s",
                len(self._owed_rows),
                str(self.path),
                error,
            )

    def _set_torn_tail_aside(self, found: Survey) -> None:
        if not found.torn_bytes:
            return
        try:
            move_torn_tail(self.path, self._descriptors[0], found)
        except (OSError, UnsafeFileError, ConfigError) as error:
            reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
            raise RecordingWriteError(
                self.path, f"cannot set its torn last row aside ({reason})"
            ) from error


def _close_all(descriptors: list[int]) -> None:
    while descriptors:
        with contextlib.suppress(OSError):
            os.close(descriptors.pop())
