"""The options become the vendor's, and what cannot be said is refused."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._responses_payload import build_payload

MODEL = t.Model(
    id="m", name="M", api="openai-responses", provider="openai", base_url="", reasoning=True
)
PLAIN = t.Model(id="m", name="M", api="openai-responses", provider="openai", base_url="")
ASKED = [t.UserMessage(content="hi", timestamp=0)]
TOOL = t.Tool(name="t", description="d", parameters={"properties": {"a": {"type": "string"}}})


def payload(
    model: t.Model = MODEL,
    *,
    reasoning: t.ThinkingLevel | None = None,
    system_prompt: str | None = None,
    tools: list[t.Tool] | None = None,
    **options: Any,
) -> dict[str, Any]:
    context = t.Context(messages=[*ASKED], system_prompt=system_prompt, tools=tools)
    return build_payload(model, context, t.StreamOptions(**options), reasoning)


def test_the_least_that_is_asked():
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    least = {"model": "m", "input": [said], "stream": True, "store": False}
    assert payload(PLAIN) == least
    assert payload(PLAIN, system_prompt=" \n") == least
    assert payload(MODEL) == {**least, "include": ["reasoning.encrypted_content"]}


def test_everything_that_can_be_asked():
    said = payload(
        PLAIN,
        system_prompt="be\ud83d",
        tools=[TOOL],
        temperature=0.5,
        max_tokens=100,
        session_id="s" * 64,
        metadata={"user_id": 7, "other": "x"},
        service_tier="flex",
        tool_choice="any",
        parallel_tool_calls=False,
    )
    del said["input"]
    assert said == {
        "model": "m",
        "stream": True,
        "store": False,
        "instructions": "be�",
        "tools": [
            {
                "type": "function",
                "name": "t",
                "description": "d",
                "parameters": {"type": "object", "properties": {"a": {"type": "string"}}},
                "strict": False,
            }
        ],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "temperature": 0.5,
        "max_output_tokens": 100,
        "prompt_cache_key": "s" * 64,
        "safety_identifier": "7",
        "service_tier": "flex",
    }


def test_reasoning_is_asked_only_of_models_that_can_and_takes_the_temperature():
    said = payload(reasoning="xhigh", temperature=0.5)
    assert said["reasoning"] == {"effort": "xhigh", "summary": "auto"}
    assert "temperature" not in said
    said = payload(PLAIN, reasoning="xhigh", temperature=0.5)
    assert not {"reasoning", "include"} & said.keys()
    assert said["temperature"] == 0.5


def test_choices_of_tools_in_all_words():
    named = {"type": "function", "name": "t"}
    for choice, said in (
        (None, None),
        ("auto", "auto"),
        ("required", "required"),
        ("none", "none"),
        ({"type": "any"}, "required"),
        ({"type": "tool", "name": "t"}, named),
        ({"type": "function", "function": {"name": "t"}}, named),
        (named, named),
        ({"type": "allowed_tools", "mode": "auto"}, {"type": "allowed_tools", "mode": "auto"}),
    ):
        assert payload(tools=[TOOL], tool_choice=choice).get("tool_choice") == said
    assert "tool_choice" not in payload(tool_choice="auto")
    for odd in ("some", 5, {}, {"name": "t"}):
        with pytest.raises(ModelRequestError):
            payload(tools=[TOOL], tool_choice=odd)


def test_a_conversation_finds_its_cache_again():
    assert "prompt_cache_key" not in payload(session_id="s", cache_retention="none")
    assert payload(session_id="s", cache_retention="long")["prompt_cache_retention"] == "24h"
    assert "prompt_cache_retention" not in payload(session_id="s")
    long, other = payload(session_id="s" * 65), payload(session_id="s" * 66)
    assert len(long["prompt_cache_key"]) == 64
    assert long["prompt_cache_key"] != other["prompt_cache_key"]
    assert long == payload(session_id="s" * 65)


def test_what_is_not_supported_is_refused_not_dropped():
    for name in ("response_format", "web_search"):
        options = t.StreamOptions(**{name: {"type": "x"}})  # pyright: ignore[reportArgumentType] - one of two untyped fields
        with pytest.raises(ModelRequestError, match=rf"options\.{name}") as caught:
            build_payload(MODEL, t.Context(messages=[*ASKED]), options, None)
        assert caught.value.reason == "bad_request"
