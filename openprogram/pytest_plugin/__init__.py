"""A pytest plugin: a test's provider calls are recorded once, and replayed offline ever after.

    @pytest.mark.provider_recording
    def test_agent_finds_the_time():
        ...

pytest finds it by its entry point. Until a test asks for it, by the mark or by the fixture
`provider_recording`, it loads nothing of the product and changes nothing.
"""

# pyright: reportImportCycles=false
# The modules below import this package for one another; at run time they load when they are used.

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from openprogram.pytest_plugin.recordings import ProviderRecording

_NAME: Final = "provider_recording"
_MODES: Final = ("none", "once", "rewrite", "verify")
_OPTION: Final = "--record-mode"
_OWN_DEST: Final = "openprogram_record_mode"
_RECORDING: pytest.StashKey[ProviderRecording] = pytest.StashKey()
_CLAIMS: pytest.StashKey[dict[str, list[str]]] = pytest.StashKey()
_SHARED: pytest.StashKey[dict[str, str]] = pytest.StashKey()
_WORKER_OUTPUT: Final = "openprogram_recording_claims"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the settings."""
    group = parser.getgroup("openprogram", "provider recordings")
    sentence = (
        "how tests with a provider recording run: none = replay only, once = record what is "
        "missing, rewrite = record anew, verify = ask live and compare (default: the setting "
        "provider_record_mode, or none; where CI is set the setting does not count)"
    )
    group.addoption("--provider-record-mode", default=None, metavar="MODE", help=sentence)
    parser.addini("provider_record_mode", "the mode when neither CI nor an option says one")
    parser.addini(
        "provider_recordings_dir",
        "the folder of the recordings, beside each test file",
        default="recordings",
    )
    parser.addini(
        "provider_recording_ignore",
        "field paths of requests that replays do not compare",
        type="linelist",
    )


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser
) -> Generator[None]:
    """Add the short name of the option when all plugins are there, unless another one has it."""
    del early_config
    yield
    groups: list[Any] = [parser._anonymous, *parser._groups]  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - no public way asks which options there are
    taken = {name for group in groups for option in group.options for name in option.names()}
    if _OPTION not in taken:
        sentence = "the short name of --provider-record-mode"
        group = parser.getgroup("openprogram")
        group.addoption(_OPTION, dest=_OWN_DEST, default=None, metavar="MODE", help=sentence)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, and refuse a mode that there is not."""
    _mode_of(config)
    config.addinivalue_line(
        "markers",
        f"{_NAME}(path=None, ignore=(), allow_hosts=()): record the provider calls of this test "
        "once, and replay them offline",
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give every marked test the fixture."""
    if isinstance(item, pytest.Function) and item.get_closest_marker(_NAME) is not None:
        names = item.fixturenames
        if _NAME not in names:
            names.insert(0, _NAME)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note which recordings the tests claim, before any test is deselected."""
    claiming = [item for item in items if _NAME in getattr(item, "fixturenames", ())]
    if claiming:
        from openprogram.pytest_plugin.places import claims_of, find_shared  # when it is used

        config.stash[_CLAIMS] = claims_of(claiming)
        config.stash[_SHARED] = find_shared(claiming)


@pytest.fixture
def provider_recording(request: pytest.FixtureRequest) -> Generator[ProviderRecording]:
    """Record this test's provider calls, or replay them, as `--record-mode` says."""
    from openprogram.pytest_plugin.recordings import ProviderRecording  # loaded when it is used

    item = cast("pytest.Item", request.node)  # pyright: ignore[reportUnknownMemberType] - untyped
    recording = ProviderRecording.of(item, _mode_of(request.config))
    if not recording.is_replaying and recording.mode != "verify":
        _require_own_recording(item)
    with recording:
        item.stash[_RECORDING] = recording
        yield recording


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Judge the calls when the test's own code is done, so that the test itself fails."""
    recording = item.stash.get(_RECORDING, None)
    if recording is None:
        return (yield)
    try:
        result = yield
    except BaseException as error:
        if not isinstance(error, pytest.skip.Exception):
            recording.note_failure()
        report = recording.report()
        if report:
            item.add_report_section("call", "provider recording", report)
        raise
    problem = recording.judge()
    if problem:
        pytest.fail(problem, pytrace=False)
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand a worker's claims to the process that reports."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_WORKER_OUTPUT] = _claims_in(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take a worker's claims: each one has collected all tests."""
    del error
    output: dict[str, Any] = getattr(node, "workeroutput", None) or {}
    claims = output.get(_WORKER_OUTPUT)
    if claims:
        node.config.stash[_CLAIMS] = claims


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List the recordings that no test uses."""
    claims = _claims_in(config)
    if not claims or _is_partial(config):
        return
    from openprogram.pytest_plugin.places import find_unused  # loaded when it is used

    unused = find_unused(claims, config.rootpath)
    if unused:
        terminalreporter.section("unused provider recordings")
        for line in unused:
            terminalreporter.line(line)
        terminalreporter.line("no collected test uses them; remove them when that is meant")


def _require_own_recording(item: pytest.Item) -> None:
    nothing: dict[str, str] = {}
    other = item.config.stash.get(_SHARED, nothing).get(item.nodeid)
    if other is not None:
        raise pytest.UsageError(
            f"this test and {other} have one recording, and each would replace the other's; give "
            "each a path of its own, or record with one of them alone and replay with both"
        )


def _claims_in(config: pytest.Config) -> dict[str, list[str]]:
    nothing: dict[str, list[str]] = {}
    return config.stash.get(_CLAIMS, nothing)


def _mode_of(config: pytest.Config) -> str:
    chosen = config.getoption("provider_record_mode", None) or config.getoption(_OWN_DEST, None)
    if chosen is None and not os.environ.get("CI"):
        chosen = cast("str", config.getini("provider_record_mode")) or None
    mode = str(chosen or "none")
    if mode not in _MODES:
        raise pytest.UsageError(
            f"{_OPTION}={mode!r}: no mode of provider recordings; choose one of {', '.join(_MODES)}"
        )
    return mode


def _is_partial(config: pytest.Config) -> bool:
    """Say whether only a part of some test file was collected."""
    return any("::" in argument for argument in config.args) or any(
        config.getoption(name, False) for name in ("lf", "failedfirst", "stepwise")
    )
