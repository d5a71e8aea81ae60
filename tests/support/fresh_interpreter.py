"""Runs code in an interpreter of its own, for state that a process has only once."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

_SUPPORT = Path(__file__).parent
_LONGEST_SECONDS = 60
# Forking with threads is what some of this code is about; newer interpreters warn of it.
_WARNINGS = ("-W", "error", "-W", "ignore:This process:DeprecationWarning")


def run_fresh(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code with warnings as errors, and return how it ended; `tests/support` can be imported.

    It writes no byte code, so that nothing on disk changes but by the code's own doing.
    """
    return subprocess.run(
        [sys.executable, *_WARNINGS, "-c", textwrap.dedent(code), *arguments],
        env={
            **os.environ,
            "PYTHONPATH": str(_SUPPORT),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LONGEST_SECONDS,
        check=False,
    )


def output_of(code: str, *arguments: str, **environment: str) -> str:
    """Run code that must end well, and return what it printed."""
    done = run_fresh(code, *arguments, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
