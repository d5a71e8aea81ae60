"""Format version 1: what a row may be, how it is written, and how a line is strictly read.

A recording is UTF-8 JSON Lines. LF alone separates rows; each row is one JSON object.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args

import msgspec

from openprogram.errors import RecordingErrorCode

if TYPE_CHECKING:
    from openprogram._json_types import JsonObject

RECORDING_FORMAT_VERSION = 1
"""What writers emit."""
READABLE_FORMAT_VERSIONS = (1, 2)
"""What the reader has a parser for."""
REDACTION_VERSION_IF_UNSAID = 1
"""What a header without a redaction version means."""

Outcome: TypeAlias = Literal["complete", "error", "cancelled", "abandoned"]
"""How a call can end."""
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
"""Every `Outcome`."""
ROW_TYPES = ("header", "request", "event", "call_end")
"""What a row can be."""

ERROR_CODES: Final[tuple[RecordingErrorCode, ...]] = get_args(RecordingErrorCode)
"""Every `RecordingFileError.code`; of two faults in one row the earlier code is reported."""

MAX_NESTING_DEPTH = 500
"""How deep a row may nest, itself counted as 1.

Far beyond any request, and low enough that no decoder or walker runs out of stack.
"""

JSON_WHITESPACE = b" \t\r\n"
"""What may stand between the tokens of a row, and all that a blank line may hold."""

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_FEW_BRACKETS_COUNT = 40
_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in _BRACKETS)
_STEPS = bytes.maketrans(_BRACKETS, bytes((1, 255, 1, 255)))


class RowError(ValueError):
    """A line is no sound row, or a row cannot be written.

    Args:
        code: One of `ERROR_CODES`.
        reason: The rule it breaks, in words.
        call_index: The call at fault, where one is.
    """

    def __init__(
        self, code: RecordingErrorCode, reason: str, *, call_index: int | None = None
    ) -> None:
        super().__init__(reason)
        self.code: RecordingErrorCode = code
        """One of `ERROR_CODES`."""
        self.reason = reason
        """The rule it breaks, in words; holds nothing of the row that could be private."""
        self.call_index = call_index
        """The call at fault, where one is."""


def encode_header(
    recording_id: str,
    *,
    created_at: datetime | None = None,
    redaction_version: int = REDACTION_VERSION_IF_UNSAID,
) -> bytes:
    """Encode the first row of a new recording.

    Args:
        recording_id: The managed ID, or an external file's name.
        created_at: When it was begun, aware; None means now.
        redaction_version: By which rules the secrets are taken out of the rows to come.

    Returns:
        One line with its LF.

    Example:
        >>> encode_header("x", created_at=datetime(2026, 8, 11, 13, 45, 2, tzinfo=UTC))[:60]
        b'{"type":"header","format_version":1,"recording_id":"x","crea'
    """
    instant = (created_at or datetime.now(UTC)).astimezone(UTC)
    return encode_row(
        {
            "type": "header",
            "format_version": RECORDING_FORMAT_VERSION,
            "recording_id": recording_id,
            "created_at": instant.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "redaction_version": redaction_version,
        }
    )


def encode_row(row: JsonObject) -> bytes:
    r"""Encode a row as one line.

    Args:
        row: JSON values without NaN and infinities, as `remove_secret_values` makes them.

    Returns:
        UTF-8 that ends with the only LF in it. Text with lone surrogates is written in escapes.

    Raises:
        RowError: The row nests too deep, or holds a number that no reader would take.

    Example:
        >>> encode_row({"type": "event", "text": "a\nb\ud83d"})
        b'{"type":"event","text":"a\\nb\\ud83d"}\n'
    """
    try:
        line = _encode(row)
    except RecursionError:
        raise _too_deep() from None
    if is_too_deep(line):
        raise _too_deep()
    return line + b"\n"


def _encode(row: JsonObject) -> bytes:
    try:
        return msgspec.json.encode(row)
    except (UnicodeEncodeError, OverflowError):
        # Lone surrogates have no UTF-8, but JSON can say them.
        pass
    try:
        text = json.dumps(row, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise RowError("invalid_json", f"JSON cannot say it: {error}") from None
    return text.encode("ascii")


def decode_row(line: bytes) -> JsonObject:
    r"""Decode a line strictly, and exactly name what is wrong with it.

    Args:
        line: One physical line, with or without its LF.

    Returns:
        The row; its meaning is not checked.

    Raises:
        RowError: With code `invalid_utf8`, `invalid_json`, `not_an_object`, `duplicate_key` or
            `non_finite_number`, the first that applies.

    Example:
        >>> decode_row(b'{"type":"event","event":{"a":1,"a":2}}\n')["event"]
        {'a': 2}
        >>> decode_row(b'{"type":"event","type":"event"}\n')
        Traceback (most recent call last):
            ...
        openprogram.providers.recording.format.RowError: the row has a key twice
    """
    try:
        text = str(line, "utf-8")
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1:,} of the row is not UTF-8"
        raise RowError("invalid_utf8", reason) from None
    if is_too_deep(line):
        raise _too_deep()
    notes = _Notes()
    try:
        value = notes.decoder.decode(text)
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        reason = f"not valid JSON: {error.msg} at character {error.pos + 1:,}"
        raise RowError("invalid_json", reason) from None
    except ValueError:
        raise RowError("invalid_json", "a number has more digits than are allowed") from None
    if not isinstance(value, dict):
        raise RowError("not_an_object", "a row is a JSON object")
    row = cast("JsonObject", value)
    notes.raise_for(row)
    return row


class _Notes:
    """What a JSON parser sees and Python values no longer tell."""

    def __init__(self) -> None:
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_float=self._float, parse_constant=self._constant
        )
        self._has_own_twin = False
        self._has_any_twin = False
        self._non_finite = False

    def _object(self, pairs: list[tuple[str, Any]]) -> JsonObject:
        value = dict(pairs)
        # The outermost object closes last, so in the end this is about the row itself.
        self._has_own_twin = len(value) != len(pairs)
        self._has_any_twin |= self._has_own_twin
        return value

    def _float(self, text: str) -> float:
        value = float(text)
        self._non_finite |= value in {float("inf"), float("-inf")}
        return value

    def _constant(self, _text: str) -> float:
        self._non_finite = True
        return 0.0

    def raise_for(self, row: JsonObject) -> None:
        if self._has_own_twin:
            raise RowError("duplicate_key", "the row has a key twice")
        if self._has_any_twin and row.get("type") == "request":
            raise RowError("duplicate_key", "an object in the request has a key twice")
        if self._non_finite:
            raise RowError("non_finite_number", "a number is NaN, infinite or too large")


def is_blank(line: bytes) -> bool:
    r"""Say whether a physical line holds no row.

    Args:
        line: One physical line.

    Returns:
        True when there is nothing but JSON white space.

    Example:
        >>> is_blank(b" \r"), is_blank(b"\x0b")
        (True, False)
    """
    return not line.strip(JSON_WHITESPACE)


def is_too_deep(line: bytes) -> bool:
    """Say whether a row nests deeper than `MAX_NESTING_DEPTH`.

    Args:
        line: One physical line. For what is no JSON the answer means nothing.

    Returns:
        True when it is too deep.

    Example:
        >>> is_too_deep(b"[" * 501 + b"]" * 501), is_too_deep(b'["' + b"[" * 501 + b'"]')
        (True, False)
    """
    if len(line) <= 2 * MAX_NESTING_DEPTH:
        return False
    if _has_few_brackets(line) or line.count(b"[") + line.count(b"{") <= MAX_NESTING_DEPTH:
        return False
    brackets = _STRING.sub(b"", line).translate(_STEPS, _NOT_BRACKETS)
    return max(accumulate(memoryview(brackets).cast("b")), default=0) > MAX_NESTING_DEPTH


def _has_few_brackets(line: bytes) -> bool:
    """Leap from bracket to bracket, for a little while: counting them looks at every byte."""
    found = 0
    for bracket in (b"[", b"{"):
        at = line.find(bracket)
        while at >= 0:
            found += 1
            if found > _FEW_BRACKETS_COUNT:
                return False
            at = line.find(bracket, at + 1)
    return True


def _too_deep() -> RowError:
    return RowError("invalid_json", f"it nests deeper than {MAX_NESTING_DEPTH} levels")
