"""The page on architecture keeps pace with the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = (CHECKOUT / "docs" / "architecture.md").read_text()
PACKAGES = ("openprogram", "openprogram_recordings_tui")
OPEN_FOLDERS = ("vendors", "testing", "presentation", "sources", "widgets", "screens", "management")
"""Folders whose files the page sums up."""


def modules() -> list[Path]:
    found = [path for name in PACKAGES for path in (CHECKOUT / name).rglob("*.py")]
    return [
        path
        for path in found
        if path.name != "__init__.py" and path.parent.name not in OPEN_FOLDERS
    ]


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.name)
def test_every_module_has_its_line(path: Path) -> None:
    assert re.search(rf"(?<![\w.]){re.escape(path.name)}", PAGE)


def test_every_module_on_the_page_exists() -> None:
    names = {path.name for name in PACKAGES for path in (CHECKOUT / name).rglob("*.py")}
    assert set(re.findall(r"\b\w+\.py\b", PAGE)) <= names
