"""Every test lives in a home of its own and cannot reach the world."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pathlib import Path

_LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})

# A change must not fail for an example that another change would have met: where changes are
# judged, the examples are always the same; everywhere else they are new ones each time. How long
# an example takes is for the benchmarks to say.
settings.register_profile(
    "judging",
    derandomize=bool(os.environ.get("CI")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("judging")

_OF_THE_USER = (
    *("OPENPROGRAM_", "AGENTIC_", "ANTHROPIC_", "OPENAI_", "CODEX_", "GOOGLE_", "GEMINI_"),
    *("OPENROUTER_", "GROQ_", "DEEPSEEK_", "OLLAMA_", "LMSTUDIO_", "VLLM_"),
    *("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PYTEST_ADDOPTS", "PYTEST_PLUGINS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
)
"""How the variables begin that would change what a program of a test does."""


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a temporary HOME and state directory, and return the latter (not yet made)."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    for name in list(os.environ):
        if name.upper().startswith(_OF_THE_USER):
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
