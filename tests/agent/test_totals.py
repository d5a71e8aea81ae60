"""What a run came to is counted from its events; an unknown price is not zero."""

from __future__ import annotations

from openprogram.agent.totals import RunTotals
from openprogram.providers import types as t


def _done(usage: t.Usage) -> t.EventDone:
    message = t.AssistantMessage(
        content=[], api="a", provider="p", model="m", usage=usage, stop_reason="stop", timestamp=0
    )
    return t.EventDone(reason="stop", message=message)


def test_tokens_of_all_kinds_and_turns_add_up() -> None:
    totals = RunTotals(prices=t.ModelCost())
    for _ in range(2):
        totals.add(_done(t.Usage(input=1, output=2, cache_read=3, cache_write=4, total_tokens=10)))
    assert (totals.turn_count, totals.input_tokens, totals.output_tokens) == (2, 16, 4)
    assert totals.cost_usd is None
