"""What differs between the vendor's models, as data.

Sources: https://ai.google.dev/gemini-api/docs/thinking and .../docs/thought-signatures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram.providers import types as t

Json: TypeAlias = dict[str, Any]

ANSWER_TOKENS: Final = 1024
"""What thinking leaves of max_tokens for the answer, where a budget is set."""

THINKING_BUDGETS: Final[Mapping[t.ThinkingLevel, int]] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 32_768,
}
"""How many tokens each reasoning level may spend, where the caller does not say."""

_LEVELS: Final = ("minimal", "low", "medium", "high")
"""The vendor's own levels, from the least."""
_LATER_GENERATION = re.compile(r"(?:^|/)gemini-(?:[3-9]|[1-9]\d)(?!\d)")
_FIRST_OF_LEVELS = re.compile(r"(?:^|/)gemini-3-pro")


@dataclass(frozen=True, slots=True)
class _Budgets:
    """The thinking budgets that a model takes, in tokens."""

    least: int
    most: int
    can_be_off: bool


_BUDGETS: Final = (
    ("gemini-2.5-flash-lite", _Budgets(least=512, most=24_576, can_be_off=True)),
    ("gemini-2.5-flash", _Budgets(least=1, most=24_576, can_be_off=True)),
    ("gemini-2.5-pro", _Budgets(least=128, most=32_768, can_be_off=False)),
)
"""By what the model's name holds; the first that fits counts."""
_ANY_BUDGETS: Final = _Budgets(least=512, most=24_576, can_be_off=False)
"""For a model that nothing is known of."""


def is_later_generation(model: t.Model) -> bool:
    """Say whether a model is of the third generation or a later one.

    These think by level, demand the signatures of function calls back, and take images inside
    function responses. `thinking_variant` of `level` or `budget` says it where the name does not.

    Args:
        model: The model.

    Returns:
        What its variant says, else what its name says.
    """
    if model.thinking_variant in {"level", "budget"}:
        return model.thinking_variant == "level"
    return _LATER_GENERATION.search(model.id) is not None


def thinking_config(
    model: t.Model,
    reasoning: t.ThinkingLevel | None,
    wanted_tokens: int | None,
    max_tokens: int,
) -> Json:
    """Say how hard to think.

    The answer's own room comes first: a budget shrinks to what max_tokens leaves, down to the least
    that the model takes. Without reasoning, thinking is switched off where the model can do without
    it, and left to the model where it cannot.

    Args:
        model: Who shall think.
        reasoning: How hard; None is not at all.
        wanted_tokens: The budget that the caller set for this level; None leaves it to the table.
        max_tokens: The longest answer, thinking included.

    Returns:
        The vendor's `thinkingConfig`; empty when nothing is to be said.
    """
    if not model.reasoning:
        return {}
    later = is_later_generation(model)
    budgets = _budgets_of(model)
    if reasoning is None:
        return {"thinkingBudget": 0} if budgets.can_be_off and not later else {}
    if later and wanted_tokens is None:
        return {"includeThoughts": True, "thinkingLevel": _level(model, reasoning)}
    tokens = THINKING_BUDGETS[reasoning] if wanted_tokens is None else wanted_tokens
    room = min(max_tokens - ANSWER_TOKENS, budgets.most)
    return {"includeThoughts": True, "thinkingBudget": max(min(tokens, room), budgets.least)}


def _budgets_of(model: t.Model) -> _Budgets:
    return next((known for name, known in _BUDGETS if name in model.id), _ANY_BUDGETS)


def _level(model: t.Model, reasoning: t.ThinkingLevel) -> str:
    """Find the model's own level that is nearest, rather the lower than the higher."""
    known = [level for level in _LEVELS if level in model.thinking_levels]
    if not known and _FIRST_OF_LEVELS.search(model.id):
        known = ["low", "high"]
    rank = _LEVELS.index(reasoning) if reasoning in _LEVELS else len(_LEVELS) - 1
    lower = [level for level in known or _LEVELS if _LEVELS.index(level) <= rank]
    return (lower[-1] if lower else known[0]).upper()
