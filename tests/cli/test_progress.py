"""Progress is one line on a terminal that is gone at the end, and nothing anywhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pyte
import pytest

from openprogram.cli import _output, _progress
from openprogram.cli._progress import ProgressLine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def recordings_dir(state_dir: Path) -> Path:
    directory = state_dir / "recordings"
    directory.mkdir(parents=True, mode=0o700)
    state_dir.chmod(0o700)
    return directory


_AT_ONCE = (
    "import sys; from openprogram.cli import _progress; from openprogram.__main__ import main;"
    "_progress.FIRST_SECONDS = 0; sys.exit(main(sys.argv[1:]))"
)


def _run_watched(*words: str) -> tuple[str, str]:
    """Run a command whose standard error alone is a terminal, and return both streams."""
    watched, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _AT_ONCE, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=inner,
        text=True,
    )
    os.close(inner)
    seen = b""
    try:
        while more := os.read(watched, 4096):
            seen += more
    except OSError:
        pass  # the last program on the terminal has ended
    out, _ = process.communicate(timeout=60)
    os.close(watched)
    return out, seen.decode()


@pytest.mark.terminal
@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("verify",), "verifying 0/3"),
        (("verify", "a", "b", "--json"), "verifying 0/2"),
        (("list",), "listing 0/3"),
        (("prune", "--older-than-days", "1", "--dry-run"), "pruning 0/3"),
        (("diff", "a", "b"), "comparing"),
    ],
)
def test_long_work_is_a_line_that_is_gone_at_the_end(
    recordings_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    first: str,
) -> None:
    for name in "abc":
        (recordings_dir / f"{name}.jsonl").write_text('{"type":"header","format_version":1}\n')
        (recordings_dir / f"{name}.jsonl").chmod(0o600)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out, seen = _run_watched("recordings", *words)
    assert out
    assert "\x1b" not in out
    assert seen.startswith(f"\r\x1b[K{first}")
    assert "\n" not in seen
    screen = pyte.Screen(80, 3)
    pyte.Stream(screen).feed(seen)
    assert [line.strip() for line in screen.display] == ["", "", ""]
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert _run_watched("recordings", *words)[1] == ""


def _always(_stream: object) -> bool:
    return True


def _draw_and_interrupt() -> None:
    with ProgressLine("verifying") as line:
        line.update(1200, 3000)
        line.update(1201, 3000)
        raise KeyboardInterrupt


def test_it_is_cleared_whatever_ends_the_work_and_never_drawn_into_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_progress, "FIRST_SECONDS", 0)
    with ProgressLine("verifying") as line:
        line.update(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_output, "may_draw_on", _always)
    with pytest.raises(KeyboardInterrupt):
        _draw_and_interrupt()
    assert capsys.readouterr().err == "\r\x1b[Kverifying 1,200/3,000\r\x1b[K"


def test_quick_work_draws_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_output, "may_draw_on", _always)
    monkeypatch.setattr(_progress, "FIRST_SECONDS", 1e9)
    with ProgressLine("listing") as line:
        line.update(1, 2)
    assert capsys.readouterr().err == ""
