"""Every test lives in a home of its own and cannot reach the world."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pathlib import Path

_LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})

# A change must not fail for an example that another change would have met: where changes are
# judged, the examples are always the same; everywhere else they are new ones each time.
settings.register_profile("judging", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("judging")


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a temporary HOME and state directory, and return the latter (not yet made)."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    for name in list(os.environ):
        if name.startswith(("OPENPROGRAM_", "AGENTIC_", "ANTHROPIC_", "OPENAI_", "CODEX_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("OPENPROGRAM_STATE_DIR", str(home / "state"))
    return home / "state"


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that would leave this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: tuple[Any, ...] | str | bytes) -> None:
        if isinstance(address, tuple) and address[0] not in _LOOPBACK_HOSTS:
            message = f"a test tried to reach {address!r}"
            raise AssertionError(message)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
