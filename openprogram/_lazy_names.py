"""Packages whose public names load their modules on first use, so that importing them is cheap."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

# `typing` would take longer to import than all else that a lazy package needs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def serve_lazily(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the two functions that a package needs to serve names from a table.

    A name wins over a module of the same name in the package: `openprogram.providers.stream` is the
    function, whether or not somebody has imported the module.

    Args:
        package: The package's own `__name__`; it is just being imported.
        places: The module that defines it, by public name.

    Returns:
        What the package shall call `__getattr__` and `__dir__`.
    """
    module = sys.modules[package]

    class LazyPackage(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            if name in places and isinstance(value, ModuleType):
                # The import system hands each module of a package to it under the module's name.
                return
            super().__setattr__(name, value)

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(places[name]), name)
        setattr(module, name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(module), *places})

    module.__class__ = LazyPackage
    return find, list_names
