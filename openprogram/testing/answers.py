"""What a loopback vendor is told to answer, in words that hold for every vendor.

A script is a list of entries, one per request, or a function from a request to an entry. This
module knows no wire protocol; a protocol turns these values into bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from openprogram.testing.chunking import Chunking

_DELTA_CHARACTERS = 12


class Pause:
    """Stops an answer until the test lets it go on; for tests that go by order, not by time.

    A pause is good for one request.

    Example:
        >>> pause = Pause()
        >>> pause.reached.done()
        False
        >>> pause.release()
    """

    def __init__(self) -> None:
        self.reached: Future[None] = Future()
        """Done when everything before the pause was handed to the network."""
        self.released: Future[None] = Future()
        """Done when the answer may go on."""

    def release(self) -> None:
        """Let the answer go on; releasing twice is the same as once."""
        if not self.released.done():
            self.released.set_result(None)


@dataclass(frozen=True, slots=True)
class Ping:
    """A sign of life that carries nothing."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection is gone: as a part, in mid-answer; as an entry, before any answer."""


@dataclass(frozen=True, slots=True)
class MidStreamError:
    """The vendor reports an error in the stream and ends it."""

    kind: str = "overloaded_error"
    """The vendor's word for it."""
    message: str = "Overloaded"
    """The vendor's sentence."""


@dataclass(frozen=True, slots=True)
class RawBytes:
    """Bytes as they are: as a part, put into the stream; as an entry, the whole body."""

    data: bytes
    """The bytes."""


Interlude: TypeAlias = Ping | Pause | Drop | MidStreamError | RawBytes
"""What may stand between blocks, or between the deltas of one."""

Deltas: TypeAlias = str | tuple[str | Interlude, ...]
"""A text: cut into deltas by the protocol, or given delta by delta with interludes between."""


@dataclass(frozen=True, slots=True)
class Text:
    """A block of text."""

    text: Deltas
    """What the model says."""
    signature: str | None = None
    """Opaque, where the vendor signs texts."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """A block of reasoning, signed."""

    thinking: Deltas
    """What the model thinks; may be empty when only the signature is shown."""
    signature: str | tuple[str, ...] = "c2lnbmVk"
    """Opaque; a tuple is sent delta by delta."""


@dataclass(frozen=True, slots=True)
class RedactedThinking:
    """A block of reasoning that only the vendor can read."""

    data: str
    """Opaque."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool."""

    name: str
    """The tool."""
    arguments: Mapping[str, Any] | Deltas = field(default_factory=dict[str, Any])
    """A mapping, or JSON text as it shall stand on the wire, sound or not."""
    id: str | None = None
    """The call's id; when it is None one is made up, where the vendor's API gives ids."""
    signature: str | None = None
    """Opaque, where the vendor signs calls."""


Part: TypeAlias = Text | Thinking | RedactedThinking | ToolCall | Interlude
"""One step of an answer."""

_PART_TYPES = (
    Text,
    Thinking,
    RedactedThinking,
    ToolCall,
    Ping,
    Pause,
    Drop,
    MidStreamError,
    RawBytes,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """What the answer is said to have cost, in tokens."""

    input: int = 25
    """Without those that came from a cache."""
    output: int = 15
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One streamed answer."""

    parts: Iterable[Part]
    """What it says, in order; a generator is read once, whole, when the answer is due."""
    usage: TokenCounts = field(default_factory=TokenCounts)
    """What it is said to have cost."""
    stop_reason: str | None = None
    """The vendor's word for why it ended; None lets the protocol find it from the parts."""
    chunking: Chunking | None = None
    """How its bytes are cut; None takes the server's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpError:
    """A refusal before the stream."""

    status: int
    """The HTTP status."""
    kind: str | None = None
    """The vendor's word for it; None takes the one that belongs to the status."""
    message: str = "refused by script"
    """The vendor's sentence."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Sent as well, such as `retry-after`."""
    body: bytes | None = None
    """The body as it is; None takes the vendor's error format."""


ScriptEntry: TypeAlias = Answer | HttpError | RawBytes | Drop | Iterable[Part]
"""What one request gets; plain parts are an `Answer` with defaults."""


def as_answer(entry: Answer | Iterable[Part]) -> Answer:
    """Make an answer of plain parts, and read its parts once, as some can be read only once.

    Args:
        entry: An answer, or its parts.

    Returns:
        An answer with a tuple of parts.

    Raises:
        TypeError: The parts are none.

    Example:
        >>> as_answer(Text(word) for word in ("a", "b")).parts
        (Text(text='a', signature=None), Text(text='b', signature=None))
    """
    answer = entry if isinstance(entry, Answer) else Answer(parts=entry)
    if isinstance(answer.parts, _PART_TYPES):
        kind = type(answer.parts).__name__
        raise TypeError(f"an entry of a script is a bare {kind}; put it into a list: [{kind}(...)]")
    parts = tuple(answer.parts)
    for kind in map(type, parts):
        if not issubclass(kind, _PART_TYPES):
            raise TypeError(
                f"an entry of a script holds a {kind.__name__}, which is no part; say Text(...)"
            )
    return replace(answer, parts=parts)


def iterate_deltas(deltas: Deltas) -> Iterator[str | Interlude]:
    """Cut a text into deltas.

    Args:
        deltas: A text, or deltas with interludes.

    Yields:
        The deltas and interludes in order.

    Example:
        >>> list(iterate_deltas("Hello, loopback!"))
        ['Hello, loopb', 'ack!']
    """
    if not isinstance(deltas, str):
        yield from deltas
        return
    for start in range(0, len(deltas), _DELTA_CHARACTERS):
        yield deltas[start : start + _DELTA_CHARACTERS]


def whole_text(deltas: Deltas) -> str:
    """Join a text again.

    Args:
        deltas: A text, or deltas with interludes.

    Returns:
        The text without interludes.
    """
    return "".join(delta for delta in iterate_deltas(deltas) if isinstance(delta, str))
