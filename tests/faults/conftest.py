"""How hard the drives drive, and what they tell at the end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

import pytest

from fault_drives import Nursery, Strength

if TYPE_CHECKING:
    from collections.abc import Iterator

_SWITCH = "FAULTS"
_TOLD: pytest.StashKey[list[str]] = pytest.StashKey()


@pytest.fixture
def strength(request: pytest.FixtureRequest) -> Strength:
    """A few rounds, or with `FAULTS=full` all of them and the counts."""
    word = os.environ.get(_SWITCH, "")
    if word not in {"", "full"}:
        raise pytest.UsageError(f"{_SWITCH} is {word!r}; set it to 'full', or not at all")
    lines = request.config.stash.setdefault(_TOLD, [])
    return Strength(is_full=word == "full", title=cast("Any", request).node.name, lines=lines)


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    """Starts children that have everything imported already."""
    with Nursery() as started:
        yield started


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    lines = config.stash.get(_TOLD, None)
    if lines:
        terminalreporter.section("fault drives")
        for line in lines:
            terminalreporter.line(line)
