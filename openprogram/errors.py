"""Every deliberate error of the project; imports nothing.

OpenProgramError                          base; its text never holds a secret or a payload
  ConfigError                             .path .key
  UnsafeFileError                         .path .rule .remedy
  FileLockedError                         .path
  InvalidSelectorError                    .selector .rule
  MismatchReportError                     .path .reason
  RecordingError                          .path
    RecordingFileError                    .code .reason .remedy .line_number .call_index
    RecordingNotFoundError                .reason; no such recording
    RecordingExistsError                  the name is taken
    RecordingActiveError                  the settings use it
    RecordingWriteError                   .reason; a row could not be written whole
  ReplayMismatch        (AssertionError)  .call_index .event_index .field_path .recorded .incoming
                                          .hint
  RecordedCallInterrupted                 .call_index .outcome .path
  ProviderError
    ProviderNotRegisteredError            .api
    ProviderRuntimeInitializationError    .stage .cause_type .cause_message
    ProviderBlockedError                  .reason .remedy
    CredentialMissingError                .provider
    ModelRequestError                     .reason .is_retryable .http_status .retry_after_seconds
  WorkerError                             .code; a worker cannot be reached or go on
  AgentError                              .rule .remedy; the loop cannot go on
    ToolError                             a tool refused or failed; the model reads its text
  FlightError                             a tape, trace or boundary cannot be used as it is
    TraceFormatError                      .path .line_number .reason
ForbiddenValue          (BaseException)   .place .rule; a secret would have been written
Divergence              (BaseException)   replayed code asked something else
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SHOWN_CHARACTERS = 160
_MOST_NAMES = 20
_SHOWN_PATH_CHARACTERS = 400
_CHARACTERS_BEFORE = 24
"""How much of two long texts is shown before the place where they part."""

_STOPPED = (
    "its writer was stopped, or still writes; see what is there with 'openprogram recordings "
    "show', or record under a new name"
)
_DAMAGED = (
    "'openprogram recordings show' gives what stands before it; use an undamaged copy, or record "
    "under a new name"
)
_REMEDIES = {
    "empty_file": "delete it, and record under a new name",
    "truncated_row": _STOPPED,
    "missing_call_end": _STOPPED,
    "missing_header": "this is no recording; name another file",
}
"""What to do about an unsound file, where its code says it. All others are damaged."""
_SAID_BY_REASON = frozenset(
    {"unreadable", "symlink", "not_a_regular_file", "unsafe_permissions", "unsupported_version"}
)
"""The codes whose reasons name the remedy themselves: it differs from file to file."""


def quoted(value: object, *, limit: int = _SHOWN_CHARACTERS) -> str:
    r"""Show a value from outside inside a message: escaped, and never longer than `limit`.

    Args:
        value: Any value; text is shown as a Python literal, so that no control character survives.
        limit: The most characters of the literal that are shown.

    Returns:
        One printable line.

    Example:
        >>> quoted("a\x1b[2J")
        "'a\\x1b[2J'"
        >>> quoted("x" * 300, limit=12)
        "'xxxxxxx... (302 characters)"
    """
    text = ascii_if_unprintable(repr(value))
    if len(text) <= limit:
        return text
    return f"{text[: max(limit - 4, 1)]}... ({len(text):,} characters)"


def ascii_if_unprintable(text: str) -> str:
    r"""Escape what a terminal could act on, and keep the rest as it is.

    Args:
        text: Any text, lone surrogates included.

    Returns:
        The text with each character that is not printable written as an escape.

    Example:
        >>> ascii_if_unprintable("Köln\u202e")
        'Köln\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _told_apart(recorded: Any, incoming: Any) -> str:
    """Show two values in a line; of long texts, the place where they part."""
    start = 0
    if isinstance(recorded, str) and isinstance(incoming, str):
        shortest = min(len(recorded), len(incoming))
        if max(len(recorded), len(incoming)) > _SHOWN_CHARACTERS // 2:
            pairs = zip(recorded, incoming, strict=False)
            parted = next((at for at, (x, y) in enumerate(pairs) if x != y), shortest)
            start = max(0, parted - _CHARACTERS_BEFORE)
    if not start:
        return f"recorded {quoted(recorded)}, incoming {quoted(incoming)}"
    return (
        f"from character {start + 1:,} on recorded {quoted(recorded[start:])}, "
        f"incoming {quoted(incoming[start:])}"
    )


