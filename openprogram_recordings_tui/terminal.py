"""What the terminal can do, and how it is given back whatever happens."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LEAST_COLUMNS = 40
LEAST_ROWS = 10
_PATIENCE_SECONDS = 3.0
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)

RESTORE_SEQUENCE = (
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l"
    "\x1b[?2004l\x1b[?1004l\x1b[?2048l\x1b[<u\x1b[?1049l\x1b[?7h\x1b[?25h\x1b[0m"
)
"""Ends mouse, paste, focus, size and key reports; brings back main screen, wrapping and cursor."""


def reason_to_refuse(environment: Mapping[str, str]) -> str | None:
    """Say why no screen can be drawn here.

    Args:
        environment: The variables of the process.

    Returns:
        The reason in words; None when nothing stands in the way.
    """
    if not (_is_terminal(0) and _is_terminal(1)):
        return "standard input and output must be a terminal"
    if environment.get("TERM", "") in ("", "dumb"):
        return "the terminal cannot move its cursor (TERM is dumb or not set)"
    columns, rows = os.get_terminal_size(1)
    if columns < LEAST_COLUMNS or rows < LEAST_ROWS:
        return (
            f"the terminal has {columns} columns and {rows} rows, "
            f"and at least {LEAST_COLUMNS} and {LEAST_ROWS} are needed"
        )
    return None


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def leave_on_signals(leave: Callable[[int], None]) -> None:
    """Leave in order on SIGTERM and SIGHUP; when the loop hangs, restore the terminal all the same.

    Call it in the event loop, in the main thread.

    Args:
        leave: Gets the exit code, 128 and the signal's number; called in the event loop.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()

    def handle(number: int, _: object) -> None:
        watchdog = threading.Timer(_PATIENCE_SECONDS, _restore_and_die, args=(128 + number,))
        watchdog.daemon = True
        watchdog.start()
        loop.call_soon_threadsafe(leave, 128 + number)

    for number in _SIGNALS:
        # Not `loop.add_signal_handler`: that runs only once the loop turns again.
        signal.signal(number, handle)


def _restore_and_die(code: int) -> None:
    """Write the last words to the terminal; its own modes were saved by the shell."""
    try:
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, RESTORE_SEQUENCE.encode())
    finally:
        os._exit(code)
