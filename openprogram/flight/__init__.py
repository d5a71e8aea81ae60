"""The flight recorder: records tool calls where the outside world answers, and replays them.

Importing it starts nothing: each name below loads its module when it is first asked for.
"""

from __future__ import annotations

from openprogram._lazy_names import TYPE_CHECKING, serve_lazily

if TYPE_CHECKING:
    from openprogram.errors import ForbiddenValue
    from openprogram.flight.boundary import Boundary, ChainTarget

__all__ = [
    "Boundary",
    "ChainTarget",
    "ForbiddenValue",
]
_MODULES = {
    "Boundary": "openprogram.flight.boundary",
    "ChainTarget": "openprogram.flight.boundary",
    "ForbiddenValue": "openprogram.errors",
}
__getattr__, __dir__ = serve_lazily(__name__, _MODULES)
