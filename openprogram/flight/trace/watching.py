"""The course of some variables as text, one line a change: what `--watch a,b` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from openprogram.errors import FlightError, ascii_if_unprintable, quoted
from openprogram.flight.trace.reader import is_function_named
from openprogram.flight.trace.snapshots import dump_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from openprogram.flight.trace.reader import Trace, TraceRow

_SHOWN_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Watched:
    """A variable to follow."""

    name: str
    function: str | None
    """Only in functions of this name, qualified or not."""


def parse_watch_list(text: str) -> tuple[Watched, ...]:
    """Read a list of variables.

    Args:
        text: Names with commas between them, each `name` or `function.name`.

    Returns:
        What to follow, in the order given.

    Raises:
        FlightError: A name is none, or there is no name at all.

    Example:
        >>> parse_watch_list("total, Account.add.amount")
        (Watched(name='total', function=None), Watched(name='amount', function='Account.add'))
    """
    found: list[Watched] = []
    for part in text.split(","):
        function, _, name = part.strip().rpartition(".")
        if not name.isidentifier():
            raise FlightError(
                f"watch list {quoted(text)}: {quoted(part.strip())} names no variable; give name "
                "or function.name, with commas between them"
            )
        found.append(Watched(name, function or None))
    return tuple(found)


def watch_lines(trace: Trace, watched: Sequence[Watched]) -> Iterator[str]:
    """Write each change of some variables, in the order things happened.

    Args:
        trace: Where they are followed.
        watched: The variables.

    Yields:
        Lines such as `shop.py:12  Cart.add  total = 3`, safe for a terminal, then what is missing:
        variables that never got a value, and how far the trace reaches.
    """
    unseen = dict.fromkeys(watched)
    for row in trace.rows:
        for each in watched:
            if each.function is not None and not is_function_named(row.function, each.function):
                continue
            change = _change(row, each.name)
            if change:
                unseen.pop(each, None)
                yield ascii_if_unprintable(f"{row.place}  {row.function}  {change}")
    for each in unseen:
        whole = each.name if each.function is None else f"{each.function}.{each.name}"
        yield f"{whole} never got a value"
    if not trace.is_whole:
        yield f"the trace is not whole: {trace.end or 'its writer was stopped'}"


def _change(row: TraceRow, name: str) -> str:
    if name in row.changed:
        text = dump_json(row.changed[name])
        if len(text) > _SHOWN_CHARACTERS:
            text = f"{text[:_SHOWN_CHARACTERS]}... ({len(text):,} characters)"
        return f"{name} = {text}"
    return f"{name} deleted" if name in row.deleted else ""
