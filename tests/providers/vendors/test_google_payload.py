"""What is asked, in the vendor's words."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._google_payload import build_payload

MODEL = t.Model(
    id="gemini-2.5-pro",
    name="m",
    api="google-generative-ai",
    provider="google",
    base_url="",
    reasoning=True,
    max_tokens=5000,
)
ASKED = [t.UserMessage(content="hi", timestamp=0)]
TOOL = t.Tool(name="find", description="finds", parameters={"properties": {"a": {"enum": [1]}}})


def build(
    context: t.Context | None = None, reasoning: t.ThinkingLevel | None = None, **options: Any
) -> dict[str, Any]:
    asked = context or t.Context(messages=[*ASKED])
    return build_payload(MODEL, asked, t.SimpleStreamOptions(**options), reasoning)


def test_the_least_that_is_said() -> None:
    assert build() == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"maxOutputTokens": 5000},
    }


def test_all_that_can_be_said() -> None:
    context = t.Context(system_prompt="be\ud83d", messages=[*ASKED], tools=[TOOL])
    payload = build(
        context,
        "low",
        max_tokens=9000,
        temperature=0.5,
        service_tier="flex",
        tool_choice="required",
        thinking_budgets=t.ThinkingBudgets(low=300),
    )
    assert payload == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": "be�"}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "find",
                        "description": "finds",
                        "parametersJsonSchema": {
                            "type": "object",
                            "properties": {"a": {"enum": [1]}},
                        },
                    }
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        "generationConfig": {
            "maxOutputTokens": 9000,
            "temperature": 0.5,
            "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 300},
        },
        "serviceTier": "flex",
    }


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("auto", {"mode": "AUTO"}),
        ("AUTO", {"mode": "AUTO"}),
        ("any", {"mode": "ANY"}),
        ("none", {"mode": "NONE"}),
        ({"type": "any"}, {"mode": "ANY"}),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["find"]},) * 2,
        ({"type": "tool", "name": "find"}, {"mode": "ANY", "allowedFunctionNames": ["find"]}),
        ({"type": "function", "name": "find"}, {"mode": "ANY", "allowedFunctionNames": ["find"]}),
        (
            {"type": "function", "function": {"name": "find"}},
            {"mode": "ANY", "allowedFunctionNames": ["find"]},
        ),
    ],
)
def test_tool_choices_of_any_vendor(choice: Any, said: Any) -> None:
    payload = build(t.Context(messages=[*ASKED], tools=[TOOL]), tool_choice=choice)
    assert payload["toolConfig"]["functionCallingConfig"] == said
    assert "toolConfig" not in build(tool_choice=choice)


@pytest.mark.parametrize("choice", ["sometimes", {"type": "tool"}, {"mode": "ODD"}, 5, []])
def test_a_tool_choice_that_is_not_known_is_refused(choice: Any) -> None:
    with pytest.raises(ModelRequestError, match="tool_choice is not known"):
        build(t.Context(messages=[*ASKED], tools=[TOOL]), tool_choice=choice)


@pytest.mark.parametrize(
    "options", [{"web_search": True}, {"response_format": {"a": 1}}, {"parallel_tool_calls": False}]
)
def test_what_the_protocol_cannot_carry_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ModelRequestError) as caught:
        build(**options)
    assert caught.value.reason == "bad_request"


def test_a_blank_system_prompt_is_left_out() -> None:
    assert "systemInstruction" not in build(t.Context(system_prompt=" \n", messages=[*ASKED]))
