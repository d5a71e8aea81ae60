"""Which provider and model a program talks to: plain metadata, and the choice between them."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from openprogram.auth.adapters import KEYLESS_PROVIDERS
from openprogram.auth.resolver import environment_variable_for, resolve_api_key
from openprogram.errors import (
    ConfigError,
    CredentialMissingError,
    ProviderBlockedError,
    ProviderError,
    quoted,
)
from openprogram.providers import types as t
from openprogram.providers.initialization import initialize_provider_runtime
from openprogram.providers.prices import price_of, read_prices

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from openprogram.config import Settings
    from openprogram.providers.activation import RuntimeMode
    from openprogram.providers.prices import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderMetadata:
    """What is known of a provider without asking it, its vendor or the disk."""

    model_namespace: str
    """The provider's name inside `Model.provider`."""
    api: str
    """The wire protocol that it speaks."""
    base_url: str
    """Where it is, as its documentation writes it."""
    base_url_variable: str
    """The environment variable that puts another place before `base_url`."""
    default_model: str
    """The model when nobody chooses one."""
    input: tuple[t.Modality, ...] = ("text",)
    """What its models can read."""
    is_replayed_only: bool = False
    """Whether it is known for its recordings alone, as no live call is made."""


PROVIDERS: Final[Mapping[str, ProviderMetadata]] = MappingProxyType(
    {
        "anthropic": ProviderMetadata(
            model_namespace="anthropic",
            api="anthropic-messages",
            base_url="https://api.anthropic.com",
            base_url_variable="OPENPROGRAM_ANTHROPIC_BASE_URL",
            default_model="claude-sonnet-4-5",
            input=("text", "image"),
        ),
        "openai": ProviderMetadata(
            model_namespace="openai",
            api="openai-responses",
            base_url="https://api.openai.com/v1",
            base_url_variable="OPENPROGRAM_OPENAI_BASE_URL",
            default_model="gpt-5.1",
            input=("text", "image"),
        ),
        "google": ProviderMetadata(
            model_namespace="google",
            api="google-generative-ai",
            base_url="https://generativelanguage.googleapis.com/v1beta",
            base_url_variable="OPENPROGRAM_GOOGLE_BASE_URL",
            default_model="gemini-2.5-flash",
            input=("text", "image", "video", "audio"),
        ),
        "openai-codex": ProviderMetadata(
            model_namespace="openai-codex",
            api="openai-codex",
            base_url="https://chatgpt.com/backend-api",
            base_url_variable="OPENPROGRAM_CODEX_BASE_URL",
            default_model="gpt-5.1-codex",
            input=("text", "image"),
        ),
        "gemini-cli": ProviderMetadata(
            model_namespace="gemini-subscription",
            api="gemini-subscription",
            base_url="https://cloudcode-pa.googleapis.com",
            base_url_variable="OPENPROGRAM_GEMINI_BASE_URL",
            default_model="gemini-2.5-pro",
            input=("text", "image", "video", "audio"),
            is_replayed_only=True,
        ),
        "openrouter": ProviderMetadata(
            model_namespace="openrouter",
            api="openai-completions",
            base_url="https://openrouter.ai/api/v1",
            base_url_variable="OPENPROGRAM_OPENROUTER_BASE_URL",
            default_model="openrouter/auto",
            input=("text", "image"),
        ),
        "groq": ProviderMetadata(
            model_namespace="groq",
            api="openai-completions",
            base_url="https://api.groq.com/openai/v1",
            base_url_variable="OPENPROGRAM_GROQ_BASE_URL",
            default_model="openai/gpt-oss-120b",
        ),
        "deepseek": ProviderMetadata(
            model_namespace="deepseek",
            api="openai-completions",
            base_url="https://api.deepseek.com/v1",
            base_url_variable="OPENPROGRAM_DEEPSEEK_BASE_URL",
            default_model="deepseek-chat",
        ),
        "ollama": ProviderMetadata(
            model_namespace="ollama",
            api="openai-completions",
            base_url="http://127.0.0.1:11434/v1",
            base_url_variable="OPENPROGRAM_OLLAMA_BASE_URL",
            default_model="qwen3",
        ),
        "lmstudio": ProviderMetadata(
            model_namespace="lmstudio",
            api="openai-completions",
            base_url="http://127.0.0.1:1234/v1",
            base_url_variable="OPENPROGRAM_LMSTUDIO_BASE_URL",
            default_model="qwen/qwen3-8b",
        ),
        "vllm": ProviderMetadata(
            model_namespace="vllm",
            api="openai-completions",
            base_url="http://127.0.0.1:8000/v1",
            base_url_variable="OPENPROGRAM_VLLM_BASE_URL",
            default_model="Qwen/Qwen3-8B",
        ),
    }
)
"""Every provider that can be chosen by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A model to talk to, and how calls are made in this process."""

    model: t.Model
    """Who answers."""
    mode: RuntimeMode
    """What this process does with provider calls."""
    price: Price | None = None
    """What the model costs and who says so; None when no file of prices does."""
    options: t.SimpleStreamOptions = field(repr=False)
    """Options to start from; they hold the key that was given explicitly, if one was."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """What one place says about who shall answer; empty words say nothing."""

    provider: str
    model: str


def create_runtime(
    provider: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
    *,
    prices_file: Path | None = None,
) -> Runtime:
    """Choose who answers.

    An explicit choice comes first, then `AGENTIC_PROVIDER` and `AGENTIC_MODEL`, then the settings
    `default_provider` and `default_model` as they were when the runtime started, then the first
    provider that has a credential. A place that names another provider than the chosen one has no
    say about the model. In a replay no credential is looked for: somebody must name the provider.

    Args:
        provider: One of `PROVIDERS`.
        model: The vendor's name of the model.
        api_key: A key to use instead of the stored one.
        prices_file: What models cost, instead of the file that the setting `prices_file` names; see
            `openprogram.providers.prices`.

    Returns:
        The model, with its prices if they are known, and options that hold the key if one was
        given.

    Raises:
        ProviderRuntimeInitializationError: The runtime could not start.
        ProviderBlockedError: The settings of recording and replay cannot be honoured.
        ConfigError: The settings or the file of prices are not what they should be, or a replay
            has no provider chosen, or the provider is known for its recordings alone.
        CredentialMissingError: No provider is chosen, and none has a credential.
        ProviderError: There is no provider of this name.
    """
    snapshot = initialize_provider_runtime()
    if snapshot.mode == "blocked":
        raise ProviderBlockedError(
            snapshot.reason or "the reason was not kept", can_turn_off=snapshot.settings is not None
        )
    explicit = _Choice(provider or "", model or "")
    choices = partial(_iterate_choices, explicit, snapshot.settings)
    name = next((choice.provider for choice in choices() if choice.provider), "")
    if not name:
        name = _require_choice() if snapshot.mode == "replay" else _detect_provider(api_key)
    metadata = PROVIDERS.get(name)
    if metadata is None:
        raise ProviderError(f"provider {quoted(name)}: no such provider; {_say_near(name)}")
    if metadata.is_replayed_only and snapshot.mode != "replay":
        # late: the names of the provider layer load no vendor
        from openprogram.providers.vendors.gemini_subscription import REFUSAL

        raise ConfigError(f"provider {quoted(name)}: {REFUSAL}", key="default_provider")
    model_id = next(
        (choice.model for choice in choices() if choice.model and choice.provider in {"", name}),
        metadata.default_model,
    )
    price = _find_price(prices_file, snapshot.settings, metadata.model_namespace, model_id)
    return Runtime(
        model=_model_of(metadata, model_id, price),
        price=price,
        mode=snapshot.mode,
        options=t.SimpleStreamOptions(api_key=api_key),
    )


def _iterate_choices(explicit: _Choice, settings: Settings | None) -> Iterator[_Choice]:
    """Go from the strongest place to the weakest; settings that are not asked raise nothing."""
    yield explicit
    yield _Choice(os.environ.get("AGENTIC_PROVIDER", ""), os.environ.get("AGENTIC_MODEL", ""))
    if settings is not None:
        names = (settings.get("default_provider"), settings.get("default_model"))
        yield _Choice(*cast("tuple[str, str]", names))


def _require_choice() -> str:
    raise ConfigError(
        "a replay takes no provider by guess: name it with --provider, AGENTIC_PROVIDER "
        "or the setting default_provider",
        key="default_provider",
    )


def _detect_provider(api_key: str | None) -> str:
    """Find the first provider that could be called; looks at credentials, never at a network."""
    for name, metadata in PROVIDERS.items():
        if not metadata.is_replayed_only and resolve_api_key(metadata.model_namespace, api_key):
            return name
    variables = [name for name in map(environment_variable_for, PROVIDERS) if name]
    raise CredentialMissingError(
        None,
        remedy=f"set one of {', '.join(variables)}, run 'openprogram auth set PROVIDER', or name "
        f"with --provider one that needs none: {', '.join(sorted(KEYLESS_PROVIDERS))}",
    )


def _say_near(name: str) -> str:
    names = {metadata.model_namespace: key for key, metadata in PROVIDERS.items()}
    names |= {key: key for key in PROVIDERS}
    near = [names[word] for word in difflib.get_close_matches(name.lower(), names, n=1)]
    choice = f"choose one of {', '.join(PROVIDERS)}"
    return f"did you mean {near[0]}? Or {choice}" if near else choice


def _find_price(
    explicit: Path | None, settings: Settings | None, provider: str, model_id: str
) -> Price | None:
    path = explicit
    if path is None:
        named = "" if settings is None else cast("str", settings.get("prices_file"))
        if not named:
            return None
        path = Path(named)
        if not path.is_absolute():
            raise ConfigError(
                f"setting prices_file: {quoted(named)} would be another file in each directory; "
                "give its absolute path",
                key="prices_file",
            )
    return price_of(read_prices(path), provider, model_id)


def _model_of(metadata: ProviderMetadata, model_id: str, price: Price | None) -> t.Model:
    return t.Model(
        id=model_id,
        name=model_id,
        api=metadata.api,
        provider=metadata.model_namespace,
        base_url=os.environ.get(metadata.base_url_variable) or metadata.base_url,
        input=list(metadata.input),
        cost=t.ModelCost() if price is None else price.to_cost(),
    )
