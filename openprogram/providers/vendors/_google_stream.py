r"""Cuts the vendor's answer into JSON values; knows no network.

The SDK's own reader stops at a comment of a proxy, drops the fields that it does not know and warns
on the console about words that it does not know. This one reads server-sent events as their
standard has them, and the two other shapes that servers and gateways answer with: one JSON value,
and a JSON list of what would be events.
Source: https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_END_MARK: Final = b"[DONE]"
"""Said by gateways that also speak other dialects."""


class AnswerDecoder:
    r"""Turns the bytes of one answer into its JSON values, each as soon as it is whole.

    Example:
        >>> decoder = AnswerDecoder()
        >>> list(decoder.feed(b': ping\n\ndata: {"a"')), list(decoder.feed(b": 1}\n\n"))
        ([], [{'a': 1}])
    """

    def __init__(self) -> None:
        self._line: list[bytes] = []
        """What came of the line that is not whole."""
        self._data: list[bytes] = []
        """The lines of the event that is not whole."""
        self._is_after_return = False
        self._is_first_line = True
        self._body: list[bytes] | None = None
        """The answer so far, when it is no stream of events."""

    def feed(self, piece: bytes) -> Iterator[object]:
        """Take what came.

        Args:
            piece: Bytes, cut anywhere.

        Yields:
            The values that they complete.

        Raises:
            ValueError: An event is not JSON in UTF-8.
            RecursionError: It is nested too deeply.
        """
        if not piece:
            return
        if self._is_after_return:
            piece = piece.removeprefix(b"\n")
        self._is_after_return = piece.endswith(b"\r")
        # Of bytes, this cuts at CR, LF and CR LF only.
        for line in piece.splitlines(keepends=True):
            if self._body is not None:
                self._body.append(line)
                continue
            self._line.append(line)
            if line.endswith((b"\n", b"\r")):
                yield from self._end_line()

    def finish(self) -> Iterator[object]:
        """Say that nothing more comes.

        Yields:
            What the end completes.

        Raises:
            ValueError: What is left is not JSON in UTF-8.
            RecursionError: It is nested too deeply.
        """
        if self._body is None and self._line:
            yield from self._end_line()
        if self._body is not None:
            value = _json(b"".join(self._body))
            yield from cast("list[object]", value) if isinstance(value, list) else [value]
        elif self._data:
            yield from self._end_event()

    def _end_line(self) -> Iterator[object]:
        raw = b"".join(self._line)
        self._line.clear()
        line = raw.rstrip(b"\r\n")
        if self._is_first_line:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._is_first_line = not line.strip()
            if line.lstrip()[:1] in {b"{", b"["}:
                self._body = [raw]
                return
        if not line:
            yield from self._end_event()
            return
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))

    def _end_event(self) -> Iterator[object]:
        data = b"\n".join(self._data)
        self._data.clear()
        if data and data != _END_MARK:
            yield _json(data)


def _json(data: bytes) -> object:
    # Decoded first, as the parser would take other encodings for granted.
    return json.loads(data.decode("utf-8-sig"))
