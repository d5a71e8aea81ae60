"""Wait for the network, but not beyond the caller's signal."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, TypeVar

from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    from collections.abc import Awaitable

T = TypeVar("T")

_POLL_SECONDS = 0.02
"""A signal may be a `threading.Event` of another thread, which no event loop can wait for."""


class Signal(Protocol):
    """What `options.signal` must be: an event of `asyncio` or `threading`, or the like."""

    def is_set(self) -> bool:
        """Say whether the caller wants the stream to end."""
        ...


async def until_signal(awaitable: Awaitable[T], signal: Signal | None) -> T:
    """Await something, unless the signal is set before it is done.

    Args:
        awaitable: What to wait for; it is cancelled, and its clean-up awaited, when the wait ends
            early.
        signal: The caller's signal, or None for a plain await.

    Returns:
        What was awaited.

    Raises:
        ModelRequestError: The signal is set; its reason is `aborted`.
    """
    if signal is None:
        return await awaitable
    task = asyncio.ensure_future(awaitable)
    try:
        while True:
            if signal.is_set():
                raise failure("aborted", "aborted by the caller")
            done, _ = await asyncio.wait({task}, timeout=_POLL_SECONDS)
            if done:
                return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
            # Look at a late failure, or asyncio reports it as never retrieved.
            _ = task.cancelled() or task.exception()
