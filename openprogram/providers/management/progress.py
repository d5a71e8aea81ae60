"""Tells whoever watches how far a walk over recordings is."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Item = TypeVar("_Item")


def counted(
    items: Sequence[_Item], on_progress: Callable[[int, int], object] | None
) -> Iterator[_Item]:
    """Walk over items, and say before each how many are done.

    Args:
        items: What is walked over.
        on_progress: Called with how many are done, and of how many; None when nobody watches.

    Yields:
        The items in their order.

    Example:
        >>> list(counted(["a", "b"], print))
        0 2
        1 2
        ['a', 'b']
    """
    for done_count, item in enumerate(items):
        if on_progress is not None:
            on_progress(done_count, len(items))
        yield item
