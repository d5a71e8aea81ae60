"""Which events end a stream, and what a block event is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from openprogram.providers import types as t

if TYPE_CHECKING:
    from openprogram.providers.types import AssistantMessage, RecordedEvent

TERMINAL_EVENT_TYPES = frozenset({"done", "error"})
"""The two event types that end a stream."""
FAILED_STOP_REASONS = frozenset({"error", "aborted"})
"""Why a message ended that is no whole answer."""
DELTA_TYPES = (t.EventTextDelta, t.EventThinkingDelta, t.EventToolCallDelta)
"""The events that add to a block."""


def is_terminal(event: RecordedEvent) -> TypeGuard[t.EventDone | t.EventError]:
    """Say whether an event ends its stream.

    Args:
        event: Any event.

    Returns:
        True for `done` and `error`.
    """
    return event.type in TERMINAL_EVENT_TYPES


def final_message(event: t.EventDone | t.EventError) -> AssistantMessage:
    """Take the whole message out of a terminal event.

    Args:
        event: A `done` or `error` event.

    Returns:
        The assistant message as it stood at the end.
    """
    return event.message if isinstance(event, t.EventDone) else event.error
