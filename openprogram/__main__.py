"""`python -m openprogram`, and the console script of the same name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The words after the program's name; those of this process when not given.

    Returns:
        The exit code.
    """
    try:
        # Loaded here, so that Ctrl-C while it loads is as quiet as later.
        from openprogram.cli.app import run

        return run(argv)
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
