"""Requests hold what was asked for, in the words of the server that is asked."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._openai_completions_payload import build_payload
from openprogram.providers.vendors._openai_quirks import BY_HOST, BY_PROVIDER, Quirks, find_quirks

TOOL = t.Tool(name="f", description="d", parameters={"properties": {"a": {"type": "string"}}})
OPENAI = "https://api.openai.com/v1"
CLOSED_LAN = "http://10.0.0.7:8080/v1"


def model(base_url: str = CLOSED_LAN, **fields: Any) -> t.Model:
    described: dict[str, Any] = {"id": "m", "name": "m", "provider": "p", "reasoning": True}
    return t.Model(api="openai-completions", base_url=base_url, **{**described, **fields})


def build(
    base_url: str = CLOSED_LAN,
    *,
    reasoning: t.ThinkingLevel | None = None,
    compat: Any = None,
    tools: list[t.Tool] | None = None,
    **options: Any,
) -> dict[str, Any]:
    context = t.Context(
        system_prompt="be brief",
        messages=[t.UserMessage(content="hi", timestamp=0)],
        tools=tools,
    )
    asked = t.SimpleStreamOptions(**options)
    return build_payload(model(base_url, compat=compat), context, asked, reasoning)


def test_an_unknown_server_gets_the_common_ground():
    asked: dict[str, Any] = {
        "max_tokens": 9,
        "temperature": 0.5,
        "metadata": {"user_id": "u"},
        "session_id": "s",
    }
    assert build(reasoning="high", **asked) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "hi"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 9,
        "temperature": 0.5,
    }
    assert "max_tokens" not in build()


def test_openai_gets_its_own_words():
    asked: dict[str, Any] = {
        "max_tokens": 9,
        "temperature": 0.5,
        "metadata": {"user_id": 7},
        "session_id": "s",
    }
    payload = build(OPENAI, reasoning="xhigh", service_tier="flex", **asked)
    assert payload["messages"][0]["role"] == "developer"
    rest = {k: v for k, v in payload.items() if k not in {"model", "messages", "stream"}}
    assert rest == {
        "stream_options": {"include_usage": True},
        "store": False,
        "max_completion_tokens": 9,
        "reasoning_effort": "xhigh",
        "safety_identifier": "7",
        "prompt_cache_key": "s",
        "service_tier": "flex",
    }
    assert build(OPENAI, temperature=0.5)["temperature"] == 0.5
    assert "prompt_cache_key" not in build(OPENAI, session_id="s", cache_retention="none")


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("https://openrouter.ai/api/v1", {"reasoning": {"effort": "xhigh"}}),
        ("https://api.groq.com/openai/v1", {"reasoning_effort": "high"}),
        ("https://api.deepseek.com", {"thinking": {"type": "enabled"}}),
        ("https://api.mistral.ai/v1", {}),
    ],
)
def test_reasoning_is_asked_for_in_each_servers_way(base_url: str, expected: dict[str, Any]):
    words = {"reasoning", "reasoning_effort", "thinking"}
    payload = build(base_url, reasoning="max")
    assert {k: v for k, v in payload.items() if k in words} == expected
    assert words.isdisjoint(build(base_url))


def test_a_server_is_known_by_its_host_then_by_its_provider():
    assert find_quirks(model(OPENAI, provider="ollama")) is BY_HOST["api.openai.com"]
    assert find_quirks(model("https://EU.api.OpenAI.com.:443/v1")) is BY_HOST["api.openai.com"]
    assert find_quirks(model(provider="ollama")) is BY_PROVIDER["ollama"]
    for base_url in ("https://notapi.openai.com.evil/v1", "https://xapi.groq.com", "", "http://["):
        assert find_quirks(model(base_url, provider="openai")) == Quirks()


def test_compat_overrides_single_fields_and_leaves_foreign_ones_alone():
    compat = {"max_tokens_field": "max_completion_tokens", "supportsStore": True}
    payload = build(compat=compat, max_tokens=5)
    assert payload["max_completion_tokens"] == 5
    assert "store" not in payload
    assert "stream_options" not in build(compat={"takes_stream_options": False})
    assert build(compat="nonsense") == build()
    with pytest.raises(ModelRequestError, match=r"model\.compat.*system_role") as caught:
        build(compat={"system_role": "king"})
    assert caught.value.reason == "bad_request"


def test_tools_are_complete_functions_and_their_options_go_only_with_them():
    (sent,) = build(tools=[TOOL])["tools"]
    assert sent == {
        "type": "function",
        "function": {
            "name": "f",
            "description": "d",
            "parameters": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
    }
    bare = build(tool_choice="any", parallel_tool_calls=False)
    assert {"tool_choice", "parallel_tool_calls", "tools"}.isdisjoint(bare)
    assert build(tools=[TOOL], parallel_tool_calls=False)["parallel_tool_calls"] is False
    mark = {"type": "ephemeral"}
    marked = t.Tool(name="f", description="", parameters={}, cache_control=mark)
    assert "cache_control" not in build(tools=[marked])["tools"][0]
    assert (
        build("https://openrouter.ai/api/v1", tools=[marked])["tools"][0]["cache_control"] == mark
    )


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", "auto"),
        ("any", "required"),
        ({"type": "any"}, "required"),
        ({"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
        (
            {"type": "function", "function": {"name": "f"}},
            {"type": "function", "function": {"name": "f"}},
        ),
    ],
)
def test_a_tool_choice_is_read_in_anyones_words(choice: Any, expected: Any):
    assert build(tools=[TOOL], tool_choice=choice)["tool_choice"] == expected


def test_what_cannot_be_said_is_refused():
    refused: list[dict[str, Any]] = [
        {"tool_choice": "maybe", "tools": [TOOL]},
        {"web_search": True},
    ]
    for options in refused:
        with pytest.raises(ModelRequestError) as caught:
            build(**options)
        assert caught.value.reason == "bad_request"


def test_a_response_format_goes_as_it_is():
    assert build(response_format={"type": "json_object"})["response_format"] == {
        "type": "json_object"
    }
