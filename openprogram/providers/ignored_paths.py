"""Field paths that a replay does not compare: how they are written, and which are allowed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from openprogram.errors import quoted
from openprogram.providers import declared_places
from openprogram.providers.declared_places import REQUEST_PART_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openprogram.providers.declared_places import Place

ANY_INDEX: Final = -1
"""The step that `[*]` stands for: any index of an array."""

Step: TypeAlias = str | int

_TOKEN = re.compile(
    r"""(?P<dot>\.)?(?P<name>[A-Za-z_]\w*)|\[(?P<index>\d{1,9}|\*)\]|\[(?P<key>"(?:[^"\\]|\\.)*")\]""",
    re.ASCII,
)
_TOO_WIDE = frozenset(
    {
        *[(name,) for name in REQUEST_PART_NAMES],
        *[("context", name) for name in ("messages", "tools")],
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredPath:
    """A place, with all that is in it, that is not compared."""

    text: str
    """As it was written."""
    steps: tuple[Step, ...]
    """Keys and indices; `ANY_INDEX` for `[*]`."""

    def covers(self, steps: Sequence[Step]) -> bool:
        """Say whether a difference lies at this place or inside it.

        Args:
            steps: Where the difference is.

        Returns:
            True when it is to be ignored.

        Example:
            >>> parse_ignored_path("context.messages[*].details").covers(
            ...     ("context", "messages", 2, "details", "took_ms"))
            True
        """
        return len(steps) >= len(self.steps) and all(map(_matches, self.steps, steps))


def parse_ignored_path(text: str) -> IgnoredPath:
    """Read a line of the ignore list.

    Args:
        text: Such as `options.session_id`, `context.messages[*].details` or
            `options.headers["x-request-id"]`.

    Returns:
        The path.

    Raises:
        ValueError: It is no path, leads to no field of a request, or is too wide: whole parts of
            a request, all messages or whole messages, and all tools or whole tools are compared
            always.

    Example:
        >>> parse_ignored_path("options.sesion_id")
        Traceback (most recent call last):
            ...
        ValueError: 'options.sesion_id': a request has no such field; ...
    """
    steps = _split(text)
    shown = quoted(text)
    if steps is None:
        raise ValueError(f"{shown}: not a field path; write it as a mismatch message shows it")
    if not _is_declared(steps):
        raise ValueError(
            f"{shown}: a request has no such field; write it as a mismatch message shows it"
        )
    outline = steps[:-1] if isinstance(steps[-1], int) else steps
    if outline in _TOO_WIDE:
        raise ValueError(f"{shown}: too wide, nothing would be compared; name a field inside it")
    return IgnoredPath(text=text, steps=steps)


def can_be_ignored(path: str) -> bool:
    """Say whether a path may stand in the ignore list, so that a message can name it.

    Args:
        path: The path of a difference.

    Returns:
        True when `parse_ignored_path` takes it.
    """
    try:
        parse_ignored_path(path)
    except ValueError:
        return False
    return True


def _split(text: str) -> tuple[Step, ...] | None:
    steps: list[Step] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        at = token.end()
        if token["name"] is not None:
            if (token["dot"] is None) != (not steps):
                return None
            steps.append(token["name"])
        elif token["index"] is not None:
            steps.append(ANY_INDEX if token["index"] == "*" else int(token["index"]))
        else:
            try:
                steps.append(cast("str", json.loads(token["key"])))
            except ValueError:
                return None
    return tuple(steps) or None


def _matches(pattern: Step, step: Step) -> bool:
    if pattern == ANY_INDEX:
        return isinstance(step, int)
    return pattern == step


def _is_declared(steps: tuple[Step, ...]) -> bool:
    """Follow a path through the declared types; user data may hold anything."""
    places = [declared_places.request_places().get(str(steps[0]))]
    if places == [None]:
        return False
    for step in steps[1:]:
        places = [inner for place in places if place for inner in _inside(place, step)]
        if not places:
            return False
        if None in places:
            return True
    return True


def _inside(place: Place, step: Step) -> list[Place | None]:
    """Give what is declared one step further: nothing is impossible, None is user data."""
    if isinstance(step, int):
        return [place.items] if place.items else []
    variants = list(place.variants.values()) or [place]
    return [each.fields[step].place for each in variants if step in each.fields]
