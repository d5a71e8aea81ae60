"""A user's file of prices is taken whole or refused, and what it does not say stays unknown."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from openprogram.errors import ConfigError
from openprogram.providers import types as t
from openprogram.providers.prices import price_of, read_prices

if TYPE_CHECKING:
    from pathlib import Path

SOUND = {"source": "https://vendor.test/prices", "as_of": "2026-12-01"}


def _entry(**fields: object) -> str:
    return json.dumps({"anthropic/m": {**SOUND, **fields}})


def test_prices_are_found_by_provider_and_model_and_unknown_stays_unknown(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    entries = {
        "anthropic/m": {**SOUND, "input": 1, "output": 2.5, "cache_read": None},
        "openrouter/a/m": {**SOUND, "input": 0},
    }
    path.write_text(json.dumps(entries))
    prices = read_prices(path)
    price = price_of(prices, "anthropic", "m")
    assert price is not None
    assert (price.source, price.as_of.isoformat()) == (SOUND["source"], SOUND["as_of"])
    assert price.to_cost() == t.ModelCost(input=1.0, output=2.5, source="configured")
    other = price_of(prices, "openrouter", "a/m")
    assert other is not None
    assert other.to_cost() == t.ModelCost(input=0.0, source="configured")
    assert price_of(prices, "anthropic", "n") is None
    assert price_of(prices, "google", "m") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not sound JSON"),
        ("[" * 100_000, "not sound JSON"),
        ("[]", "not a JSON object"),
        ('{"a/m": {}, "a/m": {}}', "'a/m stands there twice'; mend it"),
        ('{"m": {}}', "'m': no name of a model; write provider/model"),
        ('{"a/": {}}', "no name of a model"),
        ('{"a/m": {"as_of": "2026-12-01"}}', "missing required field `source`"),
        ('{"a/m": {"source": "x"}}', "missing required field `as_of`"),
        (_entry(as_of="1 December"), "give source, as_of (YYYY-MM-DD)"),
        (_entry(source=""), "$.source"),
        (_entry(input=-1), "$.input"),
        (_entry(input=True), "$.input"),
        (_entry(input="1"), "$.input"),
        (_entry(input=float("nan")), "$.input"),
        (_entry(output=float("inf")), "$.output"),
        (_entry(cacheread=1), "unknown field `cacheread`"),
    ],
)
def test_a_file_that_is_not_sound_is_refused_with_place_and_remedy(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_prices(path)
    assert str(caught.value).startswith(f"'{path}'")
    assert words in str(caught.value)
    assert caught.value.path == path


def test_what_is_no_readable_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(20_000_000)
    for path, reason in (
        (tmp_path / "nowhere", "No such file"),
        (tmp_path, "Is a directory"),
        (pipe, "not a regular file"),
        (large, "too large"),
    ):
        with pytest.raises(ConfigError, match=reason):
            read_prices(path)
    binary = tmp_path / "binary"
    binary.write_bytes(b'{"\xff": 1}')
    with pytest.raises(ConfigError, match="not sound JSON"):
        read_prices(binary)
