"""Being told what happens by `sys.settrace`, the way up to Python 3.11.

Later versions report other instructions at a yield, and have a quicker way.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from openprogram.flight.trace.frame_recorder import THREAD_START_CODE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from openprogram.flight.trace.frame_recorder import FrameRecorder
    from openprogram.flight.trace.frames import TracedFrame


class SettraceBackend:
    """Traces this thread, and those that it starts."""

    name = "settrace"

    def __init__(self, recorder: FrameRecorder) -> None:
        """Prepare; nothing is traced yet.

        Args:
            recorder: Writes the rows.
        """
        self._recorder = recorder
        self._before: Any = None
        self._before_in_threads: Any = None

    def start(self) -> None:
        """Begin with the next call of this thread, and of threads that are not started yet."""
        self._before = sys.gettrace()
        self._before_in_threads = threading.gettrace()
        threading.settrace(self._on_call)
        sys.settrace(self._on_call)

    def stop(self) -> None:
        """Put back what traced before."""
        threading.settrace(self._before_in_threads)
        sys.settrace(self._before)

    def _on_call(self, frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        recorder = self._recorder
        if not recorder.is_active or event != "call":
            return None
        code = frame.f_code
        try:
            if code is THREAD_START_CODE:
                recorder.note_thread(frame)
                return None
            facts = recorder.facts_of(code)
            if facts is None:
                return None
            goes_on = facts.is_suspendable and frame.f_lasti != facts.start_offset
            traced = (recorder.resume if goes_on else recorder.enter)(frame, facts)
        except Exception:  # noqa: BLE001  # trouble of the tracer's must not become the app's
            recorder.lose()
            return None
        return None if traced is None else _local_tracer(recorder, traced)


def _local_tracer(recorder: FrameRecorder, traced: TracedFrame) -> Callable[..., Any]:
    finish_line = traced.finish_line

    def on_event(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        if not recorder.is_active:
            # Asked for no more lines, a frame runs at full speed again.
            frame.f_trace_lines = False
            return None
        try:
            if event == "line":
                if traced.is_in_line:
                    finish_line(frame.f_lineno, frame)
                else:
                    recorder.begin_line(traced, frame.f_lineno)
            elif event == "exception":
                _, error, traceback = argument
                # An iterator at its end has none, and none is raised either.
                if traceback is not None:
                    recorder.see_error(frame, traced, error)
            elif event == "return":
                _on_return(recorder, traced, frame, argument)
        except Exception:  # noqa: BLE001  # trouble of the tracer's must not become the app's
            recorder.lose()
        return on_event

    return on_event


def _on_return(
    recorder: FrameRecorder, traced: TracedFrame, frame: FrameType, value: object
) -> None:
    offset = frame.f_lasti
    facts = traced.facts
    # One that an exception ends also says that it returns None, but at no instruction that does so;
    # an exception that is thrown in arrives at the very instruction that had yielded.
    if offset in facts.returning_offsets:
        recorder.leave(frame, traced, value)
    elif offset in facts.yielding_offsets and offset != traced.error_offset:
        recorder.suspend(frame, traced, value)
    else:
        recorder.unwind(frame, traced)
