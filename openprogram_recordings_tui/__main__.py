"""`openprogram recordings tui`: looks whether a screen can be drawn, and runs the app."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from openprogram_recordings_tui.terminal import reason_to_refuse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_REFUSED = 2
_FAILED = 1
_PLAIN_COLUMNS = 105
"""What a row of the plain table takes besides the name, in cells: nothing is left out of it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the terminal UI.

    Args:
        argv: The words after the command; those of the process when None.

    Returns:
        0 after leaving it, 1 when a recording or report is not there, 2 when it cannot run here or
        the words are wrong, 128 and the signal's number when a signal ended it.
    """
    try:
        words = _parser().parse_args(argv)
    except SystemExit as usage:  # argparse has said why
        return int(usage.code or 0)
    reason = reason_to_refuse(os.environ)
    if reason is not None:
        _say(f"openprogram recordings tui: {reason}; here is the plain table")
        _print_table()
        return _REFUSED
    return _run(words)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="openprogram recordings tui",
        description="Look into recordings and mismatches in the terminal.",
        allow_abbrev=False,
    )
    parser.add_argument("selector", nargs="?", metavar="SELECTOR", help="a recording to open")
    parser.add_argument("--call", type=int, metavar="N", help="open this call of it, from 0")
    parser.add_argument(
        "--path", default="", metavar="P", help="open the request at this field of the call"
    )
    parser.add_argument("--mismatch", metavar="ID", help="open this mismatch report")
    parser.add_argument("--read-only", action="store_true", help="take away every key that writes")
    return parser


def _run(words: argparse.Namespace) -> int:
    # late: a refusal must not wait for the toolkit
    from openprogram.errors import OpenProgramError
    from openprogram.providers.management import resolve_selector
    from openprogram_recordings_tui.app import RecordingsApp

    recording: Path | None = None
    try:
        if words.selector is not None:
            recording = resolve_selector(words.selector).path
    except OpenProgramError as error:
        _say(f"openprogram recordings tui: {error}")
        return _FAILED
    app = RecordingsApp(
        recording=recording,
        call_index=words.call,
        field=words.path,
        mismatch_id=words.mismatch,
        is_read_only=words.read_only,
        is_colourless="NO_COLOR" in os.environ,
    )
    app.run()
    return app.return_code or 0


def _print_table() -> None:
    """Write the table of recordings without any drawing."""
    # late: only a refusal needs it here
    from openprogram.errors import OpenProgramError
    from openprogram.providers.management import list_recordings
    from openprogram_recordings_tui.app import utc_now
    from openprogram_recordings_tui.cells import width_of
    from openprogram_recordings_tui.presentation.recordings import RecordingLines, name_of
    from openprogram_recordings_tui.text import clean

    try:
        lines = RecordingLines(list_recordings(), utc_now())
    except (OSError, OpenProgramError) as error:
        _say(f"openprogram recordings tui: {error}")
        return
    width = _PLAIN_COLUMNS + max((width_of(name_of(s)) for s in lines.summaries), default=0)
    heading = lines.heading(width)
    for line in (heading, *(lines.line(i, width) for i in range(lines.line_count))):
        sys.stdout.write("".join(clean(span.text) for span in line).rstrip() + "\n")


def _say(words: str) -> None:
    from openprogram_recordings_tui.text import clean  # late: only a refusal needs it here

    sys.stderr.write(clean(words) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
