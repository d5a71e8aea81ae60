"""Whatever a program asks, asking it again is no mismatch, and asking anything else is one."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.errors import ReplayMismatch
from openprogram.providers import types as t
from openprogram.providers.recording.provider import RecordingProvider
from openprogram.providers.recording.redaction import PLACEHOLDER
from openprogram.providers.recording.sink import RecordingSink
from openprogram.providers.replay import ReplayProvider
from scripted import Scripted, drain, message, request, rows_of, text_events

_KEY = "sk-ant-api03-" + "AbCdEfGhIj0123456789" * 3


@dataclasses.dataclass
class _Point:
    x: float
    token: str


class _Odd:
    def __repr__(self) -> str:
        raise ValueError("no text")


def _cyclic() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


_ODD_DATA: list[Any] = [
    {"key": "Enter", "keyboard": "de", "max_tokens": 5, "sort_key": "a", "next_page_token": "b"},
    {"b": 1, "a": 2, "c": {"z": None, "y": [True, 1, 1.0]}},
    {"timestamp": 5, "nested": [{"timestamp": 6}]},
    {"password": None, "token": True, "secret": "correct horse", "api_key": 12345},
    {"deep": '{"a": {"password": "correct horse battery"}}', "url": "https://x.test/?token=abc"},
    {"lone": "\ud83d \udcb2 \u2028 \u0085 \x00 \x1b[2J", "é\u2028": "[/bold] {0} %s"},
    {"nan": math.nan, "inf": [math.inf, -math.inf], "big": 10**400, "tiny": 5e-324, "zero": -0.0},
    {"bytes": b"\xff", "set": {"b", "a", "c"}, "tuple": (1, 2), 5: "five", None: 0},
    {"point": _Point(1.0, _KEY), "path": Path("/x"), "odd": _Odd(), "cycle": _cyclic()},
    {"headers": [["x-api-key", _KEY], ["Authorization", f"Bearer {_KEY}"]]},
    {"empty": {}, "": [], "a.b": {"c d": 1}, '"': {"[0]": 2}},
    {PLACEHOLDER: PLACEHOLDER, "partial_derived": True, "type": "header"},
]
_TEXTS = [
    f"my key is {_KEY}",
    "https://user:pass@host.test/r.git and ?token=abc",
    "Authorization: Basic dXNlcjpwdw==",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7",
    "7c311c86-7836-4f47-bffc-aa8c3cbf261e",
    f"{PLACEHOLDER} twice {PLACEHOLDER}",
    "export OPENAI_API_KEY='x y z' && curl -u me:secret https://x.test",
    "",
    "\ud83d \u2028 \r\n \x00",
]


def _ask(text: str, data: dict[Any, Any]) -> tuple[t.Model, t.Context, t.SimpleStreamOptions]:
    """Put the text and the data into every place that takes any."""
    model, context, options = request(text)
    model.compat = data
    options.metadata = data
    options.tool_choice = data
    context.system_prompt = text
    context.tools = [t.Tool(name="f", description=text, parameters={"properties": data})]
    call = t.ToolCall(id="1", name="f", arguments=data)
    thought = t.ThinkingContent(thinking=text, thinking_signature="EpYB/+=")
    said: list[t.AssistantContent] = [thought, call]
    context.messages += [
        t.AssistantMessage(content=said, api="a", provider="p", model="m", timestamp=2),
        t.ToolResultMessage(
            tool_call_id="1",
            tool_name="f",
            content=[t.TextContent(text=text), t.ImageContent(data="AAAA", mime_type="image/png")],
            details=data,
            timestamp=3,
        ),
    ]
    return model, context, options


def _record(path: Path, *requests: Any) -> None:
    with RecordingSink(path) as sink:
        for number, each in enumerate(requests):
            events = text_events(str(number))
            drain(RecordingProvider(Scripted(events), sink).stream_simple(*each))


def test_odd_requests_are_their_own_replay(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    pairs = list(itertools.zip_longest(_TEXTS, _ODD_DATA, fillvalue=None))
    requests = [_ask(text or "x", data or {}) for text, data in pairs]
    _record(path, *requests)
    replay = ReplayProvider(path)
    for number, each in enumerate(requests):
        assert drain(replay.stream_simple(*each)) == text_events(str(number))
    replay.assert_consumed()
    content = path.read_text(encoding="utf-8", errors="strict")
    assert _KEY not in content
    assert "correct horse" not in content
    assert '{"b":1,"a":2,"c":{"z":null,"y":[true,1,1.0]}}' in content


def test_times_differ_and_nothing_else_may(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    _record(path, _ask("x", {"timestamp": 5}))
    model, context, options = _ask("x", {"timestamp": 5})
    for each in context.messages:
        each.timestamp += 1000
    other = _ask("x", {"timestamp": 6})
    replay = ReplayProvider(path)
    with pytest.raises(ReplayMismatch) as caught:
        drain(replay.stream_simple(*other))
    assert caught.value.field_path == "model.compat.timestamp"
    assert drain(replay.stream_simple(model, context, options)) == text_events("0")


def test_equal_requests_are_answered_in_their_order_and_none_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    same = _ask("same", {"a": 1})
    _record(path, *[same] * 5)
    replay = ReplayProvider(path)
    answers = [drain(replay.stream_simple(*same)) for _ in range(5)]
    assert answers == [text_events(str(number)) for number in range(5)]
    assert len(rows_of(path)) == 1 + 5 * (2 + len(text_events("0")))


def test_an_error_that_quotes_the_key_is_recorded_without_it_and_passed_on_with_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.jsonl"
    said = f"401: the key {_KEY} is not known; sent Authorization: Basic dXNlcjpwdw=="
    failed = message(stop_reason="error", error_message=said)
    event = t.EventError(reason="error", error=failed)
    asked = request("hi")
    provider = RecordingProvider(Scripted([event]), path)
    assert drain(provider.stream_simple(*asked)) == [event]
    content = path.read_text()
    assert _KEY not in content
    assert "dXNlcjpwdw" not in content
    (served,) = drain(ReplayProvider(path).stream_simple(*asked))
    assert served.error.error_message.startswith(f"401: the key {PLACEHOLDER} is not known")


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters(), max_size=12)
    | st.sampled_from([_KEY, f"token={_KEY}", PLACEHOLDER, '{"password": "hunter2hunter2"}'])
)
_NAMES = st.sampled_from(["a", "b", "token", "key", "timestamp", "x-api-key", "a b", ""]) | st.text(
    st.characters(), max_size=6
)
_DATA = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30)
@given(
    st.text(st.characters(), max_size=30),
    st.dictionaries(_NAMES, _DATA, max_size=3),
    st.dictionaries(_NAMES, _DATA, max_size=3),
)
def test_any_request_is_its_own_replay(
    text: str, data: dict[str, Any], other: dict[str, Any]
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        asked = _ask(text, data)
        _record(path, asked, _ask(text, {**other, "told apart": 1}))
        replay = ReplayProvider(path)
        changed = copy.deepcopy(asked)
        assert isinstance(changed[2].metadata, dict)
        changed[2].metadata["told apart"] = 2
        with pytest.raises(ReplayMismatch) as caught:
            drain(replay.stream_simple(*changed))
        assert str(caught.value).replace("\n", "").isprintable()
        assert drain(replay.stream_simple(*copy.deepcopy(asked))) == text_events("0")
        replay.close()
