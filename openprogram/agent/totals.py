"""What a run came to, counted while it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from openprogram.agent.costs import known_cost_usd

if TYPE_CHECKING:
    from openprogram.providers import types as t
    from openprogram.providers.activation import RuntimeSnapshot


@dataclass
class RunTotals:
    """What a run came to; failed attempts cost too."""

    prices: t.ModelCost
    turn_count: int = 0
    tool_call_count: int = 0
    retry_count: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None as soon as what an answer cost is not known."""
    has_failed: bool = False
    """Whether the last answer did."""

    def add(self, event: t.AssistantMessageEvent) -> None:
        """Count an answer when it ends."""
        if event.type == "done":
            message = event.message
        elif event.type == "error":
            message = event.error
        else:
            return
        usage = message.usage
        self.has_failed = event.type == "error"
        self.turn_count += not self.has_failed
        self.input_tokens += usage.input + usage.cache_read + usage.cache_write
        self.output_tokens += usage.output
        if not self.has_failed or usage.total_tokens:
            cost_usd = known_cost_usd(usage, self.prices)
            if cost_usd is None or self.cost_usd is None:
                self.cost_usd = None
            else:
                self.cost_usd += cost_usd

    def add_tool_result(self, result: t.ToolResultMessage) -> None:
        """Count a tool call."""
        del result
        self.tool_call_count += 1

    def to_json(self, answer: t.AssistantMessage, snapshot: RuntimeSnapshot) -> dict[str, object]:
        """Give the answer and the totals.

        Args:
            answer: The last one.
            snapshot: What was done with the calls.

        Returns:
            The document of `openprogram run --json`.
        """
        path = snapshot.recording_path
        return {
            "answer": "".join(block.text for block in answer.content if block.type == "text"),
            "stop_reason": answer.stop_reason,
            "provider": answer.provider,
            "api": answer.api,
            "model": answer.model,
            "mode": snapshot.mode,
            "recording": None if path is None else str(path),
            "turn_count": self.turn_count,
            "tool_call_count": self.tool_call_count,
            "retry_count": self.retry_count,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
        }
