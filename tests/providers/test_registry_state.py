from __future__ import annotations

import os
import threading
import weakref
from typing import Any

import pytest

from openprogram.providers._registry import ApiProvider, ProviderRegistry

# Forking while threads run is what is tested; newer interpreters warn of it.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


class Provider:
    """Answers nothing; only its identity matters here."""

    def stream(self, *_: Any, **__: Any) -> Any: ...

    def stream_simple(self, *_: Any, **__: Any) -> Any: ...


class Wrapper(Provider):
    def __init__(self, wrapped: ApiProvider) -> None:
        self.wrapped = wrapped


class Slotted(Provider):
    """A wrapper that nothing can refer to weakly."""

    __slots__ = ("wrapped",)

    def __init__(self, wrapped: ApiProvider) -> None:
        self.wrapped = wrapped


def _depth(provider: object) -> int:
    wrapped = getattr(provider, "wrapped", None)
    return 0 if wrapped is None else 1 + _depth(wrapped)


@pytest.fixture
def registry() -> ProviderRegistry:
    return ProviderRegistry()


def test_the_last_one_registered_serves(registry: ProviderRegistry) -> None:
    first, second = Provider(), Provider()
    registry.register("a", first)
    registry.register("a", second)
    assert registry.find("a") is second
    assert registry.find("b") is None


def test_a_transform_covers_what_is_there_and_what_comes(registry: ProviderRegistry) -> None:
    early, late = Provider(), Provider()
    registry.register("early", early)
    registry.configure_transform(Wrapper)
    registry.register("late", late)
    for api, provider in (("early", early), ("late", late)):
        served = registry.find(api)
        assert isinstance(served, Wrapper)
        assert served.wrapped is provider


def test_the_same_transform_again_changes_nothing(registry: ProviderRegistry) -> None:
    registry.register("a", Provider())
    registry.configure_transform(Wrapper)
    served = registry.find("a")
    registry.configure_transform(Wrapper)
    assert registry.find("a") is served


def test_another_transform_is_refused(registry: ProviderRegistry) -> None:
    registry.register("a", Provider())
    registry.configure_transform(Wrapper)
    served = registry.find("a")
    with pytest.raises(RuntimeError, match="only once"):
        registry.configure_transform(Slotted)
    assert registry.find("a") is served


def test_a_transform_that_fails_on_one_changes_none(registry: ProviderRegistry) -> None:
    good, bad = Provider(), Provider()
    registry.register("a", good)
    registry.register("b", bad)

    def wrap(provider: ApiProvider) -> ApiProvider:
        if provider is bad:
            raise ValueError("no")
        return Wrapper(provider)

    with pytest.raises(ValueError, match="no"):
        registry.configure_transform(wrap)
    assert registry.find("a") is good
    assert registry.find("b") is bad
    registry.configure_transform(Wrapper)
    assert _depth(registry.find("a")) == 1


def test_a_provider_that_cannot_be_wrapped_is_not_registered(registry: ProviderRegistry) -> None:
    def refuse(_: ApiProvider) -> ApiProvider:
        raise ValueError("no")

    registry.configure_transform(refuse)
    with pytest.raises(ValueError, match="no"):
        registry.register("a", Provider())
    assert registry.find("a") is None


@pytest.mark.parametrize("transform", [Wrapper, Slotted])
def test_what_was_looked_up_is_never_wrapped_again(
    registry: ProviderRegistry, transform: type[Wrapper | Slotted]
) -> None:
    registry.register("a", Provider())
    registry.configure_transform(transform)
    first = registry.find("a")
    assert first is not None
    registry.register("a", first)
    assert registry.find("a") is first
    registry.register("b", first)
    assert registry.find("b") is first


def test_a_wrapper_of_before_is_known_after_another_took_its_place(
    registry: ProviderRegistry,
) -> None:
    registry.register("a", Provider())
    registry.configure_transform(Wrapper)
    old = registry.find("a")
    assert old is not None
    registry.register("a", Provider())
    registry.register("a", old)
    assert registry.find("a") is old


