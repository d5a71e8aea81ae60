from __future__ import annotations

import json
import logging
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from openprogram import _compat
from openprogram.auth import store
from openprogram.errors import ProviderBlockedError, ReplayMismatch
from openprogram.providers import activation
from openprogram.providers._registry import ProviderRegistry
from openprogram.providers.activation import activate
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.sink import RecordingSink
from scripted import Scripted, drain, request, rows_of, text_events

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from openprogram.providers._registry import ApiProvider

    WriteSettings = Callable[..., None]

_REMEDY = "see 'openprogram recordings status', or run 'openprogram recordings off' and restart"
_REMEDY_BY_HAND = (
    "correct the file by hand or move it away, it was left as it is; see 'openprogram recordings "
    "status', and restart; 'openprogram recordings off' leaves such a file alone"
)


@pytest.fixture
def root(state_dir: Path) -> Path:
    """The managed root, empty."""
    folder = state_dir / "recordings"
    folder.mkdir(parents=True, mode=0o700)
    state_dir.chmod(0o700)
    return folder


@pytest.fixture
def write_settings(root: Path) -> WriteSettings:
    """A function that writes settings by hand: a text, or the values of the subtree."""

    def write(text: str | None = None, **values: Any) -> None:
        content = json.dumps({"record_replay": values}) if text is None else text
        (root.parent / "config.json").write_text(content)

    return write


