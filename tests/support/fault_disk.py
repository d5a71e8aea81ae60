"""Run as a program: records where there is room for so many bytes, and then where there is more.

Arguments: a folder, and every how many bytes a limit is tried. It prints its counts as JSON; an
assertion that fails ends it.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scripted
from fault_drives import ByLabel, find_calls, found_fault, record, wire_events
from openprogram.errors import RecordingWriteError
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.sink import RecordingSink

if TYPE_CHECKING:
    from collections.abc import Callable

LABEL = "line é 漢字 🎉"
AGAIN = "again"


def limit_files(size_bytes: int = resource.RLIM_INFINITY) -> None:
    """Let no file grow beyond a size; a write that would is cut short, and the next one refused."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, resource.RLIM_INFINITY))


def consume(provider: RecordingProvider, label: str, got: list[Any]) -> None:
    """Record a call, and keep what its consumer got even when it ends with an error."""

    async def collect() -> None:
        async for event in provider.stream(*scripted.request(label)):
            got.append(event)

    asyncio.run(collect())


def require_next_call(path: Path, provider: RecordingProvider, counts: Counter[str]) -> None:
    """See that with room again the next call is recorded, and the whole file is sound."""
    before = path.read_bytes()
    whole_rows = before[: before.rfind(b"\n") + 1]
    asyncio.run(record(provider, AGAIN))
    inspection, calls = find_calls(path)
    assert inspection.valid, inspection.error
    assert path.read_bytes().startswith(whole_rows)
    assert calls[AGAIN].events == wire_events(AGAIN)
    assert calls[AGAIN].outcome == "complete"
    counts["next_calls_recorded"] += 1


def fail_amid_a_call(path: Path, limit_bytes: int, counts: Counter[str]) -> bool:
    """Let the room end amid a call; say whether there was enough."""
    asyncio.run(record(path, "before"))
    first_bytes = path.read_bytes()
    got: list[Any] = []
    with RecordingSink(path) as sink:
        provider = RecordingProvider(ByLabel(), sink)
        limit_files(len(first_bytes) + limit_bytes)
        try:
            consume(provider, LABEL, got)
        except RecordingWriteError as error:
            assert "File too large" in error.reason or "No space left" in error.reason
            counts["calls_that_ended_with_the_error"] += 1
            is_enough = False
        else:
            is_enough = True
        finally:
            limit_files()
        data = path.read_bytes()
        # Nothing torn is left, so nothing can be fused with it.
        assert data.startswith(first_bytes)
        assert data.endswith(b"\n")
        inspection, calls = find_calls(path)
        if not is_enough:
            fault = found_fault(inspection)
            assert fault is None or fault[0] == "missing_call_end"
            counts["calls_whose_end_was_owed"] += fault is not None
            found = calls[LABEL].events if LABEL in calls else []
            # The consumer had nothing that is not in the file.
            assert found == wire_events(LABEL)[: len(found)]
            assert len(got) <= len(found), (limit_bytes, len(got), len(found))
        require_next_call(path, provider, counts)
    _, calls = find_calls(path)
    if LABEL in calls:
        assert calls[LABEL].outcome == ("complete" if is_enough else "error")
        assert len(calls[LABEL].events) >= len(got)
    assert not list(path.parent.glob(f"{path.name}.torn-*"))
    return is_enough


def fail_to_begin(path: Path, first_bytes: bytes, limit_bytes: int, counts: Counter[str]) -> bool:
    """Let there be no room to begin, or to set right what a killed writer left."""
    path.write_bytes(first_bytes)
    path.chmod(0o600)
    *_, torn = first_bytes.split(b"\n")
    limit_files(limit_bytes)
    try:
        RecordingSink(path).close()
    except RecordingWriteError:
        counts["refusals_to_begin"] += 1
        is_enough = False
    else:
        is_enough = True
    finally:
        limit_files()
    whole_rows = first_bytes[: len(first_bytes) - len(torn)]
    assert path.read_bytes().startswith(whole_rows)
    with RecordingSink(path) as sink:
        require_next_call(path, RecordingProvider(ByLabel(), sink), counts)
    beside = [one.read_bytes() for one in path.parent.glob(f"{path.name}.torn-*")]
    assert beside == ([torn] if torn else []), beside
    return is_enough


def try_limits(folder: Path, step: int, attempt: Callable[[Path, int], bool]) -> int:
    """Try one limit after the other until there was enough room; say how many there were."""
    limit_bytes = count = 0
    while True:
        path = folder / "x.jsonl"
        is_enough = attempt(path, limit_bytes)
        for file in folder.iterdir():
            file.unlink()
        count += 1
        if is_enough:
            return count
        limit_bytes += step


def main() -> None:
    folder, step = Path(sys.argv[1]), int(sys.argv[2])
    counts: Counter[str] = Counter()
    counts["limits_amid_a_call"] = try_limits(
        folder, step, lambda path, limit: fail_amid_a_call(path, limit, counts)
    )
    counts["limits_in_a_new_file"] = try_limits(
        folder, step, lambda path, limit: fail_to_begin(path, b"", limit, counts)
    )
    asyncio.run(record(folder / "x.jsonl", LABEL))
    whole = (folder / "x.jsonl").read_bytes()
    # An open call, and behind it a torn row that is longer than all before it: no room for a copy.
    left_over = whole[: whole.rfind(b"\n", 0, -1) + 1] + b'{"type":"event' + b"x" * len(whole)
    counts["limits_in_a_file_with_leftovers"] = try_limits(
        folder, step, lambda path, limit: fail_to_begin(path, left_over, limit, counts)
    )
    print(json.dumps(counts))  # noqa: T201 - this is how it answers


if __name__ == "__main__":
    main()
