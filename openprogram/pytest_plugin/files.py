"""Puts a test's recording in its place, and reads it from nowhere else."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from openprogram.errors import OpenProgramError, ascii_if_unprintable

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIRECTORY_MODE = 0o755
_FILE_MODE = 0o600


class RecordingPlaceError(OpenProgramError):
    """A recording cannot stand where its test's is looked for."""

    def __init__(self, path: Path, rule: str) -> None:
        super().__init__(f"{shown(path)}: {rule}")
        self.path = path
        """The recording, or the folder above it that is at fault."""


def shown(path: Path) -> str:
    """Show a path in a message, whatever characters it has.

    Args:
        path: Any path.
    """
    return ascii_if_unprintable(str(path))


def require_no_link(path: Path, root: Path) -> None:
    """Refuse a recording that a link below the tests' folder leads to.

    Args:
        path: The recording; it need not be there.
        root: The folder of the test file, which may itself be reached over links.

    Raises:
        RecordingPlaceError: A folder on the way, or the file, is a symbolic link or no folder.
    """
    for part in _parts_below(path, root):
        if part.is_symlink():
            raise RecordingPlaceError(
                part, "is a symbolic link; recordings are neither read nor written through one"
            )
        if part != path and part.exists() and not part.is_dir():
            raise RecordingPlaceError(part, "is no folder; move it away, or name another path")


def _parts_below(path: Path, root: Path) -> Iterator[Path]:
    place = root
    for name in path.relative_to(root).parts:
        place = place / name
        yield place


def make_private(path: Path) -> None:
    """Take others' rights from a file that a version control system wrote; its bytes stay.

    A file that cannot be changed is left for the replay, which says what is wrong with it.

    Args:
        path: The recording.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        found = os.fstat(fd)
        is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if is_own and found.st_nlink == 1 and found.st_mode & 0o077:
            os.fchmod(fd, _FILE_MODE)
    except OSError:
        return
    finally:
        os.close(fd)


def put_in_place(source: Path, target: Path, root: Path) -> None:
    """Copy a whole recording to its place, at once.

    Args:
        source: The recording as it was made.
        target: Its place; what stands there is replaced.
        root: The folder of the test file.

    Raises:
        RecordingPlaceError: The place cannot be written; the source is as it was.
    """
    require_no_link(target, root)
    name = ""
    try:
        target.parent.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".new")
        with os.fdopen(descriptor, "wb") as file:
            file.write(source.read_bytes())
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
        name = ""
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise RecordingPlaceError(target, f"cannot be written ({reason})") from error
    finally:
        if name:
            Path(name).unlink(missing_ok=True)
