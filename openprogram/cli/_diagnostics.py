"""The only writer of standard error, and the map from error classes to exit codes.

An error is one line: place, rule, remedy. A traceback is shown only where somebody asked for it
with `OPENPROGRAM_DEBUG=1`.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from dataclasses import dataclass
from typing import cast

import typer

from openprogram import errors
from openprogram.cli._mismatches import explain_mismatch
from openprogram.cli._output import paint

DONE = 0
"""The command did what it says."""
FAILED = 1
"""It could not, or it found what it looks for: an invalid recording, a mismatch."""
WRONG_USAGE = 2
"""The words on the command line do not fit, or a confirmation is missing."""
UNREADABLE = 3
"""What was to be compared cannot be read: 1 means that it differs."""
INTERRUPTED = 130
"""Ctrl-C."""

_MESSAGE_LIMIT = 2000
_DEBUG_VARIABLE = "OPENPROGRAM_DEBUG"


class UsageError(errors.OpenProgramError):
    """The words on the command line do not fit, or one is missing, such as `--yes`."""


class NotConfirmedError(errors.OpenProgramError):
    """A person was asked, and did not say yes; nothing was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an error means to the caller of a command."""

    exit_code: int
    """The process's exit code."""
    code: str
    """A stable word for the JSON document."""


VERDICTS: tuple[tuple[type[BaseException], Verdict], ...] = (
    (KeyboardInterrupt, Verdict(exit_code=INTERRUPTED, code="interrupted")),
    (UsageError, Verdict(exit_code=WRONG_USAGE, code="usage")),
    (NotConfirmedError, Verdict(exit_code=FAILED, code="not_confirmed")),
    (errors.ReplayMismatch, Verdict(exit_code=FAILED, code="replay_mismatch")),
    (errors.RecordedCallInterrupted, Verdict(exit_code=FAILED, code="recorded_call_interrupted")),
    (errors.RecordingNotFoundError, Verdict(exit_code=FAILED, code="recording_not_found")),
    (errors.RecordingExistsError, Verdict(exit_code=FAILED, code="recording_exists")),
    (errors.RecordingActiveError, Verdict(exit_code=FAILED, code="recording_active")),
    (errors.RecordingError, Verdict(exit_code=FAILED, code="recording_failed")),
    (errors.InvalidSelectorError, Verdict(exit_code=FAILED, code="invalid_selector")),
    (errors.FileLockedError, Verdict(exit_code=FAILED, code="file_locked")),
    (errors.UnsafeFileError, Verdict(exit_code=FAILED, code="unsafe_file")),
    (errors.ConfigError, Verdict(exit_code=FAILED, code="invalid_settings")),
    (errors.CredentialMissingError, Verdict(exit_code=FAILED, code="credential_missing")),
    (errors.ProviderBlockedError, Verdict(exit_code=FAILED, code="provider_blocked")),
    (errors.ProviderError, Verdict(exit_code=FAILED, code="provider_failed")),
    (errors.WorkerError, Verdict(exit_code=FAILED, code="worker_failed")),
    (errors.AgentError, Verdict(exit_code=FAILED, code="agent_failed")),
    (errors.OpenProgramError, Verdict(exit_code=FAILED, code="failed")),
    (typer.TyperException, Verdict(exit_code=WRONG_USAGE, code="usage")),
    (OSError, Verdict(exit_code=FAILED, code="system_error")),
    (BaseException, Verdict(exit_code=FAILED, code="defect")),
)
"""The map, first fit wins: special classes stand before their bases."""


def verdict_on(error: BaseException) -> Verdict:
    """Look an error up in the map.

    Args:
        error: Whatever a command raised.

    Returns:
        Its exit code and its word.

    Example:
        >>> verdict_on(UsageError("needs --yes")).exit_code
        2
    """
    return next(verdict for type_, verdict in VERDICTS if isinstance(error, type_))


def describe(error: BaseException) -> str:
    """Put an error into words for a person.

    Args:
        error: Whatever a command raised.

    Returns:
        Lines of printable text; one, except for a mismatch with its values and hints.
    """
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, errors.ReplayMismatch):
        return "\n".join(explain_mismatch(error))
    if isinstance(error, errors.OpenProgramError):
        return _bounded(str(error))
    if isinstance(error, typer.TyperException):
        return _describe_usage(error)
    if isinstance(error, OSError):
        return _describe_system_error(error)
    return (
        f"a defect of this program: {type(error).__name__}: {_bounded(str(error))}; "
        f"please report it with what {_DEBUG_VARIABLE}=1 shows, after taking private content out"
    )


def _describe_usage(error: typer.TyperException) -> str:
    message = _usage_message(error)
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "openprogram"
    joint = "" if message.endswith("?") else ";"
    return f"{message[:1].lower()}{message[1:]}{joint} see '{command} --help'"


def _usage_message(error: typer.TyperException) -> str:
    unknown_option = getattr(error, "option_name", None)
    close = getattr(error, "possibilities", None)
    if unknown_option is not None and close:
        return f"No such option {errors.quoted(unknown_option)}; did you mean '{close[0]}'?"
    return _bounded(error.format_message().rstrip(".").replace("\n\t", " "))


