"""Owner-only files and directories, opened without ever following a link that somebody planted.

The state directory itself is taken as the user gave it. Below it each directory is opened relative
to the one above, links refused, so nothing can be swapped between a check and its use. A path
outside the state directory takes its parent as it is, and only the last name is guarded.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from openprogram import _compat, paths
from openprogram.errors import ConfigError, FileLockedError, UnsafeFileError, quoted

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path
    from types import TracebackType

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_READ_BYTES = 1 << 20
_ANOTHER_STATE = "set OPENPROGRAM_STATE_DIR to another directory"


class Rule(StrEnum):
    """What an unsafe file breaks; the words stand in `UnsafeFileError.rule`.

    `remedy` says what to do about it.
    """

    SYMLINK = "a symbolic link, which is not followed here"
    NOT_REGULAR = "not a regular file"
    NOT_A_DIRECTORY = "not a directory"
    NOT_OWNED = "owned by another user"
    HARD_LINKED = "a file with a second name (a hard link)"
    MODE = "readable or writable by others"

    @property
    def remedy(self) -> str:
        """What to do about it, in words, where nothing better is known."""
        return _REMEDIES[self]


_REMEDIES = {
    Rule.SYMLINK: "put the file itself there, or move the link away",
    Rule.NOT_REGULAR: "move it away; a plain file belongs there",
    Rule.NOT_A_DIRECTORY: "move it away; a directory belongs there",
    Rule.NOT_OWNED: "copy it, and use the copy, or act as its owner",
    Rule.HARD_LINKED: "copy it, and put the copy in its place",
    Rule.MODE: "make its mode 0600, for a directory 0700",
}


def is_in_state_dir(path: Path) -> bool:
    """Say whether the rules of the state directory hold for a path.

    Args:
        path: Any path; it is judged by its spelling, and no file is looked at.

    Returns:
        Whether it is the state directory or lies in it.
    """
    return paths.absolute_path(path).is_relative_to(paths.state_dir())


def ensure_private_directory(path: Path) -> int:
    """Make a directory that only its owner can enter, or tighten the one that is there.

    Args:
        path: The directory. In the state directory whatever is missing on the way is made, 0700
            whatever the umask, and every level is tightened; elsewhere the parent must be there.

    Returns:
        An open descriptor of the directory; the caller closes it.

    Raises:
        UnsafeFileError: It, or a directory between the state directory and it, is a link, is no
            directory, belongs to somebody else, or stays open to others.
        ConfigError: The state directory can be neither made nor opened.
    """
    return _open_directory(path, create=True)


def open_private_directory(path: Path) -> int:
    """Open a directory that must be there; changes nothing.

    Args:
        path: The directory.

    Returns:
        An open descriptor of the directory; the caller closes it.

    Raises:
        FileNotFoundError: There is none.
        UnsafeFileError: It, or a directory between the state directory and it, is a link, is no
            directory, or belongs to somebody else.
    """
    return _open_directory(path, create=False)


def open_private_file(
    path: Path,
    flags: int,
    *,
    must_own: bool = True,
    tighten: bool = False,
) -> int:
    """Open a regular file without following a link; a FIFO or a device never makes it wait.

    Args:
        path: The file; its directory must be there.
        flags: As for `os.open`; links are refused and the descriptor closed on exec in any case.
            A file that `O_CREAT` makes is 0600, less what the umask takes.
        must_own: Refuse a file of another user.
        tighten: Make the mode exactly 0600, and refuse the file when that cannot be.

    Returns:
        An open descriptor; the caller closes it.

    Raises:
        FileNotFoundError: There is no such file, or no such directory.
        FileExistsError: `O_EXCL` was asked and the name is taken.
        UnsafeFileError: The file, or its directory, breaks a rule.
    """
    with parent_directory(path) as directory_fd:
        return open_file_at(
            directory_fd,
            path,
            flags,
            must_own=must_own,
            tighten=tighten,
        )


def open_file_at(
    directory_fd: int,
    path: Path,
    flags: int,
    *,
    must_own: bool = True,
    tighten: bool = False,
) -> int:
    """Do what `open_private_file` does, in a directory that is open already.

    Args:
        directory_fd: The directory.
        path: The file; only its last name is opened, the rest serves the messages.
        flags: As for `os.open`.
        must_own: Refuse a file of another user.
        tighten: Make the mode exactly 0600, and refuse the file when that cannot be.

    Returns:
        An open descriptor; the caller closes it.

    Raises:
        FileNotFoundError: There is no such file.
        FileExistsError: `O_EXCL` was asked and the name is taken.
        UnsafeFileError: The file breaks a rule.
    """
    try:
        fd = os.open(path.name, flags | _FILE_FLAGS, FILE_MODE, dir_fd=directory_fd)
    except OSError as error:
        rule = _rule_behind(error)
        if rule is None:
            raise
        raise UnsafeFileError(path, rule, remedy=rule.remedy) from error
    try:
        _require_regular(fd, path, must_own=must_own)
        if tighten:
            tighten_mode(fd, path, FILE_MODE)
    except BaseException:
        os.close(fd)
        raise
    return fd


@contextlib.contextmanager
def parent_directory(path: Path) -> Generator[int]:
    """Hold the directory of a file open, reached without following a link below the state.

    Args:
        path: The file; it need not be there.

    Yields:
        A descriptor of its directory.

    Raises:
        FileNotFoundError: There is no such directory.
        UnsafeFileError: A directory on the way breaks a rule.
    """
    parent = paths.absolute_path(path).parent
    fd = open_private_directory(parent) if is_in_state_dir(path) else _open_anchor(parent)
    try:
        yield fd
    finally:
        os.close(fd)


def tighten_mode(fd: int, path: Path, mode: int) -> None:
    """Give an open file or directory exactly this mode, and make sure that it stuck.

    Args:
        fd: The open file.
        path: Its path, for the message.
        mode: The permission bits.

    Raises:
        UnsafeFileError: The mode could not be set, or the file system ignores modes.
    """
    if stat.S_IMODE(os.fstat(fd).st_mode) == mode:
        return
    try:
        os.fchmod(fd, mode)
    except OSError as error:
        raise UnsafeFileError(path, Rule.MODE, remedy=f"make its mode {mode:04o}") from error
    if stat.S_IMODE(os.fstat(fd).st_mode) != mode:
        raise UnsafeFileError(
            path,
            Rule.MODE,
            remedy=f"its file system does not keep the mode {mode:04o}; use another",
        )


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write everything, however many writes it takes.

    Args:
        fd: An open descriptor in blocking mode.
        data: What to write.

    Raises:
        OSError: A write failed; what was written before stays.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def read_file(path: Path) -> bytes:
    """Read an own file whole; changes nothing.

    Args:
        path: The file.

    Returns:
        Its bytes.

    Raises:
        FileNotFoundError: There is none.
        UnsafeFileError: It is a link, no regular file, or another user's.
    """
    fd = open_private_file(path, os.O_RDONLY)
    try:
        pieces: list[bytes] = []
        while piece := os.read(fd, _READ_BYTES):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(fd)


def replace_file(path: Path, data: bytes) -> None:
    """Give a file new content: whoever reads it sees the old whole or the new whole.

    Args:
        path: The file, in a directory that is there; its mode becomes 0600.
        data: The new content.

    Raises:
        UnsafeFileError: The name is taken by something that is not an own regular file.
        OSError: The content could not be written; the old file is as it was.
    """
    with parent_directory(path) as directory_fd:
        with contextlib.suppress(FileNotFoundError):
            os.close(open_file_at(directory_fd, path, os.O_RDONLY))
        temporary = path.with_name(f".new-{secrets.token_hex(8)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        fd = open_file_at(directory_fd, temporary, flags)
        try:
            try:
                tighten_mode(fd, temporary, FILE_MODE)
                write_all(fd, data)
                os.fsync(fd)
            finally:
                os.close(fd)
            # A rename replaces the name itself, so even a link planted just now is not followed.
            os.replace(temporary.name, path.name, src_dir_fd=directory_fd, dst_dir_fd=directory_fd)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary.name, dir_fd=directory_fd)
            raise
        _compat.sync_directory(directory_fd)


class ExclusiveLock:
    """One process (and one thread) at a time: a context manager on a lock file beside a target.

    The lock file is 0600 and stays for good: if it were unlinked, two holders could each hold their
    own.
    """

    def __init__(self, path: Path, *, timeout_seconds: float | None = 10.0) -> None:
        self._target = path
        self._lock_path = path.with_name(f"{path.name}.lock")
        self._timeout_seconds = timeout_seconds
        self._fd: int | None = None

    def __enter__(self) -> Self:
        fd = open_private_file(self._lock_path, os.O_RDWR | os.O_CREAT, tighten=True)
        try:
            _compat.lock_exclusive(fd, timeout_seconds=self._timeout_seconds)
        except BlockingIOError as error:
            os.close(fd)
            raise FileLockedError(self._target) from error
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def _make_directories(path: Path) -> None:
    missing = [path, *path.parents]
    while missing and missing[-1].exists():
        missing.pop()
    for directory in reversed(missing):
        # os.makedirs would leave the directories on the way to the umask.
        try:
            directory.mkdir(mode=DIRECTORY_MODE)
        except FileExistsError:
            continue
        except OSError as error:
            raise _unusable_state(path, "made", error) from error


def _remedy_for(directory: Path, rule: Rule) -> str:
    """Say what to do: the state directory is the user's choice, those below it are ours."""
    return _ANOTHER_STATE if directory == paths.state_dir() else rule.remedy


