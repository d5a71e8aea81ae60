"""Every step of a call and what it changed, as a file: trace format 2.

A trace is UTF-8, LF-separated JSON objects. Each row has its kind in `k`:

    H   about the trace: the first row, and the last
        first: version 2 · python · backend `settrace` or `monitoring` · about, what the caller gave
        last:  end, why it ended: `whole`, `size_limit` (rows are left out, the limit is told in
               `limit_bytes`), `write_failed` · lost, how many events could not be told · withheld,
               how many rows were forbidden
    C   a function begins, or goes on (`how` is `resume`: a generator, a coroutine)
        set, its arguments · up, the `id` of the traced function that called it · th, its thread
        where it is not the first, which is 0
    L   a line is done: `at` is that line, and `set` and `del` are what it changed
    R   a function returns, or pauses (`how` is `yield` or `await`): value, what it gives away
    X   an exception: exc, its `type` and `args` · how:
        `raised` here, or in what is not traced · `passed` on by a traced function that was called ·
        `handled`, the function goes on at this line · `left`, the function ends by it

C, L, R and X have `id`, the number of this running of the function; `fn`, its qualified name; `at`,
`file:line`, the file relative to the root; and `set` (name to value) and `del` (names) where locals
changed. What the last line of a function changed is in its `R` or `X`. Values are written as
`snapshots` says. The text of source lines is not stored, nor the root, a time or a process: two
traces of one replay are equal, byte for byte.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from openprogram.errors import FlightError
from openprogram.flight.trace.code_facts import TracedFiles
from openprogram.flight.trace.frame_recorder import FrameRecorder
from openprogram.flight.trace.frames import ValueWriter
from openprogram.flight.trace.monitoring_backend import MonitoringBackend
from openprogram.flight.trace.row_file import RowFile
from openprogram.flight.trace.settrace_backend import SettraceBackend
from openprogram.flight.trace.snapshots import ValueLimits

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Mapping
    from types import TracebackType

TRACE_FORMAT_VERSION: Final = 2
_BACKEND: Final = MonitoringBackend if hasattr(sys, "monitoring") else SettraceBackend


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLimits:
    """How much is traced."""

    total_bytes: int = 64 << 20
    """The trace ends where its file would grow beyond this."""
    value: ValueLimits = field(default_factory=ValueLimits)
    """How much of one value is written."""

    def __post_init__(self) -> None:
        """Refuse a limit that leaves no room.

        Raises:
            FlightError: The limit is below 1024 bytes.
        """
        if self.total_bytes < 1 << 10:
            raise FlightError("trace limits: total_bytes is below 1024; give at least that many")


class Tracer:
    """Traces what its `with` block calls, in this context, and in the threads that starts.

    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with Tracer(Path(folder.name) / "a.trace", trace_root=folder.name):
        ...     _ = sorted([2, 1])
        >>> (Path(folder.name) / "a.trace").read_text().count('"end":"whole"')
        1
        >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        trace_root: str | os.PathLike[str],
        skip_files: Collection[str] = (),
        mask: Callable[[Any, str | None], Any] | None = None,
        is_forbidden: Callable[[str], bool] | None = None,
        limits: TraceLimits | None = None,
        about: Mapping[str, object] | None = None,
    ) -> None:
        """Say what shall be traced; no file is made yet.

        Args:
            path: Where the trace goes. A file that is there is replaced.
            trace_root: The directory whose source files are traced. Files of the standard library
                and of installed packages are not, unless the root is among those itself.
            skip_files: Patterns of files below the root that are left out, such as `vendored/*`.
            mask: Given a JSON value and the name it has in the code (None: it has none), returns
                what may be written. Where it raises, nothing is.
            is_forbidden: Says of a row's text that it must not be written; the row is left out, and
                counted.
            limits: How much is traced.
            about: JSON values by name that the first row shall hold, such as which call it is.

        Raises:
            FlightError: The root is no directory.
        """
        self.path = Path(path)
        """The trace."""
        self._files = TracedFiles(trace_root, skip_files)
        self._limits = limits or TraceLimits()
        self._writer = ValueWriter(self._limits.value, mask)
        self._is_forbidden = is_forbidden
        self._about = dict(about or {})
        self._file: RowFile | None = None
        self._recorder: FrameRecorder | None = None
        self._backend: MonitoringBackend | SettraceBackend | None = None

    def start(self) -> None:
        """Make the file, and trace from the next call on.

        Raises:
            FlightError: It has been started already, or no tool of `sys.monitoring` is free.
            UnsafeFileError: The path breaks a rule for private files.
            OSError: The file cannot be made.
        """
        if self._file is not None:
            raise FlightError("tracer: started already; make another one for another trace")
        head = {
            "k": "H",
            "version": TRACE_FORMAT_VERSION,
            "python": ".".join(map(str, sys.version_info[:3])),
            "backend": _BACKEND.name,
            "about": self._about,
        }
        head_row = dumps(head, ensure_ascii=False, separators=(",", ":"))
        self._file = file = RowFile(
            self.path, limit_bytes=self._limits.total_bytes, is_forbidden=self._is_forbidden
        )
        file.append(f"{head_row}\n")
        self._recorder = recorder = FrameRecorder(file, self._files, self._writer)
        self._backend = _BACKEND(recorder)
        recorder.join_context()
        try:
            self._backend.start()
        except BaseException:
            recorder.leave_context()
            file.close("")
            raise

    def stop(self) -> None:
        """Trace no longer, put back what traced before, and finish the file."""
        if self._file is None or self._recorder is None or self._backend is None:
            return
        self._backend.stop()
        self._backend = None
        self._recorder.end()
        self._recorder.leave_context()
        self._file.flush()
        foot: dict[str, object] = {"k": "H", "end": self._file.end or "whole"}
        if self._file.end == "size_limit":
            foot["limit_bytes"] = self._limits.total_bytes
        if self._recorder.lost_count:
            foot["lost"] = self._recorder.lost_count
        if self._file.withheld_count:
            foot["withheld"] = self._file.withheld_count
        self._file.close(f"{dumps(foot, separators=(',', ':'))}\n")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        _: type[BaseException] | None,
        __: BaseException | None,
        ___: TracebackType | None,
    ) -> None:
        self.stop()
