from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from fresh_interpreter import output_of
from openprogram.auth import store
from openprogram.config import Settings
from openprogram.errors import (
    ConfigError,
    CredentialMissingError,
    ProviderBlockedError,
    ProviderError,
)
from openprogram.providers import register, registry
from openprogram.providers import types as t
from openprogram.providers.activation import RuntimeSnapshot
from openprogram.providers.registry import PROVIDERS, ProviderMetadata, create_runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    Start = Callable[..., None]

_OTHER = ProviderMetadata(
    model_namespace="other-namespace",
    api="other-api",
    base_url="https://other.test",
    base_url_variable="OTHER_BASE_URL",
    default_model="other-model",
)


@pytest.fixture(autouse=True)
def two_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second provider to choose, besides the real ones."""
    monkeypatch.setattr(registry, "PROVIDERS", {**PROVIDERS, "other": _OTHER})


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    """A function that says how the runtime of this process started."""

    def decide(
        mode: Literal["off", "record", "replay", "blocked"] = "off", **settings: Any
    ) -> None:
        snapshot = RuntimeSnapshot(
            mode=mode,
            reason="no good" if mode == "blocked" else None,
            settings=Settings(path=Path("config.json"), values=settings),
        )
        monkeypatch.setattr(registry, "initialize_provider_runtime", lambda: snapshot)

    return decide


@pytest.fixture
def without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking a credential up fails the test."""

    def fail(*_: object) -> None:
        raise AssertionError("a credential was looked up")

    monkeypatch.setattr(registry, "resolve_api_key", fail)
    monkeypatch.setattr(store, "read_credentials", fail)


def _chosen(*words: str | None) -> tuple[str, str]:
    model = create_runtime(*words).model
    return (model.provider, model.id)


_ANTHROPIC = ("anthropic", PROVIDERS["anthropic"].default_model)


def test_the_table_names_apis_that_are_there() -> None:
    apis = {builtin.api for builtin in register.BUILTINS}
    assert {metadata.api for metadata in PROVIDERS.values()} <= apis


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PROVIDERS["x"] = _OTHER  # type: ignore[index]  # that it is refused is the point


def test_a_model_is_described_by_the_table(start: Start) -> None:
    start()
    assert create_runtime("anthropic", "m").model == t.Model(
        id="m",
        name="m",
        api="anthropic-messages",
        provider="anthropic",
        base_url="https://api.anthropic.com",
        input=["text", "image"],
    )


