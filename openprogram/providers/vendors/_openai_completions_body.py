"""Turns a conversation into the messages of `openai-completions`.

The protocol demands what our messages do not promise: each tool call followed at once by its
result, results of text only, no message without content. What follows from that:

- A call without a result gets one that says so; a result without a call is left out.
- Images that a tool returned follow in a message of the user's.
- Ids of calls stay when the same provider gave them; others are spelled in the protocol's alphabet,
  and no two calls of an answer share one.
- Reasoning goes back where its own server wants to see it. Other reasoning is left out: as text it
  would put words into the model's mouth.
- Of an answer that failed or was aborted only the text is kept, and nothing when it comes last.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from openprogram.providers import types as t
from openprogram.providers.events import FAILED_STOP_REASONS
from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._openai_reasoning import reasoning_to_return
from openprogram.providers.vendors._outgoing import sendable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from openprogram.providers.vendors._openai_quirks import Quirks

Json: TypeAlias = dict[str, Any]

_USUAL_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
_NO_RESULT = "no result: the run ended before this tool did"
_SEE_BELOW = "(see the attached files)"
_NO_OUTPUT = "(no output)"
_AUDIO_FORMATS = {
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
}


class _Call(NamedTuple):
    """A call that still wants a result."""

    id: str
    sent_id: str
    name: str


def convert_messages(messages: Sequence[t.Message], model: t.Model, quirks: Quirks) -> list[Json]:
    """Turn messages into the protocol's messages.

    Args:
        messages: The conversation.
        model: Who shall answer.
        quirks: How its server differs.

    Returns:
        The `messages`, without a system prompt.

    Raises:
        ModelRequestError: A message holds what this protocol cannot carry.
    """
    turns = _Turns(model, quirks)
    last_user = max((i for i, m in enumerate(messages) if isinstance(m, t.UserMessage)), default=-1)
    waiting: list[t.UserMessage | t.ToolResultMessage] = []
    for place, message in enumerate(messages):
        if not isinstance(message, t.AssistantMessage):
            waiting.append(message)
            continue
        turns.add_input(waiting)
        waiting = []
        has_failed = message.stop_reason in FAILED_STOP_REASONS
        if not (has_failed and place == len(messages) - 1):
            turns.add_answer(message, only_text=has_failed, is_running=place > last_user)
    turns.add_input(waiting)
    return turns.finish()


class _Turns:
    """The messages so far, and the tool calls that still want a result."""

    def __init__(self, model: t.Model, quirks: Quirks) -> None:
        self._model = model
        self._quirks = quirks
        self._messages: list[Json] = []
        self._unanswered: list[_Call] = []

    def add_answer(self, answer: t.AssistantMessage, *, only_text: bool, is_running: bool) -> None:
        """Add a message of the model."""
        is_own = (answer.api, answer.provider) == (self._model.api, self._model.provider)
        texts = [b.text for b in answer.content if isinstance(b, t.TextContent) and b.text.strip()]
        message: Json = {"role": "assistant", "content": "\n\n".join(texts) or None}
        if not only_text:
            message |= self._calls(answer, is_own=is_own)
        if message["content"] is None and "tool_calls" not in message:
            return
        if is_own and not only_text:
            message |= reasoning_to_return(
                answer, self._model.id, self._quirks.reasoning_field, is_running=is_running
            )
        self._messages.append(message)

    def add_input(self, messages: Iterable[t.UserMessage | t.ToolResultMessage]) -> None:
        """Add what the user and the tools say before the model's next answer."""
        results: dict[str, list[t.ToolResultMessage]] = {}
        said: list[t.UserMessage] = []
        for message in messages:
            if isinstance(message, t.UserMessage):
                said.append(message)
            else:
                results.setdefault(message.tool_call_id, []).append(message)
        self._answer_calls(results)
        for message in said:
            self._append_user(_parts(message.content, self._quirks))

    def finish(self) -> list[Json]:
        """Close the conversation."""
        return self._messages

    def _calls(self, answer: t.AssistantMessage, *, is_own: bool) -> Json:
        calls: list[Json] = []
        used: set[str] = set()
        for block in answer.content:
            if not isinstance(block, t.ToolCall):
                continue
            id_ = _sent_id(block.id, self._quirks, used, is_own=is_own)
            used.add(id_)
            self._unanswered.append(_Call(block.id, id_, block.name))
            arguments = json.dumps(sendable(block.arguments), ensure_ascii=False)
            call: Json = {"id": id_, "type": "function"}
            call["function"] = {"name": block.name, "arguments": arguments}
            if is_own and self._quirks.signs_tool_calls and block.thought_signature:
                signature = {"thought_signature": block.thought_signature}
                call["extra_content"] = {"google": signature}
            calls.append(call)
        return {"tool_calls": calls} if calls else {}

    def _answer_calls(self, results: dict[str, list[t.ToolResultMessage]]) -> None:
        """Give each open call its result, the first of its id first, and their files after all."""
        files: list[Json] = []
        for call in self._unanswered:
            message: Json = {"role": "tool", "tool_call_id": call.sent_id}
            if self._quirks.names_tool_results:
                message["name"] = call.name
            queue = results.get(call.id)
            if queue:
                parts = _parts(queue.pop(0).content, self._quirks)
                texts = [part["text"] for part in parts if part["type"] == "text"]
                of_call = [part for part in parts if part["type"] != "text"]
                message["content"] = "\n".join(texts) or (_SEE_BELOW if of_call else _NO_OUTPUT)
                if of_call:
                    files += [_text_part(f"files returned by {call.name}:"), *of_call]
            else:
                message["content"] = _NO_RESULT
            self._messages.append(message)
        self._unanswered = []
        self._append_user(files)

    def _append_user(self, parts: list[Json]) -> None:
        if parts:
            content = _content(parts, takes_text_parts=self._quirks.takes_text_parts)
            self._messages.append({"role": "user", "content": content})


