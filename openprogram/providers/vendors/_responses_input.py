"""Turns a conversation into the input items of the Responses dialect.

The vendor keeps nothing between calls (`store` is false), so everything goes back each time:

- Reasoning goes back as the item that it was, when it came over this protocol from this provider
  and model. The vendor demands that it has its encrypted content and that something follows it.
- Items go back under their own ids only beside their reasoning: the vendor refuses an id whose
  reasoning is missing. Without ids it takes any conversation, other vendors' too.
- A call's id is at most 64 characters of a small alphabet; others are replaced by a digest, always
  by the same one.
- A call without a result gets one that says so; a result without a call is left out.
- Of an answer that failed or was aborted only the text is kept, and nothing when it comes last.
"""

from __future__ import annotations

import hashlib
import json
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from openprogram.providers import types as t
from openprogram.providers.events import FAILED_STOP_REASONS
from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._outgoing import sendable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Json: TypeAlias = dict[str, Any]

_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ITEM_ID = re.compile(r"(?:fc|msg)_[a-zA-Z0-9_-]{1,60}")
_NO_RESULT = "no result: the run ended before this tool did"
_REASONING_FIELDS = ("id", "summary", "content", "encrypted_content")
"""What the vendor takes back of a reasoning item; it refuses its own `status`."""


def convert_messages(messages: Sequence[t.Message], model: t.Model) -> list[Json]:
    """Turn messages into input items.

    Args:
        messages: The conversation.
        model: Who shall answer.

    Returns:
        The vendor's `input`.

    Raises:
        ModelRequestError: A message holds what this protocol cannot carry.
    """
    items: list[Json] = []
    unanswered: list[str] = []
    for is_answer, group in groupby(messages, lambda m: isinstance(m, t.AssistantMessage)):
        if is_answer:
            answers = [m for m in group if isinstance(m, t.AssistantMessage)]
            turn = [
                item
                for answer in answers
                for item in _answer_items(answer, model, is_last=answer is messages[-1])
            ]
            unanswered = [item["call_id"] for item in turn if item["type"] == "function_call"]
            items += turn
        else:
            said = [m for m in group if not isinstance(m, t.AssistantMessage)]
            items += _input_items(said, unanswered)
            unanswered = []
    return items + _result_items({}, unanswered)


def _answer_items(answer: t.AssistantMessage, model: t.Model, *, is_last: bool) -> list[Json]:
    has_failed = answer.stop_reason in FAILED_STOP_REASONS
    if has_failed:
        return [] if is_last else [_plain_text(text) for text in _texts_of(answer)]
    origin = (answer.api, answer.provider, answer.model)
    is_own = origin == (model.api, model.provider, model.id)
    blocks = [block for block in answer.content if not _is_blank(block)]
    reasoning = _reasoning_of(blocks) if is_own else {}
    items: list[Json] = []
    for place, block in enumerate(blocks):
        match block:
            case t.ThinkingContent():
                items += [reasoning[place]] if place in reasoning else []
            case t.TextContent():
                _append_text(items, block, _signature_of(block.text_signature, is_own=is_own))
            case t.ToolCall():
                items.append(_call_item(block, is_own=is_own))
    if not reasoning:
        for item in items:
            item.pop("id", None)
    return [_easy(item) for item in items]


def _is_blank(block: t.AssistantContent) -> bool:
    return isinstance(block, t.TextContent) and not block.text


def _texts_of(answer: t.AssistantMessage) -> Iterator[str]:
    for block in answer.content:
        if isinstance(block, t.TextContent) and block.text:
            yield block.text


def _reasoning_of(blocks: Sequence[t.AssistantContent]) -> dict[int, Json]:
    """Find the reasoning that can go back, by the place of its block.

    All of it or nothing: the vendor counts what stands between an item and its reasoning.
    """
    found: dict[int, Json] = {}
    last = max((n for n, b in enumerate(blocks) if not isinstance(b, t.ThinkingContent)), default=0)
    for place, block in enumerate(blocks[:last]):
        if not isinstance(block, t.ThinkingContent) or block.thinking_signature is None:
            continue
        item = _parsed(block.thinking_signature)
        if item.get("type") != "reasoning" or not (
            item.get("encrypted_content") or item.get("content")
        ):
            return {}
        kept = {name: item[name] for name in _REASONING_FIELDS if item.get(name) is not None}
        found[place] = {"type": "reasoning", "summary": [], **kept}
    return found


