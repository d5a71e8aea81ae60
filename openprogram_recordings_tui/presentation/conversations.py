"""One call as a conversation: what was there before, what is new, and the answer.

Text is wrapped to the screen and bounded: a block shows its first lines and says how many more
there are; going into it shows more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from openprogram_recordings_tui.cells import wrap
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.lines import (
    EMPTY_LINE,
    Line,
    LineSource,
    Role,
    Span,
)
from openprogram_recordings_tui.presentation.marks import outcome_mark
from openprogram_recordings_tui.presentation.values import Json, array_of, object_of, whole_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_CHARACTERS_SHOWN = 200_000
_LINES_OPEN = 4000
_LINES_FOLDED = {"thinking": 6, "system": 4, "tool": 14, "text": 80}


@dataclass(slots=True, kw_only=True)
class Block:
    """One thing that was said, under a heading."""

    heading: Line
    """Who speaks, and what about."""
    gutter: Role
    """The colour of the bar beside it."""
    text: str
    """What was said; raw."""
    role: Role = "text"
    """How the text looks."""
    folded_lines: int = 80
    """How many lines are shown until someone asks for more."""
    is_open: bool = False
    """Whether someone asked for more."""
    spans_of_lines: list[Line] = field(default_factory=list[Line])
    """Lines instead of text, for what has a structure."""

    def lines(self, width: int) -> Iterator[Line]:
        """Draw the block.

        Args:
            width: In cells.

        Yields:
            Its heading, its lines with a bar beside them, and an empty line.
        """
        bar = Span(" ▌ ", self.gutter)
        yield (bar, *self.heading)
        limit = _LINES_OPEN if self.is_open else self.folded_lines
        for line in self.spans_of_lines:
            yield (bar, *line)
        if self.text:
            wrapped = wrap(self.text[:_CHARACTERS_SHOWN], max(width - 4, 8), limit_lines=limit)
            for text in wrapped[:limit]:
                yield (bar, Span(text, self.role))
            if len(wrapped) > limit or len(self.text) > _CHARACTERS_SHOWN:
                how = "the rest is in view 2" if self.is_open else "enter shows more"
                yield (bar, Span(f"… {figures.count(len(self.text))} characters · {how}", "dim"))
        yield EMPTY_LINE


class ConversationLines(LineSource):
    """The conversation of one call, a source of lines."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._lines: list[Line] = []
        self._owners: list[int] = []
        self._width = 0

    @property
    def line_count(self) -> int:
        """How many lines the blocks take at this width."""
        return len(self._lines)

    def line(self, index: int, width: int) -> Line:  # noqa: ARG002 - `reflow` was told the width
        """Give one line.

        Args:
            index: From 0.
            width: As last told to `reflow`.

        Returns:
            The line.
        """
        return self._lines[index]

    def reflow(self, width: int) -> None:
        """Wrap the blocks to a width.

        Args:
            width: In cells.
        """
        if width == self._width:
            return
        self._width = width
        self._wrap()

    def toggle(self, index: int) -> bool:
        """Show more or less of the block at a line.

        Args:
            index: Of the line.

        Returns:
            Whether anything changed.
        """
        if not self._lines:
            return False
        block = self._blocks[self._owners[index]]
        block.is_open = not block.is_open
        before = len(self._lines)
        self._wrap()
        return len(self._lines) != before

    def first_line_of(self, block_index: int) -> int:
        """Find where a block begins.

        Args:
            block_index: From 0; negative counts from the end.

        Returns:
            Its first line.
        """
        if not self._blocks:
            return 0
        wanted = block_index % len(self._blocks)
        return self._owners.index(wanted) if wanted in self._owners else 0

    def _wrap(self) -> None:
        self._lines, self._owners = [], []
        for number, block in enumerate(self._blocks):
            for line in block.lines(self._width):
                self._lines.append(line)
                self._owners.append(number)


