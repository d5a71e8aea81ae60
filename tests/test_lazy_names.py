from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from fresh_interpreter import output_of
from openprogram._lazy_names import serve_lazily

Make = Callable[[dict[str, str]], Any]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Make:
    """A function that makes a package that serves names from a table."""

    def package_of(places: dict[str, str]) -> Any:
        package: Any = ModuleType("lazy_example")
        monkeypatch.setitem(sys.modules, "lazy_example", package)
        package.__getattr__, package.__dir__ = serve_lazily("lazy_example", places)
        return package

    return package_of


def test_a_name_is_the_object_of_its_module_and_looked_up_once(make: Make) -> None:
    package = make({"dumps": "json"})
    assert "dumps" not in vars(package)
    assert package.dumps is json.dumps
    assert vars(package)["dumps"] is json.dumps
    assert "dumps" in dir(package)


def test_a_name_that_is_not_in_the_table_is_not_there(make: Make) -> None:
    package = make({"dumps": "json"})
    with pytest.raises(AttributeError, match="'lazy_example' has no attribute 'loads'"):
        _ = package.loads


def test_a_fault_in_the_table_surfaces(make: Make) -> None:
    package = make({"nothing": "json", "nowhere": "no_such_module"})
    with pytest.raises(AttributeError, match="nothing"):
        _ = package.nothing
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = package.nowhere


def test_a_module_of_the_same_name_does_not_take_its_place(make: Make) -> None:
    package = make({"dumps": "json"})
    package.dumps = json
    assert package.dumps is json.dumps
    package.other = json
    assert package.other is json


def test_serving_loads_nothing_by_itself() -> None:
    code = """
        import sys
        before = set(sys.modules)
        import openprogram._lazy_names
        print("typing" in before, "typing" in sys.modules, len(set(sys.modules) - before) < 8)
    """
    assert output_of(code) == "False False True\n"
