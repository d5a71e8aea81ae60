"""Shell completion of what only the disk knows; it never writes and never fails."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from openprogram.errors import OpenProgramError


def complete_recording_id(ctx: Any, incomplete: str) -> list[str]:
    """Offer the IDs of the managed recordings.

    Args:
        ctx: The command line so far; its `--profile` counts.
        incomplete: The beginning of the word.

    Returns:
        The IDs that begin so; none when the directory cannot be read.
    """
    from openprogram import paths  # late: help needs none of it

    profile = ctx.find_root().params.get("profile")
    if profile:
        os.environ["OPENPROGRAM_PROFILE"] = profile
    with contextlib.suppress(OpenProgramError, OSError):
        names = sorted(entry.name for entry in os.scandir(paths.recordings_dir()))
        stems = [name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")]
        return [stem for stem in stems if stem.startswith(incomplete) and stem.isprintable()]
    return []
