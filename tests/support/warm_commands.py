"""Runs commands as processes that fork from one that has loaded every SDK: loading takes seconds.

Each command is a process of its own, with its own directory, environment and streams, so nothing of
one is left for the next. The process that they fork from has one thread.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOADED = (
    "__main__",
    "openprogram.cli.run",
    "openprogram.cli.recordings.mode",
    "openprogram.cli.recordings.reading",
    "openprogram.cli.app",
    "openprogram.agent.loop",
    "openprogram.agent.tools",
    "openprogram.providers.initialization",
    "openprogram.providers.register",
    "openprogram.providers.vendors._anthropic_connection",
    "openprogram.providers.vendors._google_connection",
    "openprogram.providers.vendors._openai_connection",
)
_PATIENCE_SECONDS = 120


def run(words: list[str], *, cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `openprogram` with these words, and read what it says."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_LOADED))
    with tempfile.TemporaryDirectory() as directory:
        paths = [str(Path(directory) / name) for name in ("out", "err")]
        process = context.Process(target=_command, args=(words, str(cwd), dict(env), paths))
        process.start()
        process.join(_PATIENCE_SECONDS)
        assert process.exitcode is not None, f"{words} did not end"
        texts = [Path(path).read_text("utf-8") for path in paths]
    return subprocess.CompletedProcess(words, process.exitcode, *texts)


def _command(words: list[str], cwd: str, env: dict[str, str], paths: list[str]) -> None:
    # Late: whoever asks for the command has no need of it.
    from openprogram.__main__ import main

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for number, path in enumerate((os.devnull, *paths)):
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(fd, number)
        os.close(fd)
    sys.exit(main(words))
