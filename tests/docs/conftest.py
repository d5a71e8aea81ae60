"""The fixture that runs a suite of its own."""

from __future__ import annotations

from suite import run as run