def _append_text(items: list[Json], block: t.TextContent, signature: Json) -> None:
    """Add a text; texts of one message stay together, as no id may come twice."""
    part: Json = {"type": "output_text", "text": block.text, "annotations": []}
    last = items[-1] if items else {}
    if "id" in signature and last.get("type") == "message" and last.get("id") == signature["id"]:
        last["content"].append(part)
        return
    items.append(
        {
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [part],
            **signature,
        }
    )


def _easy(item: Json) -> Json:
    """Say a message that has no id in the form that needs none."""
    if item["type"] != "message" or "id" in item:
        return item
    text = "".join(part["text"] for part in item["content"])
    phase = {"phase": item["phase"]} if "phase" in item else {}
    return {**_plain_text(text), **phase}


def _plain_text(text: str) -> Json:
    return {"type": "message", "role": "assistant", "content": text}


def _call_item(call: t.ToolCall, *, is_own: bool) -> Json:
    arguments = json.dumps(sendable(call.arguments), ensure_ascii=False, separators=(",", ":"))
    signature = _signature_of(call.thought_signature, is_own=is_own)
    item: Json = {"type": "function_call", "call_id": _call_id(call.id), "name": call.name}
    id_ = {"id": signature["id"]} if "id" in signature else {}
    return {**item, **id_, "arguments": arguments}


def _signature_of(signature: str | None, *, is_own: bool) -> Json:
    """Read what the vendor wants back with a text or a call, where it still holds."""
    if not (is_own and signature):
        return {}
    told = _parsed(signature)
    id_, phase = told.get("id"), told.get("phase")
    read: Json = {}
    if isinstance(id_, str) and _ITEM_ID.fullmatch(id_):
        read["id"] = id_
    if phase in {"commentary", "final_answer"}:
        read["phase"] = phase
    return read


def _parsed(signature: str) -> Json:
    try:
        value: object = json.loads(signature)
    except (ValueError, RecursionError):
        return {}
    return cast("Json", value) if isinstance(value, dict) else {}


def _input_items(
    messages: Iterable[t.UserMessage | t.ToolResultMessage], asked: list[str]
) -> list[Json]:
    """Say what the user and the tools say before the model's next turn, results first."""
    results: dict[str, Json] = {}
    said: list[Json] = []
    for message in messages:
        if isinstance(message, t.UserMessage):
            if parts := _input_parts(message.content):
                said.append({"type": "message", "role": "user", "content": parts})
        else:
            item = _result_item(message)
            results.setdefault(item["call_id"], item)
    return [*_result_items(results, asked), *said]


def _result_items(results: dict[str, Json], asked: list[str]) -> list[Json]:
    return [results.get(id_) or _output_item(id_, _NO_RESULT) for id_ in asked]


def _result_item(message: t.ToolResultMessage) -> Json:
    parts = _input_parts(message.content)
    is_text = all(part["type"] == "input_text" for part in parts)
    output = "\n".join(part["text"] for part in parts) if is_text else parts
    return _output_item(_call_id(message.tool_call_id), output)


def _output_item(call_id: str, output: str | list[Json]) -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _input_parts(content: str | list[t.InputContent]) -> list[Json]:
    if isinstance(content, str):
        content = [t.TextContent(text=content)]
    parts: list[Json] = []
    for block in content:
        match block:
            case t.TextContent():
                if block.text:
                    parts.append({"type": "input_text", "text": block.text})
            case t.ImageContent():
                url = f"data:{block.mime_type};base64,{block.data}"
                parts.append({"type": "input_image", "detail": "auto", "image_url": url})
            case t.VideoContent() | t.AudioContent():
                raise failure("bad_request", f"the Responses protocol takes no {block.type}")
    return parts


def _call_id(id_: str) -> str:
    """Spell a call's id as the vendor takes it, always in the same way; its own ids stay."""
    if _CALL_ID.fullmatch(id_):
        return id_
    digest = hashlib.sha256(id_.encode("utf-8", "surrogatepass")).hexdigest()
    return f"call_{digest[:32]}"
