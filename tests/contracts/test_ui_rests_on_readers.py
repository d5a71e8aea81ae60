"""The terminal UI knows few modules of the core: what may be read, and management, by name."""

from __future__ import annotations

import ast
import pathlib
from typing import TYPE_CHECKING

import pytest

import openprogram_recordings_tui

if TYPE_CHECKING:
    from collections.abc import Iterator

KNOWN = frozenset(
    {
        "openprogram.errors",
        "openprogram.providers.comparison",
        "openprogram.providers.file_safety",
        "openprogram.providers.ignored_paths",
        "openprogram.providers.inspection",
        "openprogram.providers.management",
        "openprogram.providers.mismatches",
        "openprogram.providers.recording.redaction",
        "openprogram.providers.recording.snapshots",
        "openprogram.providers.row_index",
        "openprogram.providers.types",
        "openprogram.worker.status",
    }
)


def _sources() -> Iterator[pathlib.Path]:
    for place in openprogram_recordings_tui.__path__:
        yield from sorted(pathlib.Path(place).rglob("*.py"))


def _imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "openprogram.providers":
            yield from (f"openprogram.providers.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


def test_the_ui_imports_nothing_else_of_the_core():
    files = list(_sources())
    assert len(files) > 20
    unknown = {
        f"{path.name}: {name}"
        for path in files
        for name in _imported(path.read_text(encoding="utf-8"))
        if name.partition(".")[0] == "openprogram" and name not in KNOWN
    }
    assert not unknown


@pytest.mark.parametrize(
    "line", ["import openprogram.config", "from openprogram.providers import stream"]
)
def test_an_import_of_something_else_would_be_seen(line: str):
    assert not KNOWN.issuperset(_imported(line))
