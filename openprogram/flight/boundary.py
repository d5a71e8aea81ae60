"""What an application declares as its outside world; validated as it is made, and never changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias, cast

from openprogram.errors import FlightError, quoted

EffectEntry: TypeAlias = (
    "tuple[object, Sequence[str]] | tuple[object, Sequence[str], Mapping[str, object]]"
)
"""The owner of the functions, their names, and options: `method`, `loose_args`, `name`."""
Scrub: TypeAlias = "Callable[[str], str] | Collection[str | re.Pattern[str]]"
"""How secrets are taken out of texts by their look: a function, or patterns of them."""
Reviver: TypeAlias = Callable[[Mapping[str, Any]], BaseException]
"""Makes an exception of `{type, repr, args}`."""

_OPTIONS = {"method": bool, "loose_args": bool, "name": str}


@dataclass(frozen=True, slots=True)
class ChainTarget:
    """A client whose calls build a query, step by step, before one of them reads or writes."""

    holder: object
    """The module, class or object that has the client."""
    attr: str
    """The client's name there."""
    terminal_reads: Collection[str] = ("get", "stream")
    """The methods that read, ending a chain."""
    terminal_writes: Collection[str] = ("set", "update", "add", "delete", "create")
    """The methods that write, ending a chain."""
    is_async: bool = False
    """Whether its reads and writes are coroutine functions."""

    def __post_init__(self) -> None:
        _require(bool(self.attr), "chains", "has no attribute", "name where the client stands")
        for name, value in (
            ("terminal_reads", self.terminal_reads),
            ("terminal_writes", self.terminal_writes),
        ):
            _require_names(f"chains, {quoted(self.attr)}, {name}", value)
        both = {*self.terminal_reads} & {*self.terminal_writes}
        _require(
            not both,
            f"chains, {quoted(self.attr)}",
            f"{quoted(sorted(both))} both read and write",
            "name each as one of the two",
        )


@dataclass(frozen=True, slots=True)
class Effect:
    """One declared function."""

    owner: object
    """The module, class or object whose attribute it is."""
    attr: str
    """The attribute's name."""
    name: str
    """How it is called on the tape."""
    is_method: bool = False
    """Whether the first argument, the object, is left out of the tape."""
    is_loose: bool = False
    """Whether replay leaves the arguments out of its comparison."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where the application meets the outside world, and what of it must not be written.

    What is not declared here is not seen: it runs at replay as it ran when it was recorded.

    Raises:
        FlightError: A part cannot be used; the text names the part, the rule and the remedy.
    """

    effects: Sequence[EffectEntry] = ()
    """Functions of the outside world: `(owner, names)` or `(owner, names, options)`.

    Options: `method` leaves the first argument out of the tape, which functions of a class do
    anyway; `loose_args` leaves all arguments out of replay's comparison; `name` is what stands for
    the owner on the tape.
    """
    chains: Sequence[ChainTarget] = ()
    """Clients whose calls build queries."""
    clock_modules: Sequence[ModuleType] = ()
    """Modules in which the clocks of `datetime` and `time` are answered."""
    random_modules: Sequence[ModuleType] = ()
    """Modules in which draws of `random`, `secrets`, `uuid` and `os.urandom` are answered."""
    constants: Sequence[tuple[ModuleType, Sequence[str]]] = ()
    """Values of modules that are written into the tape's header, and set at replay."""
    error_revivers: Mapping[str, Reviver] = field(default_factory=dict[str, Reviver])
    """How replay makes errors of the world, by the name of their type."""
    header_extras: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = field(
        default_factory=dict[str, Any]
    )
    """More for the tape's header, or a function that gives it."""
    redact: Collection[str] = ()
    """Names whose values are never written."""
    scrub: Scrub = ()
    """What is taken out of every text."""
    forbid: Collection[str | re.Pattern[str]] = ()
    """Patterns that stop a call rather than be written."""
    rich_values: bool = True
    """Whether values that JSON has no form for survive; off gives strict old tapes."""

    def __post_init__(self) -> None:
        names: dict[str, int] = {}
        for effect in self.each_effect():
            names[effect.name] = names.get(effect.name, 0) + 1
        twice = sorted(name for name, count in names.items() if count > 1)
        _require(
            not twice,
            "effects",
            f"{quoted(twice)} would be the same on the tape",
            "name each once, or give the option name",
        )
        for place, modules in (
            ("clock_modules", self.clock_modules),
            ("random_modules", self.random_modules),
        ):
            for module in modules:
                _require_module(place, module)
        for module, attrs in self.constants:
            _require_module("constants", module)
            _require_names("constants", attrs)
            for attr in attrs:
                _require_attribute("constants", module, attr)
        for target in self.chains:
            _require_attribute("chains", target.holder, target.attr)
        _require_names("redact", self.redact)
        _compile("forbid", self.forbid)
        if not callable(self.scrub):
            _compile("scrub", self.scrub)

    def each_effect(self) -> list[Effect]:
        """Give every declared function, with its options settled.

        Raises:
            FlightError: An entry is no effect.
        """
        return [effect for entry in self.effects for effect in _effects_of(entry)]


