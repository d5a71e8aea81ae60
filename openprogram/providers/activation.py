"""From the settings to what stands between callers and vendors: nothing, a recorder, a recording.

Whatever is wrong with the settings or the recording closes the door instead of opening it: then
every call raises the same error, and nothing goes live.
"""

from __future__ import annotations

import logging
import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

from openprogram import config
from openprogram.errors import OpenProgramError, ProviderBlockedError, RecordingFileError
from openprogram.providers import file_safety
from openprogram.providers._registry import REGISTRY
from openprogram.providers.management.selection import selection_of
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.redaction import remove_secrets_from_text
from openprogram.providers.recording.sink import RecordingSink
from openprogram.providers.replay import ReplayProvider

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.config import RecordReplaySettings, Settings
    from openprogram.providers._registry import ProviderRegistry
    from openprogram.providers.types import Context, Model, StreamOptions

RuntimeMode: TypeAlias = Literal["off", "record", "replay", "blocked"]
"""What this process does with provider calls."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RuntimeSnapshot:
    """What this process does with provider calls, decided once, when its runtime started."""

    mode: RuntimeMode
    """`blocked` when the settings could not be honoured."""
    recording_path: Path | None = None
    """What is recorded into or replayed."""
    ignored_paths: tuple[str, ...] = ()
    """Field paths that a replay does not compare."""
    reason: str | None = None
    """Why calls are blocked, secrets removed."""
    replay_provider: ReplayProvider | None = field(default=None, repr=False)
    """What answers every API in a replay."""
    settings: Settings | None = field(default=None, repr=False)
    """All settings as they were then; None when they could not be read."""


def activate(registry: ProviderRegistry = REGISTRY) -> RuntimeSnapshot:
    """Read the settings once, and put what they ask for in front of every provider.

    The recorder's file is opened, or the recording to replay validated whole, before any provider
    is put behind it. No credential is looked up and no vendor is asked.

    Args:
        registry: Where the providers are.

    Returns:
        What was decided. Trouble of any kind is the mode `blocked`, and said in the log.
    """
    settings: Settings | None = None
    try:
        settings = config.read_settings()
        chosen = config.record_replay_of(settings)
        match chosen.mode:
            case "off":
                return RuntimeSnapshot(mode="off", settings=settings)
            case "record":
                return _record(registry, settings, chosen)
            case "replay":
                return _replay(registry, settings, chosen)
    except Exception as error:  # noqa: BLE001 - whatever it is, nothing may go live because of it
        return _block(registry, settings, error)


def _record(
    registry: ProviderRegistry, settings: Settings, chosen: RecordReplaySettings
) -> RuntimeSnapshot:
    path = selection_of(chosen).path
    with ExitStack() as undo:
        sink = undo.enter_context(RecordingSink(path, snapshots=chosen.snapshots))
        registry.configure_transform(lambda provider: RecordingProvider(provider, sink))
        undo.pop_all()
    return RuntimeSnapshot(mode="record", recording_path=path, settings=settings)


def _replay(
    registry: ProviderRegistry, settings: Settings, chosen: RecordReplaySettings
) -> RuntimeSnapshot:
    path = selection_of(chosen).path
    with ExitStack() as undo:
        provider = _open_replay(path, chosen.ignore)
        undo.callback(provider.close)
        registry.configure_transform(lambda _: provider)
        undo.pop_all()
    return RuntimeSnapshot(
        mode="replay",
        recording_path=path,
        ignored_paths=chosen.ignore,
        replay_provider=provider,
        settings=settings,
    )


def _open_replay(path: Path, ignore: tuple[str, ...]) -> ReplayProvider:
    fd = file_safety.open_recording_for_reading(path, require_private=True, tighten=True)
    try:
        provider = ReplayProvider(path, ignore=ignore, report_mismatches=True)
        if not file_safety.is_same_file(fd, path):
            provider.close()
            reason = "was replaced while it was read; start again"
            raise RecordingFileError(path, "unreadable", reason)
    finally:
        os.close(fd)
    return provider


def text_of(error: BaseException) -> str:
    """Give what an error says; nothing when it cannot even say that.

    Args:
        error: Any error, of anybody's code.

    Returns:
        Its text, secrets included.
    """
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - somebody else's error must not become another one here
        return ""


def _block(
    registry: ProviderRegistry, settings: Settings | None, error: Exception
) -> RuntimeSnapshot:
    text = text_of(error)
    if not text or not isinstance(error, OpenProgramError | ValueError):
        text = f"{type(error).__name__}: {text}"
    reason = remove_secrets_from_text(text)
    # Settings that could not even be read cannot be changed either.
    blocked = _BlockedRecordReplayProvider(reason, can_turn_off=settings is not None)
    registry.replace_transform(lambda _: blocked)
    _log.error("%s", blocked.error())
    return RuntimeSnapshot(mode="blocked", reason=reason, settings=settings)


class _BlockedRecordReplayProvider:
    """Answers for every API, and only with the reason why nothing may be called."""

    requires_credentials = False

    def __init__(self, reason: str, *, can_turn_off: bool) -> None:
        self._reason = reason
        self._can_turn_off = can_turn_off

    def error(self) -> ProviderBlockedError:
        """Say why; each caller gets an error of its own."""
        return ProviderBlockedError(self._reason, can_turn_off=self._can_turn_off)

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> NoReturn:
        """Refuse; see `ApiProvider.stream`."""
        del model, context, options
        raise self.error()

    def stream_simple(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> NoReturn:
        """Refuse; see `ApiProvider.stream_simple`."""
        del model, context, options
        raise self.error()
