"""The ways to look at one call, each made when it is first looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.blocks import ConversationLines
from openprogram_recordings_tui.presentation.conversations import (
    conversation_of,
    end_block,
    shared_message_count,
)
from openprogram_recordings_tui.presentation.lines import (
    EMPTY_LINE,
    FixedLines,
    Line,
    LineSource,
    Span,
)
from openprogram_recordings_tui.presentation.trees import TreeLines
from openprogram_recordings_tui.sources.answers import Answer
from openprogram_recordings_tui.sources.lists import EventLines, RawLines

if TYPE_CHECKING:
    from openprogram_recordings_tui.sources.open_recording import OpenRecording

_REQUEST_PARTS = ("model", "context", "options")


class CallViews:
    """One call of an open recording as sources of lines."""

    def __init__(self, recording: OpenRecording, call_index: int) -> None:
        self._recording = recording
        self.call_index = call_index
        """Which call."""
        self._made: dict[str, LineSource] = {}
        self._answer = Answer(None)

    def source(self, view: str) -> LineSource:
        """Give a view of the call.

        Args:
            view: `conversation`, `request`, `events` or `raw`.

        Returns:
            Its lines; the same object each time, so that what was opened stays open.
        """
        if view not in self._made:
            makers = {
                "conversation": self._conversation,
                "request": self._request,
                "events": lambda: EventLines(self._recording, self.call_index),
                "raw": lambda: RawLines(self._recording),
            }
            self._made[view] = makers[view]()
        return self._made[view]

    def renew_end(self) -> None:
        """Say anew how the call ended, once the strict reader has come to it."""
        made = self._made.get("conversation")
        if isinstance(made, ConversationLines):
            index = self.call_index
            answer, outcome = self._answer.message, self._recording.outcome(index)
            cost_usd = self._recording.cost_usd(index)
            made.replace_end(end_block(answer, outcome=outcome, cost_usd=cost_usd))

    def first_cursor(self, view: str) -> int:
        """Say where to begin in a view.

        Args:
            view: As for `source`.

        Returns:
            A line; in the raw rows, that of the request.
        """
        if view == "raw":
            return self._recording.request_row(self.call_index) or 0
        return 0

    def _conversation(self) -> LineSource:
        request = self._recording.request(self.call_index)
        if request is None:
            return self._nothing()
        before = self._recording.request(self.call_index - 1) if self.call_index else None
        self._answer = self._recording.answer(self.call_index)
        blocks = conversation_of(
            request,
            self._answer.message,
            left_out_count=self._answer.left_out_count,
            outcome=self._recording.outcome(self.call_index),
            cost_usd=self._recording.cost_usd(self.call_index),
            known_message_count=shared_message_count(before, request) if before else 0,
        )
        return ConversationLines(blocks)

    def _request(self) -> LineSource:
        request = self._recording.request(self.call_index)
        if request is None:
            return self._nothing()
        return TreeLines({name: request.get(name) for name in _REQUEST_PARTS})

    def _nothing(self) -> LineSource:
        row = self._recording.request_row(self.call_index)
        if row is None:
            words = "This recording has no call yet."
        else:
            size = figures.size(self._recording.index.length(row))
            words = f"The request is a row of {size} that is not taken apart here."
        lines: tuple[Line, ...] = (
            EMPTY_LINE,
            (Span("   " + words, "strong"),),
            (Span("   View 4 shows the rows of the file, each bounded.", "dim"),),
        )
        return FixedLines(lines)
