"""Something that asks a model, as your agent does; the model pretends, so that no key is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from openprogram.providers import complete, register_api_provider
from openprogram.providers import types as t
from openprogram.testing import FauxProvider, Text

MODEL = t.Model(id="pretend", name="pretend", api="faux", provider="faux", base_url="")
Ask = Callable[[str], str]


@pytest.fixture
def ask() -> Ask:
    """Ask one question, and get the answer's text."""
    register_api_provider("faux", FauxProvider([[Text("Blue light is scattered more than red.")]]))

    def ask_once(question: str) -> str:
        context = t.Context(messages=[t.UserMessage(content=question, timestamp=1)])
        message = asyncio.run(complete(MODEL, context))
        return "".join(block.text for block in message.content if block.type == "text")

    return ask_once
