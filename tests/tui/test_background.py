"""Readings in the background: the newest of a kind counts, and nobody waits for the others."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from openprogram_recordings_tui.background import Background, describe

if TYPE_CHECKING:
    from openprogram_recordings_tui.background import IsCancelled

_LIMIT_SECONDS = 30


def fail(kind: str, words: str) -> None:
    raise AssertionError(kind, words)


def test_what_a_reading_raises_is_told_and_bounded():
    told: list[tuple[str, str]] = []
    done = threading.Event()
    background = Background(lambda kind, words: (told.append((kind, words)), done.set()))

    def read(_: IsCancelled) -> None:
        raise ZeroDivisionError("x" * 5000)

    background.start("rows", read)
    assert done.wait(_LIMIT_SECONDS)

    assert told == [("rows", describe(ZeroDivisionError("x" * 5000)))]
    assert len(told[0][1]) == 1000
    while background.is_busy:
        done.wait(0.001)


def test_nobody_is_told_of_a_reading_that_was_given_up():
    background = Background(fail)
    begun, go_on = threading.Event(), threading.Event()

    def read(_: IsCancelled) -> None:
        begun.set()
        assert go_on.wait(_LIMIT_SECONDS)
        raise ZeroDivisionError

    background.start("rows", read)
    assert begun.wait(_LIMIT_SECONDS)
    background.cancel()
    go_on.set()
    # A failure told to `fail` would be a warning about this thread, and so an error.
    for thread in threading.enumerate():
        if thread.name == "read rows":
            thread.join(_LIMIT_SECONDS)
    assert not background.is_busy


def test_a_newer_reading_cancels_the_older_of_its_kind():
    background = Background(fail)
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
    background = Background(fail)
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
    background = Background(fail)
    over = threading.Event()

    background.start("rows", lambda _: None)
    while background.is_busy:
        over.wait(0.001)

    assert not background.is_busy
    assert not [t for t in threading.enumerate() if t.name.startswith("read ") and not t.daemon]
