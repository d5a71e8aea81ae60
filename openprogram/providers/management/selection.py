"""What a selector names, and which file the settings use."""

from __future__ import annotations

import contextlib
import difflib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from openprogram import _private_files, config, paths
from openprogram.errors import (
    ConfigError,
    InvalidSelectorError,
    OpenProgramError,
    RecordingNotFoundError,
    quoted,
)
from openprogram.providers import file_safety

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_MOST_GUESSES = 2
_MOST_IDS = 5000
"""Among how many names a similar one is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """One recording, chosen by its ID or by a path; the file need not be there."""

    path: Path
    """Where it is; absolute."""
    recording_id: str | None
    """Its ID when it is a managed recording, however it was spelled."""
    managed: bool
    """Whether it lies directly in the managed root under a name that can be an ID."""
    setting: str
    """How the settings name it: the ID as given, or the path made absolute."""


def resolve_selector(selector: str) -> Selection:
    """Say which recording a selector names.

    Args:
        selector: A managed ID, with or without `.jsonl`; or, with a path separator in it, a path.

    Returns:
        The recording that it names.

    Raises:
        InvalidSelectorError: It can be neither.

    Example:
        >>> resolve_selector("first-run.jsonl").recording_id
        'first-run'
    """
    if not _is_path(selector):
        path = file_safety.managed_path(selector)
        recording_id = path.name.removesuffix(file_safety.SUFFIX)
        return Selection(path=path, recording_id=recording_id, managed=True, setting=recording_id)
    try:
        is_possible = b"\0" not in os.fsencode(selector)
    except UnicodeEncodeError:
        is_possible = False
    if not is_possible:
        raise InvalidSelectorError(selector, "no file can have this name; give another path")
    path = paths.absolute_path(selector)
    recording_id = managed_id_of(path)
    if recording_id is None:
        return Selection(path=path, recording_id=None, managed=False, setting=str(path))
    return Selection(
        path=file_safety.managed_path(recording_id),
        recording_id=recording_id,
        managed=True,
        setting=str(path),
    )


def resolve_id(text: str) -> Path:
    """Say where the managed recording of an ID is; only such a one is ever deleted.

    Args:
        text: The ID, with or without `.jsonl`.

    Returns:
        Its path; nothing need be there.

    Raises:
        InvalidSelectorError: It is a path, or cannot be an ID.
    """
    if not _is_path(text):
        return file_safety.managed_path(text)
    recording_id = managed_id_of(paths.absolute_path(text)) if "\0" not in text else None
    remedy = "remove a file elsewhere yourself"
    if recording_id is not None:
        remedy = f"run 'openprogram recordings delete {recording_id}'"
    raise InvalidSelectorError(text, f"delete takes an ID, not a path; {remedy}")


def require_present(path: Path) -> None:
    """Refuse a recording that is not there; whatever else is wrong with it is found by opening it.

    Args:
        path: The recording.

    Raises:
        RecordingNotFoundError: There is no such file; recordings of a similar name are named.
    """
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError) as error:
        # A name without a slash is an ID, also where a file of this name is at hand.
        is_at_hand = _is_managed_root(path.parent) and os.path.lexists(path.name)
        raise not_found(path, near=[f".{os.sep}{path.name}"] if is_at_hand else []) from error
    except (OSError, ValueError):
        return


def not_found(path: Path, *, near: Iterable[str] = ()) -> RecordingNotFoundError:
    """Make the error that says that a recording is not there.

    Args:
        path: Where it would be.
        near: What else may have been meant.

    Returns:
        The error; recordings of a similar name are named too.
    """
    wanted = path.name.removesuffix(file_safety.SUFFIX)
    guesses = difflib.get_close_matches(wanted, _managed_ids(), n=_MOST_GUESSES)
    return RecordingNotFoundError(path, near=[*near, *guesses])


def _managed_ids() -> list[str]:
    ids: list[str] = []
    with contextlib.suppress(OpenProgramError, OSError):
        directory_fd = _private_files.open_private_directory(paths.recordings_dir())
        try:
            names = file_safety.recording_names(directory_fd)[-_MOST_IDS:]
        finally:
            os.close(directory_fd)
        for name in names:
            with contextlib.suppress(InvalidSelectorError):
                ids.append(file_safety.validate_recording_id(name))
    return ids


def managed_id_of(path: Path) -> str | None:
    """Say under which ID a path is a managed recording.

    Args:
        path: An absolute path. Its directory counts as the managed root when it is the same
            directory, whatever its spelling: links and a file system that ignores case included.

    Returns:
        The ID, or None for a file elsewhere, or one whose name cannot be an ID.
    """
    if not path.name.endswith(file_safety.SUFFIX) or not _is_managed_root(path.parent):
        return None
    try:
        return file_safety.validate_recording_id(path.name)
    except InvalidSelectorError:
        return None


def selection_of(settings: config.RecordReplaySettings) -> Selection:
    """Say which recording the settings use; looks at no file.

    Args:
        settings: The settings, in the mode record or replay.

    Returns:
        The recording.

    Raises:
        ConfigError: They name none, or one that cannot be used in their mode.
    """
    remedy = f"run 'openprogram recordings {settings.mode}' or 'openprogram recordings off'"
    key = "record_replay.file"
    path = paths.config_path()
    if not settings.file:
        rule = f"is empty, but the mode is {settings.mode}"
    elif _is_path(settings.file) and settings.mode == "record":
        rule = f"{quoted(settings.file)} is a path, but only a managed ID can be recorded into"
    elif _is_path(settings.file) and not os.path.isabs(settings.file):  # noqa: PTH117 - a selector
        rule = f"{quoted(settings.file)} is a relative path"
    else:
        try:
            return resolve_selector(settings.file)
        except InvalidSelectorError as error:
            rule = f"{quoted(settings.file)} is neither an ID nor a path: {error.rule}"
    raise ConfigError(f"{quoted(str(path))}: {key} {rule}; {remedy}", path=path, key=key)


def read_active_identity() -> tuple[int, int] | None:
    """Say which file the settings use for the next start.

    Returns:
        Its device and inode; None when the mode is off, or no such file is there.

    Raises:
        ConfigError: The settings cannot be used, so nobody knows.
    """
    settings = config.read_record_replay()
    if settings.mode == "off" or not settings.file:
        return None
    try:
        # The path as the settings spell it: following links finds the file whatever its name.
        found = resolve_selector(settings.file).path.stat()
    except (OSError, InvalidSelectorError):
        return None
    return (found.st_dev, found.st_ino)


def _is_path(selector: str) -> bool:
    return os.sep in selector or (os.altsep is not None and os.altsep in selector)


def _is_managed_root(directory: Path) -> bool:
    root = paths.recordings_dir()
    if directory == root:
        return True
    try:
        return directory.samefile(root)
    except OSError:
        return False
