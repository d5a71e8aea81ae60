"""The subscription of the Gemini tool is never called, and its recordings replay all the same."""

from __future__ import annotations

import pytest

from fresh_interpreter import output_of
from openprogram.errors import ConfigError
from openprogram.providers import types as t
from openprogram.providers.vendors.gemini_subscription import API, PROVIDER

MODEL = t.Model(id="m", name="m", api=API, provider=API, base_url="https://vendor.invalid")
CONTEXT = t.Context(messages=[t.UserMessage(content="hi", timestamp=1)])


def test_each_call_is_refused_with_what_to_take_instead():
    for call in (PROVIDER.stream, PROVIDER.stream_simple):
        with pytest.raises(ConfigError, match=r"^gemini-subscription: no live call .* google"):
            call(MODEL, CONTEXT)


def test_what_others_recorded_of_it_is_replayed():
    code = """
        import asyncio, json, os, pathlib
        from openprogram.providers import complete_simple, create_runtime
        from openprogram.providers import types as t
        from openprogram.providers.recording import RecordingProvider
        from openprogram.testing import FauxProvider, Text

        state = pathlib.Path(os.environ["OPENPROGRAM_STATE_DIR"])
        (state / "recordings").mkdir(parents=True, mode=0o700)
        state.chmod(0o700)
        context = t.Context(messages=[t.UserMessage(content="hi", timestamp=1)])
        faux = RecordingProvider(
            FauxProvider([[Text("recorded")]]), state / "recordings" / "theirs.jsonl"
        )
        model = t.Model(
            id="gemini-2.5-pro",
            name="gemini-2.5-pro",
            api="gemini-subscription",
            provider="gemini-subscription",
            base_url="https://cloudcode-pa.googleapis.com",
            input=["text", "image", "video", "audio"],
        )

        async def record():
            options = t.SimpleStreamOptions()
            return [event async for event in faux.stream_simple(model, context, options)]

        asyncio.run(record())
        choose = {"record_replay": {"mode": "replay", "file": "theirs"}}
        (state / "config.json").write_text(json.dumps(choose))
        (state / "config.json").chmod(0o600)
        runtime = create_runtime("gemini-cli")
        message = asyncio.run(complete_simple(runtime.model, context, runtime.options))
        print(runtime.mode, message.content[0].text)
    """
    assert output_of(code) == "replay recorded\n"
