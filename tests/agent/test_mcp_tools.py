from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from openprogram.agent.mcp_tools import RESULT_CHARACTERS, TOOL_LIMIT, mcp_tools
from openprogram.errors import AgentError, ToolError

if TYPE_CHECKING:
    from openprogram.agent.tools import AgentTool

SERVER = Path(__file__).resolve().parents[1] / "support" / "pretend_tool_server.py"


def _command(mode: str, *more: str) -> list[str]:
    return [sys.executable, str(SERVER), mode, *more]


def _named(tools: tuple[AgentTool, ...]) -> dict[str, AgentTool]:
    return {tool.definition.name: tool for tool in tools}


def _is_there(pid_file: Path) -> bool:
    try:
        os.kill(int(pid_file.read_text()), 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_servers_words_come_in_bounds_and_its_process_ends(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    pid_file = tmp_path / "pid"
    async with mcp_tools(_command("plain", str(pid_file)), call_seconds=30) as tools:
        assert [tool.definition.name for tool in tools] == ["echo", "say"]
        assert all(len(tool.definition.description) == 4000 for tool in tools)
        echo = _named(tools)["echo"]
        said = await asyncio.gather(*[echo.call({"word": word}) for word in ("a", "b", "wrong")])
        assert [(each.text, each.is_error) for each in said] == [
            ("a\x1b\n\u2028end", False),
            ("b\x1b\n\u2028end", False),
            ("wrong\x1b\n\u2028end", True),
        ]
        long = await echo.call({"word": "long"})
        assert len(long.text) == RESULT_CHARACTERS
        assert long.notes == ("only the first 100,000 of 300,000 characters are shown",)
        image = await echo.call({"word": "image"})
        assert (image.text, image.notes) == (
            "",
            ("1 blocks that are no text are left out: image",),
        )
        assert (await echo.call({"word": "nothing"})).notes == ("the tool said nothing",)
        assert _is_there(pid_file)
        with pytest.raises(ToolError, match="echo: the tool server "):
            await echo.call({"word": "die"})
        with pytest.raises(ToolError, match="echo: the tool server "):
            await echo.call({"word": "a"})
    assert not _is_there(pid_file)
    ours = [each.getMessage() for each in caplog.records if each.name.startswith("openprogram")]
    assert ours == [
        "the tool 'bad name' is left out: its name is not 1 to 64 letters, digits, '_' or '-'",
        "the tool 'echo' is left out: it is there twice",
    ]
    assert capfd.readouterr() == ("", "")


async def test_what_no_vendor_would_take_is_left_out() -> None:
    async with mcp_tools(_command("deep")) as tools:
        assert set(_named(tools)) == {"deep", "echo", "say"}
    async with mcp_tools(_command("many")) as tools:
        assert len(tools) == TOOL_LIMIT


async def test_a_call_that_takes_too_long_is_a_refusal() -> None:
    async with mcp_tools(_command("plain"), call_seconds=0.2) as tools:
        with pytest.raises(ToolError, match=r"(?i)the tool server failed: .*timed out"):
            await _named(tools)["echo"].call({"word": "hang"})


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["no-such\x1b-program"], r"'no-such\\x1b-program'.*: cannot be started: no such file"),
        (["a\0b"], "did not say what tools it has: .*null"),
        ([sys.executable, "-c", "0"], "did not say what tools it has"),
        (_command("silent"), "its tools were not listed within 0.5 s; run it by hand"),
    ],
)
async def test_a_server_that_does_not_start_is_one_clear_error(
    command: list[str], words: str
) -> None:
    with pytest.raises(AgentError, match=words) as caught:
        async with mcp_tools(command, start_seconds=0.5 if "silent" in command else 30):
            pass
    assert str(caught.value).isprintable()
    assert not isinstance(caught.value, ToolError)


async def test_what_ends_the_block_ends_the_process_and_is_not_changed(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with pytest.raises(ZeroDivisionError):
        async with mcp_tools(_command("stubborn", str(pid_file))):
            raise ZeroDivisionError
    assert not _is_there(pid_file)

    async def hang() -> None:
        async with mcp_tools(_command("plain", str(pid_file))) as tools:
            inside.set()
            await _named(tools)["echo"].call({"word": "hang"})

    inside = asyncio.Event()
    task = asyncio.create_task(hang())
    await inside.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # somebody presses Ctrl-C again
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _is_there(pid_file)


async def test_a_missing_package_is_said_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(AgentError, match=r"'mcp' is not installed; run 'pip install mcp'"):
        async with mcp_tools(["x"]):
            pass
