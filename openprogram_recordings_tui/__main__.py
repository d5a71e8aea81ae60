"""`openprogram recordings tui`: looks whether a screen can be drawn, and runs the app."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from openprogram_recordings_tui.terminal import reason_to_refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from openprogram.providers.mismatches import MismatchReport

_REFUSED = 2
_FAILED = 1
_LONGEST_INDEX = 9
_SWITCH_SECONDS = 0.001
_PLAIN_COLUMNS = 105
"""What a row of the plain table takes besides the name, in cells: nothing is left out of it."""


def main(argv: Sequence[str] | None = None, *, write_list: Callable[[], None] | None = None) -> int:
    """Run the terminal UI.

    Args:
        argv: The words after the command; those of the process when None.
        write_list: Writes the list of recordings where no screen can be drawn; a table of the UI's
            own is written when None.

    Returns:
        0 after leaving it, 1 when a recording or report is not there, 2 when it cannot run here or
        the words are wrong, 128 and the signal's number when a signal ended it.
    """
    try:
        words = _read_words(argv)
    except SystemExit as usage:  # argparse has said why
        return int(usage.code or 0)
    reason = reason_to_refuse(os.environ)
    if reason is not None:
        _say(f"openprogram recordings tui: {reason}; here is the list")
        if write_list is None:
            _print_table_if_read()
        else:
            write_list()
        return _REFUSED
    return _run(words)


class _Parser(argparse.ArgumentParser):
    """Says in one harmless line what is wrong with the words."""

    def error(self, message: str) -> NoReturn:
        """Refuse the words; argparse calls this."""
        _say(f"error: {message}; see '{self.prog} --help'")
        raise SystemExit(_REFUSED)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="openprogram recordings tui",
        description="Look into recordings and mismatches in the terminal.",
        allow_abbrev=False,
    )
    parser.add_argument("selector", nargs="?", metavar="SELECTOR", help="a recording to open")
    parser.add_argument(
        "--call", type=_call_index, metavar="N", help="open this call of it, from 0"
    )
    parser.add_argument(
        "--path", default="", metavar="P", help="open the request at this field of the call"
    )
    parser.add_argument("--mismatch", metavar="ID", help="open this mismatch report")
    parser.add_argument("--read-only", action="store_true", help="take away every key that writes")
    return parser


def _read_words(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = _parser()
    words = parser.parse_args(argv)
    if words.selector is None and (words.call is not None or words.path):
        option = "--path" if words.call is None else "--call"
        parser.error(f"{option} needs the SELECTOR of a recording beside it")
    return words


def _call_index(word: str) -> int:
    """Read the index of a call, as argparse wants it."""
    if not (word.isascii() and word.isdigit() and len(word) <= _LONGEST_INDEX):
        raise argparse.ArgumentTypeError("give the index of a call: 0, 1, 2, ...")
    return int(word)


def _run(words: argparse.Namespace) -> int:
    # late: a refusal must not wait for the toolkit
    from openprogram.errors import OpenProgramError
    from openprogram_recordings_tui.app import RecordingsApp

    try:
        recording = _recording_named(words)
        mismatch = None if words.mismatch is None else _report_named(words.mismatch)
    except (OSError, OpenProgramError) as error:
        _say(f"error: {error}")
        return _FAILED
    app = RecordingsApp(
        recording=recording,
        call_index=words.call,
        field=words.path,
        mismatch=mismatch,
        is_read_only=words.read_only,
        is_colourless="NO_COLOR" in os.environ,
    )
    # A thread that reads gives way to a key within a millisecond, not within five.
    sys.setswitchinterval(_SWITCH_SECONDS)
    for name in ("COLUMNS", "LINES"):
        # The toolkit believes these before the terminal, and nobody renews them at a resize.
        os.environ.pop(name, None)
    app.run()
    return app.return_code or 0


def _recording_named(words: argparse.Namespace) -> Path | None:
    """Find the recording to open, with the call and the field to begin at."""
    if words.selector is None:
        return None
    from openprogram_recordings_tui.sources.places import find_place  # late, as above

    return find_place(words.selector, words.call, words.path)


def _report_named(report_id: str) -> MismatchReport:
    from openprogram.providers.mismatches import read_mismatch_report  # late, as above

    return read_mismatch_report(report_id)


def _print_table_if_read() -> None:
    """Write the table; that nobody reads it to its end is no failure."""
    try:
        _print_table()
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would be written at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
        _say(f"error: {error}")
        return
    if not lines.line_count:
        sys.stdout.write("no recordings\n")
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
