"""Which provider answers for which API: the one state, and its one transform.

Readers take no lock: what is published is replaced whole, never changed. Names of APIs, vendors and
modes mean nothing here.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator

    from openprogram.providers.types import (
        AssistantMessageEvent,
        Context,
        Model,
        SimpleStreamOptions,
        StreamOptions,
    )


class ApiProvider(Protocol):
    """Streams answers over one wire protocol.

    A provider that needs no key says so with `requires_credentials = False`; without that attribute
    one is found for it before each call.
    """

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncIterator[AssistantMessageEvent]:
        """Stream an answer.

        Args:
            model: Who answers.
            context: What is asked.
            options: How.

        Returns:
            The events; the last one is `done` or `error`.
        """
        ...

    def stream_simple(
        self, model: Model, context: Context, options: SimpleStreamOptions | None = None
    ) -> AsyncIterator[AssistantMessageEvent]:
        """Stream an answer, with reasoning in words that hold for every vendor.

        Args:
            model: Who answers.
            context: What is asked.
            options: How, and how hard to think.

        Returns:
            The events; the last one is `done` or `error`.
        """
        ...


Transform: TypeAlias = Callable[[ApiProvider], ApiProvider]
"""Wraps a provider; it must not call the registry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    original: ApiProvider
    served: ApiProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wrapped:
    find_wrapper: Callable[[], object]
    original: ApiProvider
    transform: Transform


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    entries: Mapping[str, _Entry] = field(default_factory=dict[str, _Entry])
    transform: Transform | None = None
    wrapped: Mapping[int, _Wrapped] = field(default_factory=dict[int, _Wrapped])
    """By the wrapper's `id`: what it wraps, so that a wrapper is never wrapped again."""


class ProviderRegistry:
    """Providers by API name, each behind the transform once there is one."""

    def __init__(self) -> None:
        self._state = _State()
        self._lock = threading.Lock()
        self._changing_thread: int | None = None

    def find(self, api: str) -> ApiProvider | None:
        """Look a provider up.

        Args:
            api: The API name.

        Returns:
            What serves it, wrapped when there is a transform; None when nobody does.
        """
        entry = self._state.entries.get(api)
        return None if entry is None else entry.served

    def names(self) -> list[str]:
        """Name what is served.

        Returns:
            The API names, sorted.
        """
        return sorted(self._state.entries)

    def register(self, api: str, provider: ApiProvider) -> None:
        """Let a provider serve an API, instead of whoever did so before.

        Args:
            api: The API name.
            provider: The provider, or something that the transform made of one.

        Raises:
            Exception: The transform cannot wrap it; nothing changed.
        """
        with self._changing() as draft:
            draft.add(api, provider)

    def register_missing(self, providers: Mapping[str, ApiProvider]) -> None:
        """Register a batch, all or none of it; APIs that are served already are left alone.

        Args:
            providers: Providers by API name.

        Raises:
            Exception: The transform cannot wrap one; nothing changed.
        """
        with self._changing() as draft:
            for api, provider in providers.items():
                if api not in draft.entries:
                    draft.add(api, provider)

    def configure_transform(self, transform: Transform) -> None:
        """Put every provider, present and to come, behind a transform.

        Args:
            transform: What wraps them; the one that is there already changes nothing.

        Raises:
            RuntimeError: Another transform is there.
            Exception: The transform cannot wrap a provider; nothing changed.
        """
        with self._changing() as draft:
            if draft.transform is None:
                draft.set_transform(transform)
            elif draft.transform != transform:
                raise RuntimeError(
                    "the provider transform of this process is set already, and is set only once"
                )

    def replace_transform(self, transform: Transform) -> None:
        """Put every provider behind this transform, whatever was there before.

        Args:
            transform: What wraps them.

        Raises:
            Exception: The transform cannot wrap a provider; nothing changed.
        """
        with self._changing() as draft:
            draft.set_transform(transform)

    def renew_lock(self) -> None:
        """Forget who held the lock; for a forked child, where that thread does not exist."""
        self._lock = threading.Lock()
        self._changing_thread = None

    @contextlib.contextmanager
    def _changing(self) -> Generator[_Draft]:
        """Prepare a change aside, and publish it whole when the block ends well."""
        this_thread = threading.get_ident()
        if self._changing_thread == this_thread:
            raise RuntimeError("a provider transform must not change the registry while it wraps")
        with self._lock:
            self._changing_thread = this_thread
            try:
                draft = _Draft(self._state)
                yield draft
                self._state = draft.finish()
            finally:
                self._changing_thread = None


class _Draft:
    """A changed copy of a state."""

    def __init__(self, state: _State) -> None:
        self.entries = dict(state.entries)
        self.transform = state.transform
        self._wrapped = {
            key: wrapped
            for key, wrapped in state.wrapped.items()
            if wrapped.find_wrapper() is not None
        }

    def add(self, api: str, provider: ApiProvider) -> None:
        known = self._find_wrapped(provider)
        if known is None:
            self.entries[api] = self._entry_of(provider)
        elif known.transform is self.transform:
            self.entries[api] = _Entry(original=known.original, served=provider)
        else:
            self.entries[api] = self._entry_of(known.original)

    def set_transform(self, transform: Transform) -> None:
        self.transform = transform
        for api, entry in self.entries.items():
            self.entries[api] = self._entry_of(entry.original)

    def finish(self) -> _State:
        return _State(entries=self.entries, transform=self.transform, wrapped=self._wrapped)

    def _entry_of(self, original: ApiProvider) -> _Entry:
        if self.transform is None:
            return _Entry(original=original, served=original)
        served = self.transform(original)
        if served is not original:
            known = self._find_wrapped(served)
            self._wrapped[id(served)] = _Wrapped(
                find_wrapper=_reference_to(served),
                original=original if known is None else known.original,
                transform=self.transform,
            )
        return _Entry(original=original, served=served)

    def _find_wrapped(self, wrapper: object) -> _Wrapped | None:
        found = self._wrapped.get(id(wrapper))
        # Once a wrapper is gone, another object may get its `id`.
        return found if found is not None and found.find_wrapper() is wrapper else None


def _reference_to(wrapper: object) -> Callable[[], object]:
    """Refer to a wrapper without keeping it alive, where its class allows that."""
    try:
        return weakref.ref(wrapper)
    except TypeError:
        return lambda: wrapper


REGISTRY: Final = ProviderRegistry()
"""The registry of this process."""

os.register_at_fork(after_in_child=REGISTRY.renew_lock)
