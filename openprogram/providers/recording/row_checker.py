"""Judge rows one after another: what each may be after those before it.

A row laid out as writers lay it out, with no field that is unknown, is decoded and validated in one
step. Any other is taken apart by the exact parser, which also names what is wrong with it. Either
way the same rows are accepted.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias, TypeGuard, cast

import msgspec

from openprogram.errors import ascii_if_unprintable, quoted
from openprogram.providers.recording import format as rules
from openprogram.providers.recording.format import RowError
from openprogram.providers.recording.ordinary_rows import NOT_ORDINARY, take_ordinary
from openprogram.providers.recording.snapshots import DERIVED_KEY, DerivationChecker
from openprogram.providers.recording.strict_events import event_type, ordinary_event_decoder

Json: TypeAlias = dict[str, Any]

_CLOSING_BRACE = ord("}")
_PLACE = re.compile(r"at `([^`]*)`")
_SAFE_RULES = ("Expected `", "Object missing required field `")
_SHOWN_CHARACTERS = 160


class CheckedRow(msgspec.Struct, frozen=True):
    """One sound row, and where it is."""

    kind: str
    """`header`, `request`, `event` or `call_end`."""
    line_number: int
    """The physical line, from 1; counted from where the reading began."""
    offset: int
    """Where its first byte is, in bytes."""
    length: int
    """Its size in bytes, LF included."""
    call_index: int | None
    """The call it belongs to; None for the header."""
    event_index: int | None
    """Of an event: its place in the call, from 0."""
    value: Any
    """Of a header or request: the whole row. Of an event: the typed event, a stub still a stub. Of
    a call_end: the outcome."""


class OpenCall:
    """A call whose end has not come yet."""

    __slots__ = ("checker", "event_count", "is_begun_before", "line_number", "prefix")

    def __init__(self, call_index: int, line_number: int, *, is_begun_before: bool) -> None:
        self.line_number = line_number
        """Of its request; 0 when that was not read."""
        self.event_count = 0
        """How many events it has so far."""
        self.is_begun_before = is_begun_before
        """Whether its request, and perhaps some events, were not read."""
        self.prefix = b'{"type":"event","call_index":%d,"event_index":%%d,"event":' % call_index
        """How a writer begins the row of its next event, once the count is filled in."""
        self.checker = None if is_begun_before else DerivationChecker()
        """Judges its stubs; None as long as the snapshot that they rest on was not read."""


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
        self._last: tuple[int, OpenCall] | None = None

    def check(self, line: bytes, line_number: int, offset: int) -> CheckedRow | None:
        """Take the next line.

        Args:
            line: The line without its LF.
            line_number: The physical line, from 1.
            offset: Where it begins, in bytes.

        Returns:
            The row; None for a blank line.

        Raises:
            RowError: The line is no row that may stand here.
        """
        if self._last is not None:
            # Nearly every row is the next event of the call that had the row before.
            call_index, call = self._last
            prefix = call.prefix % call.event_count
            if (
                line.startswith(prefix)
                and line[-1] == _CLOSING_BRACE
                and not rules.is_too_deep(line)
            ):
                try:
                    event = self._decode_event(line[len(prefix) : -1])
                except NOT_ORDINARY:
                    event = None
                if event is not None:
                    index = call.event_count
                    self._take_event(call_index, call, event, getattr(event, DERIVED_KEY, None))
                    return CheckedRow(
                        "event", line_number, offset, len(line) + 1, call_index, index, event
                    )
        if rules.is_blank(line):
            return None
        row = None if rules.is_too_deep(line) else take_ordinary(line, self._decode_event)
        if row is None:
            row = rules.decode_row(line)
        kind, call_index, event_index, value = self._judge(row, line_number)
        return CheckedRow(kind, line_number, offset, len(line) + 1, call_index, event_index, value)

    def first_without_end(self) -> tuple[int, OpenCall] | None:
        """Find the lowest call that has no end.

        Returns:
            Its index and what is known of it; None when every call has one.
        """
        return min(self.open_calls.items(), default=None)

    def _judge(self, row: Json, line_number: int) -> tuple[str, int | None, int | None, Any]:
        kind = row.get("type")
        if not self._may_begin:
            self._take_header(row)
            return ("header", None, None, row)
        match kind:
            case "header":
                raise RowError("duplicate_header", "there is a header already")
            case "request":
                return ("request", self._take_request(row, line_number), None, row)
            case "event":
                return self._take_event_row(row)
            case "call_end":
                call_index, outcome = self._take_call_end(row)
                return ("call_end", call_index, None, outcome)
            case _:
                raise RowError("unknown_row_type", f"a row is one of {', '.join(rules.ROW_TYPES)}")

    def _take_header(self, row: Json) -> None:
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

    def _take_request(self, row: Json, line_number: int) -> int:
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
        call = OpenCall(call_index, line_number, is_begun_before=False)
        self.open_calls[call_index] = call
        self._last = (call_index, call)
        return call_index

    def _take_event_row(self, row: Json) -> tuple[str, int, int, Any]:
        call_index, call = self._call_of(row, "call_ended", "an event follows the end of its call")
        event_index = row.get("event_index")
        if call.checker is None and not call.event_count and _is_index(event_index):
            call.event_count = event_index
        if not _is_index(event_index) or event_index != call.event_count:
            raise RowError(
                "bad_event_index",
                f"the next event of the call has to be {call.event_count}",
                call_index=call_index,
            )
        event = row.get("event")
        if isinstance(event, msgspec.Struct):
            is_derived = getattr(event, DERIVED_KEY, None)
        else:
            is_derived = cast("Json", event).get(DERIVED_KEY) if isinstance(event, dict) else None
            try:
                event = msgspec.convert(event, self._event_type)
            except (ValueError, RecursionError) as error:
                reason = f"the event fits no type: {_without_values(str(error))}"
                raise RowError("invalid_event", reason, call_index=call_index) from None
        self._take_event(call_index, call, event, is_derived)
        self._last = (call_index, call)
        return ("event", call_index, event_index, event)

    @staticmethod
    def _take_event(call_index: int, call: OpenCall, event: Any, is_derived: object) -> None:
        if call.checker is None and is_derived is not True and hasattr(event, "partial"):
            call.checker = DerivationChecker()
        if call.checker is not None:
            try:
                call.checker.check(event, is_derived=is_derived is True)
            except ValueError as error:
                reason = ascii_if_unprintable(str(error))[:_SHOWN_CHARACTERS]
                raise RowError("invalid_event", reason, call_index=call_index) from None
        call.event_count += 1

    def _take_call_end(self, row: Json) -> tuple[int, str]:
        call_index, call = self._call_of(row, "duplicate_call_end", "the call has an end already")
        count = row.get("event_count")
        if not _is_index(count) or (count != call.event_count and not call.is_begun_before):
            raise RowError(
                "wrong_event_count",
                f"the call has {call.event_count} events",
                call_index=call_index,
            )
        outcome = row.get("outcome", "complete")
        if outcome not in rules.OUTCOMES:
            reason = f"an outcome is one of {', '.join(rules.OUTCOMES)}"
            raise RowError("bad_outcome", reason, call_index=call_index)
        del self.open_calls[call_index]
        self._last = None
        if call.is_begun_before:
            self._ended_before.add(call_index)
        return call_index, outcome

    def _call_of(self, row: Json, code_if_ended: str, reason_if_ended: str) -> tuple[int, OpenCall]:
        call_index = row.get("call_index")
        if not _is_index(call_index):
            raise _bad_call_index()
        call = self.open_calls.get(call_index)
        if call is not None:
            return call_index, call
        if call_index >= self.call_count:
            raise RowError("unknown_call", "no request began this call")
        if call_index >= self._first_known or call_index in self._ended_before:
            raise RowError(code_if_ended, reason_if_ended, call_index=call_index)
        call = self.open_calls[call_index] = OpenCall(call_index, 0, is_begun_before=True)
        return call_index, call


def _is_index(value: object) -> TypeGuard[int]:
    return type(value) is int and value >= 0


def _bad_call_index() -> RowError:
    return RowError("bad_call_index", "a call_index is an integer from 0")


def _without_values(message: str) -> str:
    """Keep of a validation message what holds nothing of the file: the rule, and the place."""
    place = _PLACE.search(message)
    where = f" at {place[1]}" if place else ""
    rule = message.partition(" - ")[0] if message.startswith(_SAFE_RULES) else "not allowed"
    return f"{rule.lower()}{where}"
