"""How decoded JSON is typed: its shape is checked where it is read, not by the type checker."""

from __future__ import annotations

from typing import Any, TypeAlias

JsonValue: TypeAlias = Any
"""Anything that JSON can say: an object, an array, a text, a number, a truth value or null."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object, by its keys."""
