"""There is no room for a row: the call ends with the error, and the next one works with room."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fault_drives import Strength, run_child

if TYPE_CHECKING:
    from pathlib import Path


def test_wherever_the_room_ends_nothing_is_torn_and_the_next_call_is_recorded(
    tmp_path: Path, strength: Strength
) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    with run_child("fault_disk", folder, strength.of(149, 1)) as child:
        printed, _ = child.communicate()
    assert child.returncode == 0
    counts = json.loads(printed)
    assert len(counts) == 7
    assert min(counts.values()) > 0
    strength.tell(**counts)