def test_another_place_may_be_named_by_the_environment(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    monkeypatch.setenv("OPENPROGRAM_ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert create_runtime("anthropic").model.base_url == "http://127.0.0.1:9"
    monkeypatch.setenv("OPENPROGRAM_ANTHROPIC_BASE_URL", "")
    assert create_runtime("anthropic").model.base_url == "https://api.anthropic.com"


@pytest.mark.parametrize("mode", ["off", "record", "replay"])
def test_the_explicit_choice_wins_over_variables_and_these_over_settings(
    start: Start, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    start(mode, default_provider="other", default_model="of-settings")
    assert _chosen() == ("other-namespace", "of-settings")
    monkeypatch.setenv("AGENTIC_PROVIDER", "anthropic")
    assert _chosen() == _ANTHROPIC
    monkeypatch.setenv("AGENTIC_MODEL", "of-variable")
    assert _chosen() == ("anthropic", "of-variable")
    assert _chosen(None, "explicit") == ("anthropic", "explicit")
    assert _chosen("other") == ("other-namespace", "of-settings")
    assert _chosen("other", "explicit") == ("other-namespace", "explicit")


def test_a_model_without_a_provider_goes_with_whichever_is_chosen(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(default_model="of-settings")
    assert _chosen("other") == ("other-namespace", "of-settings")
    monkeypatch.setenv("AGENTIC_MODEL", "of-variable")
    assert _chosen("other") == ("other-namespace", "of-variable")


def test_without_a_choice_the_first_provider_with_a_credential_is_taken(
    start: Start, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    with pytest.raises(CredentialMissingError, match=r"any provider; set one of .*, run"):
        create_runtime()
    state_dir.mkdir(mode=0o700)
    path = state_dir / "credentials.json"
    path.write_text(json.dumps({"other-namespace": {"api_key": "k"}}))
    path.chmod(0o600)
    assert _chosen() == ("other-namespace", "other-model")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert _chosen() == _ANTHROPIC


def test_a_key_that_is_given_is_passed_on_and_not_shown(start: Start) -> None:
    start()
    runtime = create_runtime(api_key="a-given-key")
    assert runtime.model.provider == "anthropic"
    assert runtime.options.api_key == "a-given-key"
    assert "a-given-key" not in repr(runtime)


@pytest.mark.usefixtures("without_credentials")
def test_a_replay_takes_no_provider_by_guess(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    start("replay", default_model="of-settings")
    with pytest.raises(ConfigError, match="AGENTIC_PROVIDER or the setting default_provider"):
        create_runtime()
    assert create_runtime("anthropic").mode == "replay"


@pytest.mark.usefixtures("without_credentials")
def test_a_blocked_process_chooses_nobody(start: Start) -> None:
    start("blocked")
    with pytest.raises(ProviderBlockedError, match="blocked: no good; see"):
        create_runtime("anthropic", "m", "k")


@pytest.mark.parametrize("place", ["explicit", "variable", "setting"])
def test_a_provider_that_is_not_there_is_said_with_those_that_are(
    start: Start, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    name = "anthropik\x1b[2J"
    start(default_provider=name if place == "setting" else "")
    if place == "variable":
        monkeypatch.setenv("AGENTIC_PROVIDER", name)
    with pytest.raises(ProviderError) as caught:
        create_runtime(name if place == "explicit" else None)
    known = ", ".join([*PROVIDERS, "other"])
    assert str(caught.value) == (
        r"provider 'anthropik\x1b[2J': no such provider; "
        f"did you mean anthropic? Or choose one of {known}"
    )


def test_settings_of_a_wrong_type_matter_only_where_they_are_asked(start: Start) -> None:
    start(default_provider=7)
    with pytest.raises(ConfigError, match="default_provider must be a string"):
        create_runtime()
    assert _chosen("anthropic", "m") == ("anthropic", "m")


def test_the_real_thing_is_off_without_settings() -> None:
    code = """
        from openprogram.providers import create_runtime
        runtime = create_runtime("anthropic")
        print(runtime.mode, runtime.model.api)
    """
    assert output_of(code, ANTHROPIC_API_KEY="k") == "off anthropic-messages\n"


def test_a_real_blocked_process_says_why_once(state_dir: Path) -> None:
    state_dir.mkdir(mode=0o700)
    (state_dir / "config.json").write_text("{")
    code = """
        from openprogram.providers import create_runtime
        try:
            create_runtime("anthropic")
        except Exception as error:
            print(type(error).__name__)
    """
    assert output_of(code) == "ProviderBlockedError\n"


def test_prices_come_from_the_file_that_is_given_or_set_and_else_are_unknown(
    start: Start, tmp_path: Path
) -> None:
    def write(name: str, usd: float) -> Path:
        path = tmp_path / name
        entry = {"input": usd, "output": 2 * usd, "source": "somewhere", "as_of": "2026-12-01"}
        path.write_text(json.dumps({"anthropic/m": entry}))
        return path

    given, set_ = write("given.json", 1.0), write("set.json", 5.0)
    start(prices_file=str(set_))
    runtime = create_runtime("anthropic", "m")
    assert runtime.model.cost == t.ModelCost(input=5.0, output=10.0, source="configured")
    assert runtime.price is not None
    assert runtime.price.source == "somewhere"
    assert create_runtime("anthropic", "m", prices_file=given).model.cost.input == 1.0
    other = create_runtime("anthropic", "n")
    assert (other.model.cost, other.price) == (t.ModelCost(), None)
    start()
    assert create_runtime("anthropic", "m").model.cost == t.ModelCost()
    start(prices_file="set.json")
    with pytest.raises(ConfigError, match=r"'set\.json' would be another file .* absolute path"):
        create_runtime("anthropic", "m")
    start(prices_file=str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="cannot be read"):
        create_runtime("anthropic", "m")


def test_a_provider_known_for_its_recordings_alone_is_refused_live_and_never_detected(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    for mode in ("off", "record"):
        start(mode)
        with pytest.raises(ConfigError, match=r"^provider 'gemini-cli': no live call .* google,"):
            create_runtime("gemini-cli")
    assert PROVIDERS["gemini-cli"].model_namespace == "gemini-subscription"

    def resolve(name: str, _: object) -> str | None:
        return {"gemini-subscription": "token", "groq": "key"}.get(name)

    monkeypatch.setattr(registry, "resolve_api_key", resolve)
    assert _chosen()[0] == "groq"
    with pytest.raises(ProviderError, match=r"did you mean gemini-cli\?"):
        create_runtime("gemini-subscription")
    start("replay")
    assert _chosen("gemini-cli") == ("gemini-subscription", "gemini-2.5-pro")