def _describe_system_error(error: OSError) -> str:
    reason = (error.strerror or type(error).__name__).lower()
    if error.filename is None:
        return _bounded(reason)
    return f"{errors.quoted(os.fsdecode(cast('str', error.filename)))}: {_bounded(reason)}"


def _bounded(text: str) -> str:
    text = errors.ascii_if_unprintable(text)
    return text if len(text) <= _MESSAGE_LIMIT else text[:_MESSAGE_LIMIT] + "..."


def to_json(error: BaseException) -> dict[str, object]:
    """Put an error into the one JSON document of a `--json` command that failed.

    Args:
        error: Whatever a command raised.

    Returns:
        An object with the one field `error`.
    """
    fields: dict[str, object] = {
        "code": verdict_on(error).code,
        "reason": describe(error).replace("\n", "; "),
        "line_number": None,
        "call_index": None,
    }
    match error:
        case errors.RecordingFileError():
            fields["code"] = error.code
            fields["reason"] = error.reason
            fields["line_number"] = error.line_number
            fields["call_index"] = error.call_index
        case errors.ReplayMismatch():
            from openprogram.providers.comparison import MISSING  # late: it is loaded by then

            fields["call_index"] = error.call_index
            fields["field_path"] = error.field_path
            sides = {"recorded": error.recorded, "incoming": error.incoming}
            fields |= {side: value for side, value in sides.items() if value is not MISSING}
        case errors.RecordedCallInterrupted():
            fields["call_index"] = error.call_index
            fields["outcome"] = error.outcome
        case errors.WorkerError():
            fields["code"] = _code_in_worker(error)
        case _:
            pass
    return {"error": fields}


def _code_in_worker(error: errors.WorkerError) -> str:
    """Give the word of the error that the worker met: it answers with the name of the class."""
    met = getattr(errors, error.code, None)
    if not (isinstance(met, type) and issubclass(met, errors.OpenProgramError)):
        return error.code
    return next(verdict.code for type_, verdict in VERDICTS if issubclass(met, type_))


def report(error: BaseException) -> Verdict:
    """Tell the person about an error.

    Args:
        error: Whatever a command raised.

    Returns:
        Its exit code and its word.
    """
    if os.environ.get(_DEBUG_VARIABLE):
        for line in "".join(traceback.format_exception(error)).splitlines():
            say(line)
    head, *rest = describe(error).split("\n")
    say_error(head)
    for line in rest:
        say(line, style=_style_of(line))
    return verdict_on(error)


def _style_of(line: str) -> str | None:
    """Light what differs in a mismatch."""
    marks = {"recorded": "green", "incoming": "red", "^": "dim"}
    return next((style for mark, style in marks.items() if line.strip().startswith(mark)), None)


def say_error(text: str) -> None:
    """Write one line that starts with `error:`.

    Args:
        text: Any text; what a terminal could act on is escaped.
    """
    _write_marked("error:", "red", text)


def say(text: str, *, style: str | None = None) -> None:
    """Write one line beside the results.

    Args:
        text: Any text; what a terminal could act on is escaped.
        style: A style of `_output.paint`.
    """
    text = errors.ascii_if_unprintable(text)
    _write(paint(text, style, stream=sys.stderr) if style else text)


def warn(text: str) -> None:
    """Write one line that starts with `warning:`.

    Args:
        text: Any text; what a terminal could act on is escaped.
    """
    _write_marked("warning:", "yellow", text)


def draw(text: str) -> None:
    """Write what moves on the line that the cursor is in, such as progress.

    Args:
        text: Our own words and escape codes, nothing from outside.
    """
    _write(text, end="")


def ask(question: str) -> str | None:
    """Ask a person for one line; the question goes to standard error, results stay clean.

    Args:
        question: What to type; escaped like any other text.

    Returns:
        The line without its end; None on Ctrl-D or a closed standard input.
    """
    _write(errors.ascii_if_unprintable(question), end="")
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        _write("")
    return line.rstrip("\r\n") if line else None


def _write_marked(mark: str, style: str, text: str) -> None:
    _write(f"{paint(mark, style, stream=sys.stderr)} {errors.ascii_if_unprintable(text)}")


def _write(text: str, *, end: str = "\n") -> None:
    try:
        sys.stderr.write(text + end)
        sys.stderr.flush()
    except (OSError, ValueError):
        # Nobody listens: there is no better place to say so, and the exit code still speaks.
        return


class _LineHandler(logging.Handler):
    """Writes log records as one escaped line each, never with a traceback.

    Why calls are blocked is not written: the command that would call ends with that error itself.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record.

        Args:
            record: What was logged.
        """
        values = record.args if isinstance(record.args, tuple) else ()
        if not any(isinstance(value, errors.ProviderBlockedError) for value in values):
            warn(_bounded(record.getMessage()))


def show_log_warnings() -> None:
    """Show what the library logs from WARNING up, as lines on standard error."""
    logger = logging.getLogger("openprogram")
    logger.handlers = [_LineHandler(logging.WARNING)]
