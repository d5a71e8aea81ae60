from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from fresh_interpreter import run_fresh
from openprogram.agent._threads import call_in_thread

_WORD: contextvars.ContextVar[str] = contextvars.ContextVar("word")


async def test_results_errors_and_the_context_cross_over() -> None:
    _WORD.set("here")
    assert await call_in_thread(_WORD.get) == "here"
    with pytest.raises(ZeroDivisionError):
        await call_in_thread(lambda: 1 // 0)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await call_in_thread(lambda: next(iter(())))


async def test_a_wait_that_is_cancelled_leaves_the_function_to_itself() -> None:
    began, may_end = threading.Event(), threading.Event()

    def block() -> None:
        began.set()
        may_end.wait(60)

    task = asyncio.create_task(call_in_thread(block))
    await asyncio.to_thread(began.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    may_end.set()


def test_a_function_that_hangs_does_not_keep_the_process() -> None:
    code = """
        import asyncio, threading
        from openprogram.agent._threads import call_in_thread

        async def main():
            await asyncio.wait_for(call_in_thread(threading.Event().wait), 0.01)

        try:
            asyncio.run(main())
        except TimeoutError:
            print("ended")
    """
    assert run_fresh(code).stdout == "ended\n"
