"""The login of OpenAI's Codex command-line tool, as that tool keeps it; read, and never written.

{"tokens": {"access_token": "...", "account_id": "..."}, "last_refresh": "..."}

The file is `auth.json` in `CODEX_HOME`, else in `~/.codex`. The access token is a JSON Web Token;
its claims tell of the account and the expiry. Nothing here renews it: that is the tool's own task.
"""

from __future__ import annotations

import base64
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from openprogram.errors import ConfigError, quoted

CODEX_REMEDY: Final = "log in with the vendor's own tool: 'codex login'"
"""How a user gets a token."""

_LARGEST_BYTES: Final = 1_000_000


class _Tokens(msgspec.Struct):
    access_token: str | None = None
    account_id: str | None = None


class _AuthFile(msgspec.Struct):
    tokens: _Tokens | None = None


class _AuthClaims(msgspec.Struct):
    chatgpt_account_id: str | None = None


class _Claims(msgspec.Struct):
    exp: float | None = None
    auth: _AuthClaims | None = msgspec.field(default=None, name="https://api.openai.com/auth")


class CodexToken(msgspec.Struct, kw_only=True, frozen=True):
    """What is known of an access token; its text form shows nothing of it."""

    account_id: str | None
    """The account that it is for."""
    expires_at: datetime | None
    """When it ends, in UTC."""

    def __repr__(self) -> str:
        return "CodexToken(...)"


def codex_auth_path() -> Path:
    """Say where the tool keeps its login; looks at no disk.

    Returns:
        The file, there or not.
    """
    home = os.environ.get("CODEX_HOME")
    return (Path(home) if home else Path.home() / ".codex") / "auth.json"


def read_codex_token() -> str | None:
    """Read the access token of the tool's login.

    Returns:
        The token, expired or not, or None when nobody is logged in with a subscription.

    Raises:
        ConfigError: The file cannot be read or understood.
    """
    tokens = _read_tokens()
    return (tokens.access_token or "").strip() or None


def describe_codex_token(token: str) -> CodexToken:
    """Read what a token says of itself, and where it says too little, what the tool's file says.

    Args:
        token: An access token; it is not judged, only read.

    Returns:
        What is known; nothing of a text that is no such token.

    Raises:
        ConfigError: The tool's file is asked, and cannot be read or understood.
    """
    claims = _claims_of(token)
    account_id = None if claims.auth is None else claims.auth.chatgpt_account_id
    if not account_id:
        tokens = _read_tokens()
        if (tokens.access_token or "").strip() == token:
            account_id = tokens.account_id
    return CodexToken(account_id=account_id or None, expires_at=_instant(claims.exp))


def _read_tokens() -> _Tokens:
    path = codex_auth_path()
    try:
        data = _read_regular_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return _Tokens()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(f"{quoted(str(path))}: cannot be read ({reason})", path=path) from error
    try:
        return msgspec.json.decode(data, type=_AuthFile).tokens or _Tokens()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Not even the cause: its text may quote the file, and so a token.
        message = f"{quoted(str(path))}: not a login of the Codex tool; {CODEX_REMEDY}"
        raise ConfigError(message, path=path) from None


def _read_regular_file(path: Path) -> bytes:
    # Not blocking: what stands there may be a pipe that nobody writes to.
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(0, "not a regular file")
        data = file.read(_LARGEST_BYTES + 1)
    if len(data) > _LARGEST_BYTES:
        raise OSError(0, "too large")
    return data


def _claims_of(token: str) -> _Claims:
    parts = token.split(".")
    payload = parts[1] if len(parts) == 3 else ""  # noqa: PLR2004 - header, claims and signature
    padded = payload + "=" * (-len(payload) % 4)
    try:
        claims = base64.b64decode(padded, altchars=b"-_", validate=True)
        return msgspec.json.decode(claims, type=_Claims)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _Claims()


def _instant(seconds: float | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
