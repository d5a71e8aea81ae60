"""JSON values as a tree of lines, of which only the open branches exist."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from openprogram.providers.comparison import join_path
from openprogram.providers.recording.redaction import PLACEHOLDER
from openprogram_recordings_tui.presentation import figures
from openprogram_recordings_tui.presentation.lines import Line, LineSource, Role, Span
from openprogram_recordings_tui.presentation.values import Json, is_array, is_branch, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAGE_SIZE = 1000
"""How many children of one node are shown; the rest is counted."""

_PREVIEW_CHARACTERS = 400
_OPEN_AT_FIRST_DEPTH = 2
_LONG = 200
_NAMES_SHOWN = 6


@dataclass(slots=True)
class Node:
    """One value of the tree, or the remark that there are more."""

    path: str
    """Where it stands, as comparison writes it."""
    key: str
    """The last step of the path."""
    value: Json
    """The value; not copied."""
    depth: int
    """How far in, from 0."""
    is_open: bool = False
    """Whether its children are shown."""
    left_out_count: int = 0
    """For a remark: how many children are not shown."""
    children: list[Node] | None = field(default=None, repr=False)
    """Made when it is first opened."""

    @property
    def is_branch(self) -> bool:
        """Whether it has children to show."""
        return is_branch(self.value)


def children_of(node: Node) -> list[Node]:
    """Give the children of a branch, made once.

    Args:
        node: A branch.

    Returns:
        At most `PAGE_SIZE` of them, and a remark when there are more.
    """
    if node.children is None:
        made: list[Node] = []
        for number, (step, key, value) in enumerate(_items(node.value)):
            if number == PAGE_SIZE:
                rest = len(node.value) - PAGE_SIZE
                made.append(Node(node.path, "", None, node.depth + 1, left_out_count=rest))
                break
            made.append(Node(join_path(node.path, step), key, value, node.depth + 1))
        node.children = made
    return node.children


def _items(value: Json) -> Iterator[tuple[str | int, str, Json]]:
    if is_object(value):
        for key, child in value.items():
            yield key, key, child
    else:
        for number, child in enumerate(value):
            yield number, f"[{number}]", child


class TreeLines(LineSource):
    """A JSON tree as a source of lines."""

    def __init__(self, value: Mapping[str, Json]) -> None:
        root = Node("", "", value, -1, is_open=True)
        self._root = root
        for child in children_of(root):
            child.is_open = child.is_branch
            for grandchild in children_of(child) if child.is_branch else ():
                grandchild.is_open = grandchild.is_branch and _is_short(grandchild.value)
        self._visible: list[Node] = []
        self._flatten()

    @property
    def line_count(self) -> int:
        """How many nodes are visible."""
        return len(self._visible)

    def node(self, index: int) -> Node:
        """Give a visible node.

        Args:
            index: From 0.

        Returns:
            The node.
        """
        return self._visible[index]

    def line(self, index: int, width: int) -> Line:  # noqa: ARG002 - the protocol's signature
        """Draw a visible node.

        Args:
            index: From 0.
            width: Not used: the widget crops.

        Returns:
            Its line.
        """
        return node_line(self._visible[index])

    def toggle(self, index: int) -> int | None:
        """Open or close a branch.

        Args:
            index: Of a visible node.

        Returns:
            The line of the branch; None when it is none.
        """
        node = self._visible[index]
        if not node.is_branch:
            return None
        node.is_open = not node.is_open
        self._flatten()
        return index

    def close_branch(self, index: int) -> int | None:
        """Close a branch, or find the branch that a node is in.

        Args:
            index: Of a visible node.

        Returns:
            The line to go to; None at the outermost.
        """
        node = self._visible[index]
        if node.is_open:
            self.toggle(index)
            return index
        for above in range(index - 1, -1, -1):
            if self._visible[above].depth < node.depth:
                return above
        return None

    def reveal(self, path: str) -> int | None:
        """Open the branches that lead to a path.

        Args:
            path: As comparison writes it.

        Returns:
            The line of the node, or of the nearest one above it; None when there is none.
        """
        found: Node | None = None
        level = children_of(self._root)
        while True:
            nearer = next((n for n in level if _leads_to(n.path, path)), None)
            if nearer is None:
                break
            found = nearer
            if nearer.path == path or not nearer.is_branch:
                break
            nearer.is_open = True
            level = children_of(nearer)
        self._flatten()
        return None if found is None else self._visible.index(found)

    def _flatten(self) -> None:
        visible: list[Node] = []
        stack = list(reversed(children_of(self._root)))
        while stack:
            node = stack.pop()
            visible.append(node)
            if node.is_open:
                stack.extend(reversed(children_of(node)))
        self._visible = visible


def _leads_to(prefix: str, path: str) -> bool:
    return path == prefix or (path.startswith(prefix) and path[len(prefix)] in ".[")


def _is_short(value: Json) -> bool:
    return len(value) <= _OPEN_AT_FIRST_DEPTH * 10


def node_line(node: Node) -> Line:
    """Draw one node of a tree.

    Args:
        node: The node.

    Returns:
        Its line: indent, arrow, key, and the value or what is in it.
    """
    indent = Span("  " * node.depth + " ")
    if node.left_out_count:
        return (indent, Span(f"  … {node.left_out_count:,} more", "dim"))
    arrow = ("▾ " if node.is_open else "▸ ") if node.is_branch else "  "
    key_role: Role = "dim" if node.key.startswith("[") else "key"
    head = (indent, Span(arrow, "faint"), Span(node.key, key_role), Span("  "))
    if node.is_branch and node.is_open:
        return (*head, Span(what_is_in(node.value), "faint"))
    return (*head, *value_spans(node.value))


def what_is_in(value: Json) -> str:
    """Say how much is in a branch.

    Args:
        value: An object or an array.

    Returns:
        A few words.
    """
    if is_object(value):
        return figures.plural(len(value), "field")
    return figures.plural(len(value), "item")


def value_spans(value: Json) -> Line:
    """Write a value in a bounded way.

    Args:
        value: Any JSON value.

    Returns:
        Spans; a long text ends with its length, a branch is summarized.
    """
    if isinstance(value, str):
        return _text_spans(value)
    if is_object(value) and value:
        names = ", ".join(key[:_LONG] for key in islice(value, _NAMES_SHOWN))
        names += ", …" if len(value) > _NAMES_SHOWN else ""
        return (Span("{ ", "faint"), Span(names, "dim"), Span(" }", "faint"))
    if is_array(value) and value:
        return (Span(f"[ {what_is_in(value)} ]", "dim"),)
    return (Span(scalar_text(value), "number"),)


def scalar_text(value: Json) -> str:
    """Write a number, a word or an empty branch as JSON.

    Args:
        value: The value.

    Returns:
        Its bounded text.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > _LONG * 4:
        return f"a number of {value.bit_length():,} bits"
    return json.dumps(value, ensure_ascii=False)


def _text_spans(text: str) -> Line:
    if text == PLACEHOLDER:
        return (Span(text, "redacted"),)
    shown = text[:_PREVIEW_CHARACTERS]
    spans = (Span('"', "faint"), Span(shown, "string"))
    if len(text) <= _PREVIEW_CHARACTERS:
        length = f"  {len(text):,} characters" if len(text) > _LONG else ""
        return (*spans, Span('"', "faint"), Span(length, "faint"))
    return (*spans, Span(f"… +{len(text) - len(shown):,} characters", "dim"))
