"""The seam between the code under record and whoever answers it: the world, or a tape.

A shim decides *what* is asked, a crossing decides *who* answers. Recording asks the world (it calls
`ask`) and keeps the answer; replay never calls `ask` and serves the row it has. So both sides see
the same questions, made by the same code, and a new shim needs nothing new in either.

How questions stand on the tape:

`late: [asked, nth]`
    On any row that was not answered at once, because other questions came between (tasks, threads).
    The answer came when `asked` questions stood on the tape (this one included), and was late
    answer number `nth` of its call, from 0 on. Replay gives late answers in the order of `nth`,
    each as soon as `asked` questions have been asked; without it `gather` would resume tasks in
    another order, and they would ask their next questions in another order.
`awaited: true`
    The question was asked by a plain function whose answer was an awaitable. `effect` (or `read`,
    `write`) returns an awaitable, which gives `res` or raises `err`.
`open: true`
    The call ended before the answer came (an abandoned task, a thread that lived on, a coroutine
    nobody awaited). `err` then has the type `Unanswered`.
`cancelled: true`
    `err` is the CancelledError that the application itself caused by cancelling what waited, such
    as with a time limit. Replay waits until it is cancelled again; raising by itself would turn the
    application's TimeoutError into a CancelledError.

*Effects* are `fx` rows. An error that the world raised is `err`; whatever is no `Exception` (exit,
interrupt) too.

*Generators*, plain and asynchronous, need nothing of a crossing but `effect` and `effect_async`.
Calling the function is one `fx` row under its own name, answered with a number that no other stream
of the call has. Each step is one more: `NAME.__next__`, `NAME.send`, `NAME.throw`, or with async
`NAME.__anext__`, `NAME.asend`, `NAME.athrow`, its arguments being that number and what was sent, or
for a throw the text of the error. The item is `res`; the end is `err` with the type `StopIteration`
(its one argument the returned value) or `StopAsyncIteration`. Closing asks nothing and has no row.

*Clocks*: `datetime.now`, `utcnow`, `today` and `date.today` are `now` rows; for all but `now` the
key `of` holds the function's name. `v` is a datetime or, of `date.today`, a date. The shim puts the
time zone object that the application asked for onto an aware answer, so the crossing returns what
`fromisoformat` gives. `perf_counter` is a `perf` row; `exact` are its seconds in full where values
are rich. All others (`time.time`, `time.time_ns`, `time.monotonic`, `time.sleep` ...) are `fx`.

*Draws*: `random.random` is `rand float`; `randint`, `randrange`, `getrandbits`, `secrets.randbelow`
and `randbits` are `rand int`; `randbytes`, `token_bytes`, `os.urandom` are `rand bytes`; `sample`
is `rand sample`. All others are `fx` (`random.choice`, `uuid.uuid4` ...) whose arguments and
answers are plain JSON: the shim gives `choice`, `choices` and `shuffle` positions to draw, not the
application's objects, and makes a UUID of its text. So replay serves numbers and texts, and never
an object.

*Chains* are `db` rows. A read has `res`: one snapshot `{id, exists, data}` or a list of them. What
is no snapshot, such as a count, stands as `{"id": "", "exists": true, "data": VALUE, "plain":
true}`, and a list that is not all snapshots as one such. `iterated: true` says that the application
got an iterator over the list, `iterated: "async"` an asynchronous one, `partial: true` that it
stopped early. Arguments of the read itself stand below `asked: {args, kwargs}`, when there are any.
A read that failed has `err` beside the snapshot `{"id": "", "exists": false, "data": null}`. A
write has `args`, `kwargs` when there are any, `ret` for what it returned other than None, and `err`
when it failed.

*Spans* are `sem` rows; `sid` counts from 1 in each call, and rows of concurrent spans may
interleave.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

ClockKind: TypeAlias = Literal["now", "utcnow", "today", "date.today", "perf"]
"""The clocks that have a kind of row of their own; all others are effects."""
DrawMethod: TypeAlias = Literal["sample", "bytes", "float", "int"]


# Structs, because one is made for every question, and a frozen dataclass takes five times as long.
class EffectQuestion(msgspec.Struct, frozen=True, gc=False):
    """A declared function was called."""

    name: str
    """As it stands on the tape: `owner.function`."""
    args: tuple[Any, ...]
    """Positional arguments as the application gave them, without `self` or `cls`."""
    kwargs: dict[str, Any]
    """Keyword arguments as the application gave them."""
    is_loose: bool = False
    """Whether replay leaves the arguments out of its comparison."""


class DrawQuestion(msgspec.Struct, frozen=True, gc=False):
    """A random number was drawn that has a kind of row of its own."""

    method: DrawMethod
    """Which of the four: `sample` is answered with positions, `bytes` with bytes."""
    n: int | None = None
    """From how many things a sample is taken, or how many bytes are drawn."""
    kk: int | None = None
    """How many things a sample has."""


class ChainStep(msgspec.Struct, frozen=True, gc=False):
    """One call on the way to a read or a write."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class ChainQuestion(msgspec.Struct, frozen=True, gc=False):
    """A chain of calls ended in a declared read or write."""

    op: str
    """The read or write, such as `get`."""
    steps: tuple[ChainStep, ...]
    """The calls before it; `openprogram.flight.shims.chains.signature_of` makes `sig` of them."""
    args: tuple[Any, ...]
    """Positional arguments of the read or write itself."""
    kwargs: dict[str, Any]
    """Keyword arguments of the read or write itself."""


