"""Token counts, as each server tells them."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram.providers.vendors._openai_usage import count_tokens


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, (9, 2, 0, 0)),
        ({"prompt_tokens": 9, "completion_tokens": 2,
          "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3}}, (2, 2, 4, 3)),
        ({"prompt_tokens": 9, "completion_tokens": 0, "prompt_cache_hit_tokens": 9}, (0, 0, 9, 0)),
        ({"prompt_tokens": 9, "completion_tokens": 0, "cached_tokens": 1}, (8, 0, 1, 0)),
        ({"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 5}},
         (0, 0, 5, 0)),
        # reasoning inside the completion, and beside it
        ({"prompt_tokens": 6, "completion_tokens": 212, "total_tokens": 218,
          "completion_tokens_details": {"reasoning_tokens": 198}}, (6, 212, 0, 0)),
        ({"prompt_tokens": 6, "completion_tokens": 10, "total_tokens": 36,
          "completion_tokens_details": {"reasoning_tokens": 20}}, (6, 30, 0, 0)),
        # values that are no counts
        ({"prompt_tokens": 3.0, "completion_tokens": "7", "prompt_tokens_details": [],
          "completion_tokens_details": None}, (3, 0, 0, 0)),
        ({"prompt_tokens": True, "completion_tokens": -4}, None),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({}, None),
        (None, None),
        ("many", None),
    ],
)  # fmt: skip
def test_counts(usage: Any, expected: tuple[int, int, int, int] | None):
    counts = count_tokens(usage)
    assert (tuple(counts.values()) if counts else None) == expected
