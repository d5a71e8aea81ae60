"""Recordings written by hand, so that these tests rest on the format alone."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from openprogram.providers import types as t

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Snapshot = Callable[[], dict[str, tuple[int, int, int, int]]]

DAY_SECONDS = 86_400


class WriteRecording(Protocol):
    """Writes a recording and says where."""

    def __call__(
        self,
        name: str,
        *,
        folder: Path | None = None,
        outcomes: tuple[str, ...] = ("complete",),
        header: dict[str, Any] | None = None,
        tail: str = "",
        days_old: float = 0,
    ) -> Path:
        """Write `<folder>/<name>.jsonl`, 0600; the managed root is the default folder."""
        ...


def _call_rows(call_index: int, outcome: str) -> list[dict[str, Any]]:
    names: dict[str, Any] = {"api": "scripted", "provider": "some-vendor"}
    model = t.Model(id="some-model", name="Some Model", base_url="https://vendor.test", **names)
    context = t.Context(messages=[t.UserMessage(content="private words", timestamp=1)])
    message = t.AssistantMessage(
        content=[t.TextContent(text="an answer")],
        model="some-model",
        usage=t.Usage(input=3, output=2, total_tokens=5, cost=t.UsageCost(total=0.25)),
        timestamp=2,
        **names,
    )
    event = t.EventDone(reason="stop", message=message)
    return [
        {
            "type": "request",
            "call_index": call_index,
            "model": t.to_wire(model),
            "context": t.to_wire(context),
            "options": t.to_wire(t.SimpleStreamOptions()),
        },
        {"type": "event", "call_index": call_index, "event_index": 0, "event": t.to_wire(event)},
        {"type": "call_end", "call_index": call_index, "event_count": 1, "outcome": outcome},
    ]


@pytest.fixture
def root(state_dir: Path) -> Path:
    """The managed root, empty."""
    folder = state_dir / "recordings"
    folder.mkdir(parents=True)
    state_dir.chmod(0o700)
    folder.chmod(0o700)
    return folder


@pytest.fixture
def write_recording(root: Path) -> WriteRecording:
    """A function that writes a recording."""

    def write(
        name: str,
        *,
        folder: Path | None = None,
        outcomes: tuple[str, ...] = ("complete",),
        header: dict[str, Any] | None = None,
        tail: str = "",
        days_old: float = 0,
    ) -> Path:
        metadata = {
            "recording_id": name,
            "created_at": "2026-08-11T13:45:02Z",
            "redaction_version": 1,
        }
        rows: list[dict[str, Any]] = [
            {"type": "header", "format_version": 1} | (metadata if header is None else header)
        ]
        for call_index, outcome in enumerate(outcomes):
            rows += _call_rows(call_index, outcome)
        path = (folder or root) / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows) + tail)
        path.chmod(0o600)
        written_at = time.time() - days_old * DAY_SECONDS
        os.utime(path, (written_at, written_at))
        return path

    return write


@pytest.fixture
def snapshot(state_dir: Path) -> Snapshot:
    """A function that says everything in the state that a careless reader could change."""

    def take() -> dict[str, tuple[int, int, int, int]]:
        found = {path: path.lstat() for path in [state_dir, *state_dir.rglob("*")]}
        return {
            str(path): (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns)
            for path, status in found.items()
        }

    return take
