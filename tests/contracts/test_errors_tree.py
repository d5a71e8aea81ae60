"""The tree drawn at the top of `openprogram.errors` is whole and true."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from openprogram import errors
from openprogram.providers.recording.format import ERROR_CODES

_LINE = re.compile(r"(?P<indent> *)(?P<name>[A-Z]\w+)(?: +\((?P<second_base>\w+)\))?(?P<rest>.*)")


@dataclass
class Drawn:
    """One class as the tree draws it."""

    base: str
    second_base: str | None
    fields: set[str] = field(default_factory=set[str])


def _drawn_tree() -> dict[str, Drawn]:
    docstring = errors.__doc__ or ""
    tree: dict[str, Drawn] = {}
    above: list[str] = []
    for line in docstring.split("\n\n", 1)[1].splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            # The fields of the class above go on here.
            tree[above[-1]].fields |= set(re.findall(r"\.(\w+)", line))
            continue
        depth = len(match["indent"]) // 2
        above[depth:] = [match["name"]]
        assert match["name"] not in tree, f"{match['name']} is drawn twice"
        tree[match["name"]] = Drawn(
            base=above[depth - 1] if depth else "Exception",
            second_base=match["second_base"],
            fields=set(re.findall(r"\.(\w+)", match["rest"])),
        )
    return tree


def _classes() -> dict[str, type[BaseException]]:
    return {
        name: member
        for name, member in inspect.getmembers(errors, inspect.isclass)
        if issubclass(member, BaseException) and member.__module__ == errors.__name__
    }


def _own_fields(class_: type[BaseException]) -> set[str]:
    tree = ast.parse(inspect.getsource(class_))
    return {
        target.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute)
    }


def test_every_class_is_drawn_and_every_drawn_class_is_there() -> None:
    assert set(_drawn_tree()) == set(_classes())
    assert len(_classes()) > 15


def test_every_class_hangs_where_it_is_drawn() -> None:
    classes = _classes()
    for name, drawn in _drawn_tree().items():
        bases = [base.__name__ for base in classes[name].__bases__]
        # What no handler of `Exception` may catch hangs on BaseException alone.
        drawn_bases = [drawn.base, drawn.second_base]
        if drawn.second_base == "BaseException":
            drawn_bases = [drawn.second_base]
        assert bases == [base for base in drawn_bases if base], name


def test_every_class_has_the_fields_it_is_drawn_with() -> None:
    classes = _classes()
    for name, drawn in _drawn_tree().items():
        assert drawn.fields == _own_fields(classes[name]), name


@pytest.mark.parametrize("class_", _classes().values(), ids=str)
def test_every_class_says_when_it_is_raised(class_: type[BaseException]) -> None:
    assert class_.__doc__
    assert class_.__doc__ != class_.__base__.__doc__


def test_the_module_imports_nothing_of_the_project() -> None:
    modules = {
        node.module
        for node in ast.walk(ast.parse(inspect.getsource(errors)))
        if isinstance(node, ast.ImportFrom)
    }
    assert modules == {"__future__", "collections.abc", "typing", "pathlib"}


def test_an_unsound_recording_always_comes_with_a_remedy() -> None:
    said_by_reason = {
        "unreadable",
        "symlink",
        "not_a_regular_file",
        "unsafe_permissions",
        "unsupported_version",
    }
    for code in ERROR_CODES:
        error = errors.RecordingFileError(Path("/r"), code, "the reason", 3, 1)
        head = f"'/r', line 3: the reason ({code})"
        if code in said_by_reason:
            assert (str(error), error.remedy) == (head, "")
        else:
            assert str(error) == f"{head}; {error.remedy}"
            assert re.search(
                "openprogram recordings|record under a new name|name another", str(error)
            )
    stopped = errors.RecordingFileError(Path("/r"), "truncated_row", "x").remedy
    assert "its writer was stopped" in stopped
    assert "'openprogram recordings show'" in stopped


def test_an_unknown_api_says_what_there_is_and_how_to_register() -> None:
    text = str(errors.ProviderNotRegisteredError("mine", known=["b", "a\x1b"]))
    assert r"choose one of 'a\x1b', 'b'" in text
    assert "register_api_provider" in text
    assert "none is" in str(errors.ProviderNotRegisteredError("mine"))
