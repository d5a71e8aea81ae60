"""Stored credentials: one owner-only JSON file in the state directory.

{"anthropic": {"api_key": "..."}, "openai-codex": {"access_token": "..."}}
"""

from __future__ import annotations

import os
import shlex
import stat
from typing import TYPE_CHECKING

import msgspec

from openprogram import _private_files, paths
from openprogram.errors import ConfigError, UnsafeFileError, quoted

if TYPE_CHECKING:
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
    path = paths.credentials_path()
    try:
        data = _read_owner_only(path)
    except FileNotFoundError:
        return {}
    try:
        return msgspec.json.decode(data, type=dict[str, Credential])
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
