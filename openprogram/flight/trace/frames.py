"""One running function: what its locals were when last looked at, and the rows about it.

Values that can change keep no reference here, only their text: an object dies when it would have
died without a tracer.
"""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, Final, cast

from openprogram.flight.trace.row_file import ROWS_PER_BATCH
from openprogram.flight.trace.snapshots import PLAIN_TYPE_IDS, dump_json, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CodeType, FrameType

    from openprogram.flight.trace.code_facts import CodeFacts
    from openprogram.flight.trace.row_file import RowFile
    from openprogram.flight.trace.snapshots import Json, ValueLimits

_ABSENT: Final[Any] = object()
_QUICK_BITS: Final = 62
"""Positive numbers of so many bits are written at once."""


class ValueWriter:
    """Turns values into JSON text: within limits, and masked."""

    __slots__ = ("limits", "mask")

    def __init__(
        self, limits: ValueLimits, mask: Callable[[Json, str | None], Json] | None
    ) -> None:
        """Take the limits and what hides secrets.

        Args:
            limits: How much of a value is written.
            mask: Given a JSON value and the name it has in the code, returns what may be written;
                None writes all.
        """
        self.limits = limits
        self.mask = mask

    def text_of(self, value: object, name: str | None) -> str:
        """Write a value.

        Args:
            value: Any value of the app.
            name: What it is called, None for what has no name.

        Returns:
            JSON in one line.
        """
        return self.masked(snapshot(value, self.limits), name)

    def masked(self, encoded: Json, name: str | None) -> str:
        """Write JSON as it may be read.

        Args:
            encoded: Any JSON value.
            name: What it is called, None for what has no name.

        Returns:
            JSON in one line.
        """
        return dump_json(encoded if self.mask is None else self.mask(encoded, name))


class TracedFrame:
    """The state of one frame.

    Attributes:
        frame_id: Its number in the trace.
        facts: What is known of its code.
        line: The line it is at.
        error_json: The exception that it saw last, as JSON text.
        error_id: The identity of that exception, 0 where it is dealt with.
        error_offset: At which instruction it was seen; -1 once the frame went on.
        is_in_line: Whether it is within a line; not at the beginning, and not after an exception.
    """

    __slots__ = (
        "_file",
        "_gone",
        "_head",
        "_rows",
        "_seen",
        "_stored_anywhere",
        "_stored_at",
        "_texts",
        "_writer",
        "_writes_ints",
        "error_id",
        "error_json",
        "error_offset",
        "facts",
        "frame_id",
        "is_in_line",
        "line",
    )

    def __init__(
        self,
        frame_id: int,
        facts: CodeFacts,
        line: int,
        *,
        writer: ValueWriter,
        file: RowFile,
    ) -> None:
        """Begin with no value known.

        Args:
            frame_id: Its number in the trace.
            facts: What is known of its code.
            line: The line it is at.
            writer: Turns values into text.
            file: Takes the rows.
        """
        self.frame_id = frame_id
        self.facts = facts
        self.line = line
        self.error_json = ""
        self.error_id = 0
        self.error_offset = -1
        self.is_in_line = False
        self._writer = writer
        self._writes_ints = writer.mask is None
        self._stored_at = facts.stored_at.get
        self._stored_anywhere = facts.stored_anywhere
        self._file = file
        self._rows = file.rows
        self._head = f'{{"k":"L","id":{frame_id},{facts.place_json}'
        self._seen: dict[str, Any] = {}
        """The values that cannot change, by name."""
        self._texts: dict[str, str] = {}
        """The text of all other values, by name."""
        self._gone: list[str] = []

    @property
    def code(self) -> CodeType:
        """Its code."""
        return self.facts.code

    def finish_line(self, next_line: int, frame: FrameType) -> None:
        """Write that the line it was at is done, and what that changed.

        Args:
            next_line: The line that it is at now.
            frame: The frame.
        """
        done = self.line
        self.line = next_line
        names = self._stored_at(done, self._stored_anywhere)
        changed = ""
        if names or self._texts:
            values: Mapping[str, Any] = frame.f_locals
            seen = self._seen
            # What happens at most lines happens here, without a call: it doubles the speed.
            for name in names:
                try:
                    value = values[name]
                except KeyError:
                    value = _ABSENT
                old: Any = seen.get(name, _ABSENT)
                # Only what cannot change is kept as it is, so the same object is the same value.
                if value is old:
                    continue
                if (
                    type(value) is int is type(old)
                    and value != old
                    and not value >> _QUICK_BITS
                    and self._writes_ints
                ):
                    seen[name] = value
                    changed += f',"{name}":{value}'
                    continue
                changed += self._compare(name, value)
            if self._texts:
                changed += self._compare_texts(names, values)
            if changed:
                changed = f',"set":{{{changed[1:]}}}'
            if self._gone:
                changed += self._tell_gone()
        rows = self._rows
        rows.append(f'{self._head}{done}"{changed}}}\n')
        if len(rows) >= ROWS_PER_BATCH:
            self._file.flush()

    def write(self, kind: str, extra: str, values: Mapping[str, Any] | None) -> None:
        """Write a row that tells of more than a line.

        Args:
            kind: The letter of the row.
            extra: More of its keys as JSON text, each with a comma before it.
            values: The locals, to tell of everything that changed; None to tell of nothing.
        """
        changed = "" if values is None else self._changed(values)
        place = f'"id":{self.frame_id},{self.facts.place_json}{self.line}"'
        self._file.append(f'{{"k":"{kind}",{place}{extra}{changed}}}\n')

    def _changed(self, values: Mapping[str, Any]) -> str:
        """Compare everything."""
        names = self.facts.names
        changed = "".join(self._compare(name, values.get(name, _ABSENT)) for name in names)
        if changed:
            changed = f',"set":{{{changed[1:]}}}'
        return f"{changed}{self._tell_gone()}" if self._gone else changed

    def _compare_texts(self, names: tuple[str, ...], values: Mapping[str, Any]) -> str:
        """Compare what may have changed without being bound anew, or is gone."""
        return "".join(
            self._compare(name, values.get(name, _ABSENT))
            for name in tuple(self._texts)
            if name not in names or values.get(name, _ABSENT) is _ABSENT
        )

    def _tell_gone(self) -> str:
        gone, self._gone = self._gone, []
        return f',"del":{dump_json(gone)}'

    def _compare(self, name: str, value: Any) -> str:
        kind = cast("type[Any]", type(value))
        if id(kind) in PLAIN_TYPE_IDS:
            old = self._seen.get(name, _ABSENT)
            if type(old) is kind and (
                old == value if kind is not float else repr(old) == repr(value)
            ):
                return ""
            self._seen[name] = value
            self._texts.pop(name, None)
            return f",{self.facts.key_json[name]}{self._writer.text_of(value, name)}"
        if value is _ABSENT:
            if self._seen.pop(name, _ABSENT) is _ABSENT and self._texts.pop(name, None) is None:
                return ""
            self._gone.append(name)
            return ""
        return self._compare_text(name, value)

    def _compare_text(self, name: str, value: object) -> str:
        encoded = snapshot(value, self._writer.limits)
        text = dump_json(encoded)
        if self._texts.get(name) == text:
            return ""
        self._seen.pop(name, None)
        self._texts[name] = text
        if self._writer.mask is not None:
            text = self._writer.masked(encoded, name)
        return f",{self.facts.key_json[name]}{text}"


def text_json(text: str) -> str:
    """Write a text as JSON.

    Args:
        text: Any text.

    Returns:
        It in quotation marks, escaped.
    """
    return encode_basestring(text)
