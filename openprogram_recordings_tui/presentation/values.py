"""JSON values as they stand in a row: anything may be of another type than it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Mapping

Json: TypeAlias = Any
"""Any JSON value, as it stood in a row."""


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Say whether a value is an object.

    Args:
        value: Any JSON value.

    Returns:
        Whether it is one.
    """
    return isinstance(value, dict)


def is_array(value: Json) -> TypeGuard[list[Json]]:
    """Say whether a value is an array.

    Args:
        value: Any JSON value.

    Returns:
        Whether it is one.
    """
    return isinstance(value, list)


def is_branch(value: Json) -> bool:
    """Say whether there is something in a value.

    Args:
        value: Any JSON value.

    Returns:
        Whether it is an object or an array that is not empty.
    """
    return (is_object(value) or is_array(value)) and bool(value)


def object_of(value: Json) -> Mapping[str, Json]:
    """Take a value for an object.

    Args:
        value: Any JSON value.

    Returns:
        The value; an empty object when it is none.
    """
    return value if is_object(value) else {}


def array_of(value: Json) -> list[Json]:
    """Take a value for an array.

    Args:
        value: Any JSON value.

    Returns:
        The value; an empty array when it is none.
    """
    return value if is_array(value) else []


def whole_of(value: Json) -> int | None:
    """Take a value for a whole number.

    Args:
        value: Any JSON value.

    Returns:
        The number; None when it is none, and for true and false.
    """
    return None if isinstance(value, bool) or not isinstance(value, int) else value


def text_of(value: Json) -> str:
    """Take a value for a text.

    Args:
        value: Any JSON value.

    Returns:
        The text, raw; empty when it is none.
    """
    return value if isinstance(value, str) else ""
