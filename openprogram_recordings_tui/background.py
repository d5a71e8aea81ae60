"""Readings that may take long: in threads that nobody has to wait for, the newest of a kind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeAlias

IsCancelled: TypeAlias = Callable[[], bool]
"""Says whether nobody wants the result any more; ask it often."""


class Background:
    """Runs readings for one owner. Leaving the UI ends them: they change nothing."""

    def __init__(self) -> None:
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
            read: Runs in a thread of its own, and must not raise.
        """
        with self._lock:
            self._started_count += 1
            self._running_count += 1
            number = self._newest[kind] = self._started_count

        def run() -> None:
            try:
                read(lambda: self._newest.get(kind) != number)
            finally:
                with self._lock:
                    self._running_count -= 1

        # A daemon: the process may end while a large file is read.
        threading.Thread(target=run, name=f"read {kind}", daemon=True).start()

    def cancel(self) -> None:
        """Cancel whatever runs."""
        with self._lock:
            self._newest.clear()
