"""Small sound recordings, written row by row as the format says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    WriteRecording = Callable[..., "Path"]

_MODEL: dict[str, Any] = {
    "id": "sample-1",
    "name": "Sample 1",
    "api": "anthropic-messages",
    "provider": "anthropic",
    "base_url": "https://api.example.test",
}


def _message(text: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "sample-1",
        "usage": {"input": 12, "output": 3, "total_tokens": 15, "cost": {"total": 0.0123}},
        "stop_reason": "stop",
        "timestamp": 1_786_000_000_000,
    }


def _rows(name: str, prompts: tuple[str, ...], created_at: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "type": "header",
            "format_version": 1,
            "recording_id": name,
            "created_at": created_at,
            "redaction_version": 1,
        }
    ]
    for index, prompt in enumerate(prompts):
        user = {"role": "user", "content": prompt, "timestamp": 1_786_000_000_000}
        done = {"type": "done", "reason": "stop", "message": _message(f"echo:{prompt}")}
        rows += [
            {
                "type": "request",
                "call_index": index,
                "model": _MODEL,
                "context": {"system_prompt": None, "messages": [user], "tools": None},
                "options": {},
            },
            {"type": "event", "call_index": index, "event_index": 0, "event": done},
            {"type": "call_end", "call_index": index, "event_count": 1, "outcome": "complete"},
        ]
    return rows


@pytest.fixture
def recordings_dir(state_dir: Path) -> Path:
    directory = state_dir / "recordings"
    directory.mkdir(parents=True, mode=0o700)
    state_dir.chmod(0o700)
    return directory


@pytest.fixture
def write_recording(recordings_dir: Path) -> WriteRecording:
    def write(
        name: str,
        *prompts: str,
        created_at: str = "2026-08-11T13:45:02Z",
        directory: Path = recordings_dir,
        tail: str = "",
    ) -> Path:
        path = directory / f"{name}.jsonl"
        rows = _rows(name, prompts or ("hi",), created_at)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        path.write_text(text + tail, encoding="utf-8")
        path.chmod(0o600)
        return path

    return write
