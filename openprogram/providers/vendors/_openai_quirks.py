"""What servers that speak `openai-completions` take beyond the common ground, as data.

A server is known by the host in `model.base_url`, and one that people run themselves by the
provider's name. `model.compat` overrides single fields, by their names here. A server that is not
known gets the common ground: the defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import msgspec

from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openprogram.providers import types as t

Efforts: TypeAlias = dict[str, str]


class Quirks(msgspec.Struct, kw_only=True, frozen=True):
    """How one server differs."""

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What bounds the answer; the older name is known everywhere but where it is refused."""
    system_role: Literal["system", "developer"] = "system"
    """Who speaks the system prompt to a reasoning model."""
    takes_store: bool = False
    """Whether it keeps answers unless it is told not to."""
    takes_stream_options: bool = True
    """Whether it tells the usage of a stream when it is asked."""
    takes_text_parts: bool = False
    """Whether a text may come in several parts; else they are joined."""
    takes_cache_marks: bool = False
    """Whether parts may carry `cache_control`."""
    reasoning_request: Literal["reasoning_effort", "reasoning", "thinking"] | None = None
    """How it is told to think: by a word, by an object that holds the word, or by a switch."""
    efforts: Efforts = {}
    """Its words for our levels; a level that is not here goes as it is."""
    drops_temperature: bool = False
    """Whether it refuses a temperature from a model that thinks."""
    reasoning_field: Literal["reasoning_content", "reasoning", "reasoning_details"] | None = None
    """Where it wants to see its own reasoning again."""
    signs_tool_calls: bool = False
    """Whether it wants its signatures of tool calls back."""
    names_tool_results: bool = False
    """Whether a result says its tool's name."""
    call_id_length: int | None = None
    """How long each call id has to be, in letters and digits; None is the usual alphabet."""
    user_field: Literal["user", "safety_identifier"] | None = None
    """Where it takes the user's id."""
    takes_cache_key: bool = False
    """Whether it takes `prompt_cache_key`."""


_THREE_LEVELS: Final[Efforts] = {"minimal": "low", "xhigh": "high", "max": "high"}

BY_HOST: Final[Mapping[str, Quirks]] = {
    "api.cerebras.ai": Quirks(
        max_tokens_field="max_completion_tokens",
        reasoning_request="reasoning_effort",
        efforts=_THREE_LEVELS,
    ),
    "api.deepseek.com": Quirks(reasoning_request="thinking", reasoning_field="reasoning_content"),
    "api.groq.com": Quirks(
        max_tokens_field="max_completion_tokens",
        takes_text_parts=True,
        reasoning_request="reasoning_effort",
        efforts=_THREE_LEVELS,
        reasoning_field="reasoning",
        user_field="user",
    ),
    "api.mistral.ai": Quirks(takes_stream_options=False, names_tool_results=True, call_id_length=9),
    "api.moonshot.ai": Quirks(reasoning_field="reasoning_content"),
    "api.moonshot.cn": Quirks(reasoning_field="reasoning_content"),
    "api.openai.com": Quirks(
        max_tokens_field="max_completion_tokens",
        system_role="developer",
        takes_store=True,
        takes_text_parts=True,
        reasoning_request="reasoning_effort",
        drops_temperature=True,
        user_field="safety_identifier",
        takes_cache_key=True,
    ),
    "generativelanguage.googleapis.com": Quirks(
        takes_text_parts=True,
        reasoning_request="reasoning_effort",
        efforts=_THREE_LEVELS,
        signs_tool_calls=True,
    ),
    "openrouter.ai": Quirks(
        takes_text_parts=True,
        takes_cache_marks=True,
        reasoning_request="reasoning",
        efforts={"max": "xhigh"},
        reasoning_field="reasoning_details",
        user_field="user",
    ),
}
"""By host; the hosts below it are meant as well."""

BY_PROVIDER: Final[Mapping[str, Quirks]] = {
    "lmstudio": Quirks(),
    "ollama": Quirks(reasoning_request="reasoning_effort", efforts=_THREE_LEVELS),
    "vllm": Quirks(
        takes_text_parts=True, reasoning_request="reasoning_effort", efforts=_THREE_LEVELS
    ),
}
"""By provider, for servers that have no host of their own."""


def find_quirks(model: t.Model) -> Quirks:
    """Find out how a model's server differs.

    Args:
        model: Who shall answer.

    Returns:
        What is known of its host, else of its provider, with what `model.compat` says on top. Names
        there that are not known here are left alone: they may be meant for another program.

    Raises:
        ModelRequestError: `model.compat` gives a field what it cannot hold.
    """
    quirks = _by_host(model.base_url) or BY_PROVIDER.get(model.provider) or Quirks()
    compat: object = model.compat
    if not isinstance(compat, dict):
        return quirks
    own = cast("dict[str, object]", compat)
    known = {name: own[name] for name in Quirks.__struct_fields__ if name in own}
    try:
        return msgspec.convert({**msgspec.structs.asdict(quirks), **known}, Quirks)
    except msgspec.ValidationError as error:
        raise failure("bad_request", f"model.compat: {error}") from error


def _by_host(base_url: str) -> Quirks | None:
    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:
        return None
    labels = host.rstrip(".").split(".")
    tails = (".".join(labels[start:]) for start in range(len(labels)))
    return next((BY_HOST[tail] for tail in tails if tail in BY_HOST), None)
