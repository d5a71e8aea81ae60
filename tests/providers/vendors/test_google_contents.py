"""Any conversation, also one begun with another vendor, becomes contents that the vendor takes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.providers import types as t
from openprogram.providers.vendors._google_contents import (
    FOREIGN_CALL_SIGNATURE,
    convert_messages,
)
from openprogram.testing._google_rules import first_fault

API = "google-generative-ai"


def model(id_: str = "gemini-2.5-pro") -> t.Model:
    return t.Model(id=id_, name="m", api=API, provider="google", base_url="")


LATER = model("gemini-3-pro")


def user(*content: t.InputContent) -> t.UserMessage:
    return t.UserMessage(content=list(content) or "hi", timestamp=0)


def answer(*content: t.AssistantContent, **fields: Any) -> t.AssistantMessage:
    given_: dict[str, Any] = {"api": API, "provider": "google", "model": "gemini-2.5-pro"}
    return t.AssistantMessage(content=list(content), timestamp=0, **{**given_, **fields})


def call(id_: str, name: str = "find", **fields: Any) -> t.ToolCall:
    return t.ToolCall(id=id_, name=name, arguments={"a": 1}, **fields)


def result(id_: str, *content: t.InputContent, **fields: Any) -> t.ToolResultMessage:
    said = list(content) or [t.TextContent(text="ok")]
    return t.ToolResultMessage(
        tool_call_id=id_, tool_name="find", content=said, timestamp=0, **fields
    )


TEXT = t.TextContent(text="said")
IMAGE = t.ImageContent(data="AAAA", mime_type="image/png")
INLINE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}


def test_everything_a_user_can_say() -> None:
    sound = t.AudioContent(data="BBBB", mime_type="audio/wav")
    video = t.VideoContent(data="CCCC", mime_type="video/mp4")
    blank = t.TextContent(text=" \n")
    assert convert_messages([user(TEXT, IMAGE, blank, sound, video), user(blank)], model()) == [
        {
            "role": "user",
            "parts": [
                {"text": "said"},
                INLINE,
                {"inlineData": {"mimeType": "audio/wav", "data": "BBBB"}},
                {"inlineData": {"mimeType": "video/mp4", "data": "CCCC"}},
            ],
        }
    ]


def test_own_signatures_go_back_on_their_parts() -> None:
    said = answer(
        t.ThinkingContent(thinking="why", thinking_signature="c2ln"),
        t.ThinkingContent(thinking="unsigned"),
        t.TextContent(text="a", text_signature="YQ=="),
        t.TextContent(text="", text_signature="Yg=="),
        t.TextContent(text=" "),
        call("1", thought_signature="Yw=="),
    )
    _, content, _ = convert_messages([user(), said], model())
    assert content["parts"] == [
        {"text": "why", "thought": True, "thoughtSignature": "c2ln"},
        {"text": "a", "thoughtSignature": "YQ=="},
        {"text": "", "thoughtSignature": "Yg=="},
        {
            "functionCall": {"id": "1", "name": "find", "args": {"a": 1}},
            "thoughtSignature": "Yw==",
        },
    ]


def test_what_another_model_signed_does_not_go_back() -> None:
    blocks = [
        t.ThinkingContent(thinking="why", thinking_signature="EqQB", redacted=True),
        t.TextContent(text="a", text_signature='{"v": 1, "id": "msg_1"}'),
        t.TextContent(text="", text_signature="x"),
        call("toolu_1|fc_2", thought_signature="x"),
        call("3"),
    ]
    for other in (
        {"api": "anthropic-messages", "provider": "anthropic"},
        {"model": "gemini-2.0-flash"},
        {"provider": "gateway"},
    ):
        messages = [user(), answer(*blocks, **other), result("3"), result("toolu_1|fc_2")]
        earlier = convert_messages(messages, model())
        assert [sorted(part) for part in earlier[1]["parts"]] == [
            ["text"],
            ["functionCall"],
            ["functionCall"],
        ]
        later = convert_messages(messages, LATER)
        signatures = [part.get("thoughtSignature") for part in later[1]["parts"]]
        assert signatures == [None, FOREIGN_CALL_SIGNATURE, None]
        responses = [part["functionResponse"]["id"] for part in later[2]["parts"]]
        assert responses == ["toolu_1|fc_2", "3"]


def test_responses_come_in_the_order_of_the_calls_and_before_what_the_user_says() -> None:
    calls = answer(call("1"), call("2", "look"), call("3"))
    failed = result("2", t.TextContent(text="a"), t.TextContent(text="b"), is_error=True)
    messages = [user(), calls, user(TEXT), failed, result("1"), result("1"), result("9"), user()]
    assert convert_messages(messages, model())[2:] == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "1", "name": "find", "response": {"output": "ok"}}},
                {"functionResponse": {"id": "2", "name": "look", "response": {"error": "a\nb"}}},
                {
                    "functionResponse": {
                        "id": "3",
                        "name": "find",
                        "response": {"error": "no result: the run ended before this tool did"},
                    }
                },
            ],
        },
        {"role": "user", "parts": [{"text": "said"}, {"text": "hi"}]},
    ]


def test_images_of_a_tool_stand_in_its_response_or_after_all_of_them() -> None:
    messages = [user(), answer(call("1"), call("2")), result("1", IMAGE, TEXT), result("2")]
    later = convert_messages(messages, LATER)[2]["parts"]
    assert later[0]["functionResponse"] == {
        "id": "1",
        "name": "find",
        "response": {"output": "said"},
        "parts": [INLINE],
    }
    *_, responses, beside = convert_messages(messages, model())
    assert len(responses["parts"]) == 2
    assert beside["parts"] == [{"text": "attached to the result of find (1):"}, INLINE]


def test_answers_with_nothing_said_between_them_are_one_content() -> None:
    nothing = [user(t.TextContent(text=" ")), result("9")]
    messages = [user(), answer(TEXT), *nothing, answer(call("1")), result("1")]
    _, said, responses = convert_messages(messages, LATER)
    assert [sorted(part) for part in said["parts"]] == [
        ["text"],
        ["functionCall", "thoughtSignature"],
    ]
    assert responses["parts"][0]["functionResponse"]["id"] == "1"


def test_of_a_failed_answer_only_the_text_is_kept_and_nothing_at_the_end() -> None:
    blocks = [
        t.ThinkingContent(thinking="why", thinking_signature="s"),
        t.TextContent(text="half", text_signature="s"),
        call("1"),
    ]
    for reason in ("error", "aborted"):
        failed = answer(*blocks, stop_reason=reason)
        assert convert_messages([user(), failed], model())[1:] == []
        assert convert_messages([user(), failed, user()], model())[1]["parts"] == [{"text": "half"}]


_blocks: st.SearchStrategy[list[t.AssistantContent]] = st.lists(
    st.one_of(
        st.builds(t.TextContent, text=st.sampled_from(["", " ", "a"]), text_signature=st.none()),
        st.builds(
            t.ThinkingContent,
            thinking=st.sampled_from(["", "t"]),
            thinking_signature=st.sampled_from([None, "c2ln"]),
        ),
        st.builds(call, st.sampled_from("123"), st.sampled_from(["find", "look"])),
    ),
    max_size=3,
)


def _answer_of(blocks: list[t.AssistantContent], model_: str, reason: str) -> t.AssistantMessage:
    return answer(*blocks, model=model_, stop_reason=reason)


_messages = st.lists(
    st.one_of(
        st.just(user()),
        st.builds(
            _answer_of,
            _blocks,
            st.sampled_from(["gemini-2.5-pro", "gemini-3-pro", "other"]),
            st.sampled_from(["stop", "toolUse", "error"]),
        ),
        st.builds(result, st.sampled_from("123"), st.sampled_from([TEXT, IMAGE])),
    ),
    max_size=8,
)


@settings(max_examples=60)
@given(messages=_messages, to=st.sampled_from([model(), LATER]))
def test_whatever_was_said_the_vendor_takes_it(messages: list[t.Message], to: t.Model) -> None:
    asked = [user(), *messages, user()]
    body = json.dumps({"contents": convert_messages(asked, to)}).encode()
    assert first_fault(body, to.id, {}) is None
