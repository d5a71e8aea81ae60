"""Stored credentials: one owner-only JSON file in the state directory.

{"anthropic": {"api_key": "..."}, "openai-codex": {"access_token": "..."}}
"""

from __future__ import annotations

import os
import shlex
import stat
from typing import TYPE_CHECKING, Any

import msgspec

from openprogram import _private_files, paths
from openprogram.errors import ConfigError, UnsafeFileError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Credential(msgspec.Struct, kw_only=True, frozen=True):
    """What is stored for one provider; its text form shows no secret."""

    api_key: str | None = None
    """A key of the vendor's programming interface."""
    access_token: str | None = None
    """A token of a subscription."""

    def __repr__(self) -> str:
        return "Credential(...)"


def read_credentials() -> dict[str, Credential]:
    """Read what is stored; changes nothing.

    Returns:
        The credentials by provider; none when there is no file. Unknown fields are ignored.

    Raises:
        UnsafeFileError: The file is a link, another user's, or open to others.
        ConfigError: The file cannot be understood.
    """
    return _decode(paths.credentials_path(), dict[str, Credential])


def store_credential(provider: str, credential: Credential) -> bool:
    """Store a provider's credential, while no other process changes the store.

    Args:
        provider: The provider's name.
        credential: What to store. A field that it leaves out, and fields of other programs, stay as
            they are; so do all other providers, byte for byte.

    Returns:
        Whether there was an entry of this provider before.

    Raises:
        UnsafeFileError: The file or the state directory is not the owner's alone.
        ConfigError: The file cannot be understood or written; it is left as it is.
        FileLockedError: Another process held the store's lock too long.
    """
    given = {name: key for name, key in msgspec.structs.asdict(credential).items() if key}

    def edit(entries: dict[str, msgspec.Raw]) -> bool:
        before = entries.get(provider)
        fields = {} if before is None else msgspec.json.decode(before, type=dict[str, msgspec.Raw])
        fields |= {name: msgspec.Raw(msgspec.json.encode(key)) for name, key in given.items()}
        entries[provider] = msgspec.Raw(msgspec.json.encode(fields))
        return before is not None

    return _transact(edit)


def remove_credential(provider: str) -> bool:
    """Take a provider's whole entry out of the store, while no other process changes it.

    Args:
        provider: The provider's name.

    Returns:
        Whether there was one; without one nothing is written or made.

    Raises:
        UnsafeFileError: The file or the state directory is not the owner's alone.
        ConfigError: The file cannot be understood or written; it is left as it is.
        FileLockedError: Another process held the store's lock too long.
    """
    if provider not in read_credentials():
        return False
    return _transact(lambda entries: entries.pop(provider, None) is not None)


def _transact(edit: Callable[[dict[str, msgspec.Raw]], bool]) -> bool:
    path = paths.credentials_path()
    try:
        os.close(_private_files.ensure_private_directory(path.parent))
        with _private_files.ExclusiveLock(path):
            # What a reader could not understand is never written back.
            _decode(path, dict[str, Credential])
            entries = _decode(path, dict[str, msgspec.Raw])
            answer = edit(entries)
            data = msgspec.json.format(msgspec.json.encode(entries)) + b"\n"
            _private_files.replace_file(path, data)
    except OSError as error:
        place = quoted(str(path))
        rule = f"cannot be changed: {error.strerror}"
        remedy = "see to its directory's permissions and disk, or set OPENPROGRAM_STATE_DIR"
        raise ConfigError(f"{place}: {rule}; {remedy}", path=path) from error
    return answer


def _decode(path: Path, type_: Any) -> Any:
    try:
        data = _read_owner_only(path)
    except FileNotFoundError:
        return {}
    try:
        return msgspec.json.decode(data, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Not even the cause: its text may quote the file, and so a key.
        message = f"{quoted(str(path))}: not a JSON object of credentials by provider; mend it"
        raise ConfigError(message, path=path) from None


def _read_owner_only(path: Path) -> bytes:
    fd = _private_files.open_private_file(path, os.O_RDONLY)
    with os.fdopen(fd, "rb") as file:
        if os.fstat(fd).st_mode & _OTHERS:
            remedy = f"run chmod 600 {shlex.quote(str(path))}"
            raise UnsafeFileError(path, _private_files.Rule.MODE, remedy=remedy)
        return file.read()
