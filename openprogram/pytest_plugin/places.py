"""Which file holds the recording of a test; safe on every file system."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from openprogram.errors import ascii_if_unprintable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SUFFIX = ".jsonl"
FAILED_SUFFIX = ".failed.jsonl"
"""Of the recording of a run that failed: kept to look at, never replayed."""

_MARK = "provider_recording"
_UNSAFE = re.compile(r"[^a-z0-9_-]+")
_LONGEST_NAME = 80
_DIGEST_CHARACTERS = 8
_RESERVED = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]")


def file_name_of(name: str) -> str:
    """Turn a test's name into a file's, without its suffix.

    Two tests of one file never share a name, whatever the file system makes of case, Unicode and
    length: a name that had to be changed carries a digest of what it was.

    Args:
        name: The test's name, with its classes before and its parameters behind it.

    Returns:
        At most 89 characters of `a-z`, `0-9`, `_`, `-`.

    Example:
        >>> file_name_of("test_reads")
        'test_reads'
        >>> file_name_of("test_reads[GPT-5/é]")
        'test_reads-gpt-5-8283a61d'
    """
    safe = _UNSAFE.sub("-", name.lower()).strip("-")[:_LONGEST_NAME]
    if safe and safe == name and not _RESERVED.fullmatch(safe):
        return safe
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{safe}-{digest[:_DIGEST_CHARACTERS]}"


def recording_path_of(item: pytest.Item) -> Path:
    """Find the file of a test's recording.

    Args:
        item: The test.

    Returns:
        What its mark's `path` names, from the test file's folder; else
        `recordings/<test file>/<test>.jsonl` there.

    Raises:
        pytest.UsageError: The mark's path is none of a file beside the tests.
    """
    mark = item.get_closest_marker(_MARK)
    chosen = None if mark is None else mark.kwargs.get("path")
    folder = item.path.parent
    if chosen is None:
        _, _, name = item.nodeid.partition("::")
        return _folder_of(item) / f"{file_name_of(name or item.name)}{SUFFIX}"
    path = Path(str(chosen))
    if path.is_absolute() or ".." in path.parts or path.suffix != SUFFIX:
        raise pytest.UsageError(
            f"{item.nodeid}: provider_recording(path={str(chosen)!r}): the path is taken from the "
            f"test file's folder; name a file below it that ends in {SUFFIX}"
        )
    return folder / path


def _folder_of(item: pytest.Item) -> Path:
    name = cast("str", item.config.getini("provider_recordings_dir")) or "recordings"
    return item.path.parent / name / file_name_of(item.path.stem)


def claims_of(items: Iterable[pytest.Item], config: pytest.Config) -> dict[str, list[str]]:
    """Say which recordings tests claim.

    Args:
        items: Tests with the fixture.
        config: Of this run.

    Returns:
        The folders that belong to test files, and the file names that are claimed in each.
    """
    del config
    claims: dict[str, list[str]] = {}
    for item in items:
        folder = _folder_of(item)
        names = claims.setdefault(str(folder), [])
        path = recording_path_of(item)
        if path.parent == folder:
            names.append(path.name)
    return claims


def find_unused(claims: Mapping[str, list[str]], root: Path) -> list[str]:
    """Find recordings that no test claims.

    Args:
        claims: What `claims_of` found.
        root: Where the names that are shown begin.

    Returns:
        Printable paths, sorted.
    """
    unused: list[str] = []
    for folder, names in claims.items():
        place = Path(folder)
        found = sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else []
        for path in found:
            if path.name not in names and not path.name.endswith(FAILED_SUFFIX):
                shown = path.relative_to(root) if path.is_relative_to(root) else path
                unused.append(ascii_if_unprintable(str(shown)))
    return sorted(unused)
