"""Each module has its test where one looks for it; the few that have none say which test is theirs.

`openprogram/a/_b.py` is tested by `tests/a/test_b.py`, and the terminal UI's modules below
`tests/tui`.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHECKOUT: Final = Path(__file__).resolve().parents[2]
_TEST_FOLDERS: Final = {"openprogram": "tests", "openprogram_recordings_tui": "tests/tui"}

_BY_ITS_COMMAND: Final = "it is nothing but the program's entrance"
_BY_ITS_FACE: Final = "a vendor's dialect is judged by what crosses the wire"
_BY_ITS_SERVER: Final = "a script's words and a dialect's rules are judged by what a client meets"
_BY_ITS_SCREEN: Final = "it shows only in the running UI"
_BY_NAME: Final = "it only serves names of other modules"

_TESTED_ELSEWHERE: Final = {
    "openprogram/__init__.py": ("tests/cli/test_app.py", "its version is what the program says"),
    "openprogram/__main__.py": ("tests/cli/test_app.py", _BY_ITS_COMMAND),
    "openprogram/cli/recordings/__init__.py": ("tests/cli/test_commands.py", _BY_ITS_COMMAND),
    "openprogram/_json_types.py": (
        "tests/providers/recording/test_format.py",
        "it has names for the type checker alone",
    ),
    "openprogram/errors.py": (
        "tests/contracts/test_errors_tree.py",
        "the whole tree is held against its drawing",
    ),
    "openprogram/flight/__init__.py": ("tests/flight/trace/test_tracer.py", _BY_NAME),
    "openprogram/providers/_registry.py": (
        "tests/providers/test_registry_state.py",
        "test_registry.py is that of registry.py",
    ),
    "openprogram/config/__init__.py": ("tests/config/test_settings.py", _BY_NAME),
    "openprogram/providers/__init__.py": ("tests/contracts/test_public_names.py", _BY_NAME),
    "openprogram/providers/recording/__init__.py": (
        "tests/contracts/test_public_names.py",
        _BY_NAME,
    ),
    "openprogram/providers/management/__init__.py": (
        "tests/providers/management/test_modes.py",
        _BY_NAME,
    ),
    "openprogram/providers/recording/redaction/__init__.py": (
        "tests/providers/recording/redaction/test_redaction.py",
        "its face is tested under the package's name",
    ),
    "openprogram/testing/__init__.py": ("tests/testing/test_server.py", _BY_NAME),
    "openprogram/testing/answers.py": ("tests/testing/test_server.py", _BY_ITS_SERVER),
    "openprogram/testing/protocol.py": ("tests/testing/test_server.py", _BY_ITS_SERVER),
    "openprogram_recordings_tui/messages.py": ("tests/tui/test_app.py", _BY_ITS_SCREEN),
    "openprogram_recordings_tui/screens/base.py": (
        "tests/tui/screens/test_home.py",
        _BY_ITS_SCREEN,
    ),
    "openprogram_recordings_tui/screens/help.py": ("tests/tui/test_app.py", _BY_ITS_SCREEN),
    "openprogram_recordings_tui/sources/call_views.py": (
        "tests/tui/sources/test_open_recording.py",
        "it holds what an open recording hands out",
    ),
    "openprogram_recordings_tui/sources/first_text.py": (
        "tests/tui/sources/test_lists.py",
        "lists are what asks for it",
    ),
    "openprogram_recordings_tui/widgets/bars.py": (
        "tests/tui/screens/test_recording.py",
        _BY_ITS_SCREEN,
    ),
}
"""Modules without a test at their own place, each with the test that fails when it is broken."""

_PARTS_OF_A_FACE: Final = {
    "openprogram/providers/vendors": _BY_ITS_FACE,
    "openprogram/testing": _BY_ITS_SERVER,
}
"""Folders whose private modules need no test of their own beside that of the public ones."""
_PARTS_OF_ONE: Final = {
    "openprogram/pytest_plugin": (
        "tests/pytest_plugin/test_pytest_plugin.py",
        "a plugin is judged by the test runs that load it",
    )
}
"""Folders that are tested as one."""


def _modules() -> Iterator[Path]:
    for package in _TEST_FOLDERS:
        for path in sorted((_CHECKOUT / package).rglob("*.py")):
            yield path.relative_to(_CHECKOUT)


def _mirrored(module: Path) -> Path:
    package, *folders = module.parent.parts
    stem = module.stem.strip("_") if module.stem in {"__init__", "__main__"} else module.stem
    return Path(_TEST_FOLDERS[package], *folders, f"test_{stem.lstrip('_')}.py")


def _is_empty(module: Path) -> bool:
    """Say whether a module holds a docstring at most."""
    body = ast.parse((_CHECKOUT / module).read_text(encoding="utf-8")).body
    return all(isinstance(each, ast.Expr) for each in body)


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("openprogram/a/_b.py", "tests/a/test_b.py"),
        ("openprogram/a/__init__.py", "tests/a/test_init.py"),
        ("openprogram_recordings_tui/__main__.py", "tests/tui/test_main.py"),
    ],
)
def test_where_a_module_is_mirrored(module: str, test: str) -> None:
    assert _mirrored(Path(module)) == Path(test)


def _is_tested(module: Path) -> bool:
    folder = str(module.parent)
    is_private = module.stem.startswith("_") and not module.stem.endswith("__")
    is_part = is_private and folder in _PARTS_OF_A_FACE
    test, _ = _PARTS_OF_ONE.get(folder, (str(_mirrored(module)), ""))
    return is_part or (_CHECKOUT / test).is_file() or str(module) in _TESTED_ELSEWHERE


def test_every_module_has_its_test() -> None:
    modules = list(_modules())
    assert len(modules) > 100
    without = [
        f"{module}: no {_mirrored(module)}"
        for module in modules
        if not _is_tested(module) and not _is_empty(module)
    ]
    assert without == []


def test_what_is_tested_elsewhere_is_so_and_has_to_be() -> None:
    for module, (test, reason) in _TESTED_ELSEWHERE.items():
        assert (_CHECKOUT / module).is_file(), module
        assert (_CHECKOUT / test).is_file(), test
        assert reason
        own = _mirrored(Path(module))
        is_of_another = module == "openprogram/providers/_registry.py"
        assert not (_CHECKOUT / own).is_file() or is_of_another, f"{module} has {own} now"
