from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fresh_interpreter import output_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SetMode = Callable[[str, str], None]

_PREAMBLE = """
from openprogram import errors
from openprogram.providers import (
    configure_provider_transform, get_api_provider, register_api_provider
)
from openprogram.providers.recording import RecordingProvider
from scripted import Scripted, drain, request, text_events

class Wrapper:
    def __init__(self, wrapped):
        self.wrapped = wrapped

def outcome(call, *words):
    try:
        return type(call(*words)).__name__
    except Exception as error:
        return f"{type(error).__name__}: {error}"
"""


def _run(code: str) -> list[str]:
    lines = code.splitlines()
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return output_of(_PREAMBLE + "\n".join(line[indent:] for line in lines)).splitlines()


@pytest.fixture
def set_mode(state_dir: Path) -> SetMode:
    """A function that writes the settings by hand, as a user could."""

    def write(mode: str, file: str) -> None:
        (state_dir / "recordings").mkdir(parents=True, exist_ok=True)
        chosen = {"record_replay": {"mode": mode, "file": file}}
        (state_dir / "config.json").write_text(json.dumps(chosen))

    return write


def test_the_built_ins_are_there_and_an_unknown_api_is_unknown() -> None:
    known, unknown = _run("""
        print(outcome(get_api_provider, "anthropic-messages"))
        print(outcome(get_api_provider, "x\\x1b[2J"))
    """)
    assert known == "AnthropicMessagesProvider"
    assert unknown.startswith(
        r"ProviderNotRegisteredError: no provider is registered for the api 'x\x1b[2J'; choose one "
        "of 'anthropic-messages'"
    )


def test_a_provider_registered_before_the_first_look_up_stays() -> None:
    assert _run("""
        own = Scripted([])
        register_api_provider("anthropic-messages", own)
        print(get_api_provider("anthropic-messages") is own)
        register_api_provider("late", own)
        print(get_api_provider("late") is own)
    """) == ["True", "True"]


def test_a_transform_of_the_users_own_covers_built_ins_too() -> None:
    assert _run("""
        configure_provider_transform(Wrapper)
        print(outcome(get_api_provider, "anthropic-messages"))
        configure_provider_transform(Wrapper)
        print(outcome(configure_provider_transform, Scripted))
    """) == [
        "Wrapper",
        "RuntimeError: the provider transform of this process is set already, and is set only once",
    ]


def test_recording_wraps_each_provider_once_whoever_registers_it(
    state_dir: Path, set_mode: SetMode
) -> None:
    set_mode("record", "run")
    assert _run("""
        register_api_provider("early", Scripted(text_events("a")))
        early = get_api_provider("early")
        register_api_provider("late", Scripted(text_events("b")))
        register_api_provider("early", early)
        register_api_provider("again", get_api_provider("early"))
        for api in ("early", "late", "again"):
            drain(get_api_provider(api).stream_simple(*request(api)))
        print(outcome(configure_provider_transform, Wrapper)[:12])
        print(outcome(get_api_provider, "unknown")[:26])
    """) == ["RuntimeError", "ProviderNotRegisteredError"]
    rows = (state_dir / "recordings" / "run.jsonl").read_text().splitlines()
    asked = [json.loads(row) for row in rows if '"type":"request"' in row]
    contents = [row["context"]["messages"][0]["content"] for row in asked]
    assert contents == ["early", "late", "again"]


def test_a_blocked_process_still_knows_no_unknown_api(set_mode: SetMode) -> None:
    set_mode("replay", "missing")
    assert _run("""
        register_api_provider("own", Scripted([]))
        print(outcome(get_api_provider, "own"))
        print(outcome(get_api_provider, "unknown")[:26])
        register_api_provider("late", Scripted([]))
        print(outcome(get_api_provider, "late"))
    """) == [
        "_BlockedRecordReplayProvider",
        "ProviderNotRegisteredError",
        "_BlockedRecordReplayProvider",
    ]
