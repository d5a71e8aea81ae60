"""What the loopback server asks of a vendor's wire protocol, and what it keeps of a request."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from openprogram.testing.answers import Answer, Drop, HttpError, Pause

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Outcome: TypeAlias = Literal["answered", "disconnected", "dropped"]
"""How a request ended: answered whole, left by the client, or cut by the script."""

Step: TypeAlias = bytes | Pause | Drop
"""What a rendered answer consists of."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReceivedRequest:
    """One request as it came in."""

    number: int
    """From 0, in the order in which requests were read whole."""
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw_body: bytes
    """The body as it came."""
    body: dict[str, Any]
    """The body as JSON; empty when it is no JSON object."""
    outcome: Future[Outcome] = field(default_factory=Future[Outcome])
    """Done when the server is done with the request; await it with `asyncio.wrap_future`."""


class VendorProtocol(Protocol):
    """One vendor's way to speak."""

    base_path: str
    """What a client's base URL has after the port, such as `/v1`; mostly empty."""

    def refuse(self, request: ReceivedRequest) -> HttpError | None:
        """Judge a request as the vendor would.

        Args:
            request: What came in.

        Returns:
            The vendor's refusal, or None when the request is sound.
        """
        ...

    def render(self, answer: Answer, request: ReceivedRequest) -> Iterator[Step]:
        """Say an answer in the vendor's words.

        Args:
            answer: What to say.
            request: What is answered.

        Yields:
            Bytes of the body, pauses, and at most one drop, which ends it.
        """
        ...

    def error_body(self, error: HttpError, request: ReceivedRequest) -> bytes:
        """Say a refusal in the vendor's words.

        Args:
            error: What to say.
            request: What is refused.

        Returns:
            The body of the answer.
        """
        ...
