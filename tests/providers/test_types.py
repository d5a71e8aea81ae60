"""The wire format by its names and defaults, written out here once more by hand."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, Final

import pytest

from openprogram.providers import types as t

if TYPE_CHECKING:
    import msgspec

_REQUIRED: Final = ...
"""Stands where a field has no default."""

_COST: Final = {
    "input": None,
    "output": None,
    "cache_read": None,
    "cache_write": None,
    "source": "unknown",
}
_USAGE_COST: Final[dict[str, Any]] = dict.fromkeys(
    ("input", "output", "cache_read", "cache_write", "total"), 0.0
)
_USAGE: Final = {
    **dict.fromkeys(("input", "output", "cache_read", "cache_write", "total_tokens"), 0),
    "cost": _USAGE_COST,
}
_OPTIONS: Final = {
    **dict.fromkeys(("temperature", "max_tokens", "api_key", "transport"), None),
    "cache_retention": "short",
    **dict.fromkeys(("session_id", "headers"), None),
    "max_retry_delay_ms": 60000,
    **dict.fromkeys(("metadata", "service_tier", "tool_choice", "parallel_tool_calls"), None),
    **dict.fromkeys(("web_search", "response_format"), None),
}

_TYPES: Final[dict[type[msgspec.Struct], dict[str, Any]]] = {
    t.ModelCost: _COST,
    t.Model: {
        **dict.fromkeys(("id", "name", "api", "provider", "base_url"), _REQUIRED),
        "reasoning": False,
        "structured_output": None,
        "thinking_levels": [],
        "default_thinking_level": None,
        "thinking_variant": None,
        "fast": False,
        "input": ["text"],
        "cost": _COST,
        "context_window": 128000,
        "max_tokens": 8192,
        "headers": None,
        "compat": None,
    },
    t.Context: {"system_prompt": None, "messages": [], "tools": None},
    t.UserMessage: {"role": "user", "content": _REQUIRED, "timestamp": _REQUIRED},
    t.AssistantMessage: {
        "role": "assistant",
        **dict.fromkeys(("content", "api", "provider", "model"), _REQUIRED),
        "usage": _USAGE,
        "stop_reason": "stop",
        **dict.fromkeys(("error_message", "error_reason", "error_retryable"), None),
        **dict.fromkeys(("error_retry_after_s", "structured_output"), None),
        **dict.fromkeys(("structured_output_mode", "structured_output_attempt"), None),
        "timestamp": _REQUIRED,
    },
    t.ToolResultMessage: {
        "role": "toolResult",
        **dict.fromkeys(("tool_call_id", "tool_name", "content"), _REQUIRED),
        "details": None,
        "is_error": False,
        "timestamp": _REQUIRED,
    },
    t.Tool: {
        **dict.fromkeys(("name", "description", "parameters"), _REQUIRED),
        "cache_control": None,
    },
    t.TextContent: {
        "type": "text",
        "text": _REQUIRED,
        "text_signature": None,
        "cache_control": None,
    },
    t.ThinkingContent: {
        "type": "thinking",
        "thinking": _REQUIRED,
        "thinking_signature": None,
        "redacted": None,
    },
    t.ToolCall: {
        "type": "toolCall",
        **dict.fromkeys(("id", "name", "arguments"), _REQUIRED),
        "thought_signature": None,
    },
    t.ImageContent: {
        "type": "image",
        "data": _REQUIRED,
        "mime_type": _REQUIRED,
        "cache_control": None,
    },
    t.VideoContent: {"type": "video", "data": _REQUIRED, "mime_type": _REQUIRED},
    t.AudioContent: {"type": "audio", "data": _REQUIRED, "mime_type": _REQUIRED},
    t.Usage: _USAGE,
    t.UsageCost: _USAGE_COST,
    t.StreamOptions: _OPTIONS,
    t.SimpleStreamOptions: {**_OPTIONS, "reasoning": None, "thinking_budgets": None},
    t.ThinkingBudgets: dict.fromkeys(("minimal", "low", "medium", "high"), None),
}

_PARTIAL: Final = {"content_index": _REQUIRED, "partial": _REQUIRED}
_ATTEMPT: Final = {"output_attempt": None}
_EVENTS: Final[dict[str, dict[str, Any]]] = {
    "start": {"partial": _REQUIRED},
    "text_start": {**_PARTIAL, **_ATTEMPT},
    "text_delta": {**_PARTIAL, "delta": _REQUIRED, **_ATTEMPT},
    "text_end": {**_PARTIAL, "content": _REQUIRED, **_ATTEMPT},
    "thinking_start": _PARTIAL,
    "thinking_delta": {**_PARTIAL, "delta": _REQUIRED},
    "thinking_end": {**_PARTIAL, "content": _REQUIRED},
    "toolcall_start": _PARTIAL,
    "toolcall_delta": {**_PARTIAL, "delta": _REQUIRED},
    "toolcall_end": {**_PARTIAL, "tool_call": _REQUIRED},
    "done": {"reason": _REQUIRED, "message": _REQUIRED},
    "error": {"reason": _REQUIRED, "error": _REQUIRED},
}

_MESSAGE: Final[dict[str, Any]] = {
    "role": "assistant",
    "content": [],
    "api": "a",
    "provider": "p",
    "model": "m",
    "timestamp": 1,
}
_VALUES: Final[dict[str, Any]] = {
    "content": [],
    "timestamp": 1,
    "parameters": {"type": "object"},
    "arguments": {"b": [1, 1.0, True, None], "a": {}},
    "content_index": 0,
    "partial": _MESSAGE,
    "message": _MESSAGE,
    "error": _MESSAGE,
    "tool_call": {"type": "toolCall", "id": "1", "name": "f", "arguments": {}},
}


def _minimal(fields: dict[str, Any], tag: str = "") -> dict[str, Any]:
    """Give only what has to be there."""
    given = {name: _VALUES.get(name, "x") for name, x in fields.items() if x is _REQUIRED}
    if "reason" in given:
        given["reason"] = tag if tag == "error" else "stop"
    if tag.endswith("_end") and "content" in given:
        given["content"] = "x"
    return given | {name: fields[name] for name in ("type", "role") if name in fields}


@pytest.mark.parametrize("type_", _TYPES, ids=lambda type_: type_.__name__)
def test_a_type_has_the_fields_and_defaults_of_the_format(type_: type[msgspec.Struct]) -> None:
    fields = _TYPES[type_]
    given = _minimal(fields)
    value = t.from_wire(type_, given)
    wire = t.to_wire(value)
    assert wire == {name: given.get(name, default) for name, default in fields.items()}
    assert {name: type(each) for name, each in wire.items()} == {
        name: type(given.get(name, default)) for name, default in fields.items()
    }
    assert t.from_wire(type_, wire) == value
    for name in given:
        with pytest.raises(ValueError, match=rf"{name}|tag"):
            t.from_wire(type_, {key: x for key, x in given.items() if key != name} | {name: 7j})
        # The tag may be left out where the type is said; everything else is needed.
        if name not in {"type", "role"}:
            with pytest.raises(ValueError, match=name):
                t.from_wire(type_, {key: x for key, x in given.items() if key != name})


@pytest.mark.parametrize("tag", _EVENTS)
def test_an_event_has_the_fields_of_the_format(tag: str) -> None:
    fields = _EVENTS[tag]
    given = {"type": tag, **_minimal(fields, tag)}
    event: Any = t.from_wire(t.AssistantMessageEvent, given)
    assert event.type == tag
    assert set(t.to_wire(event)) == {"type", *fields}
    assert t.from_wire(t.AssistantMessageEvent, t.to_wire(event)) == event
    for name in given:
        with pytest.raises(ValueError, match=name):
            t.from_wire(
                t.AssistantMessageEvent, {key: x for key, x in given.items() if key != name}
            )


def test_there_are_twelve_events_and_two_of_the_foreign_version() -> None:
    tags = [each.type for each in typing.get_args(t.AssistantMessageEvent)]
    assert tags == list(_EVENTS)
    foreign = {"type": "structured_output_end", "attempt": 1, "mode": "m", "value": None}
    assert t.from_wire(t.RecordedEvent, foreign).type == "structured_output_end"
    with pytest.raises(ValueError, match="structured_output_end"):
        t.from_wire(t.AssistantMessageEvent, foreign)


@pytest.mark.parametrize(
    ("type_", "field", "values"),
    [
        (t.AssistantMessage, "stop_reason", ("stop", "length", "toolUse", "error", "aborted")),
        (t.ModelCost, "source", ("model_catalog", "configured", "unknown")),
        (t.StreamOptions, "transport", ("sse", "websocket", "auto", None)),
        (t.StreamOptions, "cache_retention", ("none", "short", "long", None)),
        (
            t.SimpleStreamOptions,
            "reasoning",
            ("minimal", "low", "medium", "high", "xhigh", "max", None),
        ),
        (t.EventDone, "reason", ("stop", "length", "toolUse")),
        (t.EventError, "reason", ("aborted", "error")),
    ],
)
def test_a_closed_set_is_closed(type_: type[Any], field: str, values: tuple[str | None]) -> None:
    fields = _TYPES.get(type_) or _EVENTS[type_.type]
    given = _minimal(fields, getattr(type_, "type", ""))
    for value in values:
        assert getattr(t.from_wire(type_, given | {field: value}), field) == value
    for other in ("Stop", "", 1, True):
        with pytest.raises(ValueError, match=field):
            t.from_wire(type_, given | {field: other})


def test_what_belongs_to_one_request_is_never_serialized() -> None:
    options = t.SimpleStreamOptions(signal=object(), on_payload=print, reasoning="low")
    assert {"signal", "on_payload"}.isdisjoint(t.to_wire(options))
    assert t.from_wire(t.SimpleStreamOptions, t.to_wire(options)).reasoning == "low"
    assert options.signal is not None


def test_signatures_and_the_order_of_user_data_are_kept_as_they_are() -> None:
    signature = "EpYB/+=\ud83d\u2028 \x00é"
    content: list[Any] = [
        {"type": "thinking", "thinking": "", "thinking_signature": signature, "redacted": True},
        {"type": "text", "text": "", "text_signature": signature},
        {"type": "toolCall", "id": "1", "name": "f", "arguments": {"b": 1, "a": 2.0}},
    ]
    message = t.from_wire(t.AssistantMessage, _MESSAGE | {"content": content})
    wire = t.to_wire(message)["content"]
    assert [wire[0]["thinking_signature"], wire[1]["text_signature"]] == [signature] * 2
    assert list(wire[2]["arguments"].items()) == [("b", 1), ("a", 2.0)]


def test_fields_of_a_newer_writer_are_no_fault() -> None:
    usage = t.from_wire(t.Usage, {"input": 1, "from_the_future": {"a": 1}})
    assert usage == t.Usage(input=1)


def test_two_values_never_share_a_default() -> None:
    one, other = t.Context(), t.Context()
    one.messages.append(t.UserMessage(content="x", timestamp=1))
    assert other.messages == []


def test_the_text_of_options_shows_no_credential():
    options = t.SimpleStreamOptions(api_key="correcthorse", headers={"x": "plainword"})
    assert "correcthorse" not in repr(options)
    assert "plainword" not in f"{[options]}"
    assert "api_key=..., transport=None" in repr(options)
    assert repr(t.StreamOptions()).startswith("StreamOptions(temperature=None")
