"""Reports of failed replays: both requests, kept for a later look, secrets removed.

A report is a file of two lines, `<state>/mismatches/ID.json`, 0600: a small one that lists need,
and one with the requests. The newest `KEPT_COUNT` are kept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import msgspec

from openprogram import _private_files, paths
from openprogram.errors import MismatchReportError, UnsafeFileError, quoted
from openprogram.providers.comparison import MISSING
from openprogram.providers.declared_places import REQUEST_PART_NAMES
from openprogram.providers.recording.format import RowError, decode_row, encode_row
from openprogram.providers.recording.redaction import remove_secret_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from openprogram._json_types import JsonValue
    from openprogram.providers.comparison import Difference


KEPT_COUNT = 50
"""How many reports are kept; older ones go when a new one comes."""
LARGEST_REPORT_BYTES = 32 << 20
"""Above this, long texts in the requests are shortened."""

_SUFFIX = ".json"
_ID = re.compile(r"\d{8}T\d{12}Z-[0-9a-f]{8}")
_LARGEST_READ_BYTES = 2 * LARGEST_REPORT_BYTES
_LARGEST_SUMMARY_BYTES = 1 << 16
_SHOWN_BYTES = 4096
_KEPT_CHARACTERS = 4096

_RERUN = "the newest 50 are kept: replay once more for a new one"

_log = logging.getLogger(__name__)


class _Summary(msgspec.Struct, kw_only=True):
    """The first line of a report; a value stands in an object, empty when there is none."""

    created_at: Annotated[datetime, msgspec.Meta(tz=True)]
    recording: str
    call_index: int
    field_path: str
    recorded: dict[str, Any]
    incoming: dict[str, Any]
    ignore: list[str]


class _Requests(msgspec.Struct, kw_only=True):
    """The second line of a report."""

    recorded_request: dict[str, Any]
    incoming_request: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class MismatchReport:
    """One failed replay. Its requests are read when they are first asked for."""

    report_id: str
    """Its name."""
    path: Path
    """Its file."""
    created_at: datetime
    """When the replay failed; aware, UTC."""
    recording: Path
    """The recording that was replayed."""
    call_index: int
    """The recorded call that was expected next."""
    field_path: str
    """Where the requests differ first, such as `context.messages[2].content`."""
    recorded: JsonValue
    """What the recording holds there, or `MISSING`; a long value is cut, and text."""
    incoming: JsonValue
    """What the run asked there, likewise."""
    ignore: tuple[str, ...]
    """The field paths that were not compared."""

    @property
    def recorded_request(self) -> Mapping[str, JsonValue]:
        """The recorded request: `model`, `context` and `options`.

        Raises:
            MismatchReportError: The file is gone, or no report any more.
            OSError: It cannot be read.
        """
        return self._requests.recorded_request

    @property
    def incoming_request(self) -> Mapping[str, JsonValue]:
        """The request that came, likewise.

        Raises:
            MismatchReportError: The file is gone, or no report any more.
            OSError: It cannot be read.
        """
        return self._requests.incoming_request

    @functools.cached_property
    def _requests(self) -> _Requests:
        _, _, line = _read(self.path, _LARGEST_READ_BYTES).partition(b"\n")
        return _decode(self.path, line, _Requests)


def write_mismatch_report(
    *,
    recording: Path,
    call_index: int,
    difference: Difference,
    recorded_request: Mapping[str, JsonValue],
    incoming_request: Mapping[str, JsonValue],
    ignore: Sequence[str] = (),
) -> MismatchReport:
    """Keep a report of a mismatch, and remove the oldest beyond `KEPT_COUNT`.

    Args:
        recording: The recording that is replayed.
        call_index: The recorded call that was expected next.
        difference: Where the requests differ first.
        recorded_request: What the recording holds, with `model`, `context` and `options`.
        incoming_request: What the run asked. Secrets are removed from all of this once more.
        ignore: The field paths that were not compared.

    Returns:
        The report.

    Raises:
        MismatchReportError: The requests hold what no JSON can say.
        UnsafeFileError: The directory of the reports is a link, or another user's.
        OSError: It cannot be written.
    """
    created_at = datetime.now(UTC)
    report_id = f"{created_at:%Y%m%dT%H%M%S%f}Z-{secrets.token_hex(4)}"
    path = paths.mismatches_dir() / f"{report_id}{_SUFFIX}"
    summary = _Summary(
        created_at=created_at,
        recording=str(recording),
        call_index=call_index,
        field_path=remove_secret_values(difference.path)[:_SHOWN_BYTES],
        recorded=_presentable(difference, difference.recorded),
        incoming=_presentable(difference, difference.incoming),
        ignore=list(ignore),
    )
    directory_fd = _private_files.ensure_private_directory(path.parent)
    try:
        data = _encode(path, msgspec.to_builtins(summary)) + _encode_requests(
            path, recorded_request, incoming_request
        )
        _private_files.replace_file(path, data)
        _remove_oldest(directory_fd)
    finally:
        os.close(directory_fd)
    return _report(path, summary)


def list_mismatch_reports() -> list[MismatchReport]:
    """List the reports, the newest first; one that cannot be read is left out and logged.

    Returns:
        The reports, without having read their requests.

    Raises:
        UnsafeFileError: The directory of the reports is a link, or another user's.
        OSError: It cannot be read.
    """
    directory = paths.mismatches_dir()
    try:
        directory_fd = _private_files.open_private_directory(directory)
    except FileNotFoundError:
        return []
    try:
        names = _report_names(directory_fd)
    finally:
        os.close(directory_fd)
    reports: list[MismatchReport] = []
    for name in reversed(names):
        try:
            reports.append(_read_report(directory / name))
        except (MismatchReportError, UnsafeFileError, OSError) as error:
            _log.warning("a mismatch report is left out: %s", error)
    return reports


def read_mismatch_report(report_id: str) -> MismatchReport:
    """Read one report whole.

    Args:
        report_id: Its name, as a mismatch tells it.

    Returns:
        The report, its requests read.

    Raises:
        MismatchReportError: There is no such report, or the file is none.
        UnsafeFileError: The file, or its directory, is a link, or another user's.
        OSError: It cannot be read.
    """
    if not _ID.fullmatch(report_id):
        path = paths.mismatches_dir()
        rule = f"{quoted(report_id)} is no name of a mismatch report"
        raise MismatchReportError(path, f"{rule}; copy it from the last line of the mismatch")
    report = _read_report(paths.mismatches_dir() / f"{report_id}{_SUFFIX}")
    _ = report.recorded_request
    return report


def _read_report(path: Path) -> MismatchReport:
    line = _read(path, _LARGEST_SUMMARY_BYTES, is_beginning=True).partition(b"\n")[0]
    try:
        return _report(path, _decode(path, line, _Summary))
    except OverflowError:
        raise MismatchReportError(path, f"no mismatch report; {_RERUN}") from None


def _report(path: Path, summary: _Summary) -> MismatchReport:
    return MismatchReport(
        report_id=path.name.removesuffix(_SUFFIX),
        path=path,
        created_at=summary.created_at.astimezone(UTC),
        recording=Path(summary.recording),
        call_index=summary.call_index,
        field_path=summary.field_path,
        recorded=summary.recorded.get("value", MISSING),
        incoming=summary.incoming.get("value", MISSING),
        ignore=tuple(summary.ignore),
    )


def _report_names(directory_fd: int) -> list[str]:
    """Find the files whose names are of reports, the oldest first."""
    names = os.listdir(directory_fd)
    return sorted(
        name
        for name in names
        if name.endswith(_SUFFIX) and _ID.fullmatch(name.removesuffix(_SUFFIX))
    )


def _remove_oldest(directory_fd: int) -> None:
    for name in _report_names(directory_fd)[:-KEPT_COUNT]:
        # Another process may have removed it; and what cannot go must not cost the new report.
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=directory_fd)


def _presentable(difference: Difference, value: JsonValue) -> dict[str, JsonValue]:
    """Bound a value for lists, secrets removed by the name of its field."""
    if value is MISSING:
        return {}
    key = next((step for step in reversed(difference.steps) if isinstance(step, str)), "")
    value = remove_secret_values({key: value})[key]
    try:
        text = encode_row({"value": value})
    except RowError:
        return {"value": "[cannot be shown]"}
    if len(text) <= _SHOWN_BYTES:
        return {"value": value}
    shown = value if isinstance(value, str) else text[len(b'{"value":') : -len(b"}\n")].decode()
    return {"value": f"{shown[: _SHOWN_BYTES // 8]}... ({len(shown):,} characters)"}


def _encode_requests(
    path: Path, recorded_request: Mapping[str, JsonValue], incoming_request: Mapping[str, JsonValue]
) -> bytes:
    requests = {
        "recorded_request": _parts_of(recorded_request),
        "incoming_request": _parts_of(incoming_request),
    }
    data = _encode(path, requests)
    return data if len(data) <= LARGEST_REPORT_BYTES else _encode(path, _shortened(requests))


def _parts_of(request: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: remove_secret_values(request.get(name)) for name in REQUEST_PART_NAMES}


def _shortened(value: JsonValue) -> JsonValue:
    """Cut long texts, so that two of them are still equal only when they were."""
    if isinstance(value, str):
        if len(value) <= _KEPT_CHARACTERS:
            return value
        digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{value[:_KEPT_CHARACTERS]}... ({len(value):,} characters, sha256 {digest})"
    if isinstance(value, dict):
        items = cast("dict[str, JsonValue]", value).items()
        return {key: _shortened(inner) for key, inner in items}
    if isinstance(value, list):
        return [_shortened(inner) for inner in cast("list[JsonValue]", value)]
    return value


def _encode(path: Path, value: dict[str, JsonValue]) -> bytes:
    try:
        return encode_row(value)
    except RowError as error:
        raise MismatchReportError(path, f"cannot be written: {error.reason}") from None


def _read(path: Path, limit_bytes: int, *, is_beginning: bool = False) -> bytes:
    try:
        fd = _private_files.open_private_file(path, os.O_RDONLY)
    except FileNotFoundError:
        raise MismatchReportError(path, f"there is no such mismatch report; {_RERUN}") from None
    try:
        if not is_beginning and os.fstat(fd).st_size > limit_bytes:
            raise MismatchReportError(path, f"too large for a mismatch report; {_RERUN}")
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read(limit_bytes)
    finally:
        os.close(fd)


def _decode(path: Path, line: bytes, type_: type[Any]) -> Any:
    try:
        return msgspec.convert(decode_row(line), type_)
    except (RowError, msgspec.ValidationError, RecursionError):
        raise MismatchReportError(path, f"no mismatch report; {_RERUN}") from None
