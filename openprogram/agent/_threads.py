"""Blocking functions beside an event loop, in threads that hold nobody up at the end.

`asyncio.to_thread` is not enough: its threads are waited for when the loop and the process end, so
a tool that hangs would make Ctrl-C hang too.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


async def call_in_thread(function: Callable[[], T]) -> T:
    """Call a blocking function; a wait that is cancelled leaves it to itself.

    Args:
        function: What to call.

    Returns:
        What it returned.

    Raises:
        BaseException: What it raised; a `StopIteration` as the cause of a `RuntimeError`.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, error = None, None
        try:
            result = function()
        except BaseException as raised:  # noqa: BLE001 - it is raised again where it is awaited
            error = raised
            if isinstance(raised, StopIteration):
                # No future takes it: it would end a coroutine that awaits as if it had returned.
                error = RuntimeError("a function in a thread raised StopIteration")
                error.__cause__ = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            # The loop has ended: nobody waits any more.
            return

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name="tool", daemon=True).start()
    return await done