def _short_path(field_path: str) -> str:
    """Show a field path, whose keys may be as long as any text."""
    path = ascii_if_unprintable(field_path[: _SHOWN_PATH_CHARACTERS + 1])
    if len(path) <= _SHOWN_PATH_CHARACTERS:
        return path
    return f"{path[:_SHOWN_PATH_CHARACTERS]}... ({len(field_path):,} characters)"


class OpenProgramError(Exception):
    """The base of every deliberate error: catch it to catch them all."""


class ConfigError(OpenProgramError):
    """The settings cannot be used as they are; the file is left untouched."""

    def __init__(self, message: str, *, path: Path | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.path = path
        """The settings file."""
        self.key = key
        """The dotted key at fault, where one is."""


class UnsafeFileError(OpenProgramError):
    """A file breaks an ownership or link rule, and was not touched."""

    def __init__(self, path: Path, rule: str, *, remedy: str) -> None:
        super().__init__(f"{quoted(str(path))}: {rule}; {remedy}")
        self.path = path
        """The file."""
        self.rule = rule
        """The rule it breaks, in words."""
        self.remedy = remedy
        """What to do about it, in words."""


class FileLockedError(OpenProgramError):
    """Another process holds the file's lock; try again when it is done."""

    def __init__(self, path: Path, *, holder: str = "another process") -> None:
        super().__init__(f"{quoted(str(path))}: in use by {holder}; try again when it is done")
        self.path = path
        """The file."""


class InvalidSelectorError(OpenProgramError):
    """A word given as a recording's ID cannot be one."""

    def __init__(self, selector: str, rule: str) -> None:
        super().__init__(f"recording {quoted(selector)}: {rule}")
        self.selector = selector
        """The word as given."""
        self.rule = rule
        """The rule it breaks, in words."""


class MismatchReportError(OpenProgramError):
    """A report of a failed replay is not there, is none, or could not be kept."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{quoted(str(path))}: {reason}")
        self.path = path
        """The file."""
        self.reason = reason
        """The rule it breaks, in words."""


class RecordingError(OpenProgramError):
    """Something about one recording file."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path
        """The recording."""


RecordingErrorCode: TypeAlias = Literal[
    "unreadable",
    "symlink",
    "not_a_regular_file",
    "unsafe_permissions",
    "empty_file",
    "truncated_row",
    "invalid_utf8",
    "invalid_json",
    "not_an_object",
    "duplicate_key",
    "non_finite_number",
    "missing_header",
    "duplicate_header",
    "unsupported_version",
    "unknown_row_type",
    "missing_field",
    "bad_call_index",
    "unknown_call",
    "call_ended",
    "duplicate_call_end",
    "bad_event_index",
    "invalid_event",
    "wrong_event_count",
    "bad_outcome",
    "missing_call_end",
]
"""Why a recording is not sound; of two faults in one row the earlier word is reported."""


class RecordingFileError(RecordingError):
    """A recording is not sound; the strict reader says where and why.

    The codes are the closed set `RecordingErrorCode`.
    """

    def __init__(
        self,
        path: Path,
        code: RecordingErrorCode,
        reason: str,
        line_number: int | None = None,
        call_index: int | None = None,
    ) -> None:
        where = f", line {line_number}" if line_number is not None else ""
        remedy = "" if code in _SAID_BY_REASON else _REMEDIES.get(code, _DAMAGED)
        joint = "; " if remedy else ""
        super().__init__(f"{quoted(str(path))}{where}: {reason} ({code}){joint}{remedy}", path=path)
        self.code: RecordingErrorCode = code
        """A stable word."""
        self.reason = reason
        """The rule that was broken, in words; any excerpt of the file is bounded and escaped."""
        self.remedy = remedy
        """What to do about it, in words; empty where the reason says so already."""
        self.line_number = line_number
        """The physical line, from 1, where one is at fault."""
        self.call_index = call_index
        """The call, where one is at fault."""


class RecordingNotFoundError(RecordingError):
    """No such recording; `openprogram recordings list` shows those that are there."""

    def __init__(self, path: Path, *, near: Iterable[str] = ()) -> None:
        names = " or ".join(quoted(name) for name in near)
        guess = f"did you mean {names}? " if names else ""
        reason = f"no such recording; {guess}see 'openprogram recordings list'"
        super().__init__(f"{quoted(str(path))}: {reason}", path=path)
        self.reason = reason
        """Rule and remedy without the place, in words."""


class RecordingExistsError(RecordingError):
    """The name is taken; choose another."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{quoted(str(path))}: there already; choose another name", path=path)


class RecordingActiveError(RecordingError):
    """The settings use this recording; run `openprogram recordings off` first."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{quoted(str(path))}: the settings use it; run 'openprogram recordings off' first",
            path=path,
        )


