"""Takes the name of an open file away, and never that of another file that took its place.

No system call removes a name only while it still means a certain file. So the name is moved aside
first, where nobody else looks for it, and what it means is seen there before anything is removed.
"""

from __future__ import annotations

import os
import secrets
import stat
from typing import TYPE_CHECKING

from openprogram.errors import RecordingError, quoted

if TYPE_CHECKING:
    from pathlib import Path


def unlink_open_file(directory_fd: int, path: Path, fd: int) -> bool:
    """Remove a file by its name, if the name still means the file that is open.

    Args:
        directory_fd: The open directory of the file.
        path: The file; only its last name is used, the rest serves the message.
        fd: The file, open.

    Returns:
        False when the name is gone or means another file, which keeps it.

    Raises:
        RecordingError: Another file stood there, and the name was taken again before that could get
            it back; the message says where it is now.
        OSError: The directory lets nothing be moved or removed.
    """
    aside = f".gone-{secrets.token_hex(8)}"
    try:
        os.rename(path.name, aside, src_dir_fd=directory_fd, dst_dir_fd=directory_fd)
    except FileNotFoundError:
        return False
    found = os.stat(aside, dir_fd=directory_fd, follow_symlinks=False)
    known = os.fstat(fd)
    if (found.st_dev, found.st_ino) == (known.st_dev, known.st_ino):
        try:
            os.unlink(aside, dir_fd=directory_fd)
        except OSError:
            _give_back(directory_fd, aside, path.name, found)
            raise
        return True
    try:
        _give_back(directory_fd, aside, path.name, found)
    except OSError as error:
        place = quoted(str(path.with_name(aside)))
        message = f"{quoted(str(path))}: was replaced just now, twice; one file is {place} now"
        raise RecordingError(f"{message}: move it where it belongs", path=path) from error
    return False


def _give_back(directory_fd: int, aside: str, name: str, found: os.stat_result) -> None:
    """Let a file have its name again, without replacing what may have got it since."""
    places = {"src_dir_fd": directory_fd, "dst_dir_fd": directory_fd}
    if not stat.S_ISDIR(found.st_mode):
        os.link(aside, name, **places, follow_symlinks=False)
        os.unlink(aside, dir_fd=directory_fd)
        return
    # A directory has no second name, and never replaces a file.
    os.rename(aside, name, **places)  # noqa: PTH104 - in a directory that is open already
