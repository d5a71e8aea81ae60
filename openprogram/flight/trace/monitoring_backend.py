"""Being told what happens by `sys.monitoring`, the way from Python 3.12 on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from openprogram.errors import FlightError
from openprogram.flight.trace.frame_recorder import THREAD_START_CODE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from openprogram.flight.trace.frame_recorder import FrameRecorder
    from openprogram.flight.trace.frames import TracedFrame

# Checkers of types look at the oldest version, which has none.
_monitoring: Final[Any] = getattr(sys, "monitoring", None)
# There is no other way from an event to its frame.
_frame_of: Final = sys._getframe  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # documented
_TOOL_NAME: Final = "openprogram.flight"
_TOOL_IDS: Final = (3, 4, 2, 0, 1, 5)
"""Those without a use of their own first."""


def _free_tool_id() -> int:
    for tool_id in _TOOL_IDS:
        if _monitoring.get_tool(tool_id) is None:
            return tool_id
    raise FlightError(
        "sys.monitoring: all its tools are taken; end a debugger, profiler or other trace first"
    )


class MonitoringBackend:
    """Traces all threads that belong to the traced context."""

    name = "monitoring"

    def __init__(self, recorder: FrameRecorder) -> None:
        """Prepare; nothing is traced yet.

        Args:
            recorder: Writes the rows.
        """
        self._recorder = recorder
        self._tool_id = -1
        self._codes: dict[int, CodeType] = {}
        """The code that tells of its lines, by identity."""

    def start(self) -> None:
        """Begin with the next call.

        Raises:
            FlightError: All tools are taken.
        """
        self._tool_id = _free_tool_id()
        _monitoring.use_tool_id(self._tool_id, _TOOL_NAME)
        for event, handler in self._handlers().items():
            _monitoring.register_callback(self._tool_id, event, handler)
        events = _monitoring.events
        _monitoring.set_events(
            self._tool_id,
            events.PY_START | events.PY_RESUME | events.PY_THROW | events.PY_UNWIND | events.RAISE,
        )
        # An earlier trace with this tool may have been done with code that this one wants.
        _monitoring.restart_events()

    def stop(self) -> None:
        """Give the tool back."""
        if self._tool_id < 0:
            return
        _monitoring.set_events(self._tool_id, 0)
        for code in self._codes.values():
            _monitoring.set_local_events(self._tool_id, code, 0)
        for event in self._handlers():
            _monitoring.register_callback(self._tool_id, event, None)
        _monitoring.free_tool_id(self._tool_id)
        self._tool_id = -1
        self._codes = {}

    def _handlers(self) -> dict[int, Callable[..., Any]]:
        events = _monitoring.events
        return {
            events.PY_START: self._on_start,
            events.PY_RESUME: self._on_resume,
            events.PY_THROW: self._on_throw,
            events.LINE: _line_handler(self._recorder),
            events.PY_RETURN: self._on_return,
            events.PY_YIELD: self._on_yield,
            events.PY_UNWIND: self._on_unwind,
            events.RAISE: self._on_raise,
        }

    def _on_start(self, code: CodeType, _: int) -> object:
        recorder = self._recorder
        try:
            if code is THREAD_START_CODE:
                recorder.note_thread(_frame_of(1))
                return None
            facts = recorder.facts_of(code)
            if facts is None or not recorder.is_active:
                return _monitoring.DISABLE
            if recorder.enter(_frame_of(1), facts) is not None:
                self._tell_lines(code)
        except Exception:  # noqa: BLE001  # trouble of the tracer's must not become the app's
            recorder.lose()
        return None

    def _tell_lines(self, code: CodeType) -> None:
        if id(code) not in self._codes:
            self._codes[id(code)] = code
            events = _monitoring.events
            _monitoring.set_local_events(
                self._tool_id, code, events.LINE | events.PY_RETURN | events.PY_YIELD
            )

    def _on_resume(self, code: CodeType, _: int) -> object:
        recorder = self._recorder
        try:
            facts = recorder.facts_of(code)
            if facts is None or not recorder.is_active:
                return _monitoring.DISABLE
            if recorder.resume(_frame_of(1), facts) is not None:
                self._tell_lines(code)
        except Exception:  # noqa: BLE001  # trouble of the tracer's must not become the app's
            recorder.lose()
        return None

    def _on_throw(self, code: CodeType, _: int, __: BaseException) -> None:
        recorder = self._recorder
        try:
            facts = recorder.facts_of(code)
            if facts is None or not recorder.is_active:
                return
            if recorder.resume(_frame_of(1), facts) is not None:
                self._tell_lines(code)
        except Exception:  # noqa: BLE001  # trouble of the tracer's must not become the app's
            recorder.lose()

    def _on_return(self, _: CodeType, __: int, value: object) -> None:
        self._tell_end(_frame_of(1), self._recorder.leave, value)

    def _on_yield(self, _: CodeType, __: int, value: object) -> None:
        self._tell_end(_frame_of(1), self._recorder.suspend, value)

    def _tell_end(
        self,
        frame: FrameType,
        tell: Callable[[FrameType, TracedFrame, object], None],
        value: object,
    ) -> None:
        recorder = self._recorder
        traced = recorder.current.get(frame)
        if traced is None or not recorder.is_active:
            return
        try:
            tell(frame, traced, value)
        except Exception:  # noqa: BLE001  # trouble of the tracer's must not become the app's
            recorder.lose()

    def _on_unwind(self, _: CodeType, __: int, ___: BaseException) -> None:
        recorder = self._recorder
        frame = _frame_of(1)
        traced = recorder.current.get(frame)
        if traced is None or not recorder.is_active:
            return
        try:
            recorder.unwind(frame, traced)
        except Exception:  # noqa: BLE001  # trouble of the tracer's must not become the app's
            recorder.lose()

    def _on_raise(self, _: CodeType, __: int, error: BaseException) -> None:
        recorder = self._recorder
        frame = _frame_of(1)
        traced = recorder.current.get(frame)
        if traced is None or not recorder.is_active:
            return
        try:
            recorder.see_error(frame, traced, error)
        except Exception:  # noqa: BLE001  # trouble of the tracer's must not become the app's
            recorder.lose()


def _line_handler(recorder: FrameRecorder) -> Callable[[CodeType, int], object]:
    """Make what is called for each line; its free variables are quicker than attributes."""
    frame_of = _frame_of
    current = recorder.current

    def on_line(_: CodeType, line: int) -> object:
        frame = frame_of(1)
        traced = current.get(frame)
        if traced is None:
            return None if recorder.is_active else _monitoring.DISABLE
        try:
            if traced.is_in_line:
                traced.finish_line(line, frame)
            else:
                recorder.begin_line(traced, line)
        except Exception:  # noqa: BLE001  # trouble of the tracer's must not become the app's
            recorder.lose()
        return None

    return on_line