def conversation_of(
    request: Mapping[str, Json],
    answer: Mapping[str, Json] | None,
    *,
    outcome: str | None,
    known_message_count: int = 0,
) -> list[Block]:
    """Turn a call into blocks.

    Args:
        request: The request row's `model`, `context` and `options`.
        answer: The assistant message as far as it came; None when there is none.
        outcome: How the call ended; None when it did not.
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
        earlier = [b for m in messages[:known_message_count] for b in _blocks_of(m)]
        blocks.append(_folded(earlier, known_message_count))
        messages = messages[known_message_count:]
    for message in messages:
        blocks += _blocks_of(message)
    return blocks + _answer_blocks(answer, outcome)


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
    """Find what the user said last in a request: what the call is about.

    Args:
        request: The request row.

    Returns:
        The text; None when no user speaks in it.
    """
    messages = array_of(object_of(request.get("context")).get("messages"))
    for message in reversed(messages):
        fields = object_of(message)
        if fields.get("role") == "user":
            return _words_of(fields.get("content"))
    return None


def _answer_blocks(answer: Mapping[str, Json] | None, outcome: str | None) -> list[Block]:
    mark = outcome_mark(outcome)
    if answer is None:
        heading: Line = (Span("ANSWER  ", "assistant"), Span(f"{mark.sign} {mark.word}", mark.role))
        return [Block(heading=heading, gutter="faint", text="nothing came", role="dim")]
    usage = object_of(answer.get("usage"))
    end: list[Span] = [Span(f"   {mark.sign} {mark.word}", mark.role)]
    facts = [str(answer.get("stop_reason") or "")]
    if usage:
        facts.append(f"{figures.count(whole_of(usage.get('input')))} in")
        facts.append(f"{figures.count(whole_of(usage.get('output')))} out")
    end.append(Span("  " + " · ".join(fact for fact in facts if fact), "dim"))
    blocks = _blocks_of({**answer, "role": "assistant"}, label="ANSWER")
    if not blocks:
        blocks = [_plain_block("ANSWER", "assistant", "", "text")]
    blocks[0].heading = (*blocks[0].heading, *end)
    error = answer.get("error_message")
    if error:
        blocks.append(_plain_block("ERROR", "bad", str(error), "text"))
    return blocks


def _folded(blocks: Sequence[Block], message_count: int) -> Block:
    words = figures.plural(message_count, "message")
    heading: Line = (
        Span("EARLIER ", "heading"),
        Span(f"{words}, as in the call before", "dim"),
    )
    lines: list[Line] = []
    for block in blocks[:200]:
        text = block.text.replace("\n", " ")[:300]
        lines.append((*block.heading, Span("  "), Span(text, "dim")))
    return Block(heading=heading, gutter="faint", text="", spans_of_lines=lines)


def _blocks_of(message: Mapping[str, Json], *, label: str = "") -> list[Block]:
    role = message.get("role")
    if role == "user":
        return [_plain_block("USER", "user", _words_of(message.get("content")), "text")]
    if role == "toolResult":
        failed = message.get("is_error") is True
        block = _plain_block(
            "TOOL RESULT", "bad" if failed else "tool", _words_of(message.get("content")), "tool"
        )
        verdict = Span("  ✗ failed", "bad") if failed else Span("")
        block.heading = (*block.heading, Span(f"  {message.get('tool_name')}", "text"), verdict)
        return [block]
    if role == "assistant":
        contents = array_of(message.get("content"))
        return [_assistant_block(object_of(c), label or "ASSISTANT") for c in contents]
    return [_plain_block(str(role or "?").upper(), "warning", json.dumps(message), "tool")]


def _assistant_block(content: Mapping[str, Json], label: str) -> Block:
    kind = content.get("type")
    if kind == "thinking":
        text = str(content.get("thinking") or "")
        if content.get("redacted") is True:
            text = text or "(kept back by the vendor)"
        return _plain_block("THINKING", "thinking", text, "thinking", role="thinking")
    if kind == "toolCall":
        arguments = content.get("arguments")
        block = _plain_block("TOOL CALL", "tool", "", "tool")
        block.heading = (
            *block.heading,
            Span(f"  {content.get('name')}", "strong"),
            Span(f"  {content.get('id')}", "faint"),
        )
        block.spans_of_lines = _argument_lines(object_of(arguments))
        return block
    if kind == "text":
        return _plain_block(label, "assistant", str(content.get("text") or ""), "text")
    return _plain_block(str(kind).upper(), "warning", _words_of([content]), "tool")


_ARGUMENTS_SHOWN = 40
_ARGUMENT_CHARACTERS = 2000


def _argument_lines(arguments: Mapping[str, Json]) -> list[Line]:
    names = list(arguments)[:_ARGUMENTS_SHOWN]
    widest = max((len(name[:24]) for name in names), default=0)
    lines: list[Line] = []
    for name in names:
        value = arguments[name]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        key = Span(f"{name[:24]:<{widest}}  ", "key")
        lines.append((key, Span(text[:_ARGUMENT_CHARACTERS], "string")))
    return lines


def _plain_block(label: str, gutter: Role, text: str, kind: str, *, role: Role = "text") -> Block:
    return Block(
        heading=(Span(label, gutter),),
        gutter=gutter,
        text=text,
        role=role,
        folded_lines=_LINES_FOLDED[kind],
    )


def _words_of(content: Json) -> str:
    """Give the text of a message; what is not text is named with its size."""
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for item in array_of(content):
        fields = object_of(item)
        if fields.get("type") == "text":
            parts.append(str(fields.get("text") or ""))
        else:
            data = fields.get("data")
            byte_count = len(data) * 3 // 4 if isinstance(data, str) else None
            kind = fields.get("mime_type") or fields.get("type")
            parts.append(f"[{kind}, {figures.size(byte_count)}]")
    return "\n".join(parts)
