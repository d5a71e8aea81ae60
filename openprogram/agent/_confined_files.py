"""Files below a root that nothing leads out of, opened without following a link.

Each directory is opened relative to the one above it, so a path stays below the root whatever
changes on disk meanwhile. FIFOs, devices and sockets are not opened.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING

from openprogram.errors import ToolError, quoted

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@contextlib.contextmanager
def opened_directory(root: Path, path: str) -> Generator[int]:
    """Hold a directory open.

    Args:
        root: The directory that nothing leads out of.
        path: Relative to it, with `/` between names.

    Yields:
        A descriptor.

    Raises:
        ToolError: There is no such directory, or the path breaks a rule.
    """
    with _tool_errors(path), _directory(root, _names_in(path), path) as fd:
        yield fd


def read_regular_file(root: Path, path: str, *, limit_bytes: int) -> tuple[bytes, int]:
    """Read the beginning of a file.

    Args:
        root: The directory that nothing leads out of.
        path: Relative to it, with `/` between names.
        limit_bytes: How much to read at most.

    Returns:
        The bytes, and the size of the whole file in bytes.

    Raises:
        ToolError: There is no such regular file, or the path breaks a rule.
    """
    *above, name = _names_in(path) or [""]
    if not name:
        raise ToolError(f"{quoted(path)}: a directory; use list_dir")
    with _tool_errors(path), _directory(root, above, path) as directory_fd:
        fd = _open_regular(directory_fd, name, path)
        try:
            return _read_at_most(fd, limit_bytes), os.fstat(fd).st_size
        finally:
            os.close(fd)


def open_root(root: Path) -> int:
    """Open the root itself.

    Args:
        root: A directory; it may be a link.

    Returns:
        A descriptor; the caller closes it.

    Raises:
        OSError: It is no directory that can be opened.
    """
    return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _names_in(path: str) -> list[str]:
    """Split a path into names below the root; `..` is taken by its spelling, as no link counts."""
    if path.startswith("/"):
        raise ToolError(f"{quoted(path)}: absolute; give a path relative to the workspace")
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if not names:
                raise ToolError(f"{quoted(path)}: leads out of the workspace; stay below it")
            names.pop()
        elif name not in {"", "."}:
            names.append(name)
    return names


@contextlib.contextmanager
def _tool_errors(path: str) -> Generator[None]:
    """Say in words what the operating system refuses."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise ToolError(f"{quoted(path)}: {reason}") from error
    except ValueError as error:
        # A NUL or a lone surrogate in the path.
        raise ToolError(f"{quoted(path)}: no file can have this name") from error


@contextlib.contextmanager
def _directory(root: Path, names: list[str], path: str) -> Generator[int]:
    """Hold a directory open that was reached from the root without following a link."""
    fd = open_root(root)
    try:
        for name in names:
            _refuse_link(fd, name, path)
            below = os.open(name, _DIRECTORY_FLAGS, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def _open_regular(directory_fd: int, name: str, path: str) -> int:
    # Looked at before it is opened, as opening a device can do something; and again afterwards.
    _require_regular(_refuse_link(directory_fd, name, path), path)
    fd = os.open(name, _FILE_FLAGS, dir_fd=directory_fd)
    try:
        _require_regular(os.fstat(fd), path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _refuse_link(directory_fd: int, name: str, path: str) -> os.stat_result:
    """Say so where a link stands; one that is planted later is refused by O_NOFOLLOW."""
    found = os.stat(name, dir_fd=directory_fd, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        raise ToolError(f"{quoted(path)}: {quoted(name)} is a link, which is not followed here")
    return found


def _require_regular(found: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise ToolError(f"{quoted(path)}: a directory; use list_dir")
    if not stat.S_ISREG(found.st_mode):
        raise ToolError(f"{quoted(path)}: not a regular file")


def _read_at_most(fd: int, limit_bytes: int) -> bytes:
    pieces: list[bytes] = []
    while limit_bytes and (piece := os.read(fd, limit_bytes)):
        pieces.append(piece)
        limit_bytes -= len(piece)
    return b"".join(pieces)
