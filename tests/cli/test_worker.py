"""`run --worker` refuses what a worker does not do; the rest is tested with a running one."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import RunCli


def test_a_worker_starts_no_tool_servers_and_has_its_own_prices(
    run_cli: RunCli, state_dir: Path
) -> None:
    ended = run_cli("run", "--worker", "--mcp", "python server.py", "hi")
    assert (ended.exit_code, ended.out) == (2, "")
    assert "--mcp: a worker starts no tool servers" in ended.err
    ended = run_cli("run", "--worker", "--prices", "prices.json", "hi")
    assert (ended.exit_code, ended.out) == (2, "")
    assert "--prices: a worker reads the file that the setting prices_file names" in ended.err
    assert not state_dir.exists()


def test_help_loads_no_provider() -> None:
    code = (
        "import sys; from openprogram.__main__ import main; main(['worker', '--help'])\n"
        "heavy = {'asyncio', 'openprogram.providers', 'openprogram.worker.server'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
