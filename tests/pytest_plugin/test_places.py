"""A file name for every test name, on every file system."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.pytest_plugin.places import file_name_of, find_unused

if TYPE_CHECKING:
    from pathlib import Path

NAMES = st.text(max_size=120) | st.from_regex(r"[a-zA-Z_\[\]/:. -]{1,100}")


@given(NAMES)
def test_a_name_is_short_plain_and_in_lower_case(name: str):
    assert re.fullmatch(r"[a-z0-9_-]{0,80}(?:-[0-9a-f]{8})?", file_name_of(name))
    assert file_name_of(name) == file_name_of(name)


@given(st.lists(NAMES, min_size=2, max_size=6, unique=True))
def test_two_names_never_share_a_file(names: list[str]):
    assert len({file_name_of(name) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["con", "test_A", "../../etc/passwd", "\udcff", "", "a" * 300])
def test_a_name_that_had_to_change_carries_a_digest(name: str):
    found = file_name_of(name)
    assert found != name
    assert "/" not in found
    assert re.search(r"-[0-9a-f]{8}\Z", found)


def test_a_file_name_shows_as_printable_text(tmp_path: Path):
    (tmp_path / "test_\x1b[2J.jsonl").touch()
    (tmp_path / "kept.failed.jsonl").touch()
    assert find_unused({str(tmp_path): []}, tmp_path) == ["test_\\x1b[2J.jsonl"]
