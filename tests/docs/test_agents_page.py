"""The guide to agents is true: its programs run as they stand, and its prices can be read."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from openprogram.providers.prices import price_of, read_prices
from openprogram.testing import LoopbackVendor, Text, ToolCall

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = (CHECKOUT / "docs" / "agents.md").read_text(encoding="utf-8")
LANGUAGES = re.findall(r"(?m)^```(\w+)$", PAGE)


def _blocks(language: str) -> list[str]:
    return re.findall(rf"(?s)```{language}\n(.*?)```", PAGE)


def test_its_programs_run_as_they_stand():
    programs = [*_blocks("python"), "asyncio.run(main())\n"]
    script = [
        [ToolCall("list_dir", {"path": "."})],
        [Text("At four.")],
        [ToolCall("count", {"item": "tea"})],
        [Text("Four.")],
    ]
    with LoopbackVendor(script) as vendor:
        environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "OPENPROGRAM_ANTHROPIC_BASE_URL": vendor.base_url,
            "ANTHROPIC_API_KEY": "pretend-key",
        }
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(programs)],
            cwd=CHECKOUT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        bodies = [json.dumps(request.body) for request in vendor.requests]
    assert (done.returncode, done.stderr) == (0, "")
    assert len(bodies) == len(script)
    assert "pyproject.toml" in bodies[1]
    assert "tea: 4" in bodies[3]


def test_its_prices_are_read(tmp_path: Path):
    (prices,) = _blocks("json")
    path = tmp_path / "prices.json"
    path.write_text(prices)
    price = price_of(read_prices(path), "anthropic", "claude-sonnet-4-5")
    assert price is not None
    assert None not in (price.input, price.output, price.cache_read, price.cache_write)


def test_no_block_is_left_out():
    assert sorted(LANGUAGES) == ["json", "python", "python"]
