"""The file that a trace goes to: owner-only, written in batches, with a limit that it tells of.

Knows rows as lines of text, and nothing of what they mean.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final

from openprogram._private_files import open_private_file, write_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS_PER_BATCH: Final = 512
"""How many rows wait before they are written together."""
_FOOT_BYTES: Final = 256
"""Room for the last line."""


class RowFile:
    """Takes rows from any thread of the process that opened it.

    Attributes:
        end: Why nothing is taken any more: `size_limit` or `write_failed`; empty as long as rows
            are taken.
    """

    def __init__(
        self,
        path: Path,
        *,
        limit_bytes: int,
        is_forbidden: Callable[[str], bool] | None = None,
    ) -> None:
        """Make the file, or empty the one that is there.

        Args:
            path: Where; the directory must be there.
            limit_bytes: The file never grows larger.
            is_forbidden: Says of a row that it must not be written.

        Raises:
            UnsafeFileError: The path, or its directory, breaks a rule for private files.
            OSError: The file cannot be made.
        """
        self.end = ""
        self.on_end: Callable[[], None] = lambda: None
        """Called once when nothing is taken any more."""
        self.withheld_count = 0
        """Rows that were forbidden."""
        self._is_forbidden = is_forbidden
        self._room_bytes = limit_bytes - _FOOT_BYTES
        self._lock = threading.Lock()
        self.rows: list[str] = []
        """What waits to be written. Who appends here calls `flush` when there are enough."""
        self._process_id = os.getpid()
        self._fd = open_private_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, tighten=True)

    def append(self, row: str) -> None:
        """Take a row.

        Args:
            row: A line with its newline.
        """
        self.rows.append(row)
        if len(self.rows) >= ROWS_PER_BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what was taken; a file that cannot be written takes no more, and says so."""
        with self._lock:
            batch = self.rows[:]
            # Other threads append meanwhile, so the list stays the same one.
            del self.rows[: len(batch)]
            if self.end or not batch or os.getpid() != self._process_id:
                return
            if self._is_forbidden is not None:
                allowed = [row for row in batch if self._may_write(row, self._is_forbidden)]
                self.withheld_count += len(batch) - len(allowed)
                batch = allowed
            # A lone surrogate becomes the escape that JSON has for it.
            data = "".join(batch).encode("utf-8", "backslashreplace")
            if len(data) > self._room_bytes:
                data = self._what_fits(data)
                self.end = "size_limit"
            self._write(data)
            if self.end:
                self.on_end()

    def close(self, foot: str) -> None:
        """Write the rest and the last line, and close the file.

        Args:
            foot: The last line with its newline, below 256 bytes. It is written even where rows
                were left out.
        """
        with self._lock:
            if self._fd < 0:
                return
            if self.end != "write_failed" and os.getpid() == self._process_id:
                self._write(foot.encode("utf-8", "backslashreplace"))
            os.close(self._fd)
            self._fd = -1

    @staticmethod
    def _may_write(row: str, is_forbidden: Callable[[str], bool]) -> bool:
        try:
            return not is_forbidden(row)
        except Exception:  # noqa: BLE001  # what cannot be judged stays off the disk
            return False

    def _what_fits(self, data: bytes) -> bytes:
        return data[: data.rfind(b"\n", 0, max(self._room_bytes, 0)) + 1]

    def _write(self, data: bytes) -> None:
        try:
            write_all(self._fd, data)
        except OSError:
            self.end = "write_failed"
            return
        self._room_bytes -= len(data)