def _unusable_state(path: Path, verb: str, error: OSError) -> ConfigError:
    return ConfigError(
        f"{quoted(str(path))}: the state directory cannot be {verb}: {error.strerror}; "
        f"{_ANOTHER_STATE}, or fix the permissions of this one",
        path=path,
    )


def _open_directory(path: Path, *, create: bool) -> int:
    path = paths.absolute_path(path)
    is_in_state = is_in_state_dir(path)
    anchor = paths.state_dir() if is_in_state else path.parent
    if create and is_in_state:
        _make_directories(anchor)
    here, fd = anchor, _open_anchor(anchor)
    try:
        if is_in_state:
            _require_own_directory(fd, here, tighten=create)
        for name in path.relative_to(anchor).parts:
            here /= name
            below = _open_below(fd, here, create=create)
            os.close(fd)
            fd = below
            _require_own_directory(fd, here, tighten=create)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _open_anchor(path: Path) -> int:
    try:
        return os.open(path, _DIRECTORY_FLAGS)
    except NotADirectoryError as error:
        rule = Rule.NOT_A_DIRECTORY
        raise UnsafeFileError(path, rule, remedy=_remedy_for(path, rule)) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        if path != paths.state_dir():
            raise
        raise _unusable_state(path, "opened", error) from error


def _open_below(directory_fd: int, path: Path, *, create: bool) -> int:
    if create:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path.name, DIRECTORY_MODE, dir_fd=directory_fd)
    try:
        return os.open(path.name, _DIRECTORY_FLAGS | os.O_NOFOLLOW, dir_fd=directory_fd)
    except OSError as error:
        # Systems answer ENOTDIR or ELOOP for a link; ask what it is, for the message only.
        if error.errno not in {errno.ENOTDIR, errno.ELOOP, errno.EMLINK}:
            raise
        found = os.stat(path.name, dir_fd=directory_fd, follow_symlinks=False)
        rule = Rule.SYMLINK if stat.S_ISLNK(found.st_mode) else Rule.NOT_A_DIRECTORY
        raise UnsafeFileError(path, rule, remedy=rule.remedy) from error


def _require_own_directory(fd: int, path: Path, *, tighten: bool) -> None:
    if os.fstat(fd).st_uid != os.geteuid():
        rule = Rule.NOT_OWNED
        raise UnsafeFileError(path, rule, remedy=_remedy_for(path, rule))
    if tighten:
        tighten_mode(fd, path, DIRECTORY_MODE)


def _require_regular(fd: int, path: Path, *, must_own: bool) -> None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        raise UnsafeFileError(path, Rule.NOT_REGULAR, remedy=Rule.NOT_REGULAR.remedy)
    if must_own and found.st_uid != os.geteuid():
        raise UnsafeFileError(path, Rule.NOT_OWNED, remedy=Rule.NOT_OWNED.remedy)


def _rule_behind(error: OSError) -> Rule | None:
    """Read the rule out of a refused `open`; None when it was refused for another reason."""
    if error.errno in {errno.ELOOP, errno.EMLINK}:
        return Rule.SYMLINK
    # A FIFO or socket nobody listens to, a directory opened for writing, a device without a driver.
    if error.errno in {errno.ENXIO, errno.EISDIR, errno.ENODEV, errno.EOPNOTSUPP}:
        return Rule.NOT_REGULAR
    return None
