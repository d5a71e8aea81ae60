"""Computes where state lives; creates, moves and changes nothing.

Each function reads the environment when it is called, so a path is never older than the
environment that it came from.
"""

from __future__ import annotations

import os
import pwd
import re
from pathlib import Path

from openprogram.errors import ConfigError, quoted

_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


def state_dir() -> Path:
    """Say which directory holds everything that the program keeps.

    `OPENPROGRAM_STATE_DIR` when it is set, else `~/.openprogram-NAME` when `OPENPROGRAM_PROFILE` is
    set, else `~/.openprogram`. An empty variable counts as not set.

    Returns:
        An absolute path; nothing need be there.

    Raises:
        ConfigError: The directory is given by a relative path, the profile's name cannot be one,
            or there is no home directory.
    """
    explicit = os.environ.get("OPENPROGRAM_STATE_DIR")
    if explicit:
        return _fixed_place("OPENPROGRAM_STATE_DIR", explicit)
    profile = os.environ.get("OPENPROGRAM_PROFILE")
    if profile:
        return _home() / f".openprogram-{validate_profile(profile)}"
    return _home() / ".openprogram"


def recordings_dir() -> Path:
    """Say where managed recordings are.

    Returns:
        `<state>/recordings`.
    """
    return state_dir() / "recordings"


def config_path() -> Path:
    """Say where the settings are.

    Returns:
        `<state>/config.json`.
    """
    return state_dir() / "config.json"


def mismatches_dir() -> Path:
    """Say where the reports of failed replays are.

    Returns:
        `<state>/mismatches`.
    """
    return state_dir() / "mismatches"


def credentials_path() -> Path:
    """Say where stored credentials are.

    Returns:
        `<state>/credentials.json`.
    """
    return state_dir() / "credentials.json"


def absolute_path(path: Path | str) -> Path:
    """Make a path absolute by its spelling alone.

    Resolving would follow links, and those below the state directory must be seen to be refused.

    Args:
        path: Any path; a relative one starts at the working directory.

    Returns:
        An absolute path without `.` and `..`.

    Example:
        >>> str(absolute_path("/tmp/a/../b"))
        '/tmp/b'
    """
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path.absolute() keeps ".."


def validate_profile(name: str) -> str:
    """Accept a profile's name, or say why not.

    Args:
        name: The name as given; it becomes part of a directory's name.

    Returns:
        The same name.

    Raises:
        ConfigError: It is not made of 1 to 32 ASCII letters, digits, `_` and `-`.

    Example:
        >>> validate_profile("work")
        'work'
        >>> validate_profile("../../etc")
        Traceback (most recent call last):
            ...
        openprogram.errors.ConfigError: profile '../../etc': ...
    """
    if _PROFILE.fullmatch(name):
        return name
    raise ConfigError(
        f"profile {quoted(name)}: a profile is 1 to 32 letters, digits, '_' or '-', "
        "a letter or digit first; choose another name"
    )


def _home() -> Path:
    home = os.environ.get("HOME")
    if home:
        return _fixed_place("HOME", home)
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError as error:
        raise ConfigError(
            "there is no home directory: HOME is not set and this user has none; "
            "set OPENPROGRAM_STATE_DIR"
        ) from error


def _fixed_place(variable: str, text: str) -> Path:
    """Read a directory that must not depend on where a program happens to be started."""
    if os.path.isabs(text):  # noqa: PTH117 - the text as it was given
        return absolute_path(text)
    raise ConfigError(
        f"{variable} {quoted(text)}: a relative path names another directory wherever a program "
        f"starts; set {variable} to an absolute path"
    )
