"""Reading a trace: what a variable was in the course of a call, what was called and returned.

Reads format 2, which `openprogram.flight.trace.tracer` describes. A last line that was cut off is
left out, and told; anything else that is damaged is refused with its line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias, cast

from openprogram.errors import TraceFormatError, quoted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

TRACE_FORMAT_VERSION: Final = 2
RowKind: TypeAlias = Literal["C", "L", "R", "X"]
_KINDS: Final = frozenset({"C", "L", "R", "X"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    """One row about a running function."""

    kind: RowKind
    """`C` begins or goes on, `L` a line is done, `R` returns or pauses, `X` an exception."""
    frame_id: int
    """Which running of the function."""
    function: str
    """Its qualified name."""
    file: str
    """Relative to the root."""
    line: int
    how: str
    """What sort of `C`, `R` or `X`; empty for a plain one."""
    changed: dict[str, Any]
    """New values of locals, as JSON."""
    deleted: tuple[str, ...]
    """Locals that are gone."""
    value: Any
    """What an `R` gives away; None for other rows."""
    error: dict[str, Any] | None
    """`type` and `args` of an `X`."""
    caller_id: int | None
    """For a `C`: the `frame_id` of the traced function that called."""
    thread: int
    """For a `C`: the number of its thread, 0 for the first."""

    @property
    def place(self) -> str:
        """File and line as `file:line`."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableChange:
    """A variable got a value, or was deleted."""

    name: str
    value: Any
    """The value as JSON; None when it was deleted."""
    is_deleted: bool
    row: TraceRow
    """Where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace that was read.

    Attributes:
        head: The first row: `python`, `backend`, `about`.
        rows: All rows about functions, in the order things happened.
        end: Why it ended: `whole`, `size_limit`, `write_failed`; empty when its writer was killed.
        lost_count: Events that the tracer could not tell.
        withheld_count: Rows that were forbidden.
        torn_tail_bytes: How long a last line was that was cut off.
    """

    head: dict[str, Any]
    rows: tuple[TraceRow, ...]
    end: str
    lost_count: int
    withheld_count: int
    torn_tail_bytes: int

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a trace whole.

        Args:
            path: The file.

        Returns:
            The trace.

        Raises:
            TraceFormatError: It is no trace of this version, or damaged before its last line.
            OSError: It cannot be read.
        """
        path = Path(path)
        data = path.read_bytes()
        *lines, torn = data.split(b"\n")
        decoded = (_decode(path, number, line) for number, line in enumerate(lines, 1))
        head = next(decoded, None)
        if head is None or head.get("k") != "H" or "version" not in head:
            raise TraceFormatError(path, 1, "it is not the first row of a trace")
        if head["version"] != TRACE_FORMAT_VERSION or type(head["version"]) is not int:
            raise TraceFormatError(path, 1, f"its version {quoted(head['version'])} is not 2")
        rows: list[TraceRow] = []
        foot: dict[str, Any] = {}
        for number, row in enumerate(decoded, 2):
            kind = row.get("k")
            if kind == "H":
                foot = row
            elif kind in _KINDS:
                rows.append(_row(path, number, row))
        return cls(
            head=head,
            rows=tuple(rows),
            end=str(foot.get("end", "")),
            lost_count=int(foot.get("lost", 0)),
            withheld_count=int(foot.get("withheld", 0)),
            torn_tail_bytes=len(torn),
        )

    @property
    def is_whole(self) -> bool:
        """Whether everything that happened is told."""
        missing = self.lost_count + self.withheld_count + self.torn_tail_bytes
        return self.end == "whole" and not missing

    def changes(self, name: str, fn: str | None = None) -> list[VariableChange]:
        """Follow a variable through all runs of all functions, in the order things happened.

        Args:
            name: The variable.
            fn: Only in functions of this name, qualified or not.

        Returns:
            Each change, with where it happened.
        """
        found: list[VariableChange] = []
        for row in self._rows_of(fn):
            if name in row.changed:
                change = VariableChange(
                    name=name, value=row.changed[name], is_deleted=False, row=row
                )
                found.append(change)
            elif name in row.deleted:
                found.append(VariableChange(name=name, value=None, is_deleted=True, row=row))
        return found

    def values(self, name: str, fn: str | None = None) -> list[Any]:
        """List the values that a variable got, in the order things happened.

        Args:
            name: The variable.
            fn: Only in functions of this name, qualified or not.

        Returns:
            Its values as JSON.
        """
        return [each.value for each in self.changes(name, fn) if not each.is_deleted]

    def first(self, name: str, fn: str | None = None) -> Any:
        """Give the first value of a variable.

        Args:
            name: The variable.
            fn: Only in functions of this name, qualified or not.

        Returns:
            The value as JSON.

        Raises:
            LookupError: It never got one.
        """
        return self._known_values(name, fn)[0]

    def final(self, name: str, fn: str | None = None) -> Any:
        """Give the last value of a variable.

        Args:
            name: The variable.
            fn: Only in functions of this name, qualified or not.

        Returns:
            The value as JSON.

        Raises:
            LookupError: It never got one.
        """
        return self._known_values(name, fn)[-1]

    def calls(self, fn: str) -> list[dict[str, Any]]:
        """List the arguments of each call of a function.

        Args:
            fn: The function's name, qualified or not.

        Returns:
            Arguments by name, as JSON.
        """
        rows = self._rows_of(fn)
        return [row.changed for row in rows if row.kind == "C" and not row.how]

    def returns(self, fn: str) -> list[Any]:
        """List what a function returned; what a generator yields is not among it.

        Args:
            fn: The function's name, qualified or not.

        Returns:
            The values as JSON.
        """
        return [row.value for row in self._rows_of(fn) if row.kind == "R" and not row.how]

    def raised(self, fn: str | None = None) -> list[dict[str, Any]]:
        """List the exceptions that arose, each once, however far it travelled.

        Args:
            fn: Only in functions of this name, qualified or not.

        Returns:
            Their `type` and `args`.
        """
        rows = self._rows_of(fn)
        return [row.error for row in rows if row.how == "raised" and row.error is not None]

    def _rows_of(self, fn: str | None) -> Iterator[TraceRow]:
        return (row for row in self.rows if fn is None or is_function_named(row.function, fn))

    def _known_values(self, name: str, fn: str | None) -> list[Any]:
        values = self.values(name, fn)
        if not values:
            place = "" if fn is None else f" in {quoted(fn)}"
            raise LookupError(f"trace: {quoted(name)} never got a value{place}")
        return values


def is_function_named(function: str, name: str) -> bool:
    """Say whether a name means a function.

    Args:
        function: A qualified name.
        name: The whole of it, or its last parts.

    Returns:
        Whether it does.

    Example:
        >>> is_function_named("Account.add", "add"), is_function_named("Account.add", "dd")
        (True, False)
    """
    return function == name or function.endswith(f".{name}")


def _decode(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TraceFormatError(path, number, "it is no JSON") from error
    if not isinstance(row, dict):
        raise TraceFormatError(path, number, "it is no object")
    return cast("dict[str, Any]", row)


def _row(path: Path, number: int, row: dict[str, Any]) -> TraceRow:
    file, _, line = str(row.get("at", "")).rpartition(":")
    changed = row.get("set", {})
    deleted = row.get("del", [])
    error = row.get("exc")
    if not (
        file
        and line.isdecimal()
        and isinstance(row.get("id"), int)
        and isinstance(row.get("fn"), str)
        and isinstance(changed, dict)
        and isinstance(deleted, list)
        and (error is None or isinstance(error, dict))
    ):
        raise TraceFormatError(path, number, "it lacks a key, or has one of another type")
    return TraceRow(
        kind=row["k"],
        frame_id=row["id"],
        function=row["fn"],
        file=file,
        line=int(line),
        how=str(row.get("how", "")),
        changed=cast("dict[str, Any]", changed),
        deleted=tuple(map(str, cast("list[Any]", deleted))),
        value=row.get("value"),
        error=cast("dict[str, Any] | None", error),
        caller_id=row.get("up"),
        thread=row.get("th", 0),
    )
