"""One test's recording: made, replayed, or compared with what the vendor says today."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast

from openprogram.errors import OpenProgramError, ReplayMismatch, ascii_if_unprintable, quoted
from openprogram.providers.ignored_paths import can_be_ignored
from openprogram.providers.recording import RecordingProvider, RecordingSink, validate_recording
from openprogram.providers.recording.requests import dump_request
from openprogram.providers.replay import ReplayProvider
from openprogram.pytest_plugin import files, places
from openprogram.pytest_plugin.differences import explain_differences, explain_request
from openprogram.pytest_plugin.network import NetworkBlockedError, block_network
from openprogram.pytest_plugin.routing import set_route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from types import TracebackType

    import pytest

    from openprogram.providers import types as t
    from openprogram.providers._registry import ApiProvider

RecordMode: TypeAlias = Literal["none", "once", "rewrite", "verify"]
"""How a test runs; see `--record-mode`."""


class MissingRecordingError(OpenProgramError):
    """A test asks a model, has no recording, and may not make one."""


class ProviderRecording:
    """What the fixture `provider_recording` gives to a test.

    Args:
        node_id: The test, as pytest names it.
        path: Where its recording is, or will be.
        root: The folder of the test file; the recording is below it.
        mode: How it runs.
        ignore: Field paths that a replay does not compare.
        allow_hosts: Hosts that may be reached during a replay.
    """

    def __init__(
        self,
        *,
        node_id: str,
        path: Path,
        root: Path,
        mode: RecordMode,
        ignore: Sequence[str] = (),
        allow_hosts: Sequence[str] = (),
    ) -> None:
        self.path = path
        """The recording of this test."""
        self.mode: RecordMode = mode
        """How the test runs."""
        self._node_id = node_id
        self._root = root
        self._ignore = tuple(ignore)
        self._allow_hosts = tuple(allow_hosts)
        self.is_replaying = mode == "none" or (mode == "once" and path.exists())
        """Whether answers come from the recording; else they come from the vendor."""
        self._undo = contextlib.ExitStack()
        self._lock = threading.Lock()
        """A test may ask from many threads, and each may be the first."""
        self._folder: Path | None = None
        self._is_placed = False
        self._is_missing = False
        self._sink: RecordingSink | None = None
        self._replay: ReplayProvider | None = None
        self._problems: list[str] = []

    @classmethod
    def of(cls, item: pytest.Item, mode: str) -> Self:
        """Make the recording of a test.

        Args:
            item: The test.
            mode: How it runs.
        """
        options = places.options_of(item)
        shared = cast("list[str]", item.config.getini("provider_recording_ignore"))
        return cls(
            node_id=item.nodeid,
            path=places.recording_path_of(item),
            root=item.path.parent,
            mode=cast("RecordMode", mode),
            ignore=[*shared, *options.ignore],
            allow_hosts=options.allow_hosts,
        )

    @property
    def requires_credentials(self) -> bool | None:
        """Whether a key is needed: not for a replay; else the provider says."""
        return False if self.is_replaying else None

    def __enter__(self) -> Self:
        files.require_no_link(self.path, self._root)
        self._undo.callback(set_route, set_route(self))
        if self.is_replaying:
            self._undo.enter_context(block_network(self._allow_hosts, self._note_blocked))
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._undo.close()
        if self._replay is not None:
            self._replay.close()
        if self._sink is not None:
            self._sink.close()
        if self._folder is not None and self._is_placed:
            shutil.rmtree(self._folder)

    def provider_for(self, original: ApiProvider) -> ApiProvider:
        """Say who answers in a provider's place.

        Args:
            original: The provider that would.

        Raises:
            MissingRecordingError: There is no recording, and none may be made.
            RecordingFileError: The recording is not sound.
        """
        if not self.is_replaying:
            return RecordingProvider(original, self._open_sink())
        return _NotingReplay(self, self._open_replay())

    def note_mismatch(self, error: ReplayMismatch, request: dict[str, Any]) -> None:
        """Remember a mismatch, for code that swallows it.

        Args:
            error: It.
            request: What was asked, as a recording would hold it.
        """
        lines = [str(error).partition("\n")[0]]
        lines += explain_request(self.path, error.call_index, request, self._ignore)
        if can_be_ignored(error.field_path):
            mark = f"@pytest.mark.provider_recording(ignore=[{quoted(error.field_path)}])"
            lines.append(f"only if this field may differ in every run: {mark}")
        self._problems.append("\n".join(lines))

    def note_failure(self) -> None:
        """Remember that the test failed: what it recorded takes no recording's place."""
        self._keep_failed()

    def report(self) -> str:
        """Say what is known when the test fails by itself.

        Returns:
            Printable lines; empty when there is nothing to say.
        """
        is_acceptable = self._problems and not self._is_missing
        hints = [self._how_to_accept()] if is_acceptable else []
        return "\n\n".join([*self._problems, *hints])

    def judge(self) -> str:
        """Judge the calls of a test whose own code passed; a good recording is put in its place.

        Returns:
            Why the test fails all the same; empty when it does not.
        """
        if self.is_replaying:
            self._judge_leftovers()
        elif self._sink is not None:
            self._sink.close()
            validate_recording(self._sink.path)
            if self.mode == "verify":
                self._judge_today(self._sink.path)
                self._is_placed = True
            else:
                self._place(self._sink.path, self.path)
        elif self.mode == "verify" and self.path.exists():
            self._problems.append(
                f"{files.shown(self.path)} holds calls, but the test asked no model"
            )
        return self.report()

    def _open_replay(self) -> ReplayProvider:
        with self._lock:
            if self._replay is None:
                if not self.path.exists():
                    error = MissingRecordingError(
                        f"{files.shown(self.path)}: no recording of this test, and none is made in "
                        f"this mode; to make it, run {self._command('once')}"
                    )
                    self._is_missing = True
                    self._problems.append(str(error))
                    raise error
                files.make_private(self.path)
                self._replay = ReplayProvider(self.path, ignore=self._ignore)
            return self._replay

    def _open_sink(self) -> RecordingSink:
        with self._lock:
            if self._sink is None:
                if self.mode == "verify" and self.path.exists():
                    # Nothing is asked, and paid for, that could not be compared.
                    validate_recording(self.path)
                self._folder = Path(tempfile.mkdtemp(prefix="provider-recording-"))
                self._sink = RecordingSink(self._folder / f"calls{places.SUFFIX}")
            return self._sink

    def _judge_leftovers(self) -> None:
        if self._problems:
            return
        try:
            if self._replay is not None:
                self._replay.assert_consumed()
            elif self.path.exists():
                self._open_replay().assert_consumed()
        except ReplayMismatch as error:
            self._problems.append(str(error))

    def _judge_today(self, today: Path) -> None:
        if not self.path.exists():
            self._problems.append(
                f"{files.shown(self.path)}: no recording of this test to compare with"
            )
            return
        lines = explain_differences(self.path, today)
        if lines:
            self._problems.append("\n".join(lines))

    def _keep_failed(self) -> None:
        if self._sink is None:
            return
        self._sink.close()
        kept = self.path.with_name(self.path.stem + places.FAILED_SUFFIX)
        if self._place(self._sink.path, kept):
            self._problems.append(f"the calls of this failed run are kept in {files.shown(kept)}")

    def _place(self, made: Path, target: Path) -> bool:
        """Put what was recorded in its place, or say where it is instead."""
        try:
            files.put_in_place(made, target, self._root)
        except files.RecordingPlaceError as error:
            self._problems.append(f"{error}; the calls of this run stay in {files.shown(made)}")
            return False
        self._is_placed = True
        return True

    def _note_blocked(self, error: NetworkBlockedError) -> None:
        self._problems.append(str(error))

    def _how_to_accept(self) -> str:
        return f"to accept what the test does today: {self._command('rewrite')}"

    def _command(self, mode: RecordMode) -> str:
        test = ascii_if_unprintable(shlex.quote(self._node_id))
        return f"pytest {test} --record-mode={mode}"


class _NotingReplay:
    """A replay that tells the test's recording of each mismatch before it is raised."""

    requires_credentials = False

    def __init__(self, recording: ProviderRecording, replay: ReplayProvider) -> None:
        self._recording = recording
        self._replay = replay

    @property
    def answering_provider(self) -> ReplayProvider:
        """Whoever answers in fact."""
        return self._replay

    async def stream(
        self, model: t.Model, context: t.Context, options: t.StreamOptions | None = None
    ) -> AsyncIterator[Any]:
        """Serve the next recorded call."""
        try:
            async for event in self._replay.stream(model, context, options):
                yield event
        except ReplayMismatch as error:
            self._recording.note_mismatch(error, dump_request(model, context, options))
            raise

    def stream_simple(
        self, model: t.Model, context: t.Context, options: t.SimpleStreamOptions | None = None
    ) -> AsyncIterator[Any]:
        """Serve the next recorded call."""
        return self.stream(model, context, options)
