"""What is known of a piece of code before it runs: whether it is traced, and what each line stores.

A line can only rebind the names that its instructions store, so that a tracer need not look at all
locals after every line. Knows nothing of frames and values.
"""

from __future__ import annotations

import dis
import inspect
import os
import sysconfig
from dataclasses import dataclass
from fnmatch import fnmatchcase
from json.encoder import encode_basestring
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from openprogram.errors import FlightError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType

_OWN_FOLDER: Final = os.path.realpath(Path(__file__).parents[1])
_PACKAGE_FOLDERS: Final = ("site-packages", "dist-packages")
_NOT_LOCAL: Final = ("_ATTR", "_SUBSCR", "_GLOBAL", "_SLICE")
_ITEM_OPERATIONS: Final = frozenset({"FOR_ITER", "SEND"})
_RETURNING_OPERATIONS: Final = frozenset({"RETURN_VALUE", "RETURN_CONST"})
_YIELDING_OPERATIONS: Final = frozenset({"YIELD_VALUE"})
_SUSPENDABLE: Final = (
    inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
)


class TracedFiles:
    """Which source files are traced, and by which names."""

    def __init__(self, root: str | os.PathLike[str], skip_files: Iterable[str] = ()) -> None:
        """Take the folder whose files are traced.

        Args:
            root: The folder. There is no default: only its owner knows what is the app's own.
            skip_files: Patterns as of `fnmatch`, for paths relative to the root, such as
                `vendored/*`.

        Raises:
            FlightError: The root is no folder.
        """
        self._root = os.path.realpath(root)
        self._skip_patterns = tuple(skip_files)
        if not Path(self._root).is_dir():
            raise FlightError(
                f"trace root {quoted(os.fspath(root))}: no such directory; give the directory that "
                "holds the code to trace"
            )
        paths = sysconfig.get_paths()
        foreign = {os.path.realpath(paths[name]) for name in ("stdlib", "platstdlib")}
        # Whoever names a folder within the library as the root does want that one.
        self._foreign = tuple(
            folder for folder in (*foreign, _OWN_FOLDER) if not self._is_below(self._root, folder)
        )

    def name_of(self, file_name: str) -> str | None:
        """Name a source file relative to the root.

        Args:
            file_name: What a code object says it comes from.

        Returns:
            The path with `/` between its parts, or None where the file is not traced.
        """
        if not file_name or file_name.startswith("<"):
            return None
        path = os.path.realpath(file_name)
        if not self._is_below(path, self._root):
            return None
        if any(self._is_below(path, folder) for folder in self._foreign):
            return None
        name = Path(path).relative_to(self._root).as_posix()
        if any(part in _PACKAGE_FOLDERS for part in name.split("/")):
            return None
        return None if any(fnmatchcase(name, each) for each in self._skip_patterns) else name

    @staticmethod
    def _is_below(path: str, folder: str) -> bool:
        return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


@dataclass(frozen=True, slots=True, eq=False)
class CodeFacts:
    """What a tracer needs to know of one code object."""

    code: CodeType
    """Held, so that its identity stands for it."""
    function: str
    """Its qualified name."""
    place_json: str
    """The keys `fn` and `at` of its rows as JSON text, up to the line number."""
    names: tuple[str, ...]
    """Every name that may be local in it."""
    stored_at: dict[int, tuple[str, ...]]
    """By line, what its instructions may rebind, and what may be rebound behind its back."""
    stored_anywhere: tuple[str, ...]
    """What may be rebound on a line that stores nothing: by other functions, or by clean-up code
    that belongs to no line."""
    key_json: dict[str, str]
    """Each name as the key of a JSON object, colon included."""
    is_suspendable: bool
    """Whether its frames can pause and go on: generators and coroutines."""
    is_coroutine: bool
    is_async_generator: bool
    start_offset: int
    """At which instruction its frames begin; those that go on do so behind it."""
    returning_offsets: frozenset[int]
    """Where a frame returns."""
    yielding_offsets: frozenset[int]
    """Where a frame yields or waits."""
    item_offsets: frozenset[int]
    """Where an iterator is asked for its next item: its end is no exception of the code."""


def describe_code(code: CodeType, file_name: str) -> CodeFacts:
    """Read the instructions of a piece of code.

    Args:
        code: Any code object.
        file_name: What its file is called in the trace.

    Returns:
        What is known of it.
    """
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    shared = (*code.co_cellvars, *code.co_freevars)
    by_line: dict[int, dict[str, None]] = {}
    lineless: dict[str, None] = dict.fromkeys(shared)
    lines = {
        offset: line for start, end, line in code.co_lines() for offset in range(start, end, 2)
    }
    offsets: dict[str, set[int]] = {}
    for instruction in dis.get_instructions(code):
        line = lines.get(instruction.offset)
        for name in _stored_names(instruction):
            (lineless if line is None else by_line.setdefault(line, {}))[name] = None
        offsets.setdefault(instruction.opname, set()).add(instruction.offset)
    names = dict.fromkeys((*code.co_varnames, *shared)) if is_function else {}
    for stored in (*by_line.values(), lineless):
        names.update(stored)
    shown = tuple(name for name in names if not name.startswith("."))
    place = encode_basestring(f"{file_name}:")[:-1]
    return CodeFacts(
        code=code,
        function=code.co_qualname,
        place_json=f'"fn":{encode_basestring(code.co_qualname)},"at":{place}',
        names=shown,
        stored_at={line: tuple({**stored, **lineless}) for line, stored in by_line.items()},
        stored_anywhere=tuple(lineless),
        key_json={name: f"{encode_basestring(name)}:" for name in (*shown, *lineless)},
        is_suspendable=bool(code.co_flags & _SUSPENDABLE),
        is_coroutine=bool(code.co_flags & inspect.CO_COROUTINE),
        is_async_generator=bool(code.co_flags & inspect.CO_ASYNC_GENERATOR),
        start_offset=min(offsets.get("RESUME", {0})),
        returning_offsets=_offsets_of(_RETURNING_OPERATIONS, offsets),
        yielding_offsets=_offsets_of(_YIELDING_OPERATIONS, offsets),
        item_offsets=_offsets_of(_ITEM_OPERATIONS, offsets),
    )


def _stored_names(instruction: dis.Instruction) -> tuple[str, ...]:
    operation = instruction.opname
    if not operation.startswith(("STORE_", "DELETE_", "LOAD_FAST_AND_CLEAR")):
        return ()
    if operation.endswith(_NOT_LOCAL):
        return ()
    # Newer versions join two stores in one instruction, and name both.
    named: Any = instruction.argval
    given = cast("tuple[object, ...]", named if isinstance(named, tuple) else (named,))
    return tuple(name for name in given if isinstance(name, str) and not name.startswith("."))


def _offsets_of(operations: frozenset[str], offsets: dict[str, set[int]]) -> frozenset[int]:
    return frozenset[int]().union(*(offsets.get(each, ()) for each in operations))
