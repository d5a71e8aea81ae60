"""What a killed writer left in a recording, and how the next writer sets it right.

Nothing is thrown away: a torn last row moves to a file beside the recording, and a call without an
end gets one that says so. Both are done under the row lock, and the log tells of them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from typing import TYPE_CHECKING

from openprogram import _compat, _private_files
from openprogram.errors import RecordingFileError
from openprogram.providers import file_safety
from openprogram.providers.recording.format import RECORDING_FORMAT_VERSION, encode_row
from openprogram.providers.recording.reader import survey_rows

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.providers.recording.reader import Survey

_READ_BYTES = 1 << 20

_log = logging.getLogger(__name__)


def is_without_writer(fd: int) -> bool:
    """Say whether no living sink holds the recording; the answer holds while this lock is kept.

    Args:
        fd: The recording, not locked by this descriptor.

    Returns:
        True when the exclusive lock was free; it is then held.
    """
    try:
        _compat.lock_exclusive(fd, timeout_seconds=0)
    except BlockingIOError:
        return False
    return True


def survey(path: Path, fd: int) -> Survey:
    """Judge a file before the first append to it.

    Args:
        path: The recording.
        fd: The same, open.

    Returns:
        What stands in it.

    Raises:
        RecordingFileError: It holds something that no crash of a writer explains, or is of a format
            version that is read but not written.
    """
    found = survey_rows(fd, path)
    if found.format_version not in {None, RECORDING_FORMAT_VERSION}:
        raise RecordingFileError(
            path,
            "unsupported_version",
            f"format version {found.format_version} is read but not written; "
            "record under another name",
            line_number=1,
        )
    return found


def move_torn_tail(path: Path, fd: int, found: Survey) -> Path:
    """Move a row that was never finished out of the recording, into a file beside it.

    Args:
        path: The recording.
        fd: The same, open for writing; its row lock is held.
        found: Where its sound part ends.

    Returns:
        The file that holds the torn row now, 0600.

    Raises:
        OSError: It could not be copied; it is where it was, and there is no copy.
        UnsafeFileError: The directory of the recording, or a file made in it, breaks a rule.
    """
    target = file_safety.path_beside(path, f".torn-{secrets.token_hex(4)}")
    copy_fd = _private_files.open_private_file(
        target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, tighten=True
    )
    try:
        _copy_torn_tail(fd, copy_fd, found)
    except BaseException:
        # Half a copy is evidence of nothing, and each attempt on a full disk would leave one.
        with contextlib.suppress(OSError):
            target.unlink()
        raise
    finally:
        os.close(copy_fd)
    os.ftruncate(fd, found.end)
    _log.warning(
        "%r ended in a torn row of %d bytes, which a killed writer left; it is in %r now",
        str(path),
        found.torn_bytes,
        target.name,
    )
    return target


def _copy_torn_tail(fd: int, copy_fd: int, found: Survey) -> None:
    at, end = found.end, found.end + found.torn_bytes
    while at < end:
        piece = os.pread(fd, min(_READ_BYTES, end - at), at)
        if not piece:
            break
        _private_files.write_all(copy_fd, piece)
        at += len(piece)
    os.fsync(copy_fd)


def abandoned_rows(path: Path, found: Survey) -> list[bytes]:
    """Write the ends of calls whose writer is gone.

    Args:
        path: The recording, for the log.
        found: Which calls have no end.

    Returns:
        One `call_end` row each, in the order of the calls.
    """
    indexes = sorted(found.open_calls)
    if indexes:
        named = ", ".join(map(str, indexes))
        _log.warning("%r: the writer of call %s is gone; marked as abandoned", str(path), named)
    return [
        encode_row(
            {
                "type": "call_end",
                "call_index": index,
                "event_count": found.open_calls[index],
                "outcome": "abandoned",
            }
        )
        for index in indexes
    ]
