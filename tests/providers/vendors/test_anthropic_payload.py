"""Options become the vendor's fields, and only those it takes."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._anthropic_payload import THINKING_BUDGETS, build_payload

TOOL = t.Tool(name="a", description="d", parameters={"properties": {"p": {"type": "string"}}})
SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}


def payload(
    *,
    reasoning: Any = None,
    model: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": "m",
        "name": "M",
        "api": "anthropic-messages",
        "provider": "anthropic",
        "base_url": "",
        "reasoning": True,
        "max_tokens": 64_000,
    }
    asked: dict[str, Any] = {"messages": [t.UserMessage(content="hi", timestamp=0)]}
    return build_payload(
        t.Model(**{**described, **(model or {})}),
        t.Context(**{**asked, **(context or {})}),
        t.SimpleStreamOptions(**options),
        reasoning,
    )


def test_the_least_request():
    assert payload(cache_retention="none") == {
        "model": "m",
        "max_tokens": 64_000,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "stream": True,
    }


def test_plain_options_are_passed_on():
    body = payload(
        max_tokens=5, temperature=0.5, metadata={"user_id": 7, "x": 1}, service_tier="auto"
    )
    assert body["max_tokens"] == 5
    assert body["temperature"] == 0.5
    assert body["metadata"] == {"user_id": "7"}
    assert body["service_tier"] == "auto"


def test_a_schema_keeps_its_words_and_gains_only_its_kind():
    (tool,) = payload(context={"tools": [TOOL]}, cache_retention="none")["tools"]
    assert tool == {
        "name": "a",
        "description": "d",
        "input_schema": {"type": "object", "properties": {"p": {"type": "string"}}},
    }


@pytest.mark.parametrize(
    ("retention", "mark"), [("short", SHORT), (None, SHORT), ("long", LONG), ("none", None)]
)
def test_cache_marks_follow_the_retention(retention: str | None, mark: Any):
    other = t.Tool(name="b", description="", parameters={})
    body = payload(
        context={"system_prompt": "be kind", "tools": [TOOL, other]}, cache_retention=retention
    )
    assert body["system"][0].get("cache_control") == mark
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, mark]
    assert body["messages"][-1]["content"][-1].get("cache_control") == mark


def test_the_callers_own_marks_are_kept_and_none_added():
    content: list[t.InputContent] = [
        t.TextContent(text="x", cache_control=LONG),
        t.TextContent(text="y"),
    ]
    body = payload(
        context={
            "system_prompt": "s",
            "messages": [t.UserMessage(content=content, timestamp=0)],
            "tools": [TOOL],
        }
    )
    assert [block.get("cache_control") for block in body["messages"][0]["content"]] == [LONG, None]
    assert "cache_control" not in body["system"][0]
    assert "cache_control" not in body["tools"][0]
    marked = t.Tool(name="a", description="", parameters={}, cache_control=LONG)
    body = payload(context={"system_prompt": "s", "tools": [marked]})
    assert body["tools"][0]["cache_control"] == LONG
    assert "cache_control" not in body["system"][0]


def test_a_blank_system_prompt_is_left_out():
    assert "system" not in payload(context={"system_prompt": " \n"})


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (None, None),
        ("auto", {"type": "auto"}),
        ("any", {"type": "any"}),
        ("required", {"type": "any"}),
        ("none", {"type": "none"}),
        ({"type": "tool", "name": "a"}, {"type": "tool", "name": "a"}),
        ({"type": "function", "function": {"name": "a"}}, {"type": "tool", "name": "a"}),
    ],
)
def test_tool_choices_of_every_vendor_are_understood(choice: Any, sent: Any):
    assert payload(context={"tools": [TOOL]}, tool_choice=choice).get("tool_choice") == sent
    assert "tool_choice" not in payload(tool_choice=choice)


@pytest.mark.parametrize("choice", ["maybe", 5, {}, ["auto"]])
def test_an_unknown_tool_choice_is_refused(choice: Any):
    with pytest.raises(ModelRequestError, match="tool_choice"):
        payload(context={"tools": [TOOL]}, tool_choice=choice)


def test_one_call_at_a_time_is_said_with_the_choice():
    def choice(value: Any) -> Any:
        return payload(context={"tools": [TOOL]}, tool_choice=value, parallel_tool_calls=False).get(
            "tool_choice"
        )

    assert choice(None) == {"type": "auto", "disable_parallel_tool_use": True}
    assert choice("any") == {"type": "any", "disable_parallel_tool_use": True}
    assert choice("none") == {"type": "none"}


@pytest.mark.parametrize(("level", "budget"), THINKING_BUDGETS.items())
def test_each_reasoning_level_has_a_budget_and_drops_the_temperature(level: Any, budget: int):
    body = payload(reasoning=level, model={"max_tokens": 100_000}, temperature=0.5)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert "temperature" not in body


@pytest.mark.parametrize(
    ("max_tokens", "budget"), [(1024, None), (1025, 1024), (4000, 2976), (10_000, 8192)]
)
def test_the_budget_leaves_room_for_the_answer(max_tokens: int, budget: int | None):
    body = payload(reasoning="medium", max_tokens=max_tokens)
    assert body.get("thinking", {}).get("budget_tokens") == budget


def test_the_callers_budgets_win():
    budgets = t.ThinkingBudgets(low=3000, high=5)
    assert payload(reasoning="low", thinking_budgets=budgets)["thinking"]["budget_tokens"] == 3000
    assert payload(reasoning="high", thinking_budgets=budgets)["thinking"]["budget_tokens"] == 1024
    assert (
        payload(reasoning="max", max_tokens=99_999, thinking_budgets=budgets)["thinking"][
            "budget_tokens"
        ]
        == (THINKING_BUDGETS["max"])
    )


def test_an_adaptive_model_is_told_an_effort():
    body = payload(reasoning="minimal", model={"thinking_variant": "adaptive"}, temperature=1.0)
    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"] == {"effort": "low"}
    assert "temperature" not in body


def test_a_model_that_cannot_reason_is_not_asked_to():
    assert "thinking" not in payload(reasoning="high", model={"reasoning": False})


@pytest.mark.parametrize("name", ["response_format", "web_search"])
def test_an_option_that_cannot_be_honoured_is_refused_not_dropped(name: str):
    with pytest.raises(ModelRequestError, match=name):
        payload(**{name: {"type": "json"}})


def test_a_lone_surrogate_does_not_kill_the_request():
    body = payload(context={"system_prompt": "a\ud83d"})
    assert body["system"][0]["text"] == "a�"
