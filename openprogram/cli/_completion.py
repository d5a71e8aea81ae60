"""Shell completion of what only the disk knows; it never writes and never fails."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from openprogram.errors import InvalidSelectorError, OpenProgramError

if TYPE_CHECKING:
    from collections.abc import Iterator


def complete_recording_id(ctx: Any, incomplete: str) -> list[str]:
    """Offer the IDs of the managed recordings.

    Args:
        ctx: The command line so far; its `--profile` counts.
        incomplete: The beginning of the word.

    Returns:
        The IDs that begin so; none when the directory cannot be read. A file whose name cannot be
        an ID is not offered: a shell would put it on the person's command line unquoted.
    """
    use_profile_of(ctx)
    with contextlib.suppress(OpenProgramError, OSError):
        return [name for name in _recording_ids() if name.startswith(incomplete)]
    return []


def use_profile_of(ctx: Any) -> None:
    """Let the `--profile` of a command line that is being typed count.

    Args:
        ctx: The command line so far.
    """
    profile = ctx.find_root().params.get("profile")
    if profile:
        os.environ["OPENPROGRAM_PROFILE"] = profile


def _recording_ids() -> Iterator[str]:
    # late: help needs none of it
    from openprogram import paths
    from openprogram.providers.file_safety import SUFFIX, validate_recording_id

    for name in sorted(entry.name for entry in os.scandir(paths.recordings_dir())):
        if name.endswith(SUFFIX):
            with contextlib.suppress(InvalidSelectorError):
                yield validate_recording_id(name)
