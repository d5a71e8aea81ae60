"""Record an agent at work, replay it offline, change a file, and see where the replay parts.

Run it with `make demo`, or `make demo VENDOR=openai-responses` for another vendor's protocol and
SDK. A pretend vendor on this machine answers; everything else is real: the commands, the vendor's
SDK, the tools, the files. State stays in `.demo/` in the checkout, the key is made up, and nothing
leaves this machine. The exit code is 0 only if every step held.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from openprogram.providers.registry import PROVIDERS
from openprogram.testing import (
    Answer,
    AnthropicMessages,
    GoogleGenerativeAi,
    LoopbackVendor,
    OpenAICodex,
    OpenAICompletions,
    OpenAIResponses,
    Text,
    TokenCounts,
    ToolCall,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from openprogram.testing import ScriptEntry, VendorProtocol

CHECKOUT = Path(__file__).resolve().parents[1]
DATA = CHECKOUT / "examples" / "demo"
STAGE = CHECKOUT / ".demo"
NAME = "release-question"
PROMPT = "What does notes.txt say about the release?"
FIELD = "context.messages[2].content[0].text"
KEY = "made-up-for-the-demo"
AMBIENT = (
    *("OPENPROGRAM_", "AGENTIC_", "ANTHROPIC_", "OPENAI_", "OPENROUTER_", "GOOGLE_", "GEMINI_"),
    "CODEX_",
)
"""How the variables begin that would change the story."""
COLUMNS = 80
PICTURE_SIZE = (120, 40)
STYLES = {"$": "2", "error:": "1;31", "recorded": "32", "incoming": "31"}
"""How a line is drawn in a terminal, by its first word; a step's own line is bold."""

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
                "Version 2.4 is planned for Friday, 4 December, at 10:00 UTC.\n"
                "Two people sign the packages, and one watches the error rate."
            )
        ],
        usage=TokenCounts(input=538, output=49),
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """Who answers in the demo, and how the commands find it and its key."""

    provider: str
    """The provider's name; its default model is asked."""
    protocol: Callable[[], VendorProtocol]
    """The pretend vendor's side of the wire."""
    key_variable: str | None
    """Where the key is looked for; None for the login of the Codex tool."""


VENDORS = {
    "anthropic-messages": Vendor(
        provider="anthropic", protocol=AnthropicMessages, key_variable="ANTHROPIC_API_KEY"
    ),
    "openai-completions": Vendor(
        provider="openrouter", protocol=OpenAICompletions, key_variable="OPENROUTER_API_KEY"
    ),
    "openai-responses": Vendor(
        provider="openai", protocol=OpenAIResponses, key_variable="OPENAI_API_KEY"
    ),
    "google-generative-ai": Vendor(
        provider="google", protocol=GoogleGenerativeAi, key_variable="GEMINI_API_KEY"
    ),
    "openai-codex": Vendor(provider="openai-codex", protocol=OpenAICodex, key_variable=None),
}
"""By the name of the wire protocol; the first one is shown unless another is named."""


class DemoFailed(Exception):  # noqa: N818 - says what happened
    """A step did not hold."""


