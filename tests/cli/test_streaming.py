from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from openprogram.cli import _output
from openprogram.cli._streaming import AnswerPrinter, ReaderLeftError
from openprogram.providers import types as t

if TYPE_CHECKING:
    from collections.abc import Callable

_PARTIAL = t.AssistantMessage(content=[], api="a", provider="p", model="m", timestamp=0)


def _delta(text: str) -> t.EventTextDelta:
    return t.EventTextDelta(content_index=0, delta=text, partial=_PARTIAL)


def _end(text: str) -> t.EventTextEnd:
    return t.EventTextEnd(content_index=0, content=text, partial=_PARTIAL)


def _tool_call(arguments: dict[str, str]) -> t.EventToolCallEnd:
    call = t.ToolCall(id="1", name="read_\x1bfile", arguments=arguments)
    return t.EventToolCallEnd(content_index=0, tool_call=call, partial=_PARTIAL)


@pytest.fixture
def _on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    always: Callable[[object], bool] = lambda _stream: True  # noqa: E731 - typed in one line
    monkeypatch.setattr(_output, "is_terminal", always)
    monkeypatch.setenv("NO_COLOR", "1")


def test_text_comes_delta_by_delta_and_cannot_act(capsys: pytest.CaptureFixture[str]) -> None:
    printer = AnswerPrinter()
    for text in ("K\u00f6ln\n\ta", "\x1b[2J\r\x9b\u202e"):
        printer.show(_delta(text))
    assert capsys.readouterr().out == "K\u00f6ln\n\ta\\x1b[2J\\r\\x9b\\u202e"


@pytest.mark.parametrize("text", ["", "a", "a\n"])
def test_a_block_ends_its_line_once(capsys: pytest.CaptureFixture[str], text: str) -> None:
    printer = AnswerPrinter()
    printer.show(_delta(text))
    printer.show(_end(text))
    assert capsys.readouterr().out == ("a\n" if text else "")


def test_tool_calls_are_quiet_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    AnswerPrinter().show(_tool_call({"path": "x"}))
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("_on_a_terminal")
def test_a_tool_call_is_one_bounded_line_beside_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    AnswerPrinter().show(_tool_call({"path": "x" * 500 + "\n"}))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith('> read_\\x1bfile {"path": "xxx')
    assert err.count("\n") == 1
    assert len(err) < 120


def test_a_reader_that_left_ends_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse: Callable[[str], bool] = lambda _text: False  # noqa: E731 - typed in one line
    monkeypatch.setattr(_output, "write_raw", refuse)
    with pytest.raises(ReaderLeftError):
        AnswerPrinter().show(_delta("x"))
