"""What an agent's tools are, and the two that look at files below one root.

What a tool says depends on the files alone, not on clocks, owners or the order on disk, so that an
unchanged task asks the same again.
"""

from __future__ import annotations

import codecs
import heapq
import inspect
import itertools
import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from openprogram.agent._confined_files import open_root, opened_directory, read_regular_file
from openprogram.agent._threads import call_in_thread
from openprogram.errors import ToolError, ascii_if_unprintable, quoted
from openprogram.providers.types import Tool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

READ_LIMIT_BYTES: Final = 100_000
"""How much of a file is read."""
ENTRY_LIMIT: Final = 1000
"""How many names of a directory are listed."""

_LISTED_KINDS = frozenset({"file", "directory"})
_NOTED_NAMES = 20
_NAME_CHARACTERS = 2000
_REASON_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool says to the model."""

    text: str
    """The content asked for; the model gets it as a block of its own."""
    notes: tuple[str, ...] = ()
    """What the tool itself has to say about it; blocks that no file content can imitate."""
    is_error: bool = False
    """Whether the text says why the tool failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    """Something that a model can ask for."""

    definition: Tool
    """What the model is told of it."""
    arguments_type: Any
    """What its arguments must be, a type that `msgspec` can convert to; arguments that do not fit
    never reach `run`."""
    run: Callable[[Any], ToolOutput] | Callable[[Any], Awaitable[ToolOutput]]
    """Does it, and raises `ToolError` when it refuses or fails. A coroutine function is awaited;
    any other is called in a thread, as calls run side by side and must not hold each other up."""

    async def call(self, arguments: dict[str, Any]) -> ToolOutput:
        """Use the tool.

        Args:
            arguments: As the model gave them.

        Returns:
            What the tool says.

        Raises:
            ToolError: The arguments do not fit, or the tool refused or failed.
        """
        try:
            typed = msgspec.convert(arguments, self.arguments_type)
        except msgspec.ValidationError as error:
            reason = ascii_if_unprintable(str(error))[:_REASON_CHARACTERS]
            name = self.definition.name
            raise ToolError(f"{name}: the arguments do not fit its parameters: {reason}") from error
        if inspect.iscoroutinefunction(self.run):
            return await self.run(typed)
        return await call_in_thread(partial(cast("Callable[[Any], ToolOutput]", self.run), typed))


class _ListDirArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    path: str = "."


class _ReadFileArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    path: str


def _parameters(description: str, *, required: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"path": {"type": "string", "description": description}},
        "required": list(required),
        "additionalProperties": False,
    }


def file_tools(root: Path) -> tuple[AgentTool, ...]:
    """Make the tools that look at files below a root.

    Args:
        root: A directory; it may be a link itself, nothing below it may.

    Returns:
        `list_dir` and `read_file`. Their definitions do not name the root, so that a request stays
        the same wherever it lies.

    Raises:
        OSError: The root is no directory that can be opened.
    """
    root = root.absolute()
    os.close(open_root(root))
    return (
        AgentTool(
            definition=Tool(
                name="list_dir",
                description="List the files and directories in a directory of the workspace.",
                parameters=_parameters(
                    "The directory, relative to the workspace; '.' is the workspace itself.",
                    required=(),
                ),
            ),
            arguments_type=_ListDirArguments,
            run=lambda arguments: list_dir(root, arguments.path),
        ),
        AgentTool(
            definition=Tool(
                name="read_file",
                description="Read a text file of the workspace.",
                parameters=_parameters("The file, relative to the workspace.", required=("path",)),
            ),
            arguments_type=_ReadFileArguments,
            run=lambda arguments: read_file(root, arguments.path),
        ),
    )


def list_dir(root: Path, path: str) -> ToolOutput:
    """List a directory.

    Args:
        root: The directory that nothing leads out of.
        path: Relative to it, with `/` between names.

    Returns:
        One name per line, sorted, directories with a `/` at the end; a name that is not plain text
        is written as a quoted literal. Links, special files and names beyond `ENTRY_LIMIT` are
        noted.

    Raises:
        ToolError: It cannot be listed, or leads out of the root.
    """
    with opened_directory(root, path) as fd:
        counter = itertools.count()
        with os.scandir(fd) as entries:
            first = heapq.nsmallest(
                ENTRY_LIMIT, zip(entries, counter, strict=False), key=lambda pair: pair[0].name
            )
            kinds = [(entry.name, _kind_of(entry)) for entry, _ in first]
        left_out = next(counter) - len(kinds)
    lines = [
        _shown(name) + "/" * (kind == "directory") for name, kind in kinds if kind in _LISTED_KINDS
    ]
    notes = [
        _note_names(kind, [name for name, other in kinds if other == kind])
        for kind in ("link", "special file")
        if any(other == kind for _, other in kinds)
    ]
    if left_out:
        notes.append(f"{left_out:,} more names are not listed")
    if not kinds:
        notes.append("the directory is empty")
    return ToolOutput(text="\n".join(lines), notes=tuple(notes))


def read_file(root: Path, path: str) -> ToolOutput:
    """Read a text file.

    Args:
        root: The directory that nothing leads out of.
        path: Relative to it, with `/` between names.

    Returns:
        The first `READ_LIMIT_BYTES` of the file as UTF-8, line ends as they are, each invalid byte
        sequence as U+FFFD; what was cut or replaced is noted.

    Raises:
        ToolError: It is no regular file, is no text as it holds a NUL, cannot be read, or leads out
            of the root.
    """
    data, size_bytes = read_regular_file(root, path, limit_bytes=READ_LIMIT_BYTES + 1)
    return _as_text(path, data, size_bytes)


def _as_text(path: str, data: bytes, size_bytes: int) -> ToolOutput:
    notes: list[str] = []
    is_cut = len(data) > READ_LIMIT_BYTES
    data = data[:READ_LIMIT_BYTES]
    if b"\0" in data:
        raise ToolError(f"{quoted(path)}: not a text file (byte {data.index(0):,} is NUL)")
    try:
        text = _decode(data, "strict", is_cut=is_cut)
    except UnicodeDecodeError:
        text = _decode(data, "replace", is_cut=is_cut)
        notes.append("not all of it is UTF-8: invalid bytes are shown as U+FFFD")
    if is_cut:
        total = f"of {size_bytes:,} " if size_bytes > READ_LIMIT_BYTES else ""
        notes.append(f"only the first {READ_LIMIT_BYTES:,} {total}bytes are shown")
    if not data:
        notes.append("the file is empty")
    return ToolOutput(text=text, notes=tuple(notes))


def _decode(data: bytes, errors: str, *, is_cut: bool) -> str:
    # A character that the limit cuts in two is left out, not called invalid.
    return codecs.getincrementaldecoder("utf-8")(errors).decode(data, final=not is_cut)


def _kind_of(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "special file"


def _shown(name: str) -> str:
    r"""Write a file's name so that it stays on its line and cannot be taken for another.

    Example:
        >>> print(_shown("my notes.txt"), _shown("a\n/etc"), _shown("'x'"))
        my notes.txt 'a\n/etc' "'x'"
    """
    is_plain = name.isprintable() and name == name.strip() and name[0] not in "'\""
    return name if is_plain else quoted(name, limit=_NAME_CHARACTERS)


def _note_names(kind: str, names: list[str]) -> str:
    shown = ", ".join(quoted(name) for name in names[:_NOTED_NAMES])
    more = f" and {len(names) - _NOTED_NAMES:,} more" if len(names) > _NOTED_NAMES else ""
    return f"{kind}s, which no tool opens: {shown}{more}"