class Stage:
    """A directory of its own: the workspace, the state, and a home that must stay empty."""

    def __init__(self, directory: Path, vendor: Vendor) -> None:
        self.vendor = vendor
        self.login = directory / "codex"
        self.workspace = directory / "workspace"
        self.home = directory / "home"
        self.state = directory / "state"
        self.screenshots = directory / "screenshots"
        if directory.exists():
            shutil.rmtree(directory)
        for path in (directory, self.workspace, self.home, self.screenshots):
            path.mkdir(mode=0o700)
        shutil.copyfile(DATA / "notes.txt", self.workspace / "notes.txt")
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(AMBIENT)
        } | {
            "HOME": str(self.home),
            "OPENPROGRAM_STATE_DIR": str(self.state),
            "CODEX_HOME": str(self.login),
            "AGENTIC_PROVIDER": vendor.provider,
        }

    def hand_out_key(self) -> str:
        """Put a made-up key where the commands look for it, and return it."""
        if self.vendor.key_variable is not None:
            self.environment[self.vendor.key_variable] = KEY
            return KEY
        claims = {"https://api.openai.com/auth": {"chatgpt_account_id": "made-up-account"}}
        parts = ({"alg": "none"}, claims, {"made": "up"})
        token = ".".join(
            base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
            for part in parts
        )
        self.login.mkdir(mode=0o700)
        login = self.login / "auth.json"
        login.touch(mode=0o600)
        login.write_text(json.dumps({"tokens": {"access_token": token}}), encoding="utf-8")
        return token

    def take_key_away(self) -> None:
        """Leave nothing of it."""
        if self.vendor.key_variable is not None:
            del self.environment[self.vendor.key_variable]
        else:
            shutil.rmtree(self.login)

    def openprogram(
        self, *words: str, expect: int = 0, show: slice = slice(None)
    ) -> subprocess.CompletedProcess[str]:
        """Run one real command in the workspace, and show it with what it says.

        Args:
            words: The words after `openprogram`.
            expect: The exit code that belongs to this step.
            show: Which lines of its output belong to the story.

        Returns:
            How it ended.

        Raises:
            DemoFailed: It ended otherwise.
        """
        write(f"  $ openprogram {shlex.join(words)}")
        done = subprocess.run(
            [sys.executable, "-m", "openprogram", *words],
            cwd=self.workspace,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        lines = (done.stdout + done.stderr).splitlines()
        for line in lines[show] if done.returncode == expect else lines:
            write(f"  {line}")
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


def write(text: str, *, style: str | None = None) -> None:
    """Write a line, wrapped a little further in, and drawn by its first word."""
    body = text.lstrip()
    indent = " " * (len(text) - len(body))
    style = style or STYLES.get(body.split(" ", 1)[0])
    is_plain = style is None or not sys.stdout.isatty() or bool(os.environ.get("NO_COLOR"))
    for line in textwrap.wrap(
        body,
        COLUMNS,
        initial_indent=indent,
        subsequent_indent=f"{indent}  " if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]:
        print(line if is_plain else f"\x1b[{style}m{line}\x1b[0m", flush=True)


def say(text: str) -> None:
    """Announce a step."""
    print()
    write(text, style="1")


def record_live(stage: Stage) -> str:
    """Record the task against the pretend vendor, and return the answer."""
    say("1. Record what the agent asks, and what it gets.")
    stage.openprogram("recordings", "record", "--name", NAME, show=slice(1))
    with LoopbackVendor(SCRIPT, protocol=stage.vendor.protocol()) as vendor:
        variable = PROVIDERS[stage.vendor.provider].base_url_variable
        stage.environment[variable] = vendor.base_url
        key = stage.hand_out_key()
        answer = stage.openprogram("run", PROMPT).stdout
        require(len(vendor.requests) == len(SCRIPT), "the vendor was not asked twice")
        require(key in str(vendor.requests[0].headers), "the vendor saw no key")
    stage.openprogram("recordings", "show", NAME, show=slice(-3, None))
    recording = stage.state / "recordings" / f"{NAME}.jsonl"
    require(key not in recording.read_text(encoding="utf-8"), "the key is in the recording")
    require(recording.stat().st_mode & 0o777 == 0o600, "others may read the recording")
    return answer


def replay_offline(stage: Stage, recorded_answer: str) -> None:
    """Replay the task without a vendor and without a key, and compare the answers."""
    say("2. The vendor is gone, and so is the key. Replay the same task.")
    stage.take_key_away()
    stage.openprogram("recordings", "replay", NAME, show=slice(1))
    answer = stage.openprogram("run", PROMPT, show=slice(0)).stdout
    require(answer == recorded_answer, "the replayed answer is another one")
    write("  The same answer, character by character; nobody was asked.")


def replay_after_a_change(stage: Stage) -> str:
    """Change the file, replay again, and return the mismatch report's ID."""
    say("3. Somebody changes a line of notes.txt. Replay the same task once more.")
    shutil.copyfile(DATA / "notes-changed.txt", stage.workspace / "notes.txt")
    # What the agent says before it reads the file is known from step 1, and step 4 is the advice.
    done = stage.openprogram("run", PROMPT, expect=1, show=slice(1, 5))
    require(f"field {FIELD}:" in done.stderr, f"the mismatch is not at {FIELD}")
    report = re.search(r"recordings tui --mismatch (\S+)", done.stderr)
    if report is None:
        raise DemoFailed("the mismatch names no report")
    return report[1]


def look(stage: Stage, report_id: str) -> None:
    """Open the terminal UI on the mismatch; without a terminal, print the list and draw it."""
    words = ("recordings", "tui", "--mismatch", report_id)
    if sys.stdin.isatty() and sys.stdout.isatty():
        say("4. Both requests side by side (q leaves).")
        write(f"  $ openprogram {shlex.join(words)}")
        command = [sys.executable, "-m", "openprogram", *words]
        code = subprocess.run(command, env=stage.environment, check=False).returncode
        require(code == 0, f"the terminal UI ended with exit code {code}")
        return
    say("4. No terminal here: the list, and pictures of the terminal UI.")
    stage.openprogram("recordings", "list")
    os.environ.update(stage.environment)
    for name, mismatch_id in (("recordings", None), ("mismatch", report_id)):
        path = stage.screenshots / f"{name}.svg"
        path.write_text(asyncio.run(draw(mismatch_id)), encoding="utf-8")
        write(f"  drew {path.relative_to(CHECKOUT)}")
    require(
        "Monday" in path.read_text(encoding="utf-8"), "the picture does not show the difference"
    )


async def draw(mismatch_id: str | None) -> str:
    """Draw the terminal UI as it would look, without a terminal.

    Args:
        mismatch_id: The mismatch report to open; the list of recordings when None.

    Returns:
        A picture as SVG.
    """
    # late: a terminal gets the real thing, in a process of its own
    from openprogram.providers.mismatches import read_mismatch_report
    from openprogram_recordings_tui.app import RecordingsApp

    mismatch = None if mismatch_id is None else read_mismatch_report(mismatch_id)
    app = RecordingsApp(mismatch=mismatch)
    async with app.run_test(size=PICTURE_SIZE) as pilot:
        # The lists are read first, and then the report that was asked for.
        for _ in range(2):
            while app.is_busy:
                await pilot.pause(0.02)
            await pilot.pause()
        return app.export_screenshot(title="openprogram recordings tui")


def main(words: Sequence[str] | None = None) -> int:
    """Run the demo.

    Args:
        words: The words of the command line: the vendor's protocol, or nothing.

    Returns:
        0 if every step held, else 1; 130 after Ctrl-C.
    """
    parser = argparse.ArgumentParser(description="Record, replay, change a file, see what parts.")
    first = next(iter(VENDORS))
    parser.add_argument("vendor", nargs="?", default=first, choices=VENDORS, help="who answers")
    name = parser.parse_args(words).vendor
    stage = Stage(STAGE, VENDORS[name])
    shown_name = "" if name == first else f" ({name})"
    write(
        f"A pretend vendor{shown_name} on this machine answers; the commands, the SDK, the tools "
        "and the files are real. What it leaves is in .demo/; nothing else is touched."
    )
    try:
        answer = record_live(stage)
        replay_offline(stage, answer)
        report_id = replay_after_a_change(stage)
        look(stage, report_id)
        require(not any(stage.home.iterdir()), "something was written to HOME")
    except DemoFailed as failed:
        print(f"\nThe demo failed: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Nobody reads any more; what is still buffered has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    say("Every step held. To look around in what it left:")
    # In full: a state directory that moved with the working directory is refused.
    state = shlex.quote(str(stage.state))
    write(f"  OPENPROGRAM_STATE_DIR={state} \\")
    write(f"    {program()} recordings tui")
    return 0


def program() -> str:
    """Say how a person calls `openprogram` from here."""
    script = Path(sys.executable).with_name("openprogram")
    return shown(script) if script.exists() else f"{shown(Path(sys.executable))} -m openprogram"


def shown(path: Path) -> str:
    """Write a path as short as it can be typed from here."""
    return shlex.quote(min(str(path), os.path.relpath(path), key=len))


if __name__ == "__main__":
    sys.exit(main())
