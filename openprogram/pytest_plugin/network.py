"""No connection leaves a replaying test."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from typing import TYPE_CHECKING, Any, cast

from openprogram.errors import OpenProgramError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

_INTERNET = frozenset({socket.AF_INET, socket.AF_INET6})
_LOOK_UPS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr")


class NetworkBlockedError(OpenProgramError):
    """A replaying test tried to reach the network."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"the network is blocked while a recording is replayed, and the test tried to reach "
            f"{quoted(host)}; to let it, say "
            f"@pytest.mark.provider_recording(allow_hosts=[{quoted(host)}])"
        )
        self.host = host
        """What it tried to reach."""


class _Guard:
    """Stands in front of functions that reach the network."""

    def __init__(
        self, allowed: frozenset[str], note: Callable[[NetworkBlockedError], None]
    ) -> None:
        self._allowed = set(allowed)
        self._note = note

    def connection(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Guard a method of a socket that takes an address last."""

        def guarded(self_: socket.socket, *arguments: Any) -> Any:
            address: Any = arguments[-1] if arguments else None
            if self_.family in _INTERNET and isinstance(address, tuple):
                try:
                    self._require(cast("tuple[object, ...]", address)[0])
                except NetworkBlockedError:
                    # Whoever opened it expects an `OSError`, and would leave it open: the warning
                    # would then meet another test.
                    self_.close()
                    raise
            return original(self_, *arguments)

        return guarded

    def look_up(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Guard a function that takes a host first."""

        def guarded(host: object, *arguments: Any, **options: Any) -> Any:
            if host is None or _is_address(host):
                return original(host, *arguments, **options)
            self._require(host)
            found = original(host, *arguments, **options)
            self._allowed.update(_addresses_in(found))
            return found

        return guarded

    def _require(self, host: object) -> None:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        if name not in self._allowed:
            error = NetworkBlockedError(name)
            self._note(error)
            raise error


def _is_address(host: object) -> bool:
    """Say whether a host is written as a number, so that looking it up reaches nothing."""
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def _addresses_in(found: object) -> Iterator[str]:
    """Find the addresses in what a look-up returned, however it is nested."""
    if isinstance(found, str):
        if _is_address(found):
            yield found
    elif isinstance(found, (list, tuple)):
        for one in cast("Sequence[object]", found):
            yield from _addresses_in(one)


@contextlib.contextmanager
def block_network(
    allow_hosts: Sequence[str], note: Callable[[NetworkBlockedError], None]
) -> Generator[None]:
    """Refuse connections, datagrams and look-ups of names; Unix sockets are left alone.

    Args:
        allow_hosts: Hosts that may be reached, as the test's code names them.
        note: Told of each refusal, for code that swallows errors.

    Yields:
        Nothing; all is as it was when the block ends.
    """
    guard = _Guard(frozenset(allow_hosts), note)
    with contextlib.ExitStack() as undo:
        for name in ("connect", "connect_ex", "sendto", "sendmsg"):
            _replace(undo, socket.socket, name, guard.connection)
        for name in _LOOK_UPS:
            _replace(undo, socket, name, guard.look_up)
        yield


def _replace(
    undo: contextlib.ExitStack,
    owner: Any,
    name: str,
    guard: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> None:
    is_own = name in vars(owner)
    original = getattr(owner, name)
    setattr(owner, name, guard(original))
    if is_own:
        undo.callback(setattr, owner, name, original)
    else:
        undo.callback(delattr, owner, name)
