"""Run as a program: records where there is room for so many bytes, and then where there is more.

Arguments: a folder, every how many bytes a limit is tried, and `limit` or `disk`: whether files may
not grow, or the folder is a small disk of its own, which is filled. It prints its counts as JSON;
an assertion that fails ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import scripted
from fault_drives import ByLabel, find_calls, found_fault, record, wire_events
from openprogram.errors import RecordingWriteError
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.sink import RecordingSink

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK_BYTES = 4096
LABEL = "line é 漢字 🎉"
AGAIN = "again"


def limit_files(size_bytes: int = resource.RLIM_INFINITY) -> None:
    """Let no file grow beyond a size; a write that would is cut short, and the next one refused."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, resource.RLIM_INFINITY))


class Room(Protocol):
    """Takes the room away, and gives it back."""

    def take(self, path: Path) -> None:
        """Leave some room or none for this file to grow."""
        ...

    def give(self) -> None:
        """Let there be room again."""
        ...


class Limit:
    """Lets a file grow by so many bytes."""

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes

    def take(self, path: Path) -> None:
        limit_files(path.stat().st_size + self._size_bytes)

    def give(self) -> None:
        limit_files()


class Filler:
    """Fills a disk; what room is left is in the last block of each file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self, path: Path) -> None:
        del path
        with contextlib.suppress(OSError), self._path.open("wb", buffering=0) as file:
            while file.write(bytes(BLOCK_BYTES)):
                pass

    def give(self) -> None:
        self._path.unlink()


def consume(provider: RecordingProvider, label: str, got: list[Any]) -> None:
    """Record a call, and keep what its consumer got even when it ends with an error."""

    async def collect() -> None:
        async for event in provider.stream(*scripted.request(label)):
            got.append(event)  # noqa: PERF401 - all at once would lose them when an error comes

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


def fail_amid_a_call(path: Path, first_label: str, room: Room, counts: Counter[str]) -> bool:
    """Let the room end amid a call; say whether there was enough."""
    asyncio.run(record(path, first_label))
    first_bytes = path.read_bytes()
    got: list[Any] = []
    with RecordingSink(path) as sink:
        provider = RecordingProvider(ByLabel(), sink)
        reason = ""
        room.take(path)
        try:
            consume(provider, LABEL, got)
        except RecordingWriteError as error:
            reason = error.reason
        finally:
            room.give()
        is_enough = not reason
        assert is_enough or "File too large" in reason or "No space left" in reason, reason
        counts["calls_that_ended_with_the_error"] += not is_enough
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
            assert len(got) <= len(found)
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


def try_every_limit(folder: Path, step: int, counts: Counter[str]) -> None:
    counts["limits_amid_a_call"] = try_limits(
        folder, step, lambda path, limit: fail_amid_a_call(path, "before", Limit(limit), counts)
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


def fill_disk(folder: Path, step: int, counts: Counter[str]) -> None:
    """Fill the disk where the last block of the recording is full to another byte each time."""
    for padding in range(0, BLOCK_BYTES, step):
        path = folder / f"{padding}.jsonl"
        room = Filler(folder / "filler")
        fail_amid_a_call(path, "before" + "x" * padding, room, counts)
        counts["full_disks"] += 1
        path.unlink()


def main() -> None:
    counts: Counter[str] = Counter()
    run = fill_disk if sys.argv[3] == "disk" else try_every_limit
    run(Path(sys.argv[1]), int(sys.argv[2]), counts)
    print(json.dumps(counts))  # noqa: T201 - this is how it answers


if __name__ == "__main__":
    main()
