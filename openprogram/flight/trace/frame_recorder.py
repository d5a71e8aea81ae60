"""What happens in a program, as rows: who is entered, goes on, yields, returns, raises.

The two ways of being told of it call this. It decides whose code is traced: that of the context
which started the tracer, whatever that calls, and the threads that it starts.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from openprogram.flight.trace.code_facts import CodeFacts, describe_code
from openprogram.flight.trace.frames import TracedFrame, text_json
from openprogram.flight.trace.snapshots import name_type, snapshot_error

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from openprogram.flight.trace.code_facts import TracedFiles
    from openprogram.flight.trace.frames import ValueWriter
    from openprogram.flight.trace.row_file import RowFile

THREAD_START_CODE: Final = threading.Thread.start.__code__
"""Every thread of Python begins with this; the call tells which thread is whose child."""
_MOST_FRAMES_UP: Final = 200
_MOST_LOST: Final = 1_000
_INSTRUCTION_BYTES: Final = 2
_RESUMED: Final = ',"how":"resume"'
_current: ContextVar[FrameRecorder | None] = ContextVar("openprogram_flight_tracer", default=None)


class _ThreadState(threading.local):
    number = -1


class FrameRecorder:
    """Writes the rows of one trace.

    Attributes:
        is_active: Whether anything is written any more.
        lost_count: Events that could not be told, because telling them failed.
    """

    def __init__(self, file: RowFile, files: TracedFiles, writer: ValueWriter) -> None:
        """Begin with nothing running.

        Args:
            file: Takes the rows.
            files: Which source files are traced.
            writer: Turns values into text.
        """
        self.is_active = True
        self.lost_count = 0
        self.current: dict[FrameType, TracedFrame] = {}
        """What runs now. A frame is held no longer than it runs: it would keep its locals alive."""
        self._suspended: dict[int, tuple[TracedFrame, int]] = {}
        """Generators and coroutines that wait, by the identity of their frame, each with the
        instruction it waits at."""
        file.on_end = self.end
        self._file = file
        self._files = files
        self._writer = writer
        self._facts: dict[int, CodeFacts | CodeType] = {}
        """By the identity of the code, which is held: equal code may come from two files."""
        self._frame_count = 0
        self._thread_count = 0
        self._thread = _ThreadState()
        self._children: list[threading.Thread] = []
        self._left_error_ids: set[int] = set()
        self._token: Any = None

    def join_context(self) -> None:
        """Trace what this context does from here on."""
        self._token = _current.set(self)
        self._thread.number = 0
        self._thread_count = 1

    def leave_context(self) -> None:
        """Trace it no longer."""
        _current.reset(self._token)

    def facts_of(self, code: CodeType) -> CodeFacts | None:
        """Say what is known of a piece of code.

        Args:
            code: Any code object.

        Returns:
            Its facts; None where it is not traced.
        """
        found = self._facts.get(id(code))
        if found is None:
            name = self._files.name_of(code.co_filename)
            found = code if name is None else describe_code(code, name)
            self._facts[id(code)] = found
        return found if type(found) is CodeFacts else None

    def note_thread(self, frame: FrameType) -> None:
        """Take a thread that traced code is about to start for its child.

        Args:
            frame: A frame of `threading.Thread.start`.
        """
        if self._belongs(self._caller_of(frame)):
            self._children.append(frame.f_locals["self"])

    def enter(self, frame: FrameType, facts: CodeFacts) -> TracedFrame | None:
        """Tell that a function begins.

        Args:
            frame: Its frame.
            facts: What is known of its code.

        Returns:
            Its state; None where it is none of the traced context's.
        """
        if facts.is_suspendable:
            self._suspended.pop(id(frame), None)
        return self._begin(frame, facts, "")

    def resume(self, frame: FrameType, facts: CodeFacts) -> TracedFrame | None:
        """Tell that a generator or coroutine goes on.

        Args:
            frame: Its frame.
            facts: What is known of its code.

        Returns:
            Its state; None where it is none of the traced context's.
        """
        found, offset = self._suspended.pop(id(frame), (None, -1))
        # The frame of one that was dropped may have lain at the same address.
        if (
            found is None
            or found.code is not frame.f_code
            or abs(offset - frame.f_lasti) > _INSTRUCTION_BYTES
        ):
            traced = self._begin(frame, facts, _RESUMED)
            if traced is not None:
                traced.is_in_line = True
            return traced
        self.current[frame] = found
        found.write("C", f"{self._around(self._caller_of(frame))}{_RESUMED}", None)
        return found

    def _begin(self, frame: FrameType, facts: CodeFacts, how: str) -> TracedFrame | None:
        caller = self._caller_of(frame)
        if not self._belongs(caller):
            return None
        self._frame_count += 1
        traced = TracedFrame(
            self._frame_count, facts, frame.f_lineno, writer=self._writer, file=self._file
        )
        self.current[frame] = traced
        traced.write("C", f"{self._around(caller)}{how}", frame.f_locals)
        return traced

    def _around(self, caller: TracedFrame | None) -> str:
        """Tell who called, and in which thread."""
        thread = self._thread
        if thread.number < 0:
            thread.number = self._thread_count
            self._thread_count += 1
        around = "" if caller is None else f',"up":{caller.frame_id}'
        return f'{around},"th":{thread.number}' if thread.number else around

    def _caller_of(self, frame: FrameType) -> TracedFrame | None:
        above = frame.f_back
        for _ in range(_MOST_FRAMES_UP):
            if above is None:
                return None
            caller = self.current.get(above)
            if caller is not None:
                return caller
            above = above.f_back
        return None

    def _belongs(self, caller: TracedFrame | None) -> bool:
        if not self.is_active:
            return False
        if caller is not None or _current.get() is self:
            return True
        own = threading.get_ident()
        if any(thread.ident == own and thread.is_alive() for thread in self._children):
            # From here on the thread's context says so.
            _current.set(self)
            return True
        return False

    def suspend(self, frame: FrameType, traced: TracedFrame, value: object) -> None:
        """Tell that a generator yields, or that a coroutine waits.

        Args:
            frame: Its frame.
            traced: Its state.
            value: What it yields.
        """
        self.current.pop(frame, None)
        self._suspended[id(frame)] = (traced, frame.f_lasti)
        # What a coroutine hands to its event loop is no value of the app's.
        if traced.facts.is_coroutine:
            extra = ',"how":"await"'
        elif traced.facts.is_async_generator:
            # What it yields is wrapped where no Python code can look.
            is_item = name_type(type(value)) == "async_generator_wrapped_value"
            extra = ',"how":"yield"' if is_item else ',"how":"await"'
        else:
            extra = f',"how":"yield","value":{self._writer.text_of(value, None)}'
        traced.write("R", extra, frame.f_locals)

    def leave(self, frame: FrameType, traced: TracedFrame, value: object) -> None:
        """Tell that a function returns.

        Args:
            frame: Its frame.
            traced: Its state.
            value: What it returns.
        """
        self.current.pop(frame, None)
        traced.write("R", f',"value":{self._writer.text_of(value, None)}', frame.f_locals)

    def unwind(self, frame: FrameType, traced: TracedFrame) -> None:
        """Tell that a function ends by the exception it saw last.

        Args:
            frame: Its frame.
            traced: Its state.
        """
        self.current.pop(frame, None)
        if traced.error_id:
            self._left_error_ids.add(traced.error_id)
        traced.write("X", f',"how":"left"{traced.error_json}', frame.f_locals)

    def see_error(self, frame: FrameType, traced: TracedFrame, error: BaseException) -> None:
        """Tell that an exception arises in a function, or comes into it from one that it called.

        Args:
            frame: Its frame.
            traced: Its state.
            error: The exception.
        """
        is_end = type(error) is StopIteration or type(error) is StopAsyncIteration
        if is_end and frame.f_lasti in traced.facts.item_offsets:
            # An iterator came to its end.
            return
        # Its identity is enough while it travels, and keeping it would keep its frames alive.
        is_known = id(error) in self._left_error_ids
        self._left_error_ids.discard(id(error))
        encoded = snapshot_error(error, self._writer.limits)
        masked = self._writer.masked(encoded["args"], None)
        traced.error_json = f',"exc":{{"type":{text_json(encoded["type"])},"args":{masked}}}'
        traced.error_id = id(error)
        traced.error_offset = frame.f_lasti
        traced.is_in_line = False
        how = "passed" if is_known else "raised"
        traced.write("X", f',"how":"{how}"{traced.error_json}', frame.f_locals)

    def begin_line(self, traced: TracedFrame, line: int) -> None:
        """Tell that a function is at a line, where it was within none before.

        After an exception that means that a handler, `finally` or `with` has it.

        Args:
            traced: Its state.
            line: The line.
        """
        traced.line = line
        traced.is_in_line = True
        if traced.error_offset >= 0:
            traced.error_offset = -1
            traced.write("X", f',"how":"handled"{traced.error_json}', None)

    def lose(self) -> None:
        """Count an event that could not be told; too many of them end the trace."""
        self.lost_count += 1
        if self.lost_count >= _MOST_LOST:
            self.end()

    def end(self) -> None:
        """Tell no more, and let the program run on at its own speed."""
        self.is_active = False
        self.current.clear()
        self._suspended.clear()
