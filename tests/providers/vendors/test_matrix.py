"""Each vendor meets each way in which an answer may be awkward, over a real socket."""

from __future__ import annotations

import pytest

import vendor_matrix
from openprogram.providers.registry import PROVIDERS
from vendor_matrix import BEHAVIOURS
from vendor_sides import SIDES


@pytest.mark.parametrize("api", SIDES)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
async def test_each_vendor_behaves(behaviour: str, api: str):
    assert await BEHAVIOURS[behaviour](SIDES[api])


def test_no_vendor_is_left_out():
    live = {each.api for each in PROVIDERS.values() if not each.is_replayed_only}
    assert set(SIDES) == live


def test_the_printed_matrix_says_what_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    async def fail(_: object) -> str:
        raise AssertionError

    kept = {"auth": BEHAVIOURS["auth"], "broken": fail}
    monkeypatch.setattr(vendor_matrix, "BEHAVIOURS", kept)
    assert vendor_matrix.main() == 1
    head, auth, broken = capsys.readouterr().out.splitlines()
    assert head.split() == list(SIDES)
    assert auth.split() == ["auth"] * (1 + len(SIDES))
    assert broken.split() == ["broken", *["FAILED"] * len(SIDES)]
