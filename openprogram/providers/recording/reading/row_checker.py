"""Judge rows one after another: what each may be after those before it.

A row laid out as writers lay it out, with no field that is unknown, is decoded and validated in one
step. Any other is taken apart by the exact parser, which also names what is wrong with it. Either
way the same rows are accepted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard, cast

import msgspec

from openprogram.errors import ascii_if_unprintable, quoted
from openprogram.providers import types as t
from openprogram.providers.events import DELTA_TYPES
from openprogram.providers.recording import format as rules
from openprogram.providers.recording.format import RowError
from openprogram.providers.recording.reading.open_calls import OpenCall
from openprogram.providers.recording.reading.ordinary_rows import NOT_ORDINARY, take_ordinary
from openprogram.providers.recording.reading.strict_events import event_type, ordinary_event_decoder
from openprogram.providers.recording.snapshots import DERIVED_KEY, DerivationChecker

if TYPE_CHECKING:
    from openprogram._json_types import JsonObject
    from openprogram.errors import RecordingErrorCode

Taken: TypeAlias = tuple[str, int | None, int | None, Any]
"""Kind, call_index, event_index and value of a row, as `reader.CheckedRow` has them."""

_EVENT_START = b'{"type":"event","call_index":'
_LONGEST_INDEX_DIGITS = 10
_CLOSING_BRACE = ord("}")
_TERMINAL_TYPES = (t.EventDone, t.EventError)
_PLACE = re.compile(r"at `([^`]*)`")
_SAFE_RULES = ("Expected `", "Object missing required field `")
_SHOWN_CHARACTERS = 160


class RowChecker:
    """What was read so far, as far as it decides what may come.

    Args:
        next_call_index: How many calls were begun before the first row that is checked.
        is_appended: Whether the rows stand behind others: no header is expected, and rows of calls
            begun before are believed.
    """

    def __init__(self, *, next_call_index: int = 0, is_appended: bool = False) -> None:
        self.format_version: int | None = None
        """As the header says; None before there is one."""
        self.call_count = next_call_index
        """The index that the next request has to have."""
        self.open_calls: dict[int, OpenCall] = {}
        """The calls without an end, by index."""
        self._first_known: Final = next_call_index
        self._ended_before: set[int] = set()
        self._may_begin = is_appended
        self._set_version(rules.RECORDING_FORMAT_VERSION)
        self.last: OpenCall | None = None
        """The call that had the last event, as long as it is open."""

    def take_deltas(self, lines: list[bytes], start: int) -> int:
        """Take the next lines that are what most are: one more delta of the form of the last.

        Args:
            lines: Lines without their LF.
            start: Which of them is the next.

        Returns:
            How many were taken, all of the call in `last`; the line behind them has to be checked.
        """
        return 0 if self.last is None else self.last.take_deltas(lines, start)

    def check(self, line: bytes, line_number: int) -> Taken | None:
        """Take the next line, which `take_deltas` did not take.

        Args:
            line: The line without its LF.
            line_number: The physical line, from 1.

        Returns:
            What it is; None for a blank line.

        Raises:
            RowError: The line is no row that may stand here.
        """
        taken = self._next_event(line)
        if taken is not None:
            return taken
        if rules.is_blank(line):
            return None
        row = None if rules.is_too_deep(line) else take_ordinary(line, self._decode_event)
        return self._judge(row or rules.decode_row(line), line_number)

    def _next_event(self, line: bytes) -> Taken | None:
        """Take the next event of an open call, unless it is not ordinary."""
        call = self.last
        if call is None or not line.startswith(call.start):
            call = self._call_named_in(line)
            if call is None:
                return None
            if call.take_deltas([line], 0):
                self.last = call
                return ("event", call.call_index, call.event_count - 1, None)
        prefix = call.event_prefix()
        if not line.startswith(prefix) or line[-1] != _CLOSING_BRACE or rules.is_too_deep(line):
            return None
        try:
            event = self._decode_event(line[len(prefix) : -1])
        except NOT_ORDINARY:
            return None
        return self._take_event(call, event, getattr(event, DERIVED_KEY, None), line)

    def _call_named_in(self, line: bytes) -> OpenCall | None:
        """Find the open call that the row of an event names, as writers lay it out."""
        if not line.startswith(_EVENT_START):
            return None
        digits = line[len(_EVENT_START) : line.find(b",", len(_EVENT_START))]
        if len(digits) > _LONGEST_INDEX_DIGITS or not digits.isdigit():
            return None
        return self.open_calls.get(int(digits))

    def _judge(self, row: JsonObject, line_number: int) -> Taken:
        if not self._may_begin:
            self._take_header(row)
            return ("header", None, None, row)
        match row.get("type"):
            case "header":
                raise RowError("duplicate_header", "there is a header already")
            case "request":
                return ("request", self._take_request(row, line_number), None, row)
            case "event":
                return self._take_event_row(row)
            case "call_end":
                return self._take_call_end(row)
            case _:
                raise RowError("unknown_row_type", f"a row is one of {', '.join(rules.ROW_TYPES)}")

    def _take_header(self, row: JsonObject) -> None:
        if row.get("type") != "header":
            raise RowError("missing_header", "the first row has to be the header")
        version = row.get("format_version")
        if not _is_index(version) or version not in rules.READABLE_FORMAT_VERSIONS:
            shown = quoted(version, limit=40)
            known = " and ".join(map(str, rules.READABLE_FORMAT_VERSIONS))
            raise RowError(
                "unsupported_version",
                f"format version {shown} has no parser here, only {known}; use a newer release",
            )
        self.format_version = version
        self._set_version(version)
        self._may_begin = True

    def _set_version(self, version: int) -> None:
        self._decode_event = ordinary_event_decoder(version)
        self._event_type = event_type(version)

    def _take_request(self, row: JsonObject, line_number: int) -> int:
        for name in ("model", "context"):
            if not isinstance(row.get(name), dict):
                raise RowError("missing_field", f"a request needs an object as its {name}")
        if not isinstance(row.get("options", ()), dict | None):
            raise RowError("missing_field", "a request needs an object or null as its options")
        call_index = row.get("call_index")
        if not _is_index(call_index):
            raise _bad_call_index()
        if call_index != self.call_count:
            raise RowError("bad_call_index", f"the next request has to be call {self.call_count}")
        self.call_count += 1
        self.open_calls[call_index] = OpenCall(call_index, line_number, is_begun_before=False)
        return call_index

    def _take_event_row(self, row: JsonObject) -> Taken:
        call = self._call_of(row, "call_ended", "an event follows the end of its call")
        event_index = row.get("event_index")
        if call.checker is None and not call.event_count and _is_index(event_index):
            call.event_count = event_index
        if not _is_index(event_index) or event_index != call.event_count:
            raise RowError(
                "bad_event_index",
                f"the next event of the call has to be {call.event_count}",
                call_index=call.call_index,
            )
        event = row.get("event")
        if isinstance(event, msgspec.Struct):
            return self._take_event(call, event, getattr(event, DERIVED_KEY, None), b"")
        is_derived = cast("JsonObject", event).get(DERIVED_KEY) if isinstance(event, dict) else None
        try:
            event = msgspec.convert(event, self._event_type)
        except (ValueError, RecursionError) as error:
            reason = f"the event fits no type: {_without_values(str(error))}"
            raise RowError("invalid_event", reason, call_index=call.call_index) from None
        return self._take_event(call, event, is_derived, b"")

    def _take_event(self, call: OpenCall, event: Any, is_derived: object, line: bytes) -> Taken:
        """Take a typed event; its index was found right."""
        if call.checker is None and is_derived is not True and hasattr(event, "partial"):
            call.checker = DerivationChecker()
        if call.checker is not None:
            try:
                call.checker.check(event, is_derived=is_derived is True)
            except ValueError as error:
                reason = ascii_if_unprintable(str(error))[:_SHOWN_CHARACTERS]
                raise RowError("invalid_event", reason, call_index=call.call_index) from None
        if line and is_derived is True and isinstance(event, DELTA_TYPES):
            call.remember_delta(line)
        else:
            call.forget_delta()
        index = call.event_count
        call.event_count = index + 1
        self.last = call
        value = _as_plain(event) if isinstance(event, _TERMINAL_TYPES) else None
        return ("event", call.call_index, index, value)

    def _take_call_end(self, row: JsonObject) -> Taken:
        call = self._call_of(row, "duplicate_call_end", "the call has an end already")
        count = row.get("event_count")
        if not _is_index(count) or (count != call.event_count and not call.is_begun_before):
            raise RowError(
                "wrong_event_count",
                f"the call has {call.event_count} events",
                call_index=call.call_index,
            )
        outcome = row.get("outcome", "complete")
        if outcome not in rules.OUTCOMES:
            reason = f"an outcome is one of {', '.join(rules.OUTCOMES)}"
            raise RowError("bad_outcome", reason, call_index=call.call_index)
        del self.open_calls[call.call_index]
        self.last = None
        if call.is_begun_before:
            self._ended_before.add(call.call_index)
        return ("call_end", call.call_index, count, outcome)

    def _call_of(
        self, row: JsonObject, code_if_ended: RecordingErrorCode, reason_if_ended: str
    ) -> OpenCall:
        call_index = row.get("call_index")
        if not _is_index(call_index):
            raise _bad_call_index()
        call = self.open_calls.get(call_index)
        if call is not None:
            return call
        if call_index >= self.call_count:
            raise RowError("unknown_call", "no request began this call")
        if call_index >= self._first_known or call_index in self._ended_before:
            raise RowError(code_if_ended, reason_if_ended, call_index=call_index)
        call = self.open_calls[call_index] = OpenCall(call_index, 0, is_begun_before=True)
        return call


def _as_plain(event: t.EventDone | t.EventError) -> t.EventDone | t.EventError:
    """Make an event, perhaps of a strict twin type, one of what everybody knows."""
    kind = t.EventDone if isinstance(event, t.EventDone) else t.EventError
    return t.from_wire(kind, t.to_wire(event))


def _is_index(value: object) -> TypeGuard[int]:
    return type(value) is int and value >= 0


def _bad_call_index() -> RowError:
    return RowError("bad_call_index", "a call_index is an integer from 0")


def _without_values(message: str) -> str:
    """Keep of a validation message what holds nothing of the file: the rule, and the place."""
    place = _PLACE.search(message)
    where = f" at {place[1]}" if place else ""
    rule = message.partition(" - ")[0] if message.startswith(_SAFE_RULES) else "not allowed"
    return f"{rule[:1].lower()}{rule[1:]}{where}"
