"""Shows an agent's answer while it comes: words on standard output, tool calls beside them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from openprogram.cli import _diagnostics, _output
from openprogram.cli._tables import fit
from openprogram.errors import ascii_if_unprintable

if TYPE_CHECKING:
    from openprogram.providers.types import AssistantMessageEvent

_TOOL_LINE_CELLS = 100


class ReaderLeftError(Exception):
    """Nobody reads standard output any more, so nobody wants the rest of the answer."""


class AnswerPrinter:
    """Prints events as they come; what a terminal could act on is escaped."""

    def __init__(self) -> None:
        self._is_mid_line = False
        self._shows_tools = _output.is_terminal(sys.stderr)

    def show(self, event: AssistantMessageEvent) -> None:
        """Print one event.

        Args:
            event: The next event of the stream.

        Raises:
            ReaderLeftError: Standard output was closed by its reader.
        """
        if event.type == "text_delta":
            self._write(escaped_block(event.delta))
        elif event.type == "text_end":
            self.end_line()
        elif event.type == "toolcall_end" and self._shows_tools:
            arguments = json.dumps(event.tool_call.arguments, ensure_ascii=False)
            line = ascii_if_unprintable(f"> {event.tool_call.name} {arguments}")
            _diagnostics.say(fit(line, _TOOL_LINE_CELLS), style="dim")

    def end_line(self) -> None:
        """End the line that is open, if one is.

        Raises:
            ReaderLeftError: Standard output was closed by its reader.
        """
        if self._is_mid_line:
            self._write("\n")

    def _write(self, text: str) -> None:
        if not text:
            return
        if not (_output.write_raw(text) and _output.flush()):
            raise ReaderLeftError
        self._is_mid_line = not text.endswith("\n")


def escaped_block(text: str) -> str:
    """Escape line by line: an answer's own line ends and tabs are part of it."""
    return "\n".join(
        "\t".join(ascii_if_unprintable(cell) for cell in line.split("\t"))
        for line in text.split("\n")
    )
