from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from openprogram.cli import _output

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _always(_stream: object) -> bool:
    return True


def test_a_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    _output.write_line("a\nb\x1b[31m")
    assert capsys.readouterr().out == "a\\nb\\x1b[31m\n"


def test_json_is_ascii_so_nothing_in_it_can_act(capsys: pytest.CaptureFixture[str]) -> None:
    document = {"path": "K\u00f6ln\u202e\x9b\ud800"}
    _output.write_json(document)
    written = capsys.readouterr().out
    assert written.isascii()
    assert json.loads(written) == document


def test_no_colour_outside_a_terminal() -> None:
    assert _output.paint("x", "red") == "x"


def test_no_color_wins_over_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_output, "is_terminal", _always)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert _output.paint("x", "red") == "\x1b[31mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert _output.paint("x", "red") == "x"


def test_streams_that_were_closed_are_made_up_for() -> None:
    code = (
        "import sys; from openprogram.cli import _output; _output.prepare_streams();"
        "sys.stderr.write('x'); print('x', flush=True); sys.exit(3 + len(sys.stdin.read()))"
    )
    done = subprocess.run(
        ["sh", "-c", f'exec {sys.executable} -c "{code}" <&- >&- 2>&-'], check=False
    )
    assert done.returncode == 3


def test_closed_descriptors_are_filled_so_that_no_file_gets_their_number(tmp_path: Path) -> None:
    code = (
        "import os; from openprogram.cli import _output; _output.prepare_streams();"
        f"fd = os.open({str(tmp_path / 'file')!r}, os.O_CREAT | os.O_WRONLY); os._exit(fd)"
    )
    done = subprocess.run(
        ["sh", "-c", f'exec {sys.executable} -c "{code}" <&- >&- 2>&-'], check=False
    )
    assert done.returncode > 2
