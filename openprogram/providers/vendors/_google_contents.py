"""Turns a conversation into the vendor's contents.

The vendor demands what our messages do not promise: function calls are followed at once by as many
function responses, and each signature comes back on the part that bore it. What follows from that:

- Answers in a row are one content, and so are the results of its calls, in the order of the calls.
  What the user says comes after them, as a content of its own.
- A call without a result gets one that says so; a result without a call is left out.
- Signatures go back byte for byte, to the very model that gave them. Thinking goes back only with
  its signature: without one, or to another model, it would put words into the model's mouth.
- Models that demand a signature on their function calls get the vendor's own word for a call of
  another model.
- Of an answer that failed or was aborted only the text is kept, and nothing when it comes last.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from openprogram.providers import types as t
from openprogram.providers.events import FAILED_STOP_REASONS
from openprogram.providers.vendors._google_models import is_later_generation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Json: TypeAlias = dict[str, Any]

FOREIGN_CALL_SIGNATURE: Final = "skip_thought_signature_validator"
"""What the vendor takes in place of a signature on a call that its model did not make."""

_NO_RESULT = "no result: the run ended before this tool did"


def convert_messages(messages: Sequence[t.Message], model: t.Model) -> list[Json]:
    """Turn messages into contents.

    Args:
        messages: The conversation.
        model: Who shall answer.

    Returns:
        The vendor's `contents`.
    """
    contents = _Contents(model)
    for is_answer, group in groupby(messages, lambda m: isinstance(m, t.AssistantMessage)):
        if is_answer:
            answers = [m for m in group if isinstance(m, t.AssistantMessage)]
            contents.add_answers(answers, is_last=answers[-1] is messages[-1])
        else:
            contents.add_input([m for m in group if not isinstance(m, t.AssistantMessage)])
    return contents.finish()


class _Contents:
    """The contents so far, and the function calls that still want a response."""

    def __init__(self, model: t.Model) -> None:
        self._model = model
        self._is_later = is_later_generation(model)
        self._contents: list[Json] = []
        self._unanswered: list[Json] = []

    def add_answers(self, answers: Iterable[t.AssistantMessage], *, is_last: bool) -> None:
        """Add messages of the model that stand in a row."""
        parts: list[Json] = []
        for answer in answers:
            has_failed = answer.stop_reason in FAILED_STOP_REASONS
            if not (has_failed and is_last):
                parts += self._answer_parts(answer, only_text=has_failed)
        calls = [part for part in parts if "functionCall" in part]
        if calls and self._is_later:
            # Of calls made at once only the first bears a signature.
            calls[0].setdefault("thoughtSignature", FOREIGN_CALL_SIGNATURE)
        self._append("model", parts)
        self._unanswered += [part["functionCall"] for part in calls]

    def add_input(self, messages: Iterable[t.UserMessage | t.ToolResultMessage]) -> None:
        """Add what the user and the tools say before the model's next answer."""
        results: dict[str, t.ToolResultMessage] = {}
        said: list[Json] = []
        for message in messages:
            if isinstance(message, t.UserMessage):
                said += _input_parts(message.content)
            else:
                results.setdefault(message.tool_call_id, message)
        self._append_responses(results)
        self._append("user", said)

    def finish(self) -> list[Json]:
        """Close the conversation."""
        self._append_responses({})
        return self._contents

    def _answer_parts(self, answer: t.AssistantMessage, *, only_text: bool) -> list[Json]:
        model = self._model
        is_own = not only_text and (answer.api, answer.provider, answer.model) == (
            model.api,
            model.provider,
            model.id,
        )
        parts: list[Json] = []
        for block in answer.content:
            match block:
                case t.TextContent():
                    signature = block.text_signature if is_own else None
                    if block.text.strip() or signature:
                        parts.append(_signed({"text": block.text}, signature))
                case t.ToolCall() if not only_text:
                    call = {"id": block.id, "name": block.name, "args": block.arguments}
                    signature = block.thought_signature if is_own else None
                    parts.append(_signed({"functionCall": call}, signature))
                case t.ThinkingContent() if is_own and block.thinking_signature:
                    thought = {"text": block.thinking, "thought": True}
                    parts.append(_signed(thought, block.thinking_signature))
                case _:
                    pass
        return parts

    def _append_responses(self, results: dict[str, t.ToolResultMessage]) -> None:
        asked, self._unanswered = self._unanswered, []
        responses: list[Json] = []
        beside: list[Json] = []
        for call in asked:
            response: Json = {"id": call["id"], "name": call["name"]}
            result = results.get(call["id"])
            if result is None:
                response["response"] = {"error": _NO_RESULT}
            else:
                response["response"] = _said_by(result)
                if media := _media_parts(result.content):
                    if self._is_later:
                        response["parts"] = media
                    else:
                        # Earlier models take images only outside: say whose they are.
                        label = f"attached to the result of {call['name']} ({call['id']}):"
                        beside += [{"text": label}, *media]
            responses.append({"functionResponse": response})
        self._append("user", responses)
        self._append("user", beside)

    def _append(self, role: str, parts: list[Json]) -> None:
        if not parts:
            return
        if role == "model" and self._contents and self._contents[-1]["role"] == role:
            # What stood between said nothing; the vendor takes no call right after an answer.
            self._contents[-1]["parts"] += parts
        else:
            self._contents.append({"role": role, "parts": parts})


def _said_by(result: t.ToolResultMessage) -> Json:
    texts = [block.text for block in result.content if isinstance(block, t.TextContent)]
    return {"error" if result.is_error else "output": "\n".join(texts)}


def _input_parts(content: str | list[t.InputContent]) -> list[Json]:
    if isinstance(content, str):
        content = [t.TextContent(text=content)]
    parts: list[Json] = []
    for block in content:
        if isinstance(block, t.TextContent):
            if block.text.strip():
                parts.append({"text": block.text})
        else:
            parts.append(_media_part(block))
    return parts


def _media_parts(content: list[t.InputContent]) -> list[Json]:
    return [_media_part(block) for block in content if not isinstance(block, t.TextContent)]


def _media_part(block: t.ImageContent | t.VideoContent | t.AudioContent) -> Json:
    return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}


def _signed(part: Json, signature: str | None) -> Json:
    return {**part, "thoughtSignature": signature} if signature else part
