"""Small apps of source text, run under a tracer."""

from __future__ import annotations

import importlib.util
import sys
from itertools import count
from typing import TYPE_CHECKING, Any

from openprogram.flight.trace.reader import Trace
from openprogram.flight.trace.tracer import Tracer

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

_numbers = count()


def load_app(folder: Path, source: str, *, name: str = "app.py") -> ModuleType:
    """Write a module below `folder` and import it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"traced_app_{next(_numbers)}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # What cuts classes to shape looks their module up.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    return module


def trace_app(folder: Path, source: str, **options: Any) -> Trace:
    """Trace `main()` of a module of this source."""
    root = folder / "root"
    app = load_app(root, source)
    with Tracer(folder / "app.trace", trace_root=root, **options):
        app.main()
    return Trace.load(folder / "app.trace")


def told(trace: Trace, fn: str | None = None) -> list[str]:
    """Say in short what a trace tells: kind, line, how, and what changed."""
    rows = trace.rows if fn is None else [row for row in trace.rows if row.function == fn]
    return [
        " ".join(
            part
            for part in (
                row.kind,
                str(row.line),
                row.how,
                ",".join(f"{name}={value}" for name, value in row.changed.items()),
                ",".join(f"-{name}" for name in row.deleted),
            )
            if part
        )
        for row in rows
    ]
