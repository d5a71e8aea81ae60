"""The list of recordings, read so that it can be shown before the largest file is read."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from openprogram.errors import RecordingFileError
from openprogram.providers import management
from openprogram.providers.management import RecordingSummary
from openprogram_recordings_tui.presentation.recordings import NOT_READ_REASON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import stat_result
    from pathlib import Path

    from openprogram_recordings_tui.background import IsCancelled

_PATIENCE_SECONDS = 0.1
_LARGE_BYTES = 2_000_000
_MANY = 100


def read_recordings(
    is_cancelled: IsCancelled, known: Sequence[RecordingSummary] = ()
) -> Iterator[tuple[list[RecordingSummary], frozenset[Path]]]:
    """Read the list, small files first; call this in a thread.

    Args:
        is_cancelled: Asked between files; True ends it.
        known: What was read before: shown, where the file seems unchanged, until it is read again.

    Yields:
        The recordings, newest first, and which of them were not read yet. The last time, none.

    Raises:
        UnsafeFileError: The recordings directory is a link, or another user's.
    """
    found: dict[Path, RecordingSummary] = {
        path: _stat_only(path) for path in management.find_recordings()
    }
    unread = set(found)
    for summary in known:
        stat = found.get(summary.path)
        if stat is not None and (stat.modified_at, stat.size_bytes) == (
            summary.modified_at,
            summary.size_bytes,
        ):
            found[summary.path] = summary
            unread.discard(summary.path)
    waiting = sorted(found, key=lambda path: found[path].size_bytes, reverse=True)
    # Many files take a while: show at once what stat knows of them.
    patience_seconds = 0.0 if len(unread) > _MANY else _PATIENCE_SECONDS
    shown_at = monotonic()
    while waiting and not is_cancelled():
        path = waiting.pop()
        is_slow = path in unread and found[path].size_bytes > _LARGE_BYTES
        if is_slow or monotonic() - shown_at > patience_seconds:
            yield _newest_first(found), frozenset(unread)
            shown_at, patience_seconds = monotonic(), _PATIENCE_SECONDS
        found[path] = management.summarize_recording(path)
        unread.discard(path)
    yield _newest_first(found), frozenset(unread)


def _newest_first(found: dict[Path, RecordingSummary]) -> list[RecordingSummary]:
    return sorted(found.values(), key=lambda s: (s.created_at, s.modified_at), reverse=True)


def _stat_only(path: Path) -> RecordingSummary:
    """Say of a recording what can be said without reading it."""
    try:
        status: stat_result | None = path.lstat()
    except OSError:
        status = None
    modified_at = management.written_at(status)
    return RecordingSummary(
        recording_id=path.name.removesuffix(".jsonl"),
        path=path,
        created_at=modified_at,
        modified_at=modified_at,
        format_version=None,
        redaction_version=None,
        legacy=False,
        event_count=0,
        size_bytes=0 if status is None else status.st_size,
        complete=False,
        active=False,
        error=RecordingFileError(path, "unreadable", NOT_READ_REASON),
        calls=(),
        warning=None,
    )
