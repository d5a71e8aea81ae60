"""A suite of its own in a folder of its own, run by a pytest of its own."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

SUITE = """
import pytest

@pytest.mark.provider_recording
def test_greets(ask):
    assert ask("hi") == "hello"

def test_asks_twice(provider_recording, ask):
    assert ask("one") == "first"
    assert ask("two") == "second"
"""
ANSWERS = {"hi": "hello", "one": "first", "two": "second"}

_SUITE_CONFTEST = """
import asyncio, json, os, pytest
from openprogram.providers import complete, register_api_provider, types as t
from openprogram.testing import FauxProvider, Text

def answer(request):
    text = request.context.messages[-1].content
    with open("asked.txt", "a") as file:
        file.write(text + "\\n")
    return [Text(json.loads(os.environ["ANSWERS"])[text])]

register_api_provider("faux", FauxProvider(answer))

class Asking:
    def __init__(self):
        self.model = t.Model(id="m", name="M", api="faux", provider="faux", base_url="")

    async def later(self, text):
        context = t.Context(messages=[t.UserMessage(content=text, timestamp=1)])
        message = await complete(self.model, context)
        return "".join(block.text for block in message.content if block.type == "text")

    def __call__(self, text):
        return asyncio.run(self.later(text))

@pytest.fixture
def ask():
    return Asking()
"""


class Run(Protocol):
    """Runs pytest on the suite, in a process of its own."""

    def __call__(
        self, *arguments: str, answers: Mapping[str, str] | None = None, **environment: str
    ) -> pytest.RunResult: ...


def write_suite(pytester: pytest.Pytester, source: str) -> None:
    """Write the suite's one file of tests."""
    (pytester.path / "test_agent.py").write_text(source, encoding="utf-8")


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    pytester.makeconftest(_SUITE_CONFTEST)
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider\nfilterwarnings = error\n")

    def start(
        *arguments: str, answers: Mapping[str, str] | None = None, **environment: str
    ) -> pytest.RunResult:
        for name in ("CI", "PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("ANSWERS", json.dumps(ANSWERS if answers is None else dict(answers)))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        # Finding all plugins of this environment takes longer than a run does.
        plugins = [
            argument
            for name in (
                "openprogram.pytest_plugin",
                "xdist.plugin",
                "pytest_asyncio.plugin",
                "anyio.pytest_plugin",
            )
            for argument in ("-p", name)
        ]
        is_bare = bool(os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"])
        return pytester.run(
            sys.executable, "-m", "pytest", *(plugins if is_bare else ()), *arguments
        )

    return start
