"""Makes a payload that any vendor's JSON parser takes."""

from __future__ import annotations

import math
from typing import Any, cast

from openprogram.providers.vendors._failures import failure


def sendable(value: object) -> Any:
    r"""Copy JSON values, and mend the two things that JSON over UTF-8 cannot say.

    A lone surrogate becomes U+FFFD and a pair of them the character they mean; numbers that are not
    finite become null. All else is the same, so opaque strings survive byte for byte.

    Args:
        value: A payload.

    Returns:
        An equal or mended copy.

    Raises:
        ModelRequestError: It holds something that JSON cannot say at all, or nests too deeply.

    Example:
        >>> sendable({"a": "x\ud83d", "b": [float("nan"), 1]})
        {'a': 'x�', 'b': [None, 1]}
    """
    try:
        return _sendable(value)
    except RecursionError as error:
        raise failure("bad_request", "the request is nested too deeply to be sent") from error


def _sendable(value: object) -> Any:
    match value:
        case str():
            return well_formed(value)
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int():
            return value
        case dict():
            items = cast("dict[object, object]", value).items()
            return {well_formed(str(key)): _sendable(item) for key, item in items}
        case list() | tuple():
            return [_sendable(item) for item in cast("list[object]", value)]
        case _:
            kind = type(value).__name__
            raise failure("bad_request", f"the request holds a {kind}, which JSON cannot say")


def well_formed(text: str) -> str:
    r"""Replace what UTF-8 cannot say.

    Args:
        text: Any text.

    Returns:
        The same text where it is sound.

    Example:
        >>> ascii(well_formed("a\ud83d\ude00\udcb2"))
        "'a\\U0001f600\\ufffd'"
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
