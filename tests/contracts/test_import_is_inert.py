"""Importing the project does nothing: watched in fresh interpreters, with an audit hook."""

from __future__ import annotations

import json
import pkgutil
import re
from pathlib import Path
from typing import Any, Final

import pytest

import openprogram
from fresh_interpreter import output_of

_NEEDS_SDK: Final = {
    "openprogram.providers.vendors._anthropic_connection",
    "openprogram.providers.vendors._anthropic_errors",
    "openprogram.providers.vendors._google_connection",
    "openprogram.providers.vendors._network",
    "openprogram.providers.vendors._openai_connection",
    "openprogram.providers.vendors._openai_errors",
}
"""What a vendor module imports on its first call: they import the SDK, and are not walked."""

_WATCH: Final = """
import _thread, json, os, sys, threading

home = os.environ["HOME"]
seen = []
changes = {
    "os.chdir", "os.chmod", "os.chown", "os.fork", "os.forkpty", "os.link", "os.mkdir",
    "os.posix_spawn", "os.putenv", "os.remove", "os.rename", "os.rmdir", "os.symlink",
    "os.system", "os.truncate", "os.unsetenv", "os.utime", "os.exec", "shutil.rmtree",
    "subprocess.Popen", "signal.pthread_kill",
}

def watch(event, words):
    if event == "open":
        path, mode, flags = words
        name = os.fsdecode(path) if isinstance(path, (str, bytes)) else ""
        is_writing = bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if name.startswith(home) or is_writing:
            seen.append(f"open {name}")
    elif event in changes or event.startswith(("socket.", "tempfile.", "_thread.")):
        seen.append(f"{event} {words!r}"[:200])

def watched(start):
    def start_thread(*words, **options):
        seen.append(f"_thread. {words!r}"[:200])
        return start(*words, **options)
    return start_thread

# Not every version of Python has an audit event for it.
for holder in (_thread, threading):
    for name in ("start_new_thread", "_start_new_thread", "_start_joinable_thread"):
        if hasattr(holder, name):
            setattr(holder, name, watched(getattr(holder, name)))
before = dict(os.environ)
sys.addaudithook(watch)
"""

_REPORT: Final = """
print(json.dumps({
    "seen": seen,
    "environment": dict(os.environ) == before,
    "threads": threading.active_count(),
    "modules": sorted(sys.modules),
    "home": sorted(os.listdir(home)),
}))
"""

_HEAVY: Final = frozenset({"anthropic", "httpx", "httpx2", "openai", "google", "textual", "rich"})
_NOT_FOR_PROVIDERS: Final = _HEAVY | {"typer", "click", "pydantic"}


@pytest.fixture
def empty_home(tmp_path: Path) -> dict[str, str]:
    """An empty HOME, and no state directory but the one that it implies."""
    folder = tmp_path / "empty-home"
    folder.mkdir()
    return {"HOME": str(folder), "OPENPROGRAM_STATE_DIR": ""}


def _all_modules() -> list[str]:
    found = pkgutil.walk_packages(openprogram.__path__, "openprogram.")
    return [module.name for module in found if module.name not in _NEEDS_SDK]


def _after(code: str, environment: dict[str, str]) -> dict[str, Any]:
    return json.loads(output_of(_WATCH + code + _REPORT, **environment))


def _assert_inert(report: dict[str, Any]) -> None:
    assert report["seen"] == []
    assert report["environment"] is True
    assert report["threads"] == 1
    assert report["home"] == []


def _top_level(report: dict[str, Any]) -> set[str]:
    return {name.partition(".")[0] for name in report["modules"]}


def test_every_module_can_be_imported_and_does_nothing(empty_home: dict[str, str]) -> None:
    modules = _all_modules()
    assert len(modules) > 60
    code = f"import importlib\nfor name in {modules!r}: importlib.import_module(name)\n"
    report = _after(code, empty_home)
    _assert_inert(report)
    assert _HEAVY.isdisjoint(_top_level(report))
    assert set(modules) <= set(report["modules"])


@pytest.mark.parametrize(
    "module", ["openprogram", "openprogram.providers", "openprogram.agent", "openprogram.auth"]
)
def test_a_package_alone_loads_little(module: str, empty_home: dict[str, str]) -> None:
    report = _after(f"import {module}\n", empty_home)
    _assert_inert(report)
    assert _NOT_FOR_PROVIDERS.isdisjoint(_top_level(report))
    assert "msgspec" not in _top_level(report)
    ours = [name for name in report["modules"] if name.startswith("openprogram")]
    assert set(ours) <= {"openprogram", "openprogram._lazy_names", module}


def test_every_public_name_of_the_providers_loads_no_sdk_and_no_face(
    empty_home: dict[str, str],
) -> None:
    code = """
import openprogram.providers as p
for name in p.__all__: getattr(p, name)
from openprogram.providers.recording import *
from openprogram.providers._registry import REGISTRY
assert REGISTRY.find("anthropic-messages") is None
"""
    report = _after(code, empty_home)
    _assert_inert(report)
    assert _NOT_FOR_PROVIDERS.isdisjoint(_top_level(report))
    vendors = [name for name in report["modules"] if name.startswith("openprogram.providers.ven")]
    assert vendors == []


@pytest.mark.parametrize("name", sorted(_NEEDS_SDK))
def test_only_what_needs_the_sdk_is_left_out(name: str) -> None:
    source = Path(openprogram.__path__[0], *name.split(".")[1:]).with_suffix(".py").read_text()
    assert re.search(r"^(?:import|from) (?:anthropic|google|httpx2|openai)\b", source, re.MULTILINE)


_DEEDS: Final = {
    "os.mkdir(home + '/x')": "os.mkdir",
    "open(home + '/y', 'w').close()": "open",
    "os.close(os.open(home, os.O_RDONLY))": "open",
    "open(os.devnull, 'a').close()": "open",
    "import socket; socket.socket().close()": "socket.",
    "import subprocess; subprocess.run(['true'])": "subprocess.Popen",
    "threading.Thread(target=len, args=('',)).start()": "_thread.",
    "os.environ['X'] = '1'": "os.putenv",
    "open(os.devnull).close()": None,
}
"""Things that must not be done, and what the watch says of each; None is allowed."""


def test_the_watch_sees_what_it_is_there_to_see(empty_home: dict[str, str]) -> None:
    code = f"""
seen_of = {{}}
for deed in {list(_DEEDS)!r}:
    seen.clear()
    exec(deed)
    seen_of[deed] = list(seen)
print(json.dumps(seen_of))
"""
    seen: dict[str, list[str]] = json.loads(output_of(_WATCH + code, **empty_home))
    for deed, trace in _DEEDS.items():
        if trace is None:
            assert seen[deed] == []
        else:
            assert any(line.startswith(trace) for line in seen[deed]), deed
