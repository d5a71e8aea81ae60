"""Widgets that draw a few fixed lines: titles, tabs, hints, headings, banners."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from textual import getters
from textual.message import Message
from textual.widget import Widget

from openprogram_recordings_tui.presentation.chrome import tab_at, tabs_line
from openprogram_recordings_tui.presentation.lines import EMPTY_LINE, Line
from openprogram_recordings_tui.widgets.palette import any_app, palette_of
from openprogram_recordings_tui.widgets.strips import strip_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.geometry import Size
    from textual.strip import Strip

    from openprogram_recordings_tui.presentation.chrome import Tab

MakeLine: TypeAlias = Callable[[int], Line]
"""Gives a line for a width in cells."""
MakeLines: TypeAlias = "Callable[[int], Sequence[Line]]"
"""Gives some."""


def _empty(_: int) -> Line:
    return EMPTY_LINE


class Bar(Widget):
    """One line across the screen, made for the width there is."""

    app = getters.app(any_app)

    def __init__(
        self,
        make: MakeLine = _empty,
        *,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._make = make

    def show(self, make: MakeLine) -> None:
        """Show something else.

        Args:
            make: Gives the line.
        """
        self._make = make
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line.

        Args:
            y: From the top of the widget.

        Returns:
            The strip.
        """
        width = self.size.width
        line = self._make(width) if y == 0 else EMPTY_LINE
        return strip_of(line, width, palette_of(self.app.theme), self.rich_style)


class TextBlock(Widget):
    """Lines that are made for the width there is, as many as it takes."""

    app = getters.app(any_app)

    def __init__(self, make: MakeLines, *, id: str | None = None) -> None:  # noqa: A002 - as above
        super().__init__(id=id)
        self._make = make

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's signature
        """Say how many lines there are.

        Args:
            container: Not used.
            viewport: Not used.
            width: In cells.

        Returns:
            The height in lines.
        """
        return len(self._make(width))

    def render_line(self, y: int) -> Strip:
        """Draw a line.

        Args:
            y: From the top of the widget.

        Returns:
            The strip.
        """
        width = self.size.width
        lines = self._make(width)
        line = lines[y] if y < len(lines) else EMPTY_LINE
        return strip_of(line, width, palette_of(self.app.theme), self.rich_style)


class TabBar(Bar):
    """The tabs of a screen."""

    class Picked(Message):
        """Someone clicked a tab."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name
            """The tab's name."""

    def __init__(self, tabs: Sequence[Tab], *, chosen: str, id: str | None = None) -> None:  # noqa: A002 - as above
        super().__init__(id=id)
        self.tabs = tabs
        """In order."""
        self.chosen = chosen
        """The name of the open one."""
        self._show()

    def choose(self, name: str) -> None:
        """Mark a tab as open.

        Args:
            name: Its name.
        """
        self.chosen = name
        self._show()

    def retitle(self, tabs: Sequence[Tab]) -> None:
        """Change labels or figures.

        Args:
            tabs: The same names in the same order.
        """
        self.tabs = tabs
        self._show()

    def on_click(self, event: events.Click) -> None:
        """Say which tab was clicked."""
        name = tab_at(self.tabs, self.chosen, event.x)
        if name is not None:
            self.post_message(self.Picked(name))

    def _show(self) -> None:
        self.show(lambda _: tabs_line(self.tabs, self.chosen))