def _effects_of(entry: EffectEntry) -> list[Effect]:
    # A checker knows the shape; whoever calls this without one does not.
    parts = cast("tuple[Any, ...]", entry)
    _require(
        type(parts) is tuple and len(parts) in {2, 3},
        "effects",
        f"{quoted(parts)} is no entry",
        "give (owner, names) or (owner, names, options)",
    )
    given: dict[str, Any] = dict(zip(("owner", "attrs", "options"), parts, strict=False))
    owner, attrs = given["owner"], given["attrs"]
    options: Mapping[str, Any] = given.get("options") or {}
    _require_names("effects", attrs)
    unknown = sorted(set(options) - set(_OPTIONS))
    _require(
        not unknown,
        "effects",
        f"{quoted(unknown)} is no option",
        f"use {', '.join(_OPTIONS)}",
    )
    for option, value in options.items():
        _require(
            isinstance(value, _OPTIONS[option]),
            f"effects, option {option}",
            f"{quoted(value)} is no {_OPTIONS[option].__name__}",
            "leave it out, or give one",
        )
    for attr in attrs:
        _require_attribute("effects", owner, attr)
    prefix = options.get("name") or getattr(owner, "__name__", type(owner).__name__)
    return [
        Effect(
            owner=owner,
            attr=attr,
            name=f"{prefix}.{attr}",
            is_method=bool(options.get("method")),
            is_loose=bool(options.get("loose_args")),
        )
        for attr in attrs
    ]


def _require(is_kept: object, place: str, rule: str, remedy: str) -> None:
    if not is_kept:
        raise FlightError(f"boundary, {place}: {rule}; {remedy}")


def _require_names(place: str, names: object) -> None:
    is_kept = isinstance(names, Collection) and not isinstance(names, str | bytes)
    each = cast("Collection[object]", names) if is_kept else ()
    _require(
        is_kept and all(isinstance(name, str) and name for name in each),
        place,
        f"{quoted(cast('object', names))} is no collection of names",
        "give a list of strings",
    )


def _require_module(place: str, module: object) -> None:
    _require(
        isinstance(module, ModuleType),
        place,
        f"{quoted(module)} is no module",
        "import it, and give the module itself",
    )


def _require_attribute(place: str, owner: object, attr: str) -> None:
    _require(
        hasattr(owner, attr),
        place,
        f"{quoted(getattr(owner, '__name__', owner))} has no {quoted(attr)}",
        "name what is there, at the place where the tools look it up",
    )


def _compile(place: str, patterns: Collection[str | re.Pattern[str]]) -> None:
    _require(
        not isinstance(patterns, str | bytes),
        place,
        "one text is no collection of patterns",
        "give a list of patterns",
    )
    for pattern in patterns:
        try:
            re.compile(pattern)
        except (re.error, TypeError) as error:
            raise FlightError(
                f"boundary, {place}: {quoted(pattern)} is no pattern; {error}"
            ) from error
