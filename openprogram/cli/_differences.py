"""Puts what differs between two recordings into lines that a person can read; prints nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from openprogram.cli._mismatches import compare_values
from openprogram.cli._tables import cell_width, count_of, fit
from openprogram.errors import ascii_if_unprintable, quoted
from openprogram.providers.diffing import PAIR_STATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from openprogram.providers.comparison import Difference
    from openprogram.providers.diffing import CallPair, RecordingDiff
    from openprogram.providers.inspection import CallInspection

Line: TypeAlias = "tuple[str, str | None]"
"""Printable text, and the style of `_output.paint` that it is drawn in."""

_LINE_CELLS = 78
_MODEL_CELLS = 30
_LABELS = ("    A  ", "    B  ")
_STYLES = {"A": "green", "B": "red", "^": "dim"}
_CALLS_SHOWN = 10
_DIFFERENCES_SHOWN = 5


def lay_out(
    found: RecordingDiff, names: Sequence[str], *, is_about_one_call: bool
) -> Iterator[Line]:
    """Say what differs: the first difference, what was compared, then call by call.

    Args:
        found: The comparison.
        names: What the two recordings are called; any text.
        is_about_one_call: Show every difference, instead of the first few of the first few calls.

    Yields:
        Lines of at most 78 cells.

    Raises:
        RecordingFileError: A file cannot be read, or was changed since it was compared.
    """
    different = [pair for pair in found.pairs if pair.state != "equal"]
    if not different:
        yield f"No difference: {count_of(len(found.pairs), 'call')} compared.", None
        return
    yield fit(f"First difference: {_first_place(found, different[0])}", _LINE_CELLS), "bold"
    yield "", None
    for label, name, side in zip("AB", names, (found.first, found.second), strict=True):
        held = f" ({count_of(len(side.calls), 'call')})"
        yield f"{label}  {_end_of(name, _LINE_CELLS - 3 - len(held))}{held}", None
    counts = [(state, found.count(state)) for state in PAIR_STATES]
    yield f"   {', '.join(f'{count:,} {state}' for state, count in counts if count)}", None
    seen: set[int] = set()
    for pair in different[:_CALLS_SHOWN]:
        yield "", None
        yield from _pair_lines(found, pair, None if is_about_one_call else seen)
    more_count = len(different) - _CALLS_SHOWN
    if more_count > 0:
        yield "", None
        yield f"... and {count_of(more_count, 'more call')}; --call N shows one, --json all", "dim"


def _first_place(found: RecordingDiff, pair: CallPair) -> str:
    if pair.first is None or pair.second is None:
        return _lone_call(pair)
    path = next((difference.path for difference in found.iterate_differences(pair)), "")
    return f"call {pair.first.call_index}, field {path}"


def _lone_call(pair: CallPair) -> str:
    call, side = (pair.second, "B") if pair.first is None else (pair.first, "A")
    return f"call {call.call_index if call else '-'} of {side} was {pair.state}"


def _pair_lines(found: RecordingDiff, pair: CallPair, seen: set[int] | None) -> Iterator[Line]:
    if pair.first is not None and pair.second is not None:
        return _changed_lines(found, pair, pair.first, pair.second, seen)
    return _lone_lines(pair)


def _lone_lines(pair: CallPair) -> Iterator[Line]:
    head = _lone_call(pair)
    yield f"{head[:1].upper()}{head[1:]}", "bold"
    if pair.twin is not None:
        other = "A" if pair.first is None else "B"
        yield f"  it equals call {pair.twin.call_index} of {other}, at another place", None
        return
    call = pair.first or pair.second
    if call is not None:
        model = fit(ascii_if_unprintable(call.model or "-"), _MODEL_CELLS)
        yield f"  {model}, {count_of(call.event_count, 'event')}, {call.outcome}", None


def _changed_lines(
    found: RecordingDiff,
    pair: CallPair,
    call: CallInspection,
    other: CallInspection,
    seen: set[int] | None,
) -> Iterator[Line]:
    """Lay out a changed call; what was seen in a call before it is only counted."""
    shown: list[Difference] = []
    count = known_count = 0
    for difference in found.iterate_differences(pair):
        count += 1
        key = hash((difference.path, repr(difference.recorded), repr(difference.incoming)))
        if seen is not None and key in seen:
            known_count += 1
        elif seen is None or len(shown) < _DIFFERENCES_SHOWN:
            shown.append(difference)
        if seen is not None:
            seen.add(key)
    place = "" if call.call_index == other.call_index else f" ({other.call_index} in B)"
    yield f"Call {call.call_index}{place} changed: {count_of(count, 'difference')}", "bold"
    for difference in shown:
        yield from _difference_lines(difference)
    if known_count:
        yield f"  {known_count:,} as in a call above", "dim"
    hidden_count = count - known_count - len(shown)
    if hidden_count:
        yield f"  ... and {hidden_count:,} more; see all with --call {call.call_index}", "dim"


def _difference_lines(difference: Difference) -> Iterator[Line]:
    yield f"  {_end_of(difference.path, _LINE_CELLS - 2)}", None
    one, other = difference.recorded, difference.incoming
    lines = [label + quoted(x) for label, x in zip(_LABELS, (one, other), strict=True)]
    if any(cell_width(line) > _LINE_CELLS for line in lines):
        lines = compare_values(one, other, _LABELS)
    for line in lines:
        yield fit(line, _LINE_CELLS), _STYLES.get(line.lstrip()[:1])


def _end_of(name: str, cells: int) -> str:
    """Cut a long name at its front: the end of a path tells more than its beginning."""
    name = ascii_if_unprintable(name)
    if cell_width(name) <= cells:
        return name
    name = name[-cells:]
    while cell_width(name) > cells - 1:
        name = name[1:]
    return f"…{name}"
