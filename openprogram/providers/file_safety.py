"""The rules of the managed root: which recording may be opened, read, appended to or removed.

Locks. A sink holds a shared lock on the recording's own descriptor for as long as it lives, and an
exclusive one on the lock file beside it while it writes a row. Whoever removes a recording takes
both exclusively first, so a live writer is never pulled away, and a lock file goes only together
with its recording.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import stat
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from openprogram import _private_files, paths
from openprogram._private_files import FILE_MODE, Rule
from openprogram.errors import (
    InvalidSelectorError,
    RecordingExistsError,
    RecordingFileError,
    RecordingNotFoundError,
    UnsafeFileError,
    quoted,
)
from openprogram.paths import absolute_path as absolute_path

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path, PurePath

    from openprogram.errors import RecordingErrorCode

SUFFIX = ".jsonl"
"""What the name of every managed recording ends in."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DEVICE_NAMES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)
_LONGEST_NAME_BYTES = 255
_OPEN_ATTEMPTS = 16
_NAME_LOOKS = 2
_MEANINGS: dict[Rule, tuple[RecordingErrorCode, str]] = {
    Rule.SYMLINK: ("symlink", "name the file itself"),
    Rule.NOT_REGULAR: ("not_a_regular_file", "name a regular file"),
    Rule.NOT_A_DIRECTORY: ("not_a_regular_file", "name a regular file"),
    Rule.NOT_OWNED: ("unsafe_permissions", "copy it, and use the copy"),
    Rule.HARD_LINKED: ("unsafe_permissions", "copy it, and use the copy"),
    Rule.MODE: ("unsafe_permissions", "make its mode 0600 on a file system that keeps modes"),
}
"""Per rule: the code, and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """A recording that is open for appending; whoever asked for it closes `fd`."""

    fd: int
    """The descriptor, opened to read and append."""
    path: Path
    """Where it was found."""
    device: int
    """With `inode`, which file it is, whatever the path may come to mean."""
    inode: int
    """See `device`."""
    is_new: bool
    """Whether this call made it; a new file is empty."""


def validate_recording_id(text: str) -> str:
    """Accept the name of a managed recording, or say why not.

    Args:
        text: The name as given, with or without `.jsonl`.

    Returns:
        The ID, without `.jsonl`.

    Raises:
        InvalidSelectorError: It cannot name a managed recording on every system.

    Example:
        >>> validate_recording_id("first-run.jsonl")
        'first-run'
        >>> validate_recording_id("../escape")
        Traceback (most recent call last):
            ...
        openprogram.errors.InvalidSelectorError: recording '../escape': ...
    """
    recording_id = text.removesuffix(SUFFIX)
    if not _ID.fullmatch(recording_id):
        raise InvalidSelectorError(
            text,
            "an ID is 1 to 64 of the letters A-Z a-z, digits, '.', '_' and '-', "
            "a letter or digit first; choose another name",
        )
    lowered = recording_id.lower()
    if lowered.endswith((".", SUFFIX)):
        raise InvalidSelectorError(
            text, "an ID does not end in '.' or '.jsonl'; choose another name"
        )
    if lowered.split(".", 1)[0] in _DEVICE_NAMES:
        raise InvalidSelectorError(
            text, "some systems take this name for a device; choose another name"
        )
    return recording_id


def managed_path(recording_id: str) -> Path:
    """Say where a managed recording is, or would be.

    Args:
        recording_id: Its ID, with or without `.jsonl`.

    Returns:
        `<state>/recordings/ID.jsonl`; nothing need be there.

    Raises:
        InvalidSelectorError: The ID cannot be one.
    """
    return paths.recordings_dir() / f"{validate_recording_id(recording_id)}{SUFFIX}"


def recording_names(directory_fd: int) -> list[str]:
    """List what may be managed recordings, judged by name alone.

    Args:
        directory_fd: An open descriptor of the managed root.

    Returns:
        The names that end in `.jsonl`, sorted.
    """
    with os.scandir(directory_fd) as entries:
        return sorted(entry.name for entry in entries if entry.name.endswith(SUFFIX))


def lock_path_of(path: Path) -> Path:
    """Say where the row lock of a recording is.

    Args:
        path: The recording.

    Returns:
        A path beside it.
    """
    return path_beside(path, ".lock")


def path_beside(path: Path, ending: str) -> Path:
    """Name a file that belongs to a recording.

    Args:
        path: The recording.
        ending: What the name ends in, such as `.lock`.

    Returns:
        A path beside it. A name too long to take the ending is answered by its digest.
    """
    name = f"{path.name}{ending}"
    if len(os.fsencode(name)) > _LONGEST_NAME_BYTES:
        name = f"{hashlib.sha256(os.fsencode(path.name)).hexdigest()}{ending}"
    return path.with_name(name)


def open_lock_file(path: Path) -> int:
    """Open the lock file of a recording, and make it when there is none.

    Args:
        path: The recording.

    Returns:
        An open descriptor, 0600; the caller locks and closes it, and never unlinks the file.

    Raises:
        RecordingFileError: What stands in its place breaks a rule.
    """
    lock_path = lock_path_of(path)
    with _recording_errors(path), _private_files.parent_directory(lock_path) as directory_fd:
        for _ in range(_OPEN_ATTEMPTS):
            fd = _private_files.open_file_at(directory_fd, lock_path, os.O_RDWR | os.O_CREAT)
            try:
                if _is_alone(directory_fd, fd, lock_path):
                    _private_files.tighten_mode(fd, lock_path, FILE_MODE)
                    return fd
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
        raise _comes_and_goes(path)


def is_same_file(fd_or_stat: int | os.stat_result, path: Path) -> bool:
    """Say whether a path still names a file that is open.

    Args:
        fd_or_stat: An open descriptor, or what stat said of it.
        path: The path; a link there is not followed, and never the same file.

    Returns:
        Whether device and inode are equal.
    """
    known = os.fstat(fd_or_stat) if isinstance(fd_or_stat, int) else fd_or_stat
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (known.st_dev, known.st_ino)


def open_recording_for_append(path: Path, *, create: bool, exclusive: bool = False) -> OpenedFile:
    """Open a recording to append to it, owner-only whatever the umask.

    In the state directory every directory on the way is made and tightened when `create` is set,
    and a second name of the file is refused; elsewhere its directory must be there.

    Args:
        path: The recording.
        create: Make the file when there is none.
        exclusive: With `create`: refuse a file that is there already.

    Returns:
        The open file; its mode is 0600.

    Raises:
        RecordingExistsError: `exclusive`, and the name is taken.
        RecordingNotFoundError: Not `create`, and there is no such file.
        RecordingFileError: The file breaks a rule; the code says which.
    """
    with _recording_errors(path):
        if create and _private_files.is_in_state_dir(path):
            os.close(_private_files.ensure_private_directory(path.parent))
        try:
            with _private_files.parent_directory(path) as directory_fd:
                fd, is_new = _open_or_create(directory_fd, path, create=create, exclusive=exclusive)
        except FileExistsError as error:
            raise RecordingExistsError(path) from error
        except FileNotFoundError as error:
            if create:
                raise
            raise RecordingNotFoundError(path) from error
        found = os.fstat(fd)
        return OpenedFile(fd=fd, path=path, device=found.st_dev, inode=found.st_ino, is_new=is_new)


def open_recording_for_reading(path: Path, *, require_private: bool, tighten: bool = False) -> int:
    """Open a recording to read it; neither waits for a FIFO nor follows a link.

    A file in the state directory must always be the user's own. Elsewhere people may look at any
    file they can read, unless `require_private` is set.

    Args:
        path: The recording.
        require_private: Refuse another user's file, and one that others can read or write: what is
            replayed must be what its owner recorded.
        tighten: Make the mode of a file in the state directory 0600 first; a file elsewhere is
            never changed.

    Returns:
        An open descriptor; the caller closes it.

    Raises:
        RecordingFileError: There is no such file, it cannot be read, or it breaks a rule (codes
            `unreadable`, `symlink`, `not_a_regular_file`, `unsafe_permissions`).
    """
    is_managed = _private_files.is_in_state_dir(path)
    with _recording_errors(path):
        with _private_files.parent_directory(path) as directory_fd:
            fd = _private_files.open_file_at(
                directory_fd, path, os.O_RDONLY, must_own=require_private or is_managed
            )
            try:
                if is_managed and (require_private or tighten):
                    _require_alone(directory_fd, fd, path)
                    if tighten:
                        _private_files.tighten_mode(fd, path, FILE_MODE)
                if require_private:
                    _require_private(fd, path)
            except BaseException:
                os.close(fd)
                raise
        return fd


def permission_problem(fd_or_stat: int | os.stat_result, path: Path) -> str | None:
    """Say what is unsafe about who may use a file.

    Args:
        fd_or_stat: An open descriptor, or what stat said of the file.
        path: Its path, for the remedy.

    Returns:
        Rule and remedy in words, or None when only its owner, this user, can read or write it.
    """
    found = os.fstat(fd_or_stat) if isinstance(fd_or_stat, int) else fd_or_stat
    if found.st_uid != os.geteuid():
        return f"{Rule.NOT_OWNED}; copy it, and use the copy"
    mode = stat.S_IMODE(found.st_mode)
    if mode & ~FILE_MODE:
        return f"mode {mode:04o} lets others use it; run: chmod 600 {_shell_word(path)}"
    return None


def _is_alone(directory_fd: int, fd: int, path: Path) -> bool:
    """Say whether a path still names the open file, and refuse a second name in the state.

    A name that was here only while we opened it is the one that the path has no more: then the
    count of names is one, and the file is somebody else's. So both are asked, twice, because the
    system reads the count a moment after it found the name.
    """
    if not _private_files.is_in_state_dir(path):
        return True
    for _ in range(_NAME_LOOKS):
        opened = os.fstat(fd)
        found = os.stat(path.name, dir_fd=directory_fd, follow_symlinks=False)
        if max(opened.st_nlink, found.st_nlink) > 1:
            raise UnsafeFileError(path, Rule.HARD_LINKED, remedy=Rule.HARD_LINKED.remedy)
        if (found.st_dev, found.st_ino) != (opened.st_dev, opened.st_ino):
            return False
    return True


def _require_alone(directory_fd: int, fd: int, path: Path) -> None:
    if not _is_alone(directory_fd, fd, path):
        raise _comes_and_goes(path)


def _comes_and_goes(path: Path) -> RecordingFileError:
    reason = "comes and goes; stop whatever keeps replacing it"
    return RecordingFileError(path, "unreadable", reason)


def _require_private(fd: int, path: Path) -> None:
    problem = permission_problem(fd, path)
    if problem is not None:
        raise RecordingFileError(path, "unsafe_permissions", problem)


def _open_or_create(
    directory_fd: int, path: Path, *, create: bool, exclusive: bool
) -> tuple[int, bool]:
    # Opening and creating are two steps, so that we know which it was; others may come between.
    for _ in range(_OPEN_ATTEMPTS):
        opened = _try_to_open(directory_fd, path, create=create, exclusive=exclusive)
        if opened is None:
            continue
        fd, _ = opened
        try:
            if _is_alone(directory_fd, fd, path):
                _private_files.tighten_mode(fd, path, FILE_MODE)
                return opened
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
    raise _comes_and_goes(path)


def _try_to_open(
    directory_fd: int, path: Path, *, create: bool, exclusive: bool
) -> tuple[int, bool] | None:
    flags = os.O_RDWR | os.O_APPEND
    if not exclusive:
        try:
            return _private_files.open_file_at(directory_fd, path, flags), False
        except FileNotFoundError:
            if not create:
                raise
    try:
        new_flags = flags | os.O_CREAT | os.O_EXCL
        return _private_files.open_file_at(directory_fd, path, new_flags), True
    except FileExistsError:
        if exclusive:
            raise
    return None


@contextlib.contextmanager
def _recording_errors(path: Path) -> Generator[None]:
    """Say what the operating system or a broken rule means for a recording."""
    try:
        yield
    except UnsafeFileError as error:
        code, remedy = _MEANINGS[Rule(error.rule)]
        reason = f"{error.rule}; {remedy}"
        if error.path != path:
            reason = f"{quoted(str(error.path))} is {error.rule}; {error.remedy}"
        raise RecordingFileError(path, code, reason) from error
    except FileNotFoundError as error:
        reason = "no such recording; see 'openprogram recordings list'"
        raise RecordingFileError(path, "unreadable", reason) from error
    except OSError as error:
        reason = f"cannot be opened: {error.strerror}; see to its permissions and its disk"
        raise RecordingFileError(path, "unreadable", reason) from error
    except ValueError as error:
        # A NUL or a lone surrogate in the path: no file can have such a name.
        reason = "no file can have this name; give another path"
        raise RecordingFileError(path, "unreadable", reason) from error


def _shell_word(path: PurePath) -> str:
    r"""Write a path so that a shell reads it back, and no terminal acts on it.

    Example:
        >>> from pathlib import PurePath
        >>> print(_shell_word(PurePath("/tmp/my run.jsonl")), _shell_word(PurePath("a\x1b'b")))
        '/tmp/my run.jsonl' $'a\x1b\x27b'
    """
    text = str(path)
    if text.isprintable():
        return shlex.quote(text)
    kept = f"{string.ascii_letters}{string.digits}/._- "
    letters = (chr(byte) for byte in os.fsencode(path))
    return "$'" + "".join(c if c in kept else f"\\x{ord(c):02x}" for c in letters) + "'"
