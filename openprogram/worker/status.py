"""What the next start does, and whether the running worker does something else."""

from __future__ import annotations

from dataclasses import replace

from openprogram.providers import management
from openprogram.worker.client import read_worker_status


def read_status_with_worker() -> management.RecordReplayStatus:
    """Say what the next start will do, and what the running worker does.

    Returns:
        The status of the settings; with the worker's own, and whether it has to be started again
        before they hold for it, where one runs and answers.
    """
    found = management.read_status()
    worker = read_worker_status()
    if worker is None:
        return found
    used = (worker.mode, worker.path, worker.ignore)
    wanted: tuple[str, str | None, list[str]] = ("blocked", None, [])
    if found.valid:
        path = None if found.mode == "off" else found.path
        wanted = (found.mode, path, list(found.ignore) if found.mode == "replay" else [])
    document = {name: getattr(worker, name) for name in worker.__struct_fields__}
    return replace(found, restart_required=used != wanted, worker=document)
