"""Which file holds the recording of a test; safe on every file system."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import pytest

from openprogram.errors import ascii_if_unprintable, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SUFFIX = ".jsonl"
FAILED_SUFFIX = ".failed.jsonl"
"""Of the recording of a run that failed: kept to look at, never replayed."""

_MARK = "provider_recording"
_UNSAFE = re.compile(r"[^a-z0-9_-]+")
_LONGEST_NAME = 80
_DIGEST_CHARACTERS = 8
_LONGEST_PART_BYTES = 240
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


class MarkOptions(NamedTuple):
    """What a test's mark says."""

    path: str | None = None
    """The recording, from the test file's folder."""
    ignore: Sequence[str] = ()
    """Field paths that a replay does not compare."""
    allow_hosts: Sequence[str] = ()
    """Hosts that may be reached during a replay."""


def options_of(item: pytest.Item) -> MarkOptions:
    """Read the mark of a test.

    Args:
        item: The test.

    Returns:
        Its options; the defaults where it has the fixture alone.

    Raises:
        pytest.UsageError: The mark says what no mark can say.
    """
    mark = item.get_closest_marker(_MARK)
    if mark is None:
        return MarkOptions()
    unknown = sorted(set(mark.kwargs) - set(MarkOptions._fields))
    if mark.args or unknown:
        said = ", ".join([*map(repr, mark.args), *unknown])
        raise pytest.UsageError(
            f"{ascii_if_unprintable(item.nodeid)}: provider_recording takes "
            f"{', '.join(MarkOptions._fields)}, by name; not {ascii_if_unprintable(said)}"
        )
    options = MarkOptions(**mark.kwargs)
    return options._replace(
        ignore=_as_list(options.ignore), allow_hosts=_as_list(options.allow_hosts)
    )


def _as_list(value: Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


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
    chosen = options_of(item).path
    folder = item.path.parent
    if chosen is None:
        _, _, name = item.nodeid.partition("::")
        return _folder_of(item) / f"{file_name_of(name or item.name)}{SUFFIX}"
    path = Path(str(chosen))
    is_too_long = any(len(os.fsencode(part)) > _LONGEST_PART_BYTES for part in path.parts)
    is_aside = str(chosen).endswith(FAILED_SUFFIX)
    if path.is_absolute() or ".." in path.parts or path.suffix != SUFFIX or is_aside or is_too_long:
        raise pytest.UsageError(
            f"{ascii_if_unprintable(item.nodeid)}: provider_recording(path={quoted(str(chosen))}): "
            f"the path is taken from the test file's folder; name a file below it that ends in "
            f"{SUFFIX}, but not in {FAILED_SUFFIX}, with names of at most "
            f"{_LONGEST_PART_BYTES} bytes"
        )
    return folder / path


def _folder_of(item: pytest.Item) -> Path:
    name = cast("str", item.config.getini("provider_recordings_dir")) or "recordings"
    return item.path.parent / name / file_name_of(item.path.stem)


def claims_of(items: Iterable[pytest.Item]) -> dict[str, list[str]]:
    """Say which recordings tests claim.

    Args:
        items: Tests with the fixture.

    Returns:
        The folders that belong to test files, and the file names that are claimed in each.
    """
    claims: dict[str, list[str]] = {}
    for item in items:
        folder = _folder_of(item)
        names = claims.setdefault(str(folder), [])
        path = recording_path_of(item)
        if path.parent == folder:
            names.append(path.name)
    return claims


def find_shared(items: Iterable[pytest.Item]) -> dict[str, str]:
    """Find tests that claim one and the same recording.

    Args:
        items: Tests with the fixture.

    Returns:
        By node ID: the first test that claims its recording too. Names that only differ in case are
        one, since they are on some file systems.
    """
    first: dict[str, str] = {}
    shared: dict[str, str] = {}
    for item in items:
        other = first.setdefault(str(recording_path_of(item)).lower(), item.nodeid)
        if other != item.nodeid:
            shared[item.nodeid] = other
            shared.setdefault(other, item.nodeid)
    return shared


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
