"""There is no room for a row: the call ends with the error, and the next one works with room."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from fault_drives import Strength, run_child

if TYPE_CHECKING:
    from pathlib import Path


def test_wherever_the_room_ends_nothing_is_torn_and_the_next_call_is_recorded(
    tmp_path: Path, strength: Strength
) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    with run_child("fault_disk", folder, strength.of(149, 1), "limit") as child:
        printed, _ = child.communicate()
    assert child.returncode == 0
    counts = json.loads(printed)
    assert len(counts) == 7
    assert min(counts.values()) > 0
    strength.tell(**counts)


def _mounting(folder: Path) -> list[str]:
    """Words before a command that is to see a small disk of its own in a folder."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("there is no unshare to mount a small disk with")
    options = "-m" if os.geteuid() == 0 else "-rm"
    mount = 'mount -t tmpfs -o size=256k,mode=700 tmpfs "$0" && exec "$@"'
    words = [unshare, options, "sh", "-c", mount, str(folder)]
    tried = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {tried.stderr.strip()}")
    return words


def test_a_disk_that_is_full_to_the_last_byte_costs_the_call_and_nothing_else(
    tmp_path: Path, strength: Strength
) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    step = strength.of(409, 7)
    with run_child("fault_disk", folder, step, "disk", before=_mounting(folder)) as child:
        printed, _ = child.communicate()
    assert child.returncode == 0
    counts = json.loads(printed)
    assert counts["calls_that_ended_with_the_error"] > 0
    strength.tell(**counts)
