from __future__ import annotations

import pytest

from openprogram.agent.costs import CostLimit, known_cost_usd
from openprogram.errors import AgentError
from openprogram.providers import types as t
from scripted import message, request

_PRICES = t.ModelCost(input=1.0, output=2.0)
_COUNTED = t.Usage(input=5, total_tokens=5, cost=t.UsageCost(total=0.25))


@pytest.mark.parametrize(
    ("usage", "prices", "cost_usd"),
    [
        (_COUNTED, _PRICES, 0.25),
        (_COUNTED, t.ModelCost(), 0.25),  # its provider knows prices of its own
        (t.Usage(input=5), t.ModelCost(output=1.0), None),
        (t.Usage(input=500_000, output=250_000), _PRICES, 1.0),  # recorded without prices
        (t.Usage(input=5, cache_read=1), _PRICES, None),
        (t.Usage(input=5, cache_read=1), t.ModelCost(input=0.0, output=0.0), None),
        (t.Usage(), _PRICES, None),  # nobody counted
        (t.Usage(), t.ModelCost(input=0.0, output=0.0), 0.0),
        (t.Usage(), t.ModelCost(), None),
    ],
)
def test_a_cost_that_is_not_known_is_none(
    usage: t.Usage, prices: t.ModelCost, cost_usd: float | None
) -> None:
    assert known_cost_usd(usage, prices) == cost_usd


def test_an_answer_of_unknown_cost_ends_a_run_with_a_limit_and_no_other() -> None:
    model = request()[0]
    model.cost = _PRICES
    CostLimit(model, None).add(message())
    limit = CostLimit(model, 0.5)
    limit.add(message(stop_reason="error"))  # refused before anything was counted
    limit.add(message(usage=_COUNTED))
    limit.require_rest()
    with pytest.raises(
        AgentError, match=r"cost is not known, so a limit of 0\.5 USD cannot be kept"
    ):
        limit.add(message())
    limit.add(message(usage=_COUNTED))
    with pytest.raises(AgentError, match=r"no answer for 0\.5 USD"):
        limit.require_rest()
