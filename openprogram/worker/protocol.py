"""What a worker and its clients say to each other: one JSON object a line, each line bounded.

A client sends one request, `status` or `run`. The worker answers `status` with one line, and `run`
with any number of `turn`, `text`, `text_end` and `note` lines and one `end`; `error` ends either.
The worker then closes. A client that closes, or says anything more, cancels its run. Lines are
ASCII, so that their length is known before they are sent.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import msgspec

from openprogram import _private_files, paths
from openprogram.errors import WorkerError, quoted

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

MAX_LINE_BYTES: Final = 1 << 20
"""The longest line of either side, with its end."""
MAX_TEXT_CHARACTERS: Final = 80_000
"""The most text of one line; a character takes 12 bytes at most."""
_ADDRESS_BYTES: Final = 107 if sys.platform == "linux" else 103


class StatusRequest(msgspec.Struct, frozen=True, tag="status"):
    """Asks what the worker does."""


class RunRequest(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """Asks for a prompt to be run."""

    prompt: str
    root: str
    """An absolute path: what the tools can see."""
    system_prompt: str | None = None
    provider: str | None = None
    model: str | None = None
    turns: int = 20
    seconds: float | None = None
    usd: float | None = None


Request: TypeAlias = StatusRequest | RunRequest


class WorkerStatus(msgspec.Struct, frozen=True, kw_only=True, tag="status"):
    """What a worker does with provider calls, and how far it is."""

    pid: int
    mode: str
    path: str | None
    """What is recorded into or replayed."""
    ignore: list[str]
    consumed: int | None
    """How many recorded calls a replay has served; None when it is none."""
    total: int | None
    """How many there are; None when it is no replay."""
    running_count: int
    """How many prompts are running."""


class Turn(msgspec.Struct, frozen=True, tag="turn"):
    """Another answer begins; the last one is that of the run."""


class Text(msgspec.Struct, frozen=True, tag="text"):
    """More of an answer."""

    text: str


class TextEnd(msgspec.Struct, frozen=True, tag="text_end"):
    """A block of text ends."""


class Note(msgspec.Struct, frozen=True, tag="note"):
    """Something to tell a person beside the answer."""

    text: str


class End(msgspec.Struct, frozen=True, tag="end"):
    """The run ended well."""

    document: dict[str, object]
    """What `openprogram run --json` writes, but for the answer, which has come already."""


class Failure(msgspec.Struct, frozen=True, tag="error"):
    """The request failed; this is the last line."""

    code: str
    reason: str


Progress: TypeAlias = Turn | Text | TextEnd | Note
Answer: TypeAlias = WorkerStatus | Progress | End | Failure

T = TypeVar("T")


def encode_line(message: Request | Answer) -> bytes:
    """Write a message.

    Args:
        message: What to send.

    Returns:
        One line of ASCII, with its end.

    Raises:
        WorkerError: It is longer than a line may be.
    """
    line = json.dumps(msgspec.to_builtins(message), allow_nan=False).encode("ascii") + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise WorkerError(f"a message of {len(line):,} bytes is longer than {MAX_LINE_BYTES:,}")
    return line


def decode_request(line: bytes) -> Request:
    """Read a client's line.

    Args:
        line: The line; anything may be in it.

    Returns:
        The request.

    Raises:
        WorkerError: It is none; the message says nothing of its content.
    """
    return _decode(line, Request)


def decode_answer(line: bytes) -> Answer:
    """Read a worker's line.

    Args:
        line: The line; anything may be in it.

    Returns:
        The answer.

    Raises:
        WorkerError: It is none.
    """
    return _decode(line, Answer)


def _decode(line: bytes, type_: type[T] | object) -> T:
    try:
        # The standard parser takes lone surrogates, which a model can send.
        return msgspec.convert(json.loads(line), type_)
    except (ValueError, RecursionError):
        raise WorkerError("a line that is no message of the worker's protocol") from None


def socket_path() -> Path:
    """Say where a worker listens.

    Returns:
        `<state>/worker.sock`.
    """
    return paths.state_dir() / "worker.sock"


@contextlib.contextmanager
def socket_address() -> Generator[str]:
    """Give an address for the socket that the system takes, however long the path is.

    Yields:
        A path to bind or connect to while this is open. Where the system shows open directories as
        files, it goes through the state directory itself, so no link is followed below it.

    Raises:
        FileNotFoundError: There is no state directory.
        UnsafeFileError: It is not the owner's.
        WorkerError: The path is too long for a socket of this system.
    """
    path = socket_path()
    fd = _private_files.open_private_directory(path.parent)
    try:
        through = f"/proc/self/fd/{fd}/{path.name}"
        if os.path.isdir(os.path.dirname(through)):  # noqa: PTH112, PTH120 - a text, not a place
            yield through
        elif len(os.fsencode(path)) <= _ADDRESS_BYTES:
            yield str(path)
        else:
            raise WorkerError(
                f"{quoted(str(path))}: longer than the {_ADDRESS_BYTES} bytes of a socket's path; "
                "set OPENPROGRAM_STATE_DIR to a shorter directory"
            )
    finally:
        os.close(fd)
