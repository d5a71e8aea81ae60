"""A tool server written without any library, so that it starts fast and can misbehave.

python pretend_tool_server.py MODE [PID_FILE]
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

OBJECT = {"type": "object"}


def _tools(mode: str) -> list[dict[str, Any]]:
    deep: dict[str, Any] = {"type": "object"}
    inner = deep
    for _ in range(150):
        inner["properties"] = inner = {}
    names = (
        ["say", "echo", "bad name", "echo"] if mode != "many" else [f"t{at}" for at in range(200)]
    )
    tools = [
        {"name": name, "description": "\x1b[2J" * 5000, "inputSchema": OBJECT} for name in names
    ]
    if mode == "deep":
        tools += [
            {"name": "deep", "inputSchema": deep},
            {"name": "big", "inputSchema": {"type": "object", "x": "y" * 60_000}},
        ]
    return tools


def _result(arguments: dict[str, Any]) -> dict[str, Any]:
    word = arguments.get("word", "")
    if word == "hang":
        if "fifo" in arguments:
            Path(arguments["fifo"]).write_text(str(os.getpid()))
        time.sleep(600)
    if word == "die":
        os._exit(3)
    contents: dict[str, list[dict[str, Any]]] = {
        "long": [{"type": "text", "text": "x" * 300_000}],
        "image": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
        "nothing": [],
    }
    plain = [{"type": "text", "text": f"{word}\x1b"}, {"type": "text", "text": "\u2028end"}]
    return {"content": contents.get(word, plain), "isError": word == "wrong"}


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer requests from standard input until it ends."""
    mode = sys.argv[1]
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(str(os.getpid()))
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _write("not JSON \x1b[2J")
    sys.stderr.write("beside the protocol \x1b[2J\n")
    for line in sys.stdin:
        asked = json.loads(line)
        method = asked.get("method")
        if mode == "silent" or "id" not in asked:
            continue
        if method == "initialize":
            result: Any = {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "pretend", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": _tools(mode)}
        else:
            result = _result(asked["params"].get("arguments") or {})
        _write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
    if mode == "stubborn":
        time.sleep(600)


if __name__ == "__main__":
    main()