def test_replacing_a_transform_wraps_the_originals(registry: ProviderRegistry) -> None:
    original = Provider()
    registry.register("a", original)
    registry.configure_transform(Wrapper)
    old = registry.find("a")
    assert old is not None
    registry.replace_transform(Slotted)
    registry.register("b", old)
    for api in ("a", "b"):
        served = registry.find(api)
        assert isinstance(served, Slotted)
        assert served.wrapped is original


def test_one_provider_may_stand_in_for_all(registry: ProviderRegistry) -> None:
    shared = Provider()
    registry.register("a", Provider())
    registry.configure_transform(lambda _: shared)
    registry.register("b", Provider())
    registry.register("c", shared)
    assert {registry.find(api) for api in "abc"} == {shared}


def test_a_transform_may_leave_a_provider_as_it_is(registry: ProviderRegistry) -> None:
    original = Provider()
    registry.register("a", original)
    registry.configure_transform(lambda provider: provider)
    registry.register("b", original)
    assert registry.find("a") is registry.find("b") is original


def test_wrappers_that_nobody_uses_are_let_go(registry: ProviderRegistry) -> None:
    registry.configure_transform(Wrapper)
    registry.register("a", Provider())
    wrapper = registry.find("a")
    assert wrapper is not None
    trace = weakref.ref(wrapper)
    del wrapper
    registry.register("a", Provider())
    registry.register("b", Provider())
    assert trace() is None


def test_a_batch_leaves_what_is_there(registry: ProviderRegistry) -> None:
    own, builtin, other = Provider(), Provider(), Provider()
    registry.register("a", own)
    registry.register_missing({"a": builtin, "b": other})
    assert registry.find("a") is own
    assert registry.find("b") is other


def test_a_batch_is_published_whole_or_not_at_all(registry: ProviderRegistry) -> None:
    bad = Provider()

    def wrap(provider: ApiProvider) -> ApiProvider:
        if provider is bad:
            raise ValueError("no")
        return Wrapper(provider)

    registry.configure_transform(wrap)
    with pytest.raises(ValueError, match="no"):
        registry.register_missing({"a": Provider(), "b": bad})
    assert registry.find("a") is None


def test_a_transform_that_registers_is_told_off(registry: ProviderRegistry) -> None:
    def wrap(provider: ApiProvider) -> ApiProvider:
        registry.register("other", provider)
        return provider

    registry.register("a", Provider())
    with pytest.raises(RuntimeError, match="must not change the registry"):
        registry.configure_transform(wrap)
    registry.register("b", Provider())
    assert registry.find("other") is None


def test_many_threads_lose_no_registration(registry: ProviderRegistry) -> None:
    start = threading.Barrier(9)

    def register(number: int) -> None:
        start.wait()
        for index in range(50):
            registry.register(f"{number}-{index}", Provider())

    def configure() -> None:
        start.wait()
        registry.configure_transform(Wrapper)

    threads = [threading.Thread(target=register, args=(number,)) for number in range(8)]
    threads.append(threading.Thread(target=configure))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    depths = {_depth(registry.find(f"{n}-{i}")) for n in range(8) for i in range(50)}
    assert depths == {1}


def test_a_child_forked_in_mid_change_can_go_on(registry: ProviderRegistry) -> None:
    # What the fork hook does, in a process whose other thread holds the lock for good.
    is_held, may_end = threading.Event(), threading.Event()

    def hold(provider: ApiProvider) -> ApiProvider:
        is_held.set()
        may_end.wait()
        return provider

    registry.register("a", Provider())
    holder = threading.Thread(target=registry.configure_transform, args=(hold,))
    holder.start()
    is_held.wait()
    child = os.fork()
    if child == 0:
        registry.renew_lock()
        registry.register("b", Provider())
        os._exit(0 if registry.find("b") else 1)
    _, status = os.waitpid(child, 0)
    may_end.set()
    holder.join()
    assert os.waitstatus_to_exitcode(status) == 0
