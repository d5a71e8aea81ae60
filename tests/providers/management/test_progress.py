"""A walk tells how far it is, before each item."""

from __future__ import annotations

from openprogram.providers.management.progress import counted


def test_each_item_is_announced_before_it_is_handed_out():
    told: list[object] = []
    walk = counted(["a", "b"], lambda done, total: told.append((done, total)))
    told += [next(walk), next(walk)]
    assert list(walk) == []
    assert told == [(0, 2), (1, 2), "a", "b"]


def test_nobody_has_to_watch():
    assert list(counted([1, 2], None)) == [1, 2]
