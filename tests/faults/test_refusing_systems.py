"""The system refuses a lock or takes less than it is given, and values fit no file."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import random
from typing import TYPE_CHECKING, Any

import pytest

import scripted
from fault_drives import ByLabel, Strength, find_calls, record, wire_events
from openprogram import _compat, _private_files
from openprogram.errors import RecordingWriteError
from openprogram.providers import types as t
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.reader import validate_recording
from openprogram.providers.recording.sink import RecordingSink
from openprogram.providers.replay import ReplayProvider

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_CODES = (errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO, errno.ESTALE)


def _refusing(code: int, *, after: int = 0, operations: int = ~0) -> Callable[[int, int], None]:
    """A flock that refuses some operations, from some time on, as some network file systems do."""
    flock = fcntl.flock
    count = 0

    def refuse(fd: int, operation: int) -> None:
        nonlocal count
        if operation & operations:
            count += 1
            if count > after:
                raise OSError(code, os.strerror(code))
        flock(fd, operation)

    return refuse


def test_without_locks_the_call_ends_with_the_error_and_with_them_the_next_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strength: Strength
) -> None:
    refused = 0
    label = "call 1"
    for code in _CODES[: strength.of(2, 4)]:
        for after in range(len(wire_events(label)) + 2):
            path = tmp_path / f"{code}-{after}.jsonl"
            provider = RecordingProvider(ByLabel(), path)
            with monkeypatch.context() as patched:
                flock = _refusing(code, after=after, operations=fcntl.LOCK_EX)
                patched.setattr(_compat.fcntl, "flock", flock)
                try:
                    asyncio.run(record(provider, label))
                except RecordingWriteError as error:
                    reason = error.reason
                    refused += 1
                else:
                    reason = None
            assert (
                reason is None or f"cannot be locked or looked at ({os.strerror(code)})" in reason
            )
            asyncio.run(record(provider, "again"))
            inspection, calls = find_calls(path)
            assert inspection.valid, inspection.error
            assert calls["again"].outcome == "complete"
            if reason is not None and label in calls:
                assert calls[label].outcome == "error"
                found = calls[label].events
                assert found == wire_events(label)[: len(found)]
    assert refused > 8
    strength.tell(locks_refused=refused)


@pytest.mark.parametrize("code", _CODES)
def test_a_file_system_without_locks_is_named_when_the_recording_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    path = tmp_path / "x.jsonl"
    for after in range(3):
        with monkeypatch.context() as patched:
            patched.setattr(_compat.fcntl, "flock", _refusing(code, after=after))
            with pytest.raises(RecordingWriteError, match="local file system"):
                RecordingSink(path)
    asyncio.run(record(path, "again"))
    validate_recording(path)


def test_a_lock_that_cannot_be_let_go_costs_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "x.jsonl"
    provider = RecordingProvider(ByLabel(), path)
    with monkeypatch.context() as patched:
        flock = _refusing(errno.EIO, operations=fcntl.LOCK_UN)
        patched.setattr(_compat.fcntl, "flock", flock)
        asyncio.run(record(provider, "call 0"))
    assert "cannot be let go" in caplog.text
    validate_recording(path)


class _Odd:
    def __repr__(self) -> str:
        message = "not even that"
        raise RuntimeError(message)


def test_odd_values_are_recorded_whole_however_little_each_write_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strength: Strength
) -> None:
    write = os.write
    for seed in range(strength.of(3, 60)):
        dice = random.Random(seed)

        def write_less(fd: int, data: memoryview, dice: random.Random = dice) -> int:
            return write(fd, data[: dice.randrange(1, 200)])

        path = tmp_path / f"{seed}.jsonl"
        odd: dict[str, Any] = {"\ud83d": "\udcb2", "bytes": b"\xff\0", "huge": 10**5000}
        odd |= {"nan": float("nan"), "set": {1}, "object": _Odd(), "line": "a\u2028b\x85c\n"}
        odd["itself"] = odd
        model, context, _ = scripted.request("\ud83d call")
        request = (model, context, t.SimpleStreamOptions(metadata=odd))
        events = scripted.text_events("\udcb2\n", "\u2028\u0085\x0b\x0c\r\n", "\0\x1b[2J\n")
        provider = RecordingProvider(scripted.Scripted(events), path)
        with monkeypatch.context() as patched:
            patched.setattr(_private_files.os, "write", write_less)
            assert scripted.drain(provider.stream(*request)) == events
        validate_recording(path)
        assert path.read_bytes().count(b"\n") == len(events) + 3
        assert scripted.drain(ReplayProvider(path).stream(*request)) == events
    strength.tell(recordings=strength.of(3, 60))
