"""Runs what a page of the documentation shows, in a home and a workspace of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from openprogram.testing import Answer, Text, TokenCounts, ToolCall

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.testing import LoopbackVendor, ScriptEntry

HOME = "/home/you"
"""How pages write the home directory; the workspace is `work` below it."""
_BLOCK = re.compile(r"(?ms)^```(console|python)\n(.*?)^```$")
_FILE_NAME = re.compile(r"# (\w+\.py)\n")


def answers_about(text: str, *, input_tokens: int) -> list[ScriptEntry]:
    """What the vendor says when it is asked for something that stands in notes.txt."""
    return [
        Answer(
            parts=[ToolCall("read_file", {"path": "notes.txt"}, id="toolu_1")],
            usage=TokenCounts(input=412, output=57),
        ),
        Answer(parts=[Text(text)], usage=TokenCounts(input=input_tokens, output=9)),
    ]


class Stage:
    """A directory with a home, a workspace, and `openprogram` and `python` on the path."""

    def __init__(self, directory: Path, vendor: LoopbackVendor) -> None:
        self.home = directory / "home"
        self.work = self.home / "work"
        programs = directory / "bin"
        for path in (self.home, self.work, programs):
            path.mkdir(mode=0o700, exist_ok=True)
        (self.work / "notes.txt").write_text("Tea is at four.\n")
        for name, words in (("openprogram", "-m openprogram "), ("python", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
            program.chmod(0o700)
        kept = {key: value for key, value in os.environ.items() if key != "OPENPROGRAM_STATE_DIR"}
        self.environment = kept | {
            "HOME": str(self.home),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "ANTHROPIC_API_KEY": "made-up-for-the-page",
            "OPENPROGRAM_ANTHROPIC_BASE_URL": vendor.base_url,
        }

    def run(self, command: str) -> str:
        """Run a line as a shell would, and return what a person would see."""
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout.replace(str(self.home), HOME)

    def play(self, page: str) -> list[tuple[str, str, str]]:
        """Run all that a page shows, top to bottom.

        A Python block that begins with the name of a file as a comment becomes that file.

        Returns:
            Each command, what the page says it prints, and what it printed.
        """
        played: list[tuple[str, str, str]] = []
        for kind, block in _BLOCK.findall(page):
            if kind == "console":
                for chunk in re.split(r"(?m)^\$ ", block)[1:]:
                    command, _, printed = chunk.partition("\n")
                    played.append((command, printed, self.run(command)))
            elif (name := _FILE_NAME.match(block)) is not None:
                (self.work / name[1]).write_text(block)
        return played


def without_what_varies(printed: str) -> str:
    """Replace instants, sizes, times and random IDs, and the blanks that they push around."""
    printed = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\dZ", "INSTANT", printed)
    printed = re.sub(r"\d{8}T\d+Z-[0-9a-f]+|(?<=torn-)[0-9a-f]{8}", "ID", printed)
    printed = re.sub(r"[\d.]+ k?B\b", "SIZE", printed)
    printed = re.sub(r"\bin [\d.]+s\b", "TIME", printed)
    printed = re.sub(r"127\.0\.0\.1:\d+", "PLACE", printed)
    return re.sub(r" +", " ", printed)
