"""Resolve the ranges of pyproject.toml into lock/: one file a level, for every system, with hashes.

Each level holds the one before it, at the same versions; `docs` stands beside `dev`, and shares its
versions where both need a package. Run it with `make lock`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
LEVELS = {
    "run": ["--all-extras", "--group", "backend"],
    "test": ["--all-extras", "--group", "backend", "--group", "test"],
    "dev": ["--all-extras", "--group", "dev"],
    "docs": ["--group", "backend", "--group", "docs"],
}


def main() -> int:
    """Write every lock file, the widest first, so that the others take their versions from it.

    Returns:
        0, or the resolver's exit code.
    """
    settled: list[str] = []
    for level in reversed(LEVELS):
        target = f"lock/{level}.txt"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "pyproject.toml"),
                *("--universal", "--generate-hashes", "--python-version", "3.11", "--no-annotate"),
                *("--no-header", "--upgrade", "--output-file", target),
                *LEVELS[level],
                *settled,
            ],
            cwd=CHECKOUT,
            check=False,
        )
        if done.returncode:
            return done.returncode
        settled = ["--constraints", target]
    return 0


if __name__ == "__main__":
    sys.exit(main())
