from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from fresh_interpreter import output_of
from openprogram.auth import adapters
from openprogram.errors import ProviderError
from openprogram.providers._registry import ProviderRegistry
from openprogram.providers.register import BUILTINS, Builtin, BuiltinRegistration
from scripted import Scripted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Builtin]:
    """A function that makes a vendor module, and its line for the table."""

    def make(name: str, **content: object) -> Builtin:
        module = ModuleType(name)
        vars(module).update({"API": name, "PROVIDER": Scripted([])} | content)
        monkeypatch.setitem(sys.modules, name, module)
        return Builtin(api=name, module=name)

    return make


def _registration(registry: ProviderRegistry, builtins: Iterable[Builtin]) -> BuiltinRegistration:
    return BuiltinRegistration(registry, builtins, adapters.BUILTIN_ADAPTERS)


def test_the_table_is_true() -> None:
    registry = ProviderRegistry()
    _registration(registry, BUILTINS).run()
    for builtin in BUILTINS:
        provider = registry.find(builtin.api)
        assert provider is sys.modules[builtin.module].PROVIDER


def test_a_users_provider_stays(plant: Callable[..., Builtin]) -> None:
    registry, own = ProviderRegistry(), Scripted([])
    registry.register("planted", own)
    _registration(registry, [plant("planted"), plant("other")]).run()
    assert registry.find("planted") is own
    assert registry.find("other") is not None


def test_a_users_provider_replaces_a_built_in(plant: Callable[..., Builtin]) -> None:
    registry, own = ProviderRegistry(), Scripted([])
    registration = _registration(registry, [plant("planted")])
    registration.run()
    registry.register("planted", own)
    registration.run()
    assert registry.find("planted") is own


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"API": "other"}, "planted: its API is 'other', not planted"),
        ({"API": None}, "planted: its API is None"),
        ({"PROVIDER": None}, "planted: PROVIDER has no method stream"),
        ({"PROVIDER": object()}, "planted: PROVIDER has no method stream"),
    ],
)
def test_a_module_that_is_not_what_the_table_says_leaves_nothing_behind(
    plant: Callable[..., Builtin], content: dict[str, object], message: str
) -> None:
    registry = ProviderRegistry()
    registration = _registration(registry, [plant("sound"), plant("planted", **content)])
    with pytest.raises(ProviderError, match=message):
        registration.run()
    assert registry.find("sound") is None


def test_a_failure_is_not_remembered(plant: Callable[..., Builtin]) -> None:
    registry = ProviderRegistry()
    registration = _registration(registry, [plant("sound"), Builtin(api="late", module="late")])
    with pytest.raises(ModuleNotFoundError, match="late"):
        registration.run()
    assert registry.find("sound") is None
    plant("late")
    registration.run()
    assert registry.find("sound") is not None
    assert registry.find("late") is not None


def test_an_import_error_inside_a_vendor_module_surfaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_vendor.py").write_text(
        "from openprogram.providers.types import NoSuchName\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    builtin = Builtin(api="broken", module="broken_vendor")
    with pytest.raises(ImportError, match="NoSuchName"):
        _registration(ProviderRegistry(), [builtin]).run()


def test_an_interruption_lets_the_next_call_through(
    plant: Callable[..., Builtin], monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = ProviderRegistry()
    registration = _registration(registry, [plant("planted")])

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(registry, "register_missing", interrupt)
        with pytest.raises(KeyboardInterrupt):
            registration.run()
    registration.run()
    assert registry.find("planted") is not None


def test_threads_import_each_module_once(plant: Callable[..., Builtin]) -> None:
    published: list[object] = []

    class Registry(ProviderRegistry):
        def register_missing(self, providers: object) -> None:
            published.append(providers)

    registration = _registration(Registry(), [plant("planted")])
    start = threading.Barrier(8)

    def run() -> None:
        start.wait()
        registration.run()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(published) == 1


def test_a_vendor_module_that_registers_while_it_loads_is_told_off(
    plant: Callable[..., Builtin], monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = ProviderRegistry()
    registration = _registration(registry, [plant("planted")])

    def load_again(_: str) -> None:
        registration.run()

    monkeypatch.setattr("openprogram.providers.register.importlib.import_module", load_again)
    with pytest.raises(RuntimeError, match="module that it is just importing"):
        registration.run()


def test_it_registers_the_credential_adapters_and_looks_at_no_setting() -> None:
    code = """
        import os, pathlib
        state = pathlib.Path(os.environ["OPENPROGRAM_STATE_DIR"])
        (state / "recordings").mkdir(parents=True)
        (state / "config.json").write_text("{broken")
        from openprogram.providers.register import find_credential_adapter

        names = ("anthropic", "openai-codex", "gemini-subscription", "unknown")
        print(*[type(find_credential_adapter(name)).__name__ for name in names])
    """
    assert output_of(code) == (
        "ApiKeyAdapter SubscriptionAdapter SubscriptionAdapter ApiKeyAdapter\n"
    )


def test_it_loads_no_sdk() -> None:
    code = """
        import sys
        from openprogram.providers import register_builtins
        register_builtins()
        print(sorted({"anthropic", "httpx", "httpx2"} & set(sys.modules)))
    """
    assert output_of(code) == "[]\n"
