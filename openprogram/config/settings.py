"""Reads the settings, and changes them in one locked atomic step."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from openprogram import _private_files, paths
from openprogram.config.document import dump_document, parse_document
from openprogram.config.specs import SETTINGS, SettingsDocument, SettingValue, find_setting
from openprogram.errors import ConfigError, UnsafeFileError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Mode: TypeAlias = Literal["off", "record", "replay"]
"""What the next start does with provider calls."""

_SUBTREE = "record_replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings as they were when they were read."""

    path: Path
    """The file, which need not be there."""
    values: SettingsDocument = field(default_factory=dict[str, SettingValue])
    """The whole document, keys that nobody here knows included."""

    def get(self, key: str) -> SettingValue:
        """Look one setting up.

        Args:
            key: The dotted key of one of `SETTINGS`.

        Returns:
            Its value, or its default when it is not set.

        Raises:
            ConfigError: There is no such setting, or its value is not allowed.
        """
        spec = find_setting(key)
        holder: SettingValue = self.values
        *parents, last = key.split(".")
        for depth, name in enumerate(parents):
            holder = holder.get(name, {})
            if not isinstance(holder, dict):
                raise _wrong(self.path, ".".join(parents[: depth + 1]), "must be an object")
        if last not in holder:
            return copy.deepcopy(spec.default)
        problem = spec.problem_of(holder[last])
        if problem is not None:
            raise _wrong(self.path, key, problem)
        return holder[last]

    def is_set(self, key: str) -> bool:
        """Say whether the file itself gives a setting a value.

        Args:
            key: The dotted key of a setting.

        Returns:
            False when its default holds.
        """
        holder: SettingValue = self.values
        for name in key.split("."):
            if not isinstance(holder, dict) or name not in holder:
                return False
            holder = holder[name]
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReplaySettings:
    """What the next start does with provider calls."""

    mode: Mode
    """The mode."""
    file: str
    """A managed ID or an absolute path; empty when none was ever chosen."""
    snapshots: Literal["derived", "full"]
    """How the recorder writes each event's message so far."""
    ignore: tuple[str, ...]
    """Field paths that replay does not compare."""


def read_settings() -> Settings:
    """Read the settings; changes nothing on disk, and takes a missing file for an empty one.

    Returns:
        The settings.

    Raises:
        ConfigError: The file cannot be read, or is not one JSON object; the message names line and
            column. Values are judged when they are asked for.
    """
    path = paths.config_path()
    try:
        data = _private_files.read_file(path)
    except FileNotFoundError:
        return Settings(path=path)
    except UnsafeFileError as error:
        raise ConfigError(f"settings {error}", path=path) from error
    except OSError as error:
        place = quoted(str(path))
        rule = f"cannot be read: {error.strerror}"
        raise ConfigError(f"{place}: {rule}; make it readable for you", path=path) from error
    return Settings(path=path, values=parse_document(path, data))


def read_record_replay() -> RecordReplaySettings:
    """Read what the next start does with provider calls.

    Returns:
        The settings of recording and replay; a missing subtree means off.

    Raises:
        ConfigError: The file cannot be used, or the subtree holds a wrong type or an unknown mode.
    """
    return record_replay_of(read_settings())


def record_replay_of(settings: Settings) -> RecordReplaySettings:
    """Pick the settings of recording and replay.

    Args:
        settings: All settings.

    Returns:
        Those of recording and replay; a missing subtree means off.

    Raises:
        ConfigError: The subtree holds a wrong type or an unknown mode.
    """
    return RecordReplaySettings(
        mode=cast("Mode", settings.get("record_replay.mode")),
        file=cast("str", settings.get("record_replay.file")),
        snapshots=cast('Literal["derived", "full"]', settings.get("record_replay.snapshots")),
        ignore=tuple(cast("list[str]", settings.get("record_replay.ignore"))),
    )


def update_settings(changes: Mapping[str, SettingValue]) -> None:
    """Change settings, all of them or none, while no other process does.

    Args:
        changes: Dotted keys and their new values.

    Raises:
        ConfigError: A key or a value is not allowed, or the file cannot be parsed; nothing changed.
        FileLockedError: Another process held the settings' lock too long.
        UnsafeFileError: The state directory cannot be made private.
    """
    for key, value in changes.items():
        problem = find_setting(key).problem_of(value)
        if problem is not None:
            raise ConfigError(f"{key} {problem}", key=key)

    def edit(values: SettingsDocument) -> None:
        for key, value in changes.items():
            _set(values, key, value)

    _transact(edit)


def turn_off_record_replay() -> None:
    """Set the mode to off, keep the rest, and drop whatever in the subtree is of a wrong type.

    Raises:
        ConfigError: The file cannot be parsed; it is left as it is.
        FileLockedError: Another process held the settings' lock too long.
        UnsafeFileError: The state directory cannot be made private.
    """

    def edit(values: SettingsDocument) -> None:
        subtree = values.get(_SUBTREE)
        kept = dict(subtree) if isinstance(subtree, dict) else {}
        for spec in SETTINGS:
            root, _, name = spec.key.partition(".")
            if root == _SUBTREE and name in kept and spec.problem_of(kept[name]) is not None:
                kept[name] = spec.default
        values[_SUBTREE] = {"mode": "off", "file": ""} | kept | {"mode": "off"}

    _transact(edit)


def _transact(edit: Callable[[SettingsDocument], None]) -> None:
    path = paths.config_path()
    try:
        os.close(_private_files.ensure_private_directory(path.parent))
        with _private_files.ExclusiveLock(path):
            values = read_settings().values
            edit(values)
            _private_files.replace_file(path, dump_document(values))
    except OSError as error:
        place = quoted(str(path))
        rule = f"cannot be changed: {error.strerror}"
        remedy = "see to its directory's permissions and disk, or set OPENPROGRAM_STATE_DIR"
        raise ConfigError(f"{place}: {rule}; {remedy}", path=path) from error


def _set(values: SettingsDocument, key: str, value: SettingValue) -> None:
    *parents, last = key.split(".")
    holder = values
    for depth, name in enumerate(parents):
        below = holder.setdefault(name, {})
        if not isinstance(below, dict):
            at_fault = ".".join(parents[: depth + 1])
            raise _wrong(paths.config_path(), at_fault, "must be an object")
        holder = below
    holder[last] = value


def _wrong(path: Path, key: str, problem: str) -> ConfigError:
    if key.split(".", 1)[0] == _SUBTREE:
        remedy = "run 'openprogram recordings off' to repair it"
    else:
        remedy = "correct it by hand, or with 'openprogram config set'"
    return ConfigError(f"{quoted(str(path))}: {key} {problem}; {remedy}", path=path, key=key)
