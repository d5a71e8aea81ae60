"""Blocks of a conversation as lines: wrapped to the screen, bounded, and opened on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from openprogram_recordings_tui.cells import wrap
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.lines import EMPTY_LINE, Line, LineSource, Role, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CHARACTERS_SHOWN = 200_000
_LINES_OPEN = 4000
_BAR_CELLS = 3
_LEAST_WIDTH = 8


@dataclass(slots=True, kw_only=True)
class Block:
    """One thing that was said, under a heading."""

    heading: Line
    """Who speaks, and what about."""
    gutter: Role
    """The colour of the bar beside it."""
    text: str = ""
    """What was said; raw."""
    role: Role = "text"
    """How the text looks."""
    folded_lines: int = 80
    """How many lines are shown until someone asks for more."""
    summary: Sequence[Line] = ()
    """Stands in for the text until someone asks for more."""
    inner: Sequence[Block] = ()
    """What is shown instead of a text once someone asks."""
    is_open: bool = False
    """Whether someone asked for more."""

    def lines(self, width: int) -> Iterator[Line]:
        """Draw the block.

        Args:
            width: In cells.

        Yields:
            Its heading, its lines with a bar beside them, and an empty line.
        """
        bar = Span(" ▌ ", self.gutter)
        yield (bar, *self.heading)
        for line in self._body(width - _BAR_CELLS - 1):
            yield (bar, *line)
        yield EMPTY_LINE

    def _body(self, width: int) -> Iterator[Line]:
        if self.inner:
            for block in self.inner if self.is_open else ():
                yield from block.lines(width)
        elif self.summary and not self.is_open:
            yield from self.summary
        elif self.text:
            yield from self._wrapped(max(width, _LEAST_WIDTH))

    def _wrapped(self, width: int) -> Iterator[Line]:
        limit = _LINES_OPEN if self.is_open else self.folded_lines
        wrapped = wrap(self.text[:_CHARACTERS_SHOWN], width, limit_lines=limit)
        for text in wrapped[:limit]:
            yield (Span(text, self.role),)
        if len(wrapped) > limit or len(self.text) > _CHARACTERS_SHOWN:
            how = "the rest is in view 4" if self.is_open else "enter shows more"
            yield (Span(f"… {figures.plural(len(self.text), 'character')} · {how}", "dim"),)


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

    def toggle(self, index: int) -> int | None:
        """Show more or less of the block at a line.

        Args:
            index: Of the line.

        Returns:
            The line to go to, the heading of the block when it was closed; None when there was
            nothing to show or hide.
        """
        if not self._lines:
            return None
        number = self._owners[index]
        block = self._blocks[number]
        before = len(self._lines)
        block.is_open = not block.is_open
        self._wrap()
        if len(self._lines) == before:
            return None
        return index if block.is_open else self._owners.index(number)

    def replace_end(self, block: Block) -> None:
        """Say something else about the end of the call; what was opened above stays open.

        Args:
            block: Stands in for the last block.
        """
        self._blocks = [*self._blocks[:-1], block]
        if self._width:
            self._wrap()

    def _wrap(self) -> None:
        self._lines, self._owners = [], []
        for number, block in enumerate(self._blocks):
            for line in block.lines(self._width):
                self._lines.append(line)
                self._owners.append(number)
