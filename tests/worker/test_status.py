"""A worker that runs with other settings than the next start's has to be started again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram.providers import management
from openprogram.worker import status
from openprogram.worker.protocol import WorkerStatus
from openprogram.worker.status import read_status_with_worker

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def worker(mode: str, path: str | None = None) -> WorkerStatus:
    return WorkerStatus(
        pid=1, mode=mode, path=path, ignore=[], consumed=None, total=None, running_count=0
    )


def test_without_a_worker_it_is_the_status_of_the_settings():
    assert read_status_with_worker() == management.read_status()


def test_it_says_whether_the_worker_uses_other_settings(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    recorded = str(state_dir / "recordings" / "run.jsonl")
    runs = worker("off")
    monkeypatch.setattr(status, "read_worker_status", lambda: runs)
    assert not read_status_with_worker().restart_required

    management.prepare_record("run")
    found = read_status_with_worker()
    assert found.restart_required
    assert found.worker is not None
    assert found.worker["mode"] == "off"
    runs = worker("record", recorded)
    assert not read_status_with_worker().restart_required

    (state_dir / "config.json").write_text("{bad")
    assert read_status_with_worker().restart_required
    runs = worker("blocked")
    assert not read_status_with_worker().restart_required
