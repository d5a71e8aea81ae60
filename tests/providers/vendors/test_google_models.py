"""How hard a model is told to think, by its generation, its range and the room that is left."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.providers import types as t
from openprogram.providers.vendors._google_models import is_later_generation, thinking_config


def model(id_: str, **fields: Any) -> t.Model:
    given: dict[str, Any] = {"reasoning": True, **fields}
    return t.Model(
        id=id_, name="m", api="google-generative-ai", provider="google", base_url="", **given
    )


@pytest.mark.parametrize(
    ("id_", "variant", "is_later"),
    [
        ("gemini-2.5-pro", None, False),
        ("gemini-3-pro-preview", None, True),
        ("models/gemini-3.1-flash", None, True),
        ("gemini-10-pro", None, True),
        ("gemini-2.0-flash", None, False),
        ("some-model", None, False),
        ("some-gemini-3", None, False),
        ("some-model", "level", True),
        ("gemini-3-pro", "budget", False),
        ("gemini-3-pro", "odd", True),
    ],
)
def test_generations(id_: str, variant: str | None, is_later: bool) -> None:
    assert is_later_generation(model(id_, thinking_variant=variant)) is is_later


@pytest.mark.parametrize(
    ("id_", "reasoning", "wanted", "max_tokens", "budget"),
    [
        ("gemini-2.5-flash", "low", None, 60_000, 2048),
        ("gemini-2.5-flash", "max", None, 60_000, 24_576),
        ("gemini-2.5-pro", "max", None, 60_000, 32_768),
        ("gemini-2.5-pro", "high", None, 2048, 1024),
        ("gemini-2.5-pro", "high", None, 1, 128),
        ("gemini-2.5-flash-lite", "minimal", 100, 60_000, 512),
        ("some-model", "medium", 999, 60_000, 999),
        ("gemini-3-pro", "low", 777, 60_000, 777),
    ],
)
def test_budgets(
    id_: str, reasoning: Any, wanted: int | None, max_tokens: int, budget: int
) -> None:
    assert thinking_config(model(id_), reasoning, wanted, max_tokens) == {
        "includeThoughts": True,
        "thinkingBudget": budget,
    }


@pytest.mark.parametrize(
    ("id_", "known", "levels"),
    [
        ("gemini-3-pro-preview", [], ["LOW", "LOW", "LOW", "HIGH", "HIGH", "HIGH"]),
        ("gemini-3-flash", [], ["MINIMAL", "LOW", "MEDIUM", "HIGH", "HIGH", "HIGH"]),
        ("gemini-3-flash", ["low", "medium"], ["LOW", "LOW", "MEDIUM", "MEDIUM", "MEDIUM"]),
        ("gemini-3-flash", ["odd"], ["MINIMAL", "LOW", "MEDIUM", "HIGH", "HIGH", "HIGH"]),
    ],
)
def test_levels(id_: str, known: list[str], levels: list[str]) -> None:
    words: list[Any] = ["minimal", "low", "medium", "high", "xhigh", "max"]
    for word, level in zip(words, levels, strict=False):
        config = thinking_config(model(id_, thinking_levels=known), word, None, 9000)
        assert config == {"includeThoughts": True, "thinkingLevel": level}


def test_without_reasoning_thinking_is_off_where_it_can_be() -> None:
    assert thinking_config(model("gemini-2.5-flash"), None, None, 9000) == {"thinkingBudget": 0}
    for id_ in ("gemini-2.5-pro", "gemini-3-pro", "some-model"):
        assert thinking_config(model(id_), None, None, 9000) == {}
    assert thinking_config(model("gemini-2.5-pro", reasoning=False), "high", None, 9000) == {}
