"""Turns a conversation into the vendor's turns.

The vendor demands what our messages do not promise: alternating roles, each tool call followed at
once by its result, no blank text, signed thinking only. What follows from that:

- Messages of one role in a row are one turn; in it tool results come first, in the order of the
  calls.
- A call without a result gets one that says so; a result without a call is left out.
- Thinking goes back byte for byte when it is signed and came over this protocol from this provider.
  Other thinking is left out: it cannot go back as thinking, and as text it would put words into the
  model's mouth.
- Of an answer that failed or was aborted only the text is kept, and nothing when it comes last.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from openprogram.providers import types as t
from openprogram.providers.events import FAILED_STOP_REASONS
from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Json: TypeAlias = dict[str, Any]

_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")
_NO_RESULT = "no result: the run ended before this tool did"


def convert_messages(
    messages: Sequence[t.Message], model: t.Model, mark: Json | None
) -> list[Json]:
    """Turn messages into turns.

    Args:
        messages: The conversation.
        model: Who shall answer.
        mark: The cache mark for the end of the last user turn, or None.

    Returns:
        The vendor's `messages`.

    Raises:
        ModelRequestError: A message holds what this protocol cannot carry.
    """
    turns = _Turns()
    for is_answer, group in groupby(messages, lambda m: isinstance(m, t.AssistantMessage)):
        if is_answer:
            answers = [m for m in group if isinstance(m, t.AssistantMessage)]
            turns.add_answers(answers, model, is_last=answers[-1] is messages[-1])
        else:
            turns.add_input([m for m in group if not isinstance(m, t.AssistantMessage)])
    return turns.finish(mark)


class _Turns:
    """The turns so far, and the tool calls that still want a result."""

    def __init__(self) -> None:
        self._turns: list[Json] = []
        self._unanswered: list[str] = []

    def add_answers(
        self, answers: Iterable[t.AssistantMessage], model: t.Model, *, is_last: bool
    ) -> None:
        """Add messages of the model that stand in a row."""
        blocks: list[Json] = []
        for answer in answers:
            has_failed = answer.stop_reason in FAILED_STOP_REASONS
            if not (has_failed and is_last):
                blocks += _answer_blocks(answer, model, only_text=has_failed)
        self._append("assistant", blocks)
        self._unanswered += [block["id"] for block in blocks if block["type"] == "tool_use"]

    def add_input(self, messages: Iterable[t.UserMessage | t.ToolResultMessage]) -> None:
        """Add what the user and the tools say before the model's next turn."""
        results: dict[str, Json] = {}
        said: list[Json] = []
        for message in messages:
            if isinstance(message, t.UserMessage):
                said += _input_blocks(message.content)
            else:
                results.setdefault(_call_id(message.tool_call_id), _result_block(message))
        self._append("user", [*self._take_results(results), *said])

    def finish(self, mark: Json | None) -> list[Json]:
        """Close the conversation and mark the end of the last user turn."""
        self._append("user", self._take_results({}))
        last = next((turn for turn in reversed(self._turns) if turn["role"] == "user"), None)
        if mark is not None and last is not None:
            last["content"][-1] = {**last["content"][-1], "cache_control": mark}
        return self._turns

    def _take_results(self, results: dict[str, Json]) -> list[Json]:
        asked, self._unanswered = self._unanswered, []
        return [results.get(id_) or _missing_result(id_) for id_ in asked]

    def _append(self, role: str, blocks: list[Json]) -> None:
        if not blocks:
            return
        if self._turns and self._turns[-1]["role"] == role:
            self._turns[-1]["content"] += blocks
        else:
            self._turns.append({"role": role, "content": blocks})


def _answer_blocks(answer: t.AssistantMessage, model: t.Model, *, only_text: bool) -> list[Json]:
    is_own = (answer.api, answer.provider) == (model.api, model.provider)
    blocks: list[Json] = []
    for block in answer.content:
        match block:
            case t.TextContent() if block.text.strip():
                blocks.append(_text_block(block))
            case t.ToolCall() if not only_text:
                call = {"id": _call_id(block.id), "name": block.name, "input": block.arguments}
                blocks.append({"type": "tool_use", **call})
            case t.ThinkingContent() if is_own and block.thinking_signature and not only_text:
                blocks.append(_thinking_block(block, block.thinking_signature))
            case _:
                pass
    return blocks


def _thinking_block(block: t.ThinkingContent, signature: str) -> Json:
    if block.redacted:
        return {"type": "redacted_thinking", "data": signature}
    return {"type": "thinking", "thinking": block.thinking, "signature": signature}


def _result_block(message: t.ToolResultMessage) -> Json:
    block: Json = {
        "type": "tool_result",
        "tool_use_id": _call_id(message.tool_call_id),
        "content": _input_blocks(message.content),
    }
    return {**block, "is_error": True} if message.is_error else block


def _missing_result(id_: str) -> Json:
    return {"type": "tool_result", "tool_use_id": id_, "content": _NO_RESULT, "is_error": True}


def _input_blocks(content: str | list[t.InputContent]) -> list[Json]:
    if isinstance(content, str):
        content = [t.TextContent(text=content)]
    blocks: list[Json] = []
    for block in content:
        match block:
            case t.TextContent():
                if block.text.strip():
                    blocks.append(_text_block(block))
            case t.ImageContent():
                source = {"type": "base64", "media_type": block.mime_type, "data": block.data}
                image = {"type": "image", "source": source}
                blocks.append(_with_own_mark(image, block.cache_control))
            case t.VideoContent() | t.AudioContent():
                raise failure("bad_request", f"anthropic-messages takes no {block.type}")
    return blocks


def _text_block(block: t.TextContent) -> Json:
    return _with_own_mark({"type": "text", "text": block.text}, block.cache_control)


def _with_own_mark(block: Json, mark: Any) -> Json:
    return {**block, "cache_control": mark} if mark else block


def _call_id(id_: str) -> str:
    """Spell a call's id in the vendor's alphabet, always in the same way; its own ids stay."""
    return _NOT_IN_IDS.sub("_", id_)
