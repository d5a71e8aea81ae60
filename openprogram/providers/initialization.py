"""Starts the provider runtime once per process: NEW, INITIALIZING, then READY or FAILED for good.

The first thread that asks does the work, the others wait for it, and all get the same answer. A
child forked in the middle of it gets an error: the thread that it would wait for is not there.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from openprogram.errors import ProviderRuntimeInitializationError, ascii_if_unprintable
from openprogram.providers.activation import RuntimeSnapshot as RuntimeSnapshot
from openprogram.providers.activation import activate, text_of
from openprogram.providers.recording.redaction import remove_secrets_from_text
from openprogram.providers.register import is_registering_here, register_builtins

if TYPE_CHECKING:
    from collections.abc import Callable

_MESSAGE_CHARACTERS = 1000
_INTERRUPTED = "initialization_interrupted"
_RECHECK_SECONDS = 1.0
"""How soon a waiting thread looks by itself: Ctrl-C can come just before it would be woken."""


@dataclass(frozen=True, slots=True)
class _New:
    """Nobody has asked yet."""


@dataclass(frozen=True, slots=True)
class _Initializing:
    """A thread is at work."""

    worker: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    """What is kept of a failure: words, no exception and no traceback."""

    stage: str
    cause_type: str
    cause_message: str


_Outcome: TypeAlias = RuntimeSnapshot | _Failed
"""A snapshot is the state READY."""


class RuntimeInitializer:
    """Runs two steps once, however many threads ask.

    Args:
        register: The first step; its failure is that of the runtime.
        decide: The second step, which finds the snapshot.
    """

    def __init__(self, register: Callable[[], None], decide: Callable[[], RuntimeSnapshot]) -> None:
        self._register = register
        self._decide = decide
        self._changed = threading.Condition()
        # Replaced whole, so that a fork never sees half of a change.
        self._state: _New | _Initializing | _Outcome = _New()

    def run(self) -> RuntimeSnapshot:
        """Run the steps, or wait for the thread that does; see `initialize_provider_runtime`."""
        if isinstance(self._state, RuntimeSnapshot):
            return self._state
        own_work = _Initializing(threading.get_ident())
        # Of two threads that each wait for what the other does, none would go on.
        if self._state == own_work or is_registering_here():
            raise RuntimeError(
                "the provider runtime was asked for by the code that is just initializing it; "
                "a provider module must not call a model while it is imported"
            )
        try:
            outcome = self._claim(own_work)
            if outcome is None:
                outcome = self._work()
                self._publish(outcome)
        except BaseException as error:
            # Ctrl-C and the like: this thread goes its way, the others must not wait for ever.
            if self._state == own_work:
                self._publish(_failed(_INTERRUPTED, error))
            raise
        if isinstance(outcome, _Failed):
            raise ProviderRuntimeInitializationError(
                outcome.stage, outcome.cause_type, outcome.cause_message
            )
        return outcome

    def survive_fork(self) -> None:
        """Make a forked child fail rather than wait for a thread that it does not have."""
        self._changed = threading.Condition()
        state = self._state
        if isinstance(state, _Initializing) and state.worker != threading.get_ident():
            error = RuntimeError("forked while another thread initialized the provider runtime")
            self._state = _failed(_INTERRUPTED, error)

    def _claim(self, own_work: _Initializing) -> _Outcome | None:
        """Wait while another thread is at work; None means that the work falls to this one."""
        with self._changed:
            while isinstance(self._state, _Initializing):
                self._changed.wait(_RECHECK_SECONDS)
            if isinstance(self._state, _New):
                self._state = own_work
                return None
            return self._state

    def _work(self) -> _Outcome:
        stage = "register_builtins"
        try:
            self._register()
            stage = "activation"
            return self._decide()
        except Exception as error:  # noqa: BLE001 - whatever a vendor module's import can raise
            return _failed(stage, error)

    def _publish(self, outcome: _Outcome) -> None:
        with self._changed:
            self._state = outcome
            self._changed.notify_all()


def initialize_provider_runtime() -> RuntimeSnapshot:
    """Make provider calls possible: built-ins, one look at the settings, recording or replay.

    The first look-up of a provider does this by itself; a program that starts threads or forks does
    it first. No credential is looked up, no client made and no socket opened. Settings that change
    later count from the next start of the process on.

    Returns:
        What was decided, the same for every caller. Settings or a recording that cannot be used
        are no failure: the mode is then `blocked`, and every call says why.

    Raises:
        ProviderRuntimeInitializationError: The built-in providers could not be registered, or the
            first attempt was interrupted; a fresh but equal one for each caller. The process does
            not try again.
        RuntimeError: Called by the code that is just initializing the runtime.
    """
    return _INITIALIZER.run()


def _failed(stage: str, error: BaseException) -> _Failed:
    message = ascii_if_unprintable(remove_secrets_from_text(text_of(error)))
    return _Failed(
        stage=stage,
        cause_type=type(error).__name__,
        cause_message=message[:_MESSAGE_CHARACTERS],
    )


_INITIALIZER: Final = RuntimeInitializer(register_builtins, activate)

os.register_at_fork(after_in_child=_INITIALIZER.survive_fork)
