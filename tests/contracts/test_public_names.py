"""Public names are deliberate: sorted, listed once, the very objects of their modules."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import pytest

from fresh_interpreter import output_of
from openprogram import _lazy_names, errors

_LAZY: Final = ("openprogram.providers", "openprogram.providers.recording")
"""Packages that serve their names from a table."""

_PROMISED: Final = {
    "openprogram.providers": {
        "ProviderRuntimeInitializationError",
        "complete",
        "complete_simple",
        "configure_provider_transform",
        "get_api_provider",
        "initialize_provider_runtime",
        "register_api_provider",
        "register_builtins",
        "stream",
        "stream_simple",
    },
    "openprogram.providers.recording": {
        "PLACEHOLDER",
        "RECORDING_FORMAT_VERSION",
        "REDACTION_VERSION",
        "RecordingProvider",
        "RecordingSink",
        "SECRET_FIELD_NAMES",
        "remove_secret_values",
    },
}
"""What people import; it may grow and does not shrink."""

_MESSAGES = "Model ModelCost Context UserMessage AssistantMessage ToolResultMessage Tool"
_CONTENT = "TextContent ThinkingContent ToolCall ImageContent VideoContent AudioContent"
_OPTIONS = "Usage UsageCost StreamOptions SimpleStreamOptions ThinkingBudgets"
_EVENTS = (
    "EventStart EventTextStart EventTextDelta EventTextEnd EventThinkingStart EventThinkingDelta "
    "EventThinkingEnd EventToolCallStart EventToolCallDelta EventToolCallEnd EventDone EventError"
)


def _package(name: str) -> Any:
    return import_module(name)


def _isort_key(name: str) -> tuple[bool, bool, str]:
    """Constants first, then classes, then functions, as the formatter sorts them."""
    return (not name.isupper(), not name[0].isupper(), name)


@pytest.mark.parametrize("name", _LAZY)
def test_the_list_is_sorted_and_holds_what_was_promised(name: str) -> None:
    package = _package(name)
    assert sorted(package.__all__, key=_isort_key) == package.__all__
    assert len(set(package.__all__)) == len(package.__all__)
    assert _PROMISED[name] <= set(package.__all__)


@pytest.mark.parametrize("name", _LAZY)
def test_the_list_is_the_table(name: str) -> None:
    # Before anything was asked for, what `dir` knows and the package does not have is the table.
    code = f"import {name} as package\nprint(*sorted(set(dir(package)) - set(vars(package))))"
    assert output_of(code).split() == sorted(_package(name).__all__)


@pytest.mark.parametrize("name", _LAZY)
def test_each_name_is_the_object_that_its_module_defines(name: str) -> None:
    package = _package(name)
    for public in package.__all__:
        value = getattr(package, public)
        assert not isinstance(value, ModuleType)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert getattr(import_module(value.__module__), public) is value
            assert value.__name__ == public


@pytest.mark.parametrize("name", _LAZY)
def test_names_can_be_listed_and_others_are_not_there(name: str) -> None:
    package = _package(name)
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'no_such_name'"):
        _ = package.no_such_name
    assert not hasattr(package, "__wrapped__")


@pytest.mark.parametrize(
    "imports",
    [
        "from openprogram.providers import stream",
        "import openprogram.providers.stream; from openprogram.providers import stream",
        "from openprogram.providers import stream_simple, stream",
        "import openprogram.providers as p; import openprogram.providers.stream; stream = p.stream",
        "from openprogram.providers import *",
        "from openprogram.providers.stream import complete; from openprogram.providers import *",
    ],
)
def test_stream_is_the_function_whoever_imported_its_module_before(imports: str) -> None:
    assert output_of(f"{imports}\nprint(type(stream).__name__, stream.__name__)") == (
        "function stream\n"
    )


def test_other_modules_of_a_lazy_package_are_attributes_as_usual() -> None:
    code = """
        import openprogram.providers.types, openprogram.providers.replay
        from openprogram import providers
        print(providers.types.__name__, providers.replay.ReplayMismatch.__name__)
    """
    assert output_of(code) == "openprogram.providers.types ReplayMismatch\n"


def test_types_exports_the_wire_format_by_its_names() -> None:
    types = _package("openprogram.providers.types")
    for name in f"{_MESSAGES} {_CONTENT} {_OPTIONS} {_EVENTS}".split():
        assert inspect.isclass(getattr(types, name)), name
    assert callable(types.to_wire)
    assert callable(types.from_wire)
    assert types.AssistantMessageEvent


def test_errors_that_people_catch_are_found_where_the_contract_says() -> None:
    replay = _package("openprogram.providers.replay")
    recording = _package("openprogram.providers.recording")
    assert replay.ReplayMismatch is errors.ReplayMismatch
    assert recording.RecordingFileError is errors.RecordingFileError
    assert issubclass(errors.ReplayMismatch, AssertionError)


def test_inspection_and_replay_have_their_public_names() -> None:
    assert callable(_package("openprogram.providers.inspection").inspect_recording)
    assert inspect.isclass(_package("openprogram.providers.inspection").RecordingInspection)
    assert inspect.isclass(_package("openprogram.providers.replay").ReplayProvider)


def test_a_lazy_package_serves_its_table_once(monkeypatch: pytest.MonkeyPatch) -> None:
    package: Any = ModuleType("lazy_example")
    monkeypatch.setitem(sys.modules, "lazy_example", package)
    find, list_names = _lazy_names.serve_lazily("lazy_example", {"dumps": "json"})
    package.__getattr__ = find
    assert package.dumps is import_module("json").dumps
    assert "dumps" in vars(package)
    assert "dumps" in list_names()
    package.dumps = import_module("json")
    assert callable(package.dumps)
    package.other = import_module("json")
    assert package.other is import_module("json")