@pytest.fixture
def registry() -> ProviderRegistry:
    """A registry with one provider, `scripted`, that answers `hello`."""
    registry = ProviderRegistry()
    registry.register("scripted", Scripted(text_events("hello")))
    return registry


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens here, no credential is looked up."""

    def fail() -> None:
        raise AssertionError("a credential was looked up")

    monkeypatch.setattr(store, "read_credentials", fail)


def _ask(registry: ProviderRegistry, text: str = "hi", api: str = "scripted") -> list[Any]:
    provider = registry.find(api)
    assert provider is not None
    return drain(provider.stream_simple(*request(text)))


def _record(path: Path, *texts: str) -> Path:
    with RecordingSink(path) as sink:
        provider = RecordingProvider(Scripted(text_events("hello")), sink)
        for text in texts:
            drain(provider.stream_simple(*request(text)))
    return path


def _mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    "text", [None, "{}", '{"record_replay": {}}', '{"record_replay": {"mode": "off"}, "x": 1}']
)
def test_without_a_mode_providers_stay_as_they_are(
    registry: ProviderRegistry, write_settings: WriteSettings, root: Path, text: str | None
) -> None:
    if text is not None:
        write_settings(text)
    before, found = registry.find("scripted"), sorted(root.parent.rglob("*"))
    snapshot = activate(registry)
    assert (snapshot.mode, snapshot.recording_path, snapshot.reason) == ("off", None, None)
    assert registry.find("scripted") is before
    assert sorted(root.parent.rglob("*")) == found


def test_off_keeps_a_transform_of_the_users_own(registry: ProviderRegistry) -> None:
    own = Scripted([])
    registry.configure_transform(lambda _: own)
    assert activate(registry).mode == "off"
    assert registry.find("scripted") is own


def test_all_recorders_share_one_file_and_one_count(
    registry: ProviderRegistry, write_settings: WriteSettings, root: Path
) -> None:
    write_settings(mode="record", file="run")
    snapshot = activate(registry)
    registry.register("other", Scripted(text_events("there")))
    _ask(registry, "one")
    _ask(registry, "two", api="other")
    path = root / "run.jsonl"
    assert (snapshot.mode, snapshot.recording_path) == ("record", path)
    assert _mode_of(path) == 0o600
    asked = [row for row in rows_of(path) if row["type"] == "request"]
    assert [row["call_index"] for row in asked] == [0, 1]
    assert [row["context"]["messages"][0]["content"] for row in asked] == ["one", "two"]


def test_recording_goes_on_in_a_file_of_before_and_makes_it_private(
    registry: ProviderRegistry, write_settings: WriteSettings, root: Path
) -> None:
    path = _record(root / "run.jsonl", "before")
    path.chmod(0o644)
    write_settings(mode="record", file="run")
    assert activate(registry).mode == "record"
    _ask(registry)
    assert _mode_of(path) == 0o600
    assert [row["call_index"] for row in rows_of(path) if row["type"] == "call_end"] == [0, 1]


@pytest.mark.parametrize(("form", "is_derived"), [("derived", True), ("full", False)])
def test_snapshots_are_written_as_the_settings_say(
    registry: ProviderRegistry,
    write_settings: WriteSettings,
    root: Path,
    form: str,
    is_derived: bool,
) -> None:
    write_settings(mode="record", file="run", snapshots=form)
    activate(registry)
    _ask(registry)
    assert ("partial_derived" in (root / "run.jsonl").read_text()) is is_derived


def test_a_replay_answers_every_api_from_one_file(
    registry: ProviderRegistry, write_settings: WriteSettings, root: Path
) -> None:
    path = _record(root / "run.jsonl", "one", "two")
    write_settings(mode="replay", file="run")
    snapshot = activate(registry)
    registry.register("late", Scripted([AssertionError("went live")]))
    assert _ask(registry, "one") == text_events("hello")
    assert _ask(registry, "two", api="late") == text_events("hello")
    provider = snapshot.replay_provider
    assert provider is not None
    assert (snapshot.mode, snapshot.recording_path) == ("replay", path)
    assert (provider.call_count, provider.call_total) == (2, 2)
    assert registry.find("scripted") is registry.find("late") is provider


def test_a_replay_ignores_what_the_settings_list_and_reports_the_rest(
    registry: ProviderRegistry, write_settings: WriteSettings, root: Path
) -> None:
    _record(root / "run.jsonl", "one")
    write_settings(mode="replay", file="run", ignore=["model.name"])
    snapshot = activate(registry)
    assert snapshot.ignored_paths == ("model.name",)
    provider = registry.find("scripted")
    assert provider is not None
    model, context, options = request("one")
    model.name = "Renamed"
    with pytest.raises(ReplayMismatch) as caught:
        _ask(registry, "other")
    assert caught.value.field_path == "context.messages[0].content"
    assert len(list((root.parent / "mismatches").glob("*.json"))) == 1
    assert drain(provider.stream_simple(model, context, options)) == text_events("hello")


def test_a_managed_file_to_replay_is_made_private(
    registry: ProviderRegistry, write_settings: WriteSettings, root: Path
) -> None:
    path = _record(root / "run.jsonl", "one")
    path.chmod(0o644)
    write_settings(mode="replay", file="run.jsonl")
    assert activate(registry).mode == "replay"
    assert _mode_of(path) == 0o600


def test_an_own_private_file_elsewhere_is_replayed(
    registry: ProviderRegistry, write_settings: WriteSettings, tmp_path: Path
) -> None:
    path = _record(tmp_path / "elsewhere.jsonl", "one")
    write_settings(mode="replay", file=str(path))
    assert activate(registry).recording_path == path
    assert _ask(registry, "one")


def test_an_open_file_elsewhere_is_refused_and_left_alone(
    registry: ProviderRegistry, write_settings: WriteSettings, tmp_path: Path
) -> None:
    path = _record(tmp_path / "elsewhere.jsonl", "one")
    path.chmod(0o640)
    write_settings(mode="replay", file=str(path))
    snapshot = activate(registry)
    assert snapshot.mode == "blocked"
    assert f"chmod 600 {path}" in (snapshot.reason or "")
    assert _mode_of(path) == 0o640


_UNPARSABLE = ("{bad", '{"record_replay": {"mode": "off",}}', "[]")
_BROKEN_SETTINGS: list[tuple[str, str]] = [
    ("{bad", "line 1, column 2"),
    ('{"record_replay": {"mode": "off",}}', "line 1"),
    ("[]", "not an object"),
    ('{"record_replay": "off"}', "must be an object"),
    ('{"record_replay": null}', "must be an object"),
    ('{"record_replay": {"mode": "maybe"}}', "must be one of off, record, replay"),
    ('{"record_replay": {"mode": null}}', "must be a string"),
    ('{"record_replay": {"mode": "off", "ignore": "model"}}', "must be a list of strings"),
    ('{"record_replay": {"mode": "record"}}', "is empty, but the mode is record"),
    ('{"record_replay": {"mode": "replay", "file": ""}}', "is empty, but the mode is replay"),
    ('{"record_replay": {"mode": "record", "file": "../x"}}', "only a managed ID"),
    ('{"record_replay": {"mode": "record", "file": "/tmp/x.jsonl"}}', "only a managed ID"),
    ('{"record_replay": {"mode": "record", "file": "CON"}}', "neither an ID nor a path"),
    ('{"record_replay": {"mode": "replay", "file": "x y"}}', "neither an ID nor a path"),
    ('{"record_replay": {"mode": "replay", "file": "missing"}}', "unreadable"),
    ('{"record_replay": {"mode": "replay", "file": "junk"}}', "invalid_json"),
    ('{"record_replay": {"mode": "record", "file": "junk"}}', "invalid_json"),
    ('{"record_replay": {"mode": "replay", "file": "empty"}}', "empty_file"),
    ('{"record_replay": {"mode": "replay", "file": "later"}}', "unsupported_version"),
    ('{"record_replay": {"mode": "record", "file": "later"}}', "unsupported_version"),
    ('{"record_replay": {"mode": "replay", "file": "link"}}', "symlink"),
    ('{"record_replay": {"mode": "record", "file": "link"}}', "symlink"),
    ('{"record_replay": {"mode": "replay", "file": "twice"}}', "unsafe_permissions"),
    ('{"record_replay": {"mode": "replay", "file": "fifo"}}', "not_a_regular_file"),
    ('{"record_replay": {"mode": "record", "file": "fifo"}}', "not_a_regular_file"),
    (
        '{"record_replay": {"mode": "replay", "file": "sound", "ignore": ["context"]}}',
        "too wide",
    ),
    (
        '{"record_replay": {"mode": "replay", "file": "sound", "ignore": ["model.nmae"]}}',
        "no such field",
    ),
]


@pytest.fixture
def plant_files(root: Path) -> None:
    """Files that cannot be recorded into, or replayed."""
    _record(root / "sound.jsonl", "one")
    (root / "junk.jsonl").write_text("{junk\n")
    (root / "empty.jsonl").touch()
    (root / "later.jsonl").write_text('{"type":"header","format_version":99}\n')
    (root / "link.jsonl").symlink_to(root / "sound.jsonl")
    (root / "twice.jsonl").hardlink_to(_record(root.parent / "other.jsonl", "one"))
    os.mkfifo(root / "fifo.jsonl")


@pytest.mark.usefixtures("plant_files")
@pytest.mark.parametrize(("text", "reason"), _BROKEN_SETTINGS)
def test_settings_that_cannot_be_honoured_block_every_call(
    registry: ProviderRegistry,
    write_settings: WriteSettings,
    caplog: pytest.LogCaptureFixture,
    text: str,
    reason: str,
) -> None:
    write_settings(text)
    with caplog.at_level(logging.ERROR, logger="openprogram"):
        snapshot = activate(registry)
    assert snapshot.mode == "blocked"
    assert reason in (snapshot.reason or "")
    registry.register("late", Scripted([AssertionError("went live")]))
    messages: set[str] = set()
    for api in ("scripted", "late"):
        provider = registry.find(api)
        assert provider is not None
        assert getattr(provider, "requires_credentials", True) is False
        for method in (provider.stream, provider.stream_simple):
            with pytest.raises(ProviderBlockedError) as caught:
                drain(method(*request()))
            messages.add(str(caught.value))
    (message,) = messages
    assert message == caplog.messages[0]
    is_readable = snapshot.settings is not None
    assert message.endswith(_REMEDY if is_readable else _REMEDY_BY_HAND)
    assert is_readable == (text not in _UNPARSABLE)
    assert len(caplog.messages) == 1


def test_an_unreadable_settings_file_blocks(
    registry: ProviderRegistry, root: Path, write_settings: WriteSettings
) -> None:
    write_settings("{}")
    path = root.parent / "config.json"
    path.rename(root.parent / "real.json")
    path.symlink_to(root.parent / "real.json")
    assert activate(registry).mode == "blocked"


def test_the_reason_holds_no_secret(
    registry: ProviderRegistry, write_settings: WriteSettings
) -> None:
    key = "sk-ant-api03-" + "AbCdEfGhIj0123456789" * 3
    write_settings(mode=key)
    reason = activate(registry).reason or ""
    assert "must be one of" in reason
    assert key not in reason


@pytest.mark.parametrize("mode", ["record", "replay"])
def test_a_transform_in_the_way_blocks_and_lets_the_file_go(
    registry: ProviderRegistry, write_settings: WriteSettings, root: Path, mode: str
) -> None:
    path = _record(root / "run.jsonl", "one")
    write_settings(mode=mode, file="run")
    registry.configure_transform(lambda provider: provider)
    snapshot = activate(registry)
    assert "set already" in (snapshot.reason or "")
    with pytest.raises(ProviderBlockedError):
        _ask(registry)
    fd = os.open(path, os.O_RDWR)
    _compat.lock_exclusive(fd, timeout_seconds=0)
    os.close(fd)


def test_a_failure_that_nobody_foresaw_blocks(
    registry: ProviderRegistry, write_settings: WriteSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(activation, "RecordingSink", fail)
    write_settings(mode="record", file="run")
    assert (activate(registry).reason or "").startswith("MemoryError")


def test_an_error_without_words_blocks_like_any_other(
    registry: ProviderRegistry, write_settings: WriteSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Speechless(Exception):  # noqa: N818 - somebody else's
        def __str__(self) -> str:
            raise ValueError("no text")

    def fail(*_: object, **__: object) -> None:
        raise Speechless

    monkeypatch.setattr(activation, "RecordingSink", fail)
    write_settings(mode="record", file="run")
    assert (activate(registry).mode, activate(registry).reason) == ("blocked", "Speechless: ")


def test_ctrl_c_is_not_taken_for_trouble(
    registry: ProviderRegistry, write_settings: WriteSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(activation, "RecordingSink", interrupt)
    write_settings(mode="record", file="run")
    with pytest.raises(KeyboardInterrupt):
        activate(registry)


def test_a_file_that_is_swapped_while_it_is_read_blocks(
    registry: ProviderRegistry,
    write_settings: WriteSettings,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = _record(root / "run.jsonl", "one")
    other = _record(root / "other.jsonl", "two")
    open_replay = activation.ReplayProvider

    def swap_and_open(*words: Any, **options: Any) -> Any:
        other.rename(path)
        return open_replay(*words, **options)

    monkeypatch.setattr(activation, "ReplayProvider", swap_and_open)
    write_settings(mode="replay", file="run")
    assert "was replaced while it was read" in (activate(registry).reason or "")


def test_a_snapshot_cannot_be_changed(registry: ProviderRegistry) -> None:
    snapshot = activate(registry)
    with pytest.raises(AttributeError):
        snapshot.mode = "record"  # type: ignore[misc]  # that it is refused is the point


def test_a_provider_that_cannot_be_wrapped_blocks_them_all(
    registry: ProviderRegistry, write_settings: WriteSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(provider: ApiProvider, sink: RecordingSink) -> ApiProvider:
        del provider, sink
        raise ValueError("cannot be wrapped")

    monkeypatch.setattr(activation, "RecordingProvider", refuse)
    write_settings(mode="record", file="run")
    assert activate(registry).reason == "cannot be wrapped"
    with pytest.raises(ProviderBlockedError):
        _ask(registry)