class Crossing(Protocol):
    """Whoever answers the questions of one tool call.

    `ask` puts the question to the world; recording calls it once, outside of any call (so that
    declared functions which the answer needs are not asked a second time), replay never.
    Each method returns what the application gets, or raises what it gets. Methods may be called
    from any thread and any task of the call.
    """

    def effect(self, question: EffectQuestion, ask: Callable[[], T]) -> T:
        """Answer a call of a declared function; an awaitable answer is one when replayed too."""
        ...

    async def effect_async(self, question: EffectQuestion, ask: Callable[[], Awaitable[T]]) -> T:
        """Answer a call of a declared coroutine function."""
        ...

    def read(self, question: ChainQuestion, ask: Callable[[], object]) -> object:
        """Answer a read; an awaitable or iterator is one when replayed too."""
        ...

    async def read_async(
        self, question: ChainQuestion, ask: Callable[[], Awaitable[object]]
    ) -> object:
        """Answer a read of a chain that is declared to be asynchronous."""
        ...

    def write(self, question: ChainQuestion, ask: Callable[[], object]) -> object:
        """Answer a write; an awaitable answer is one when replayed too."""
        ...

    async def write_async(
        self, question: ChainQuestion, ask: Callable[[], Awaitable[object]]
    ) -> object:
        """Answer a write of a chain that is declared to be asynchronous."""
        ...

    def clock(self, kind: ClockKind, ask: Callable[[], T]) -> T:
        """Tell the time: a datetime, a date, or for `perf` float seconds."""
        ...

    def draw(self, question: DrawQuestion, ask: Callable[[], T]) -> T:
        """Draw: positions in a list for `sample`, bytes, a float or an int."""
        ...

    def number_stream(self) -> int:
        """Give a number no other stream of this call has; only ever called from within `ask`."""
        ...

    def begin_span(self, name: str, data: dict[str, Any]) -> int:
        """Note that a span begins.

        Returns:
            Its number in this call, from 1 on.
        """
        ...

    def end_span(self, sid: int, outcome: Literal["ok", "error"]) -> None:
        """Note that a span ends; one that has ended, or never began, is passed over."""
        ...

    def note(self, name: str, data: dict[str, Any]) -> None:
        """Note a point."""
        ...

    def child(self) -> Crossing:
        """Give what a thread started inside the call carries; usually the crossing itself."""
        ...


current_crossing: ContextVar[Crossing | None] = ContextVar("current_crossing", default=None)
"""Who answers here; None outside of a call, where shims only forward."""
