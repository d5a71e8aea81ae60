"""Readings that may take long: in threads that nobody has to wait for, the newest of a kind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeAlias

_SHOWN_CHARACTERS = 1000

IsCancelled: TypeAlias = Callable[[], bool]
"""Says whether nobody wants the result any more; ask it often."""


Fail: TypeAlias = Callable[[str, str], object]
"""Takes the kind of a reading that raised, and what it raised in words, raw; it is called in the
thread of the reading."""


def describe(error: BaseException) -> str:
    """Put an error that nobody foresaw into words.

    Args:
        error: What was raised.

    Returns:
        Its type and its text, raw and bounded.

    Example:
        >>> describe(KeyError("x"))
        "KeyError: 'x'"
    """
    return f"{type(error).__name__}: {error}"[:_SHOWN_CHARACTERS]


class Background:
    """Runs readings for one owner. Leaving the UI ends them: they change nothing.

    Args:
        fail: Told of a reading that raised, unless nobody wants its result any more.
    """

    def __init__(self, fail: Fail) -> None:
        self._fail = fail
        self._lock = threading.Lock()
        self._newest: dict[str, int] = {}
        self._started_count = 0
        self._running_count = 0

    @property
    def is_busy(self) -> bool:
        """Whether any reading runs."""
        return self._running_count > 0

    def start(self, kind: str, read: Callable[[IsCancelled], None]) -> None:
        """Start a reading; one of the same kind that still runs is cancelled.

        Args:
            kind: What is read, in a word.
            read: Runs in a thread of its own.
        """
        with self._lock:
            self._started_count += 1
            self._running_count += 1
            number = self._newest[kind] = self._started_count

        def run() -> None:
            try:
                read(lambda: self._newest.get(kind) != number)
            except Exception as error:  # noqa: BLE001 - the one place: the UI goes on, and says so
                if self._newest.get(kind) == number:
                    self._fail(kind, describe(error))
            finally:
                with self._lock:
                    self._running_count -= 1

        # A daemon: the process may end while a large file is read.
        threading.Thread(target=run, name=f"read {kind}", daemon=True).start()

    def cancel(self) -> None:
        """Cancel whatever runs."""
        with self._lock:
            self._newest.clear()