class RecordingWriteError(RecordingError):
    """A row could not be written whole; what stood before it is intact."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{quoted(str(path))}: {reason}", path=path)
        self.reason = reason
        """What went wrong, in words."""


class ReplayMismatch(OpenProgramError, AssertionError):  # noqa: N818 - the contract's public name
    """A later run asked something else than the recorded one, at exactly one named field.

    Raised before anything is served; the recorded call is not consumed, so a corrected retry is
    compared with the same call.
    """

    def __init__(
        self,
        call_index: int,
        field_path: str,
        recorded: Any,
        incoming: Any,
        event_index: int | None = None,
        *,
        hint: str = "",
    ) -> None:
        event = "" if event_index is None else f", event {event_index}"
        text = (
            f"replay mismatch at call {call_index}{event}, "
            f"field {_short_path(field_path)}: "
            f"{_told_apart(recorded, incoming)}"
        )
        super().__init__(text + (f"\n{hint}" if hint else ""))
        self.call_index = call_index
        """The recorded call that was expected next."""
        self.field_path = field_path
        """Where the two differ first, such as `context.messages[2].content[0].text`."""
        self.recorded = recorded
        """What the recording holds there; `comparison.MISSING` when it has no such field."""
        self.incoming = incoming
        """What the run asked there, secrets removed; `comparison.MISSING` likewise."""
        self.event_index = event_index
        """The event, where one is meant."""
        self.hint = hint
        """What to do next, in words."""


class RecordedCallInterrupted(OpenProgramError):  # noqa: N818 - says what happened, as asyncio does
    """The recorded call ended early; replay ends it at the same place."""

    def __init__(self, call_index: int, outcome: str, *, path: Path | None = None) -> None:
        place = "" if path is None else f"{quoted(str(path))}: "
        super().__init__(
            f"{place}recorded call {call_index} ended as {outcome}; replay ends it there too: "
            "record the run anew to get further"
        )
        self.path = path
        """The recording, where it is known."""
        self.call_index = call_index
        """The recorded call."""
        self.outcome = outcome
        """`error`, `cancelled` or `abandoned`."""


class ProviderError(OpenProgramError):
    """Something about a model provider."""


class ProviderNotRegisteredError(ProviderError):
    """No provider answers for this API name."""

    def __init__(self, api: str, *, known: Iterable[str] = ()) -> None:
        names = ", ".join(quoted(name, limit=40) for name in sorted(known)[:_MOST_NAMES])
        super().__init__(
            f"no provider is registered for the api {quoted(api)}; "
            f"{f'choose one of {names}' if names else 'none is'}, or register yours with "
            "openprogram.providers.register_api_provider"
        )
        self.api = api
        """The API name as asked."""


class ProviderRuntimeInitializationError(ProviderError):
    """The provider runtime could not start; this process cannot reach any provider."""

    def __init__(self, stage: str, cause_type: str, cause_message: str) -> None:
        super().__init__(f"provider runtime failed at {stage}: {cause_type}: {cause_message}")
        self.stage = stage
        """Where it failed: `register_builtins`, `activation` or `initialization_interrupted`."""
        self.cause_type = cause_type
        """The class name of the cause."""
        self.cause_message = cause_message
        """The text of the cause, secrets removed."""


class ProviderBlockedError(ProviderError):
    """The record/replay settings cannot be honoured, so nothing may go live."""

    def __init__(self, reason: str, *, can_turn_off: bool = True) -> None:
        remedy = "see 'openprogram recordings status', "
        if can_turn_off:
            remedy += "or run 'openprogram recordings off' and restart"
        else:
            remedy += "and restart; 'openprogram recordings off' leaves such a file alone"
        super().__init__(f"provider calls are blocked: {reason}; {remedy}")
        self.reason = reason
        """Why, in words."""
        self.remedy = remedy
        """What to do about it, in words."""


class CredentialMissingError(ProviderError):
    """No key was found for a provider that needs one, or for any."""

    def __init__(
        self,
        provider: str | None,
        *,
        environment_variable: str | None = None,
        remedy: str | None = None,
    ) -> None:
        if remedy is None and environment_variable:
            command = f"openprogram auth set {provider}"
            remedy = f"set {environment_variable}, or run {quoted(command)}"
        todo = f"; {remedy}" if remedy else ""
        whose = "any provider" if provider is None else f"provider {quoted(provider)}"
        super().__init__(f"no credential for {whose}{todo}")
        self.provider = provider
        """The provider's name; None where none was chosen and none has a key."""


