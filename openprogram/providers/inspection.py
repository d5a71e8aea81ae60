"""Describe a recording, sound or not. Pure: no lock, no change of mode, no settings.

An inspection holds where everything is and no content, so it stays small whatever the file holds;
`read_call` reads the content of one call.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, cast

from openprogram.errors import RecordingFileError
from openprogram.providers import file_safety
from openprogram.providers import types as t
from openprogram.providers.events import FAILED_STOP_REASONS, final_message
from openprogram.providers.inspected_calls import CallInspection as CallInspection
from openprogram.providers.inspected_calls import EventInspection as EventInspection
from openprogram.providers.inspected_calls import RecordedCall as RecordedCall
from openprogram.providers.inspected_calls import first_user_text as first_user_text
from openprogram.providers.inspected_calls import read_call as read_call
from openprogram.providers.recording.format import REDACTION_VERSION_IF_UNSAID
from openprogram.providers.recording.reader import RowReader

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from openprogram._json_types import JsonObject
    from openprogram.providers.recording.reader import CheckedRow
    from openprogram.providers.recording.reading.open_calls import OpenCall


_METADATA_NAMES = ("recording_id", "created_at", "redaction_version")

_TOKEN_CLASSES = ("input", "output", "cache_read", "cache_write")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderInspection:
    """What the header says; its metadata is for display only, and believed by nobody."""

    line_number: int
    """The physical line, from 1."""
    format_version: int
    """1 or 2."""
    recording_id: Any
    """Any JSON value, null when it is not there."""
    created_at: Any
    """Likewise; a sound writer puts an RFC 3339 instant."""
    redaction_version: Any
    """Likewise; an integer."""
    has_metadata: bool
    """Whether any of these three is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingInspection:
    """One recording. Two are equal when their bytes are, whatever they are called."""

    path: Path = field(compare=False)
    """The file."""
    size_bytes: int
    """How much of it was there to read."""
    header: HeaderInspection | None
    """Its header; None when it has no sound one."""
    calls: tuple[CallInspection, ...]
    """Its calls; of a broken file, those that began before the fault."""
    event_count: int
    """How many events were read."""
    error: RecordingFileError | None = field(compare=False)
    """Why it is not sound; None when it is."""
    _fault: tuple[object, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Errors compare by identity; what they say makes two inspections equal or not.
        error = self.error
        fault = () if error is None else (error.code, error.line_number, error.call_index)
        object.__setattr__(self, "_fault", fault)

    @property
    def valid(self) -> bool:
        """Whether the strict reader accepts it."""
        return self.error is None

    @property
    def complete(self) -> bool:
        """Whether it is valid and the outcome of every call is `complete`."""
        return self.valid and all(call.outcome == "complete" for call in self.calls)

    @property
    def format_version(self) -> int | None:
        """As the header says; None without a sound one."""
        return None if self.header is None else self.header.format_version

    @property
    def redaction_version(self) -> int | None:
        """By which rules secrets were removed; None when nobody can know."""
        if self.header is None:
            return None
        version = self.header.redaction_version
        if version is None:
            return REDACTION_VERSION_IF_UNSAID
        return version if type(version) is int else None

    @property
    def legacy(self) -> bool:
        """Whether its header has no metadata, as older writers left it."""
        return self.header is not None and not self.header.has_metadata


def inspect_recording(path: Path) -> RecordingInspection:
    """Describe a recording; of a broken one, all that comes before the fault.

    Args:
        path: The file; that it cannot be opened is described as well.

    Returns:
        What the strict reader found.
    """
    builder = _Builder()
    size_bytes = 0
    try:
        fd = file_safety.open_recording_for_reading(path, require_private=False)
    except RecordingFileError as error:
        return builder.finish(path, size_bytes, error)
    reader = RowReader(fd, path)
    fault: RecordingFileError | None = None
    try:
        size_bytes = os.fstat(fd).st_size
        for row in reader.rows(include_events=False):
            builder.add(row)
    except RecordingFileError as error:
        fault = error
    finally:
        os.close(fd)
    builder.add_open_calls(reader.open_calls.values())
    return builder.finish(path, size_bytes, fault)


class _Builder:
    """Collects what the rows say."""

    def __init__(self) -> None:
        self._header: HeaderInspection | None = None
        self._calls: list[JsonObject] = []
        self._prices: dict[int, JsonObject] = {}
        # A long recording names the same few models again and again.
        self._names: dict[str, str] = {}

    def add(self, row: CheckedRow) -> None:
        if row.kind == "event":
            call = self._calls[cast("int", row.call_index)]
            if row.value is not None:
                self._end_message(call, row.value)
                call["answer_offset"], call["answer_bytes"] = row.offset, row.length
        elif row.kind == "header":
            self._header = _header(row)
            return
        elif row.kind == "request":
            call = self._begin(row)
        else:
            call = self._calls[cast("int", row.call_index)]
            call["outcome"] = row.value
            call["event_count"] = row.event_index
            self._prices.pop(call["call_index"], None)
        call["last_line_number"] = row.line_number
        call["end_offset"] = row.offset + row.length

    def add_open_calls(self, open_calls: Iterable[OpenCall]) -> None:
        """Complete the calls that have no end with what was read of them."""
        for known in open_calls:
            call = self._calls[known.call_index]
            call["event_count"] = known.event_count
            if known.last_line_number > call["last_line_number"]:
                call["last_line_number"] = known.last_line_number
                call["end_offset"] = known.end_offset

    def _begin(self, row: CheckedRow) -> JsonObject:
        model = cast("JsonObject", row.value["model"])
        call: JsonObject = dict.fromkeys(_CALL_FIELD_NAMES)
        call |= {
            "call_index": row.call_index,
            "provider": self._name(model.get("provider")),
            "api": self._name(model.get("api")),
            "model": self._name(model.get("id")),
            "event_count": 0,
            "first_line_number": row.line_number,
            "offset": row.offset,
            "request_bytes": row.length,
        }
        self._calls.append(call)
        cost = model.get("cost")
        self._prices[cast("int", row.call_index)] = (
            cast("JsonObject", cost) if isinstance(cost, dict) else {}
        )
        return call

    def _name(self, value: object) -> str | None:
        return self._names.setdefault(value, value) if isinstance(value, str) else None

    def _end_message(self, call: JsonObject, event: t.EventDone | t.EventError) -> None:
        message = final_message(event)
        call["stop_reason"] = message.stop_reason
        call["usage"] = message.usage
        prices = self._prices[call["call_index"]]
        is_failed = message.stop_reason in FAILED_STOP_REASONS
        call["cost_usd"] = _cost_usd(message.usage, prices, is_failed=is_failed)

    def finish(
        self, path: Path, size_bytes: int, error: RecordingFileError | None
    ) -> RecordingInspection:
        return RecordingInspection(
            path=path,
            size_bytes=size_bytes,
            header=self._header,
            calls=tuple(CallInspection(**call) for call in self._calls),
            event_count=sum(call["event_count"] for call in self._calls),
            error=error,
        )


_CALL_FIELD_NAMES = tuple(each.name for each in fields(CallInspection))


def _header(row: CheckedRow) -> HeaderInspection:
    header = cast("JsonObject", row.value)
    return HeaderInspection(
        line_number=row.line_number,
        format_version=header["format_version"],
        **{name: header.get(name) for name in _METADATA_NAMES},
        has_metadata=any(name in header for name in _METADATA_NAMES),
    )


def _cost_usd(usage: t.Usage, prices: JsonObject, *, is_failed: bool) -> float | None:
    """Give the cost that was worked out; nought is believed only when every price was known.

    Of a failed call without a count nobody knows what the vendor charges.
    """
    if usage.cost.total:
        return usage.cost.total
    counted = [name for name in _TOKEN_CLASSES if getattr(usage, name)]
    if is_failed and not counted:
        return None
    return None if any(prices.get(name) is None for name in counted) else 0.0
