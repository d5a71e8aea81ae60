from __future__ import annotations

import typing
from typing import Any

import pytest

from openprogram.providers import types as t
from openprogram.providers.events import TERMINAL_EVENT_TYPES, final_message, is_terminal
from scripted import message, text_message


def test_two_of_all_events_end_a_stream() -> None:
    types: list[str] = [each.type for each in typing.get_args(t.RecordedEvent)]
    assert len(types) == 14
    assert [each for each in types if each in TERMINAL_EVENT_TYPES] == ["done", "error"]


@pytest.mark.parametrize(
    ("event", "whole"),
    [
        (t.EventDone(reason="stop", message=text_message("a")), text_message("a")),
        (t.EventError(reason="error", error=text_message("b")), text_message("b")),
        (t.EventStart(partial=message()), None),
        (t.EventTextDelta(content_index=0, delta="a", partial=message()), None),
    ],
)
def test_what_ends_a_stream_brings_the_whole_message(event: Any, whole: Any) -> None:
    assert is_terminal(event) is (whole is not None)
    if is_terminal(event):
        assert final_message(event) == whole
