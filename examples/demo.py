"""Record an agent at work, replay it offline, change a file, and see where the replay parts.

Run it with `make demo`. A pretend vendor on this machine answers; everything else is real: the
commands, the vendor's SDK, the tools, the files. State stays in `.demo/` in the checkout, the key
is made up, and nothing leaves this machine. The exit code is 0 only if every step held.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from openprogram.testing import Answer, LoopbackVendor, Text, TokenCounts, ToolCall

if TYPE_CHECKING:
    from openprogram.testing import ScriptEntry

CHECKOUT = Path(__file__).resolve().parents[1]
DATA = CHECKOUT / "examples" / "demo"
STAGE = CHECKOUT / ".demo"
NAME = "release-question"
PROMPT = "What does notes.txt say about the release?"
FIELD = "context.messages[2].content[0].text"

SCRIPT: list[ScriptEntry] = [
    Answer(
        parts=[
            Text("I will read the notes first.\n"),
            ToolCall("read_file", {"path": "notes.txt"}, id="toolu_demo_1"),
        ],
        usage=TokenCounts(input=412, output=57),
    ),
    Answer(
        parts=[
            Text(
                "Version 2.4 is planned for Friday, 4 December, at 10:00 UTC. Ada signs the "
                "packages, and Grace watches the error rate; above 0.1 % you go back to 2.3."
            )
        ],
        usage=TokenCounts(input=538, output=49),
    ),
]


class DemoFailed(Exception):  # noqa: N818 - says what happened
    """A step did not hold."""


class Stage:
    """A directory of its own: the workspace, the state, and a home that must stay empty."""

    def __init__(self, directory: Path) -> None:
        self.workspace = directory / "workspace"
        self.home = directory / "home"
        self.screenshots = directory / "screenshots"
        if directory.exists():
            shutil.rmtree(directory)
        for path in (directory, self.workspace, self.home, self.screenshots):
            path.mkdir(mode=0o700)
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OPENPROGRAM_", "AGENTIC_", "ANTHROPIC_"))
        } | {
            "HOME": str(self.home),
            "OPENPROGRAM_STATE_DIR": str(directory / "state"),
            "ANTHROPIC_API_KEY": "made-up-for-the-demo",
        }

    def openprogram(self, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        """Run one real command in the workspace, and show it with what it says.

        Args:
            words: The words after `openprogram`.
            expect: The exit code that belongs to this step.

        Returns:
            How it ended.

        Raises:
            DemoFailed: It ended otherwise.
        """
        print(f"    $ openprogram {shlex.join(words)}")
        done = subprocess.run(
            [sys.executable, "-m", "openprogram", *words],
            cwd=self.workspace,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        for line in (done.stdout + done.stderr).splitlines():
            print(f"      {line}")
        require(done.returncode == expect, f"exit code {done.returncode}, not {expect}")
        return done


def require(held: bool, otherwise: str) -> None:
    """End the demo unless something held.

    Args:
        held: Whether it did.
        otherwise: What to say if not.

    Raises:
        DemoFailed: It did not.
    """
    if not held:
        raise DemoFailed(otherwise)


def say(text: str) -> None:
    """Announce a step."""
    print(f"\n{text}", flush=True)


def run_agent(stage: Stage, *, expect: int = 0) -> subprocess.CompletedProcess[str]:
    """Give the agent the task; the same words every time."""
    words = ("run", PROMPT, "--provider", "anthropic", "--model", "claude-sonnet-4-5")
    return stage.openprogram(*words, expect=expect)


def record_live(stage: Stage) -> str:
    """Record the task against the pretend vendor, and return the answer."""
    with LoopbackVendor(SCRIPT) as vendor:
        say(f"1. A pretend vendor listens on {vendor.base_url}. Record the next run:")
        stage.environment["OPENPROGRAM_ANTHROPIC_BASE_URL"] = vendor.base_url
        stage.openprogram("recordings", "record", "--name", NAME)
        say("2. Give the agent a task. It asks the vendor, reads the file, asks again:")
        answer = run_agent(stage).stdout
        require(len(vendor.requests) == len(SCRIPT), "the vendor was not asked twice")
    stage.openprogram("recordings", "show", NAME)
    return answer


def replay_offline(stage: Stage, recorded_answer: str) -> None:
    """Replay the task without a vendor, and compare the answers."""
    say("3. The vendor is gone. Replay the same task from the recording:")
    stage.openprogram("recordings", "replay", NAME)
    answer = run_agent(stage).stdout
    require(answer == recorded_answer, "the replayed answer is another one")
    print("    The same answer, character by character; no vendor was asked.")


def replay_after_a_change(stage: Stage) -> str:
    """Change the file, replay again, and return the mismatch report's ID."""
    say("4. Somebody changes notes.txt, and the same task no longer asks the same:")
    shutil.copyfile(DATA / "notes-changed.txt", stage.workspace / "notes.txt")
    done = run_agent(stage, expect=1)
    require(f"field {FIELD}:" in done.stderr, f"the mismatch is not at {FIELD}")
    report = re.search(r"recordings tui --mismatch (\S+)", done.stderr)
    if report is None:
        raise DemoFailed("the mismatch names no report")
    print(f"    The replay parts at {FIELD}: what read_file answered.")
    return report[1]


def look(stage: Stage, report_id: str) -> None:
    """Open the terminal UI on the mismatch; without a terminal, print and take pictures."""
    words = ("recordings", "tui", "--mismatch", report_id)
    if sys.stdin.isatty() and sys.stdout.isatty():
        say("5. Look at both requests side by side (q leaves):")
        subprocess.run(
            [sys.executable, "-m", "openprogram", *words], env=stage.environment, check=True
        )
        return
    say("5. No terminal here, so the list instead of the terminal UI:")
    stage.openprogram("recordings", "list")


def main() -> int:
    """Run the demo.

    Returns:
        0 if every step held, else 1.
    """
    stage = Stage(STAGE)
    shutil.copyfile(DATA / "notes.txt", stage.workspace / "notes.txt")
    try:
        answer = record_live(stage)
        replay_offline(stage, answer)
        report_id = replay_after_a_change(stage)
        look(stage, report_id)
        require(not any(stage.home.iterdir()), "something was written to HOME")
    except DemoFailed as failed:
        print(f"\nThe demo failed: {failed}", file=sys.stderr)
        return 1
    say(f"Every step held. What it left is in {STAGE.relative_to(CHECKOUT)}/.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
