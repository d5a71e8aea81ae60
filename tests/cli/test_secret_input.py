"""A secret is one plain word; the rest is tested through `auth set`, on pipes and terminals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from openprogram.cli import _output
from openprogram.cli._diagnostics import UsageError
from openprogram.cli._secret_input import read_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Feed = Callable[[bytes], None]


@pytest.fixture
def feed() -> Iterator[Feed]:
    """Return a function that puts bytes on standard input."""
    kept = os.dup(0)

    def put(data: bytes) -> None:
        reading, writing = os.pipe()
        os.write(writing, data)
        os.close(writing)
        os.dup2(reading, 0)
        os.close(reading)

    yield put
    os.dup2(kept, 0)
    os.close(kept)


def test_blanks_around_a_word_are_dropped(feed: Feed) -> None:
    feed(b" \n\tkey-1~!\r\n")
    assert read_secret("?") == "key-1~!"


@pytest.mark.parametrize(
    "data", [b"", b" \n", b"ab cd", b"ab\ncd", b"ab\0", b"ab\xc3\xa9", b"ab\x7f"]
)
def test_what_is_not_one_plain_word_is_refused_and_not_repeated(feed: Feed, data: bytes) -> None:
    feed(data)
    with pytest.raises(UsageError) as caught:
        read_secret("?")
    assert "ab" not in str(caught.value)


def test_a_terminal_that_cannot_hide_is_refused(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def always(_stream: object) -> bool:
        return True

    monkeypatch.setattr(_output, "is_terminal", always)
    feed(b"key\n")
    with pytest.raises(UsageError, match="cannot hide"):
        read_secret("?")