FailureReason: TypeAlias = Literal[
    "auth",
    "rate_limit",
    "overloaded",
    "context_length",
    "bad_request",
    "billing",
    "refusal",
    "output_limit",
    "network",
    "server",
    "bad_response",
    "aborted",
    "unknown",
]
"""Why a request to a model failed, the same words for every vendor."""


class ModelRequestError(ProviderError):
    """A vendor refused or failed a request before its stream started."""

    def __init__(
        self,
        message: str,
        *,
        reason: FailureReason,
        is_retryable: bool,
        http_status: int | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.reason: FailureReason = reason
        """One word, the same for every vendor."""
        self.is_retryable = is_retryable
        """Whether the same request may succeed later."""
        self.http_status = http_status
        """The HTTP status, where there was an answer."""
        self.retry_after_seconds = retry_after_seconds
        """How long the vendor asks to wait, in seconds."""


class WorkerError(OpenProgramError):
    """A worker cannot be reached, cannot start, or could not run a prompt."""

    def __init__(self, message: str, *, code: str = "worker_failed") -> None:
        super().__init__(message)
        self.code = code
        """One word for what went wrong."""


class AgentError(OpenProgramError):
    """The agent loop cannot go on."""

    def __init__(self, rule: str, *, remedy: str = "") -> None:
        super().__init__(f"{rule}; {remedy}" if remedy else rule)
        self.rule = rule
        """Why, in words."""
        self.remedy = remedy
        """What to do about it, in words; empty where the rule says so already."""


class ToolError(AgentError):
    """A tool refused or failed; its text becomes the tool result that the model reads."""


class FlightError(OpenProgramError):
    """Something about recording or replaying tool calls: place, rule and remedy are in its text."""


class TraceFormatError(FlightError):
    """A file is no trace, or is damaged before its last line; trace the call again."""

    def __init__(self, path: Path, line_number: int, reason: str) -> None:
        super().__init__(f"{quoted(str(path))}, line {line_number}: {reason}; trace the call again")
        self.path = path
        """The file."""
        self.line_number = line_number
        """The line, from 1 on."""
        self.reason = reason
        """The rule it breaks, in words."""


class ForbiddenValue(BaseException):
    """A value that must never be written would have been; the call is stopped instead.

    It is no `Exception`, so that a tool that catches those cannot go on with the secret in hand.
    The value itself is not kept.
    """

    def __init__(self, place: str, rule: str) -> None:
        super().__init__(
            f"{place}: a value matches the forbidden pattern {quoted(rule)}; redact it by name, or "
            "scrub it by its look"
        )
        self.place = place
        """What was about to be written."""
        self.rule = rule
        """The pattern."""


class Divergence(BaseException):
    """Replayed code asked something else than was recorded.

    It is no `Exception`, so that a tool that catches those cannot turn it into an ordinary answer.
    """
