"""One call as a conversation: what was there before, what is new, and the answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.blocks import Block
from openprogram_recordings_tui.presentation.lines import Line, Role, Span
from openprogram_recordings_tui.presentation.marks import outcome_mark
from openprogram_recordings_tui.presentation.values import (
    Json,
    array_of,
    is_object,
    object_of,
    text_of,
    whole_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FOLDED_LINES = {"thinking": 6, "system": 4, "tool": 14, "text": 80}
_GIST_CHARACTERS = 200
_ARGUMENTS_SHOWN = 40
_ARGUMENT_NAME_CELLS = 24
_ARGUMENT_CHARACTERS = 2000


def conversation_of(
    request: Mapping[str, Json],
    answer: Mapping[str, Json] | None,
    *,
    outcome: str | None,
    cost_usd: float | None = None,
    left_out_count: int = 0,
    known_message_count: int = 0,
) -> list[Block]:
    """Turn a call into blocks.

    Args:
        request: The request row's `model`, `context` and `options`.
        answer: The assistant message as far as it came; None when there is none.
        outcome: How the call ended; None when it did not.
        cost_usd: As for `end_block`.
        left_out_count: How many of the last events did not go into the answer.
        known_message_count: How many messages stood in the call before already.

    Returns:
        The blocks from top to bottom.
    """
    context = object_of(request.get("context"))
    messages = [object_of(message) for message in array_of(context.get("messages"))]
    blocks: list[Block] = []
    system = context.get("system_prompt")
    if system:
        blocks.append(_plain_block("SYSTEM", "dim", str(system), "system", role="dim"))
    if 0 < known_message_count < len(messages):
        blocks.append(_earlier(messages[:known_message_count]))
        messages = messages[known_message_count:]
    for message in messages:
        blocks += _message_blocks(message)
    end = end_block(answer, outcome=outcome, cost_usd=cost_usd)
    blocks += _answer_blocks(answer or {})
    return [*blocks, *([_left_out(left_out_count)] if left_out_count else []), end]


def shared_message_count(before: Mapping[str, Json], after: Mapping[str, Json]) -> int:
    """Count the messages at the start of a request that the call before had too.

    Args:
        before: The request of the call before.
        after: The request.

    Returns:
        The length of the common beginning.
    """
    earlier = array_of(object_of(before.get("context")).get("messages"))
    later = array_of(object_of(after.get("context")).get("messages"))
    shared = 0
    for one, other in zip(earlier, later, strict=False):
        if one != other:
            break
        shared += 1
    return shared


def first_words(request: Mapping[str, Json]) -> str | None:
    """Find what the user said first in a request: what a recording is about.

    Args:
        request: The request row.

    Returns:
        The text, raw; None when no user speaks in it.
    """
    for message in array_of(object_of(request.get("context")).get("messages")):
        fields = object_of(message)
        if fields.get("role") == "user":
            return _words_of(fields.get("content"))
    return None


def gist_of(answer: Mapping[str, Json]) -> str | None:
    """Say in a few words what an answer brought.

    Args:
        answer: An assistant message.

    Returns:
        Its tool call, else its text, else its error; raw and bounded. None for an empty one.
    """
    contents = [object_of(content) for content in array_of(answer.get("content"))]
    calls = [content for content in contents if content.get("type") == "toolCall"]
    if calls:
        arguments = object_of(calls[0].get("arguments"))
        first = next((_compact(value) for value in arguments.values()), "")
        more = f" +{len(calls) - 1}" if len(calls) > 1 else ""
        return f"→ {_compact(calls[0].get('name'))}{more} {first}"[:_GIST_CHARACTERS]
    for content in contents:
        text = text_of(content.get("text")).strip()
        if text:
            return text[:_GIST_CHARACTERS]
    error = answer.get("error_message")
    return None if not error else _compact(error)


def _compact(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:_GIST_CHARACTERS]


def _answer_blocks(answer: Mapping[str, Json]) -> list[Block]:
    blocks = _message_blocks({**answer, "role": "assistant"}, label="ANSWER")
    error = answer.get("error_message")
    if error:
        blocks.append(_plain_block("ERROR", "bad", str(error), "text"))
    return blocks


def _left_out(event_count: int) -> Block:
    words = f"{figures.plural(event_count, 'event')} from here on are not put together"
    heading = (Span("CUT HERE  ", "warning"), Span(f"{words} · view 3 shows them", "dim"))
    return Block(heading=heading, gutter="warning")


def end_block(
    answer: Mapping[str, Json] | None, *, outcome: str | None, cost_usd: float | None
) -> Block:
    """Say how a call ended and what it took.

    Args:
        answer: The assistant message as far as it came; None when there is none.
        outcome: How the call ended; None when it did not.
        cost_usd: What the strict reader says that it cost, in USD; None when no price is known, or
            the reader has not come here.

    Returns:
        The last block of the conversation.
    """
    answer = answer or {}
    mark = outcome_mark(outcome, text_of(answer.get("stop_reason")))
    usage = object_of(answer.get("usage"))
    facts = [str(answer.get("stop_reason") or "")]
    if usage:
        facts.append(f"{figures.count(whole_of(usage.get('input')))} in")
        facts.append(f"{figures.count(whole_of(usage.get('output')))} out")
        facts.append(figures.cost(_spent_usd(usage) if cost_usd is None else cost_usd))
    facts.append(str(answer.get("model") or ""))
    words = " · ".join(fact for fact in facts if fact) if answer else "nothing came"
    heading = (Span(f"{mark.sign} {mark.word}", mark.role), Span(f"   {words}", "dim"))
    return Block(heading=heading, gutter=mark.role)


def _spent_usd(usage: Mapping[str, Json]) -> float | None:
    """Take the cost out of a message; nought is what stands there when no price is known, too."""
    spent = object_of(usage.get("cost")).get("total")
    return spent if isinstance(spent, int | float) and spent > 0 else None


def _earlier(messages: Sequence[Mapping[str, Json]]) -> Block:
    words = f"{figures.plural(len(messages), 'message')} that the call before had too"
    return Block(
        heading=(Span("EARLIER  ", "heading"), Span(f"{words} · enter shows them", "dim")),
        gutter="faint",
        inner=[block for message in messages for block in _message_blocks(message)],
    )


def _message_blocks(message: Mapping[str, Json], *, label: str = "ASSISTANT") -> list[Block]:
    role = message.get("role")
    if role == "user":
        return [_plain_block("USER", "user", _words_of(message.get("content")), "text")]
    if role == "toolResult":
        return [_result_block(message)]
    if role == "assistant":
        contents = array_of(message.get("content"))
        return [_assistant_block(object_of(content), label) for content in contents]
    text = json.dumps(message, ensure_ascii=False)
    return [_plain_block(str(role or "?").upper(), "warning", text, "tool")]


def _result_block(message: Mapping[str, Json]) -> Block:
    has_failed = message.get("is_error") is True
    gutter: Role = "bad" if has_failed else "tool"
    block = _plain_block("TOOL RESULT", gutter, _words_of(message.get("content")), "tool")
    verdict = (Span("  ✗ failed", "bad"),) if has_failed else ()
    name = Span(f"  {message.get('tool_name')}", "strong")
    block.heading = (*block.heading, name, *verdict)
    return block


def _assistant_block(content: Mapping[str, Json], label: str) -> Block:
    kind = content.get("type")
    if kind == "thinking":
        text = text_of(content.get("thinking"))
        if content.get("redacted") is True:
            text = text or "(kept back by the vendor)"
        return _plain_block("THINKING", "thinking", text, "thinking", role="thinking")
    if kind == "toolCall":
        return _tool_call_block(content)
    if kind == "text":
        return _plain_block(label, "assistant", text_of(content.get("text")), "text")
    return _plain_block(str(kind).upper(), "warning", _words_of([content]), "tool")


def _tool_call_block(content: Mapping[str, Json]) -> Block:
    arguments = object_of(content.get("arguments"))
    heading = (
        Span("TOOL CALL", "tool"),
        Span(f"  {content.get('name')}", "strong"),
        Span(f"  {content.get('id')}", "faint"),
    )
    whole = [f"{name}: {_written(value)}" for name, value in arguments.items()]
    return Block(
        heading=heading, gutter="tool", text="\n".join(whole), summary=_argument_lines(arguments)
    )


def _argument_lines(arguments: Mapping[str, Json]) -> list[Line]:
    names = list(arguments)[:_ARGUMENTS_SHOWN]
    widest = max((len(name[:_ARGUMENT_NAME_CELLS]) for name in names), default=0)
    lines: list[Line] = []
    for name in names:
        key = Span(f"{name[:_ARGUMENT_NAME_CELLS]:<{widest}}  ", "key")
        lines.append((key, Span(_written(arguments[name])[:_ARGUMENT_CHARACTERS], "string")))
    if len(arguments) > len(names):
        lines.append((Span(f"… {len(arguments) - len(names):,} more", "dim"),))
    return lines


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain_block(label: str, gutter: Role, text: str, kind: str, *, role: Role = "text") -> Block:
    return Block(
        heading=(Span(label, gutter),),
        gutter=gutter,
        text=text,
        role=role,
        folded_lines=_FOLDED_LINES[kind],
    )


def _words_of(content: Json) -> str:
    """Give the text of a message; what is not text is named with its size."""
    if isinstance(content, str):
        return content
    return "\n".join(_words_of_item(item) for item in array_of(content))


def _words_of_item(item: Json) -> str:
    fields = item if is_object(item) else {"type": item}
    if fields.get("type") == "text":
        return text_of(fields.get("text"))
    data = fields.get("data")
    size_bytes = len(data) * 3 // 4 if isinstance(data, str) else None
    return f"[{fields.get('mime_type') or fields.get('type')}, {figures.size(size_bytes)}]"
