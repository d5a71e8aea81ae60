"""Conversations as the protocol wants them, whoever wrote their parts."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.errors import ModelRequestError
from openprogram.providers import types as t
from openprogram.providers.vendors._openai_completions_body import convert_messages
from openprogram.providers.vendors._openai_quirks import Quirks

API, PROVIDER = "openai-completions", "own"
MODEL = t.Model(id="m", name="m", api=API, provider=PROVIDER, base_url="")
IMAGE = t.ImageContent(data="QUJD", mime_type="image/png")
IMAGE_PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}


def user(*content: t.InputContent | str) -> t.UserMessage:
    blocks = [t.TextContent(text=c) if isinstance(c, str) else c for c in content]
    return t.UserMessage(content=blocks, timestamp=0)


def answer(*content: t.AssistantContent, **fields: Any) -> t.AssistantMessage:
    described: dict[str, Any] = {
        "api": API,
        "provider": PROVIDER,
        "model": "m",
        "timestamp": 0,
        **fields,
    }
    return t.AssistantMessage(content=list(content), **described)


def call(id_: str, name: str = "f", **fields: Any) -> t.ToolCall:
    described: dict[str, Any] = {"arguments": {}, **fields}
    return t.ToolCall(id=id_, name=name, **described)


def result(id_: str, *content: t.InputContent | str) -> t.ToolResultMessage:
    blocks = [t.TextContent(text=c) if isinstance(c, str) else c for c in content]
    return t.ToolResultMessage(tool_call_id=id_, tool_name="f", content=blocks, timestamp=0)


def convert(*messages: t.Message, **quirks: Any) -> list[dict[str, Any]]:
    return convert_messages(messages, MODEL, Quirks(**quirks))


def test_texts_are_plain_where_nothing_else_is_said():
    assert convert(user("a"), user("a", "b"), user(" ", "")) == [
        {"role": "user", "content": "a"},
        {"role": "user", "content": "a\nb"},
    ]
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert convert(user("a", "b"), takes_text_parts=True)[0]["content"] == parts
    assert convert(user("a", IMAGE))[0]["content"] == [parts[0], IMAGE_PART]


def test_cache_marks_go_only_where_they_are_taken():
    mark = {"type": "ephemeral"}
    marked = user(t.TextContent(text="a", cache_control=mark))
    assert convert(marked) == [{"role": "user", "content": "a"}]
    part = {"type": "text", "text": "a", "cache_control": mark}
    assert convert(marked, takes_cache_marks=True)[0]["content"] == [part]


def test_sounds_go_in_two_formats_and_other_media_not_at_all():
    sound = t.AudioContent(data="QUJD", mime_type="audio/mpeg")
    part = {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}}
    assert convert(user(sound))[0]["content"] == [part]
    for block in (
        t.AudioContent(data="A", mime_type="audio/ogg"),
        t.VideoContent(data="A", mime_type="video/mp4"),
    ):
        with pytest.raises(ModelRequestError, match="openai-completions takes no"):
            convert(user(block))


def test_each_call_is_followed_by_its_result_in_the_order_of_the_calls():
    sent = convert(
        user("go"),
        answer(t.TextContent(text="look"), call("a"), call("b"), call("c")),
        result("b", "second"),
        result("nobody", "lost"),
        user("and?"),
        result("a", "first", IMAGE),
    )
    assert [m["role"] for m in sent] == ["user", "assistant", *["tool"] * 3, "user", "user"]
    assert sent[1]["content"] == "look"
    assert [(m["tool_call_id"], m["content"]) for m in sent[2:5]] == [
        ("a", "first"),
        ("b", "second"),
        ("c", "no result: the run ended before this tool did"),
    ]
    assert sent[5]["content"] == [{"type": "text", "text": "files returned by f:"}, IMAGE_PART]
    assert sent[6]["content"] == "and?"


def test_a_result_without_text_still_says_something():
    sent = convert(answer(call("a"), call("b")), result("a"), result("b", IMAGE))
    assert [m["content"] for m in sent[1:3]] == ["(no output)", "(see the attached files)"]


def test_own_ids_stay_and_foreign_ones_are_spelled_anew():
    long = "functions.f:0|" * 9
    own = convert(answer(call(long)), result(long, "x"))
    assert own[0]["tool_calls"][0]["id"] == own[1]["tool_call_id"] == long
    foreign = answer(call(long), call("toolu_1"), call("x|1"), call("x_1"), api="other")
    sent = convert(foreign, result("x|1", "bar"), result("x_1", "underscore"))
    ids = [c["id"] for c in sent[0]["tool_calls"]]
    assert ids[1::2] == ["toolu_1", "x_1"]
    assert all(len(id_) <= 40 and id_.replace("_", "").isalnum() for id_ in ids)
    assert [m["tool_call_id"] for m in sent[1:]] == ids
    assert [m["content"] for m in sent[3:]] == ["bar", "underscore"]
    assert convert(foreign)[0] == sent[0]
    nine = convert(foreign, call_id_length=9)
    assert all(len(c["id"]) == 9 for c in nine[0]["tool_calls"])


def test_ids_that_repeat_are_told_apart_and_keep_their_results():
    sent = convert(answer(call("x"), call("x"), call("")), result("x", "1"), result("x", "2"))
    ids = [c["id"] for c in sent[0]["tool_calls"]]
    assert ids[0] == "x"
    assert len(set(ids)) == 3
    assert all(ids)
    assert [m["content"] for m in sent[1:3]] == ["1", "2"]


def test_results_say_their_tool_where_it_is_wanted():
    sent = convert(answer(call("a", "read")), result("a", "x"), names_tool_results=True)
    assert sent[1]["name"] == "read"


def test_plain_reasoning_goes_back_only_inside_the_running_turn():
    thought = t.ThinkingContent(thinking="why")
    messages = [
        user("a"),
        answer(thought, t.TextContent(text="b")),
        user("c"),
        answer(thought, call("x")),
        result("x", "y"),
    ]
    for field in ("reasoning_content", "reasoning"):
        sent = convert(*messages, reasoning_field=field)
        assert [m.get(field) for m in sent] == [None, None, None, "why", None]
    assert "why" not in str(convert(*messages))
    foreign = [answer(thought, call("x"), provider="other"), result("x", "y")]
    assert "why" not in str(convert(*foreign, reasoning_field="reasoning_content"))


def test_details_go_back_to_the_model_that_wrote_them_and_broken_ones_do_not():
    signed = t.ThinkingContent(thinking="", thinking_signature='[{"type": "x", "data": "d"}, 5]')
    broken = t.ThinkingContent(thinking="", thinking_signature="EqQB")
    text = t.TextContent(text="b")
    field = {"reasoning_field": "reasoning_details"}
    sent = convert(user("a"), answer(signed, broken, text), user("c"), **field)
    assert sent[1]["reasoning_details"] == [{"type": "x", "data": "d"}]
    assert "reasoning_details" not in convert(answer(signed, text, model="n"), **field)[0]


def test_signatures_of_calls_go_back_where_they_are_wanted():
    signed = answer(call("a", thought_signature="s+/="))
    extra = {"google": {"thought_signature": "s+/="}}
    assert convert(signed, signs_tool_calls=True)[0]["tool_calls"][0]["extra_content"] == extra
    assert "extra_content" not in convert(signed)[0]["tool_calls"][0]


def test_of_failed_answers_only_the_text_is_kept_and_nothing_at_the_end():
    bad = answer(
        t.ThinkingContent(thinking="why"),
        t.TextContent(text="half"),
        call("a"),
        stop_reason="error",
    )
    assert convert(user("a"), bad) == [{"role": "user", "content": "a"}]
    sent = convert(user("a"), bad, user("b"), reasoning_field="reasoning")
    assert sent[1] == {"role": "assistant", "content": "half"}
    assert [m["role"] for m in convert(user("a"), answer(), user("b"))] == ["user", "user"]


def test_arguments_are_json_that_any_server_reads():
    arguments = {"ä": "\ud83d", "n": float("nan")}
    (message, _) = convert(answer(call("a", arguments=arguments)))
    assert message["tool_calls"][0]["function"]["arguments"] == '{"ä": "�", "n": null}'
