"""Takes the name of an open file away, and never that of another file that took its place.

No system call removes a name only while it still means a certain file. So the name is moved aside
first, where nobody else looks for it, and what it means is seen there before anything is removed.
The name aside of a recording is that of a recording: should the process be killed in between, every
command shows it.
"""

from __future__ import annotations

import os
import secrets
import stat
from typing import TYPE_CHECKING

from openprogram.errors import RecordingError, quoted
from openprogram.providers import file_safety

if TYPE_CHECKING:
    from pathlib import Path


def unlink_open_file(directory_fd: int, path: Path, fd: int) -> bool:
    """Remove a file by its name, if the name still means the file that is open.

    Whatever ends this early, Ctrl-C too, gives the file its name back.

    Args:
        directory_fd: The open directory of the file.
        path: The file; only its last name is used, the rest serves the message.
        fd: The file, open.

    Returns:
        False when the name is gone or means another file, which keeps it.

    Raises:
        RecordingError: A file was moved aside and could not get its name back; the message says
            where it is now.
        OSError: The directory lets nothing be moved or removed.
    """
    aside = _path_aside(path)
    try:
        os.rename(path.name, aside.name, src_dir_fd=directory_fd, dst_dir_fd=directory_fd)
        found = os.stat(aside.name, dir_fd=directory_fd, follow_symlinks=False)
        known = os.fstat(fd)
        if (found.st_dev, found.st_ino) == (known.st_dev, known.st_ino):
            os.unlink(aside.name, dir_fd=directory_fd)
            return True
    except FileNotFoundError:
        return False
    except BaseException:
        _give_back(directory_fd, aside, path)
        raise
    _give_back(directory_fd, aside, path)
    return False


def _path_aside(path: Path) -> Path:
    ending = f".gone-{secrets.token_hex(4)}"
    if path.suffix != file_safety.SUFFIX:
        return file_safety.path_beside(path, ending)
    return file_safety.path_beside(path.with_suffix(""), f"{ending}{file_safety.SUFFIX}")


def _give_back(directory_fd: int, aside: Path, path: Path) -> None:
    """Let a file have its name again, without replacing what may have got it since."""
    places = {"src_dir_fd": directory_fd, "dst_dir_fd": directory_fd}
    try:
        found = os.stat(aside.name, dir_fd=directory_fd, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            # A directory has no second name, and never replaces a file.
            os.rename(aside.name, path.name, **places)  # noqa: PTH104 - in an open directory
        else:
            os.link(aside.name, path.name, **places, follow_symlinks=False)
            os.unlink(aside.name, dir_fd=directory_fd)
    except FileNotFoundError:
        # It was not moved, or is removed already.
        return
    except OSError as error:
        message = (
            f"{quoted(str(path))}: what stood here could not get its name back: {error.strerror}; "
            f"it is {quoted(str(aside))} now: move it where it belongs"
        )
        raise RecordingError(message, path=path) from error
