"""Shows how far long work is: one line on standard error that is rewritten, and gone at the end.

Only a terminal that may be drawn on gets it; pipes, `NO_COLOR` and `TERM=dumb` get nothing at all.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from openprogram.cli import _diagnostics, _output

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

FIRST_SECONDS = 0.3
"""How long work may take before its line appears: what is quicker needs none."""
_NEXT_SECONDS = 0.1
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """A line such as `verifying 120/1,000`, for as long as a block lasts.

    Args:
        verb: What is done, such as `verifying`.
    """

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._is_wanted = _output.may_draw_on(sys.stderr)
        self._is_drawn = False
        self._next_at_seconds = time.monotonic() + FIRST_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_drawn:
            _diagnostics.draw(_CLEAR)

    def update(self, done_count: int, total_count: int) -> None:
        """Say how much is done; called as often as one likes, drawn a few times a second.

        Args:
            done_count: How many are done.
            total_count: Of how many; 0 when nobody knows yet.
        """
        if not self._is_wanted or time.monotonic() < self._next_at_seconds:
            return
        self._next_at_seconds = time.monotonic() + _NEXT_SECONDS
        self._is_drawn = True
        counts = f" {done_count:,}/{total_count:,}" if total_count else ""
        _diagnostics.draw(f"{_CLEAR}{self._verb}{counts}")