def _sent_id(id_: str, quirks: Quirks, used: set[str], *, is_own: bool) -> str:
    """Spell a call's id as its server takes it, always in the same way."""
    length = quirks.call_id_length
    fits = bool(_USUAL_ID.fullmatch(id_)) if length is None else (
        len(id_) == length and id_.isascii() and id_.isalnum()
    )  # fmt: skip
    if id_ and (is_own or fits) and id_ not in used:
        return id_
    # A digest, so that two ids which differ in what the alphabet lacks stay two.
    digest = sha256(f"{len(used)} {id_}".encode("utf-8", "surrogatepass")).hexdigest()
    return digest[:length] if length is not None else f"call_{digest[:24]}"


def _parts(content: str | list[t.InputContent], quirks: Quirks) -> list[Json]:
    if isinstance(content, str):
        content = [t.TextContent(text=content)]
    return [
        _part(block, quirks)
        for block in content
        if not isinstance(block, t.TextContent) or block.text.strip()
    ]


def _part(block: t.InputContent, quirks: Quirks) -> Json:
    match block:
        case t.TextContent():
            part = _text_part(block.text)
        case t.ImageContent():
            url = f"data:{block.mime_type};base64,{block.data}"
            part = {"type": "image_url", "image_url": {"url": url}}
        case t.AudioContent() if format_ := _AUDIO_FORMATS.get(block.mime_type.lower()):
            audio = {"data": block.data, "format": format_}
            return {"type": "input_audio", "input_audio": audio}
        case t.AudioContent():
            raise failure("bad_request", "openai-completions takes no audio but wav and mp3")
        case t.VideoContent():
            raise failure("bad_request", "openai-completions takes no video")
    has_mark = quirks.takes_cache_marks and block.cache_control
    return {**part, "cache_control": block.cache_control} if has_mark else part


def _text_part(text: str) -> Json:
    return {"type": "text", "text": text}


def _content(parts: list[Json], *, takes_text_parts: bool) -> str | list[Json]:
    """Use the plain form where it says the same: some servers know no other for text."""
    is_plain = all(part.keys() == {"type", "text"} for part in parts)
    if is_plain and (len(parts) == 1 or not takes_text_parts):
        return "\n".join(part["text"] for part in parts)
    return parts
