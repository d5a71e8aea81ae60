"""The one list of the UI: it draws the lines on the screen and knows of no others.

Its cost does not depend on how many lines there are. Recordings, calls, events, raw rows, trees and
the sides of a comparison are all sources of lines for it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from openprogram_recordings_tui.bindings import LIST_BINDINGS
from openprogram_recordings_tui.presentation.lines import FixedLines
from openprogram_recordings_tui.widgets.palette import any_app, palette_of
from openprogram_recordings_tui.widgets.strips import strip_of

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType

    from openprogram_recordings_tui.presentation.lines import LineSource

_KEPT_STRIPS = 512


class VirtualLines(ScrollView, can_focus=True, inherit_bindings=False):
    """A list of any length with one chosen line."""

    app = getters.app(any_app)
    BINDINGS: ClassVar[list[BindingType]] = list(LIST_BINDINGS)

    cursor: reactive[int] = reactive(0, repaint=False, init=False)
    """The chosen line, from 0."""

    class Moved(Message):
        """The chosen line changed."""

        def __init__(self, lines: VirtualLines, index: int) -> None:
            super().__init__()
            self.lines = lines
            """The list."""
            self.index = index
            """The line, from 0."""

        @property
        def control(self) -> VirtualLines:
            """The list, for `on` selectors."""
            return self.lines

    class Chosen(Message):
        """Someone wants to go into the chosen line."""

        def __init__(self, lines: VirtualLines, index: int) -> None:
            super().__init__()
            self.lines = lines
            """The list."""
            self.index = index
            """The line, from 0."""

        @property
        def control(self) -> VirtualLines:
            """The list, for `on` selectors."""
            return self.lines

    def __init__(
        self,
        source: LineSource | None = None,
        *,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
        has_cursor: bool = True,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._source: LineSource = source or FixedLines()
        self._strips: OrderedDict[tuple[int, int], Strip] = OrderedDict()
        self._twin: VirtualLines | None = None
        self._known_count: int = -1
        self.has_cursor = has_cursor
        """Whether one line is chosen; without, the keys scroll."""

    @property
    def source(self) -> LineSource:
        """What is shown."""
        return self._source

    def on_mount(self) -> None:
        """Take the size of what is there, and follow a change of theme."""
        self.watch(self.app, "theme", self.forget, init=False)
        self.update_count()

    def show(self, source: LineSource, *, cursor: int = 0) -> None:
        """Show another source.

        Args:
            source: What to show from now on.
            cursor: The line to choose; it is kept within what there is.
        """
        self._source = source
        self._known_count = -1
        self._source.reflow(self.scrollable_content_region.width)
        self.forget()
        self.update_count()
        self.scroll_to(0, 0, animate=False)
        self.move_to(cursor)

    def update_count(self) -> None:
        """Take notice that the source has grown or shrunk; lines that were there stay as drawn."""
        line_count = self._source.line_count
        if line_count == self._known_count:
            return
        shrunk = line_count < self._known_count
        self._known_count = line_count
        if shrunk:
            self._strips.clear()
        self.virtual_size = Size(0, line_count)
        self.cursor = self.validate_cursor(self.cursor)
        self.refresh()

    def forget(self) -> None:
        """Draw every line anew: the source says something else, or the look changed."""
        self._strips.clear()
        self.refresh()

    def link(self, twin: VirtualLines) -> None:
        """Tie two lists of equal length together, so that they never scroll apart.

        Args:
            twin: The other list.
        """
        self._twin, twin._twin = twin, self

    def move_to(self, index: int, *, is_jump: bool = False) -> None:
        """Choose a line and bring it into view.

        Args:
            index: From 0; it is kept within what there is.
            is_jump: Show what is around a line that comes into view, rather than as little as can
                be.
        """
        self.cursor = self.validate_cursor(index)
        height = max(self.scrollable_content_region.height, 1)
        if is_jump and not 0 <= self.cursor - self.scroll_offset.y < height - 1:
            self.scroll_to(y=max(self.cursor - height // 3, 0), animate=False)
        self._reveal(self.cursor)

    def validate_cursor(self, cursor: int) -> int:
        """Keep the chosen line within what there is."""
        return max(0, min(cursor, self._source.line_count - 1))

    def watch_cursor(self, before: int, after: int) -> None:
        """Draw the two lines that changed, and say so."""
        if self.has_cursor:
            self.refresh_line(before)
            self.refresh_line(after)
        self.post_message(self.Moved(self, after))
        if self._twin is not None and self._twin.cursor != after:
            self._twin.move_to(after)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Take the twin along."""
        super().watch_scroll_y(old_value, new_value)
        if self._twin is not None and round(self._twin.scroll_y) != round(new_value):
            self._twin.scroll_to(y=new_value, animate=False)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen.

        Args:
            y: From the top of the widget.

        Returns:
            The strip.
        """
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        if index >= self._source.line_count:
            return Strip.blank(width, self.rich_style)
        if self.has_cursor and index == self.cursor:
            palette = palette_of(self.app.theme)
            over = palette.cursor if self.has_focus else palette.cursor_blurred
            line = self._source.line(index, width)
            return strip_of(line, width, palette, self.rich_style, over)
        strip = self._strips.get((index, width))
        if strip is None:
            line = self._source.line(index, width)
            strip = strip_of(line, width, palette_of(self.app.theme), self.rich_style)
            self._strips[index, width] = strip
            if len(self._strips) > _KEPT_STRIPS:
                self._strips.popitem(last=False)
        return strip

    def on_resize(self) -> None:
        """Let the source wrap its text anew, and keep the chosen line in view."""
        self._source.reflow(self.scrollable_content_region.width)
        self._strips.clear()
        self.update_count()
        self._reveal(self.cursor)

    def on_focus(self) -> None:
        """Show which list the keys go to."""
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        """Show that the keys go elsewhere."""
        self.refresh_line(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """Choose a line; a second click goes into it."""
        index = event.y + self.scroll_offset.y
        if not self.has_cursor or index >= self._source.line_count:
            return
        was_chosen = index == self.cursor
        self.move_to(index)
        if was_chosen or event.chain > 1:
            self.action_choose()

    def action_move(self, step: int) -> None:
        """Go some lines down, or up when negative."""
        self._go(step)

    def action_page(self, step: int) -> None:
        """Go a screen down, or up when negative."""
        self._go(step * max(self.scrollable_content_region.height - 1, 1))

    def action_half_page(self, step: int) -> None:
        """Go half a screen down, or up when negative."""
        self._go(step * max(self.scrollable_content_region.height // 2, 1))

    def action_first(self) -> None:
        """Go to the first line."""
        self._go(-self._source.line_count)

    def action_last(self) -> None:
        """Go to the last line."""
        self._go(self._source.line_count)

    def action_choose(self) -> None:
        """Go into the chosen line."""
        if self._source.line_count:
            self.post_message(self.Chosen(self, self.cursor))

    def _go(self, step: int) -> None:
        if self.has_cursor:
            self.move_to(self.cursor + step)
            return
        last = max(self._source.line_count - self.scrollable_content_region.height, 0)
        self.scroll_to(y=max(0, min(self.scroll_offset.y + step, last)), animate=False)

    def _reveal(self, index: int) -> None:
        top = self.scroll_offset.y
        height = max(self.scrollable_content_region.height, 1)
        if index < top:
            self.scroll_to(y=index, animate=False)
        elif index >= top + height:
            self.scroll_to(y=index - height + 1, animate=False)
