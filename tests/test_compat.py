"""Locks exclude across descriptors, threads and processes, and waiting has a limit."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from openprogram import _compat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HOLD = """
import os, sys
from openprogram import _compat
fd = os.open(sys.argv[1], os.O_RDWR)
getattr(_compat, sys.argv[2])(fd, timeout_seconds=None)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def two_descriptors(tmp_path: Path) -> Iterator[tuple[int, int]]:
    path = tmp_path / "file"
    path.touch()
    fds = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    yield fds
    for fd in fds:
        os.close(fd)


def test_an_exclusive_lock_excludes_every_other_descriptor(two_descriptors: tuple[int, int]):
    first, second = two_descriptors
    _compat.lock_exclusive(first, timeout_seconds=0)
    for lock in (_compat.lock_exclusive, _compat.lock_shared):
        with pytest.raises(BlockingIOError):
            lock(second, timeout_seconds=0)
    _compat.unlock(first)
    _compat.lock_exclusive(second, timeout_seconds=0)


def test_shared_locks_live_together_and_keep_an_exclusive_one_out(
    two_descriptors: tuple[int, int],
):
    first, second = two_descriptors
    _compat.lock_shared(first, timeout_seconds=0)
    _compat.lock_shared(second, timeout_seconds=0)
    _compat.unlock(second)
    with pytest.raises(BlockingIOError):
        _compat.lock_exclusive(second, timeout_seconds=0.01)


def test_waiting_ends_at_the_limit(two_descriptors: tuple[int, int]):
    first, second = two_descriptors
    _compat.lock_exclusive(first, timeout_seconds=0)
    started = time.monotonic()
    with pytest.raises(BlockingIOError):
        _compat.lock_exclusive(second, timeout_seconds=0.05)
    assert time.monotonic() - started >= 0.05


@pytest.mark.parametrize("timeout_seconds", [None, 30.0])
def test_a_waiter_gets_the_lock_once_it_is_free(
    two_descriptors: tuple[int, int], timeout_seconds: float | None
):
    first, second = two_descriptors
    _compat.lock_exclusive(first, timeout_seconds=0)
    waiter = threading.Thread(
        target=_compat.lock_exclusive, args=(second,), kwargs={"timeout_seconds": timeout_seconds}
    )
    waiter.start()
    _compat.unlock(first)
    waiter.join(timeout=30)
    assert not waiter.is_alive()
    with pytest.raises(BlockingIOError):
        _compat.lock_exclusive(first, timeout_seconds=0)


def test_a_lock_ends_with_the_process_that_holds_it(tmp_path: Path):
    path = tmp_path / "file"
    path.touch()
    command = [sys.executable, "-c", _HOLD, str(path), "lock_exclusive"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        fd = os.open(path, os.O_RDWR)
        with pytest.raises(BlockingIOError):
            _compat.lock_shared(fd, timeout_seconds=0)
        holder.kill()
        holder.wait()
        _compat.lock_exclusive(fd, timeout_seconds=0)
        os.close(fd)


def test_a_directory_is_synced_by_path_and_by_descriptor(tmp_path: Path):
    _compat.sync_directory(tmp_path)
    fd = os.open(tmp_path, os.O_RDONLY)
    _compat.sync_directory(fd)
    os.close(fd)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        _compat.sync_directory(tmp_path / "file")
