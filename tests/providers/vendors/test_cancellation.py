"""Waiting ends with the signal, and cleans up what it waited for."""

from __future__ import annotations

import asyncio
import threading

import pytest

from openprogram.errors import ModelRequestError
from openprogram.providers.vendors._cancellation import until_signal


async def answer() -> str:
    await asyncio.sleep(0)
    return "answer"


@pytest.mark.parametrize("signal", [None, threading.Event(), asyncio.Event()])
async def test_without_a_set_signal_it_is_a_plain_await(signal: threading.Event | None):
    assert await until_signal(answer(), signal) == "answer"


async def test_an_error_of_what_is_awaited_comes_through():
    async def fail() -> None:
        await asyncio.sleep(0)
        raise LookupError

    with pytest.raises(LookupError):
        await until_signal(fail(), threading.Event())


async def test_a_signal_that_is_set_already_starts_nothing():
    signal = threading.Event()
    signal.set()
    with pytest.raises(ModelRequestError) as caught:
        await until_signal(answer(), signal)
    assert caught.value.reason == "aborted"


@pytest.mark.parametrize("late_error", [False, True])
async def test_a_signal_from_another_thread_ends_the_wait_after_the_clean_up(late_error: bool):
    signal = threading.Event()
    started = asyncio.Event()
    cleaned_up = False

    async def wait_for_ever() -> None:
        nonlocal cleaned_up
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned_up = True
            if late_error:
                raise LookupError

    waiting = asyncio.ensure_future(until_signal(wait_for_ever(), signal))
    await started.wait()
    await asyncio.to_thread(signal.set)
    with pytest.raises(ModelRequestError):
        await waiting
    assert cleaned_up


async def test_cancellation_is_never_swallowed_and_reaches_what_is_awaited():
    started = asyncio.Event()
    inner: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait() -> None:
        started.set()
        await inner

    waiting = asyncio.ensure_future(until_signal(wait(), threading.Event()))
    await started.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert inner.cancelled()
