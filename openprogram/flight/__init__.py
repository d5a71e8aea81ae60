"""The flight recorder: so far it traces what a call does, line by line.

Importing it starts nothing: each name below loads its module when it is first asked for.
"""

from __future__ import annotations

from openprogram._lazy_names import TYPE_CHECKING, serve_lazily

if TYPE_CHECKING:
    from openprogram.errors import ForbiddenValue
    from openprogram.flight.trace.reader import Trace
    from openprogram.flight.trace.tracer import TraceLimits, Tracer

__all__ = [
    "ForbiddenValue",
    "Trace",
    "TraceLimits",
    "Tracer",
]
_MODULES = {
    "ForbiddenValue": "openprogram.errors",
    "Trace": "openprogram.flight.trace.reader",
    "TraceLimits": "openprogram.flight.trace.tracer",
    "Tracer": "openprogram.flight.trace.tracer",
}
__getattr__, __dir__ = serve_lazily(__name__, _MODULES)
