"""What models cost, as a user's own file says; this project knows no prices itself.

{
  "anthropic/claude-sonnet-4-5": {
    "input": 1.0, "output": 2.0, "cache_read": 0.1, "cache_write": 1.25,
    "source": "the page that says so", "as_of": "2026-12-01"
  }
}

Prices are USD per million tokens. One that is left out, or null, is unknown, which is not zero.
"""

from __future__ import annotations

import json
import os
import stat
from datetime import date  # noqa: TC003 - msgspec reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, cast

import msgspec

from openprogram.errors import ConfigError, quoted
from openprogram.providers import types as t

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST_BYTES = 10_000_000
_REASON_CHARACTERS = 300

_Usd = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
_Words = Annotated[str, msgspec.Meta(min_length=1)]


class Price(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What one model costs, and who says so."""

    source: _Words
    """Where the prices were read."""
    as_of: date
    """The day on which they were."""
    input: _Usd | None = None
    """USD per million tokens, as all four."""
    output: _Usd | None = None
    cache_read: _Usd | None = None
    cache_write: _Usd | None = None

    def to_cost(self) -> t.ModelCost:
        """Give the prices as a model holds them."""
        return t.ModelCost(
            input=self.input,
            output=self.output,
            cache_read=self.cache_read,
            cache_write=self.cache_write,
            source="configured",
        )


def read_prices(path: Path) -> dict[str, Price]:
    """Read a file of prices.

    Args:
        path: The file, of a JSON object as this module's own text shows it.

    Returns:
        The prices by provider and model, as in `anthropic/claude-sonnet-4-5`.

    Raises:
        ConfigError: The file cannot be read, or anything in it is not as it should be.
    """
    try:
        entries: object = json.loads(_read_regular_file(path), object_pairs_hook=_unique)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        rule = f"cannot be read ({reason}); name a file of prices, or leave it out"
        raise ConfigError(f"{quoted(str(path))}: {rule}", path=path) from error
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "nested too deeply"
        rule = f"not sound JSON: {quoted(reason, limit=_REASON_CHARACTERS)}; mend it"
        raise ConfigError(f"{quoted(str(path))}: {rule}", path=path) from error
    if not isinstance(entries, dict):
        rule = "not a JSON object; let it hold prices by provider and model"
        raise ConfigError(f"{quoted(str(path))}: {rule}", path=path)
    items = cast("dict[str, object]", entries).items()
    return {name: _price_from(path, name, entry) for name, entry in items}


def price_of(prices: dict[str, Price], provider: str, model_id: str) -> Price | None:
    """Find what a model costs; names are compared as they stand.

    Args:
        prices: What was read.
        provider: The provider's name, as `Model.provider`.
        model_id: The vendor's name of the model.

    Returns:
        The prices, or None when the file does not know the model.

    Example:
        >>> price_of({}, "anthropic", "claude-sonnet-4-5") is None
        True
    """
    return prices.get(f"{provider}/{model_id}")


def _price_from(path: Path, name: str, entry: object) -> Price:
    provider, _, model_id = name.partition("/")
    if provider and model_id:
        try:
            return msgspec.convert(entry, Price)
        except msgspec.ValidationError as error:
            reason = quoted(str(error), limit=_REASON_CHARACTERS)
        remedy = "give source, as_of (YYYY-MM-DD), and prices in USD per million tokens"
    else:
        reason, remedy = "no name of a model", "write provider/model"
    place = f"{quoted(str(path))}, {quoted(name)}"
    raise ConfigError(f"{place}: {reason}; {remedy}", path=path)


def _read_regular_file(path: Path) -> bytes:
    # Not blocking: what stands there may be a pipe that nobody writes to.
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(0, "not a regular file")
        data = file.read(_LARGEST_BYTES + 1)
    if len(data) > _LARGEST_BYTES:
        raise OSError(0, "too large")
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a model that stands there twice: which of its prices would count?"""
    named: dict[str, Any] = {}
    for name, value in pairs:
        if name in named:
            raise ValueError(f"{name} stands there twice")
        named[name] = value
    return named
