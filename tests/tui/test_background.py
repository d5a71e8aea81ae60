"""Readings in the background: the newest of a kind counts, and nobody waits for the others."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from openprogram_recordings_tui.background import Background

if TYPE_CHECKING:
    from openprogram_recordings_tui.background import IsCancelled

_LIMIT_SECONDS = 30


def test_a_newer_reading_cancels_the_older_of_its_kind():
    background = Background()
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    seen: dict[str, bool] = {}

    def old(is_cancelled: IsCancelled) -> None:
        begun.set()
        assert go_on.wait(_LIMIT_SECONDS)
        seen["old"] = is_cancelled()
        ended.set()

    def new(is_cancelled: IsCancelled) -> None:
        seen["new"] = is_cancelled()
        go_on.set()

    background.start("rows", old)
    assert begun.wait(_LIMIT_SECONDS)
    assert background.is_busy
    background.start("rows", new)
    assert ended.wait(_LIMIT_SECONDS)

    assert seen == {"old": True, "new": False}


def test_another_kind_is_left_alone_and_cancel_ends_all():
    background = Background()
    answers: list[bool] = []
    gates = [threading.Event() for _ in range(2)]
    done = threading.Semaphore(0)

    def read(is_cancelled: IsCancelled) -> None:
        answers.append(is_cancelled())
        done.release()
        assert gates[0].wait(_LIMIT_SECONDS)
        answers.append(is_cancelled())
        done.release()

    for kind in ("rows", "text"):
        background.start(kind, read)
        assert done.acquire(timeout=_LIMIT_SECONDS)
    background.cancel()
    gates[0].set()
    for _ in range(2):
        assert done.acquire(timeout=_LIMIT_SECONDS)

    assert answers == [False, False, True, True]


def test_it_is_busy_until_the_reading_is_over():
    background = Background()
    over = threading.Event()

    background.start("rows", lambda _: None)
    while background.is_busy:
        over.wait(0.001)

    assert not background.is_busy
    assert not [t for t in threading.enumerate() if t.name.startswith("read ") and not t.daemon]
