"""What answers cost, and a limit on it. A cost that is not known is never taken for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram.errors import AgentError, quoted
from openprogram.providers.events import FAILED_STOP_REASONS

if TYPE_CHECKING:
    from openprogram.providers import types as t

_TOKENS_PER_PRICE = 1_000_000
_REMEDY = (
    "leave the limit out, or give the prices: in Model.cost, or to openprogram run in a file, with "
    "--prices or the setting prices_file"
)


def known_cost_usd(usage: t.Usage, prices: t.ModelCost) -> float | None:
    """Say what an answer cost.

    Args:
        usage: What its provider counted.
        prices: What its model costs.

    Returns:
        USD; None when a price that was needed is unknown, or nothing was counted.

    Example:
        >>> from openprogram.providers import types as t
        >>> counted = t.Usage(input=10, output=5, total_tokens=15)
        >>> known_cost_usd(counted, t.ModelCost()) is None
        True
        >>> known_cost_usd(counted, t.ModelCost(input=0.0, output=0.0))
        0.0
        >>> known_cost_usd(counted, t.ModelCost(input=1.0, output=2.0))
        2e-05
    """
    if usage.cost.total > 0:
        return usage.cost.total
    if prices.input == 0 and prices.output == 0 and not (usage.cache_read or usage.cache_write):
        return 0.0
    needed = (
        (usage.input, prices.input),
        (usage.output, prices.output),
        (usage.cache_read, prices.cache_read),
        (usage.cache_write, prices.cache_write),
    )
    if not any(count for count, _ in needed):
        return None
    cost_usd = 0.0
    for count, price in needed:
        if count and price is None:
            return None
        cost_usd += count * (price or 0.0) / _TOKENS_PER_PRICE
    return cost_usd


class CostLimit:
    """Adds up what a run costs, and says when it is enough.

    A call is never cut short for its cost: what is over the limit is the last call's.

    Args:
        model: Who is asked.
        limit_usd: How much the run may cost; None sets no limit.

    Raises:
        AgentError: There is a limit, and the model's prices are not known.
    """

    def __init__(self, model: t.Model, limit_usd: float | None) -> None:
        self._model = model
        self._limit_usd = limit_usd
        self._spent_usd = 0.0
        is_priced = model.cost.input is not None and model.cost.output is not None
        if limit_usd is not None and not is_priced:
            rule = (
                f"the prices of {_name(model)} are not known, so a limit of {limit_usd:g} USD "
                "cannot be kept"
            )
            raise AgentError(rule, remedy=_REMEDY)

    def add(self, answer: t.AssistantMessage) -> None:
        """Count an answer, a failed one too.

        Args:
            answer: Its usage says what it cost.

        Raises:
            AgentError: There is a limit, and nobody can say what the answer cost.
        """
        if self._limit_usd is None:
            return
        cost_usd = known_cost_usd(answer.usage, self._model.cost)
        if cost_usd is not None:
            self._spent_usd += cost_usd
        elif answer.stop_reason not in FAILED_STOP_REASONS or answer.usage.total_tokens:
            # A request that failed before anything was counted is not charged by any vendor.
            rule = (
                f"what an answer of {_name(self._model)} cost is not known, so a limit of "
                f"{self._limit_usd:g} USD cannot be kept"
            )
            raise AgentError(rule, remedy=_REMEDY)

    def require_rest(self) -> None:
        """Demand that the next call may be made.

        Raises:
            AgentError: The limit is reached.
        """
        if self._limit_usd is not None and self._spent_usd >= self._limit_usd:
            rule = (
                f"no answer for {self._limit_usd:g} USD: {self._spent_usd:.6f} USD are spent, and "
                "one more call is needed"
            )
            raise AgentError(rule, remedy="allow more")


def _name(model: t.Model) -> str:
    """Name a model as a file of prices does."""
    return quoted(f"{model.provider}/{model.id}")
