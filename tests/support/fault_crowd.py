"""Run as a program: many threads of one process record into one file, each call with its label.

Arguments: the recording, the name of this process, how many threads, and how many calls in each.
"""

from __future__ import annotations

import asyncio
import sys
import threading

from fault_drives import ByLabel, record
from openprogram.providers.recording.provider import RecordingProvider


def main() -> None:
    path, name = sys.argv[1:3]
    thread_count, call_count = map(int, sys.argv[3:])
    provider = RecordingProvider(ByLabel(), path)
    print("ready", flush=True)  # noqa: T201 - so that all begin together
    sys.stdin.readline()

    async def record_all(thread: int) -> None:
        for call in range(call_count):
            label = f"process {name} thread {thread} call {call}"
            events = await record(provider, label)
            assert events[-1].type == "done"

    threads = [
        threading.Thread(target=asyncio.run, args=(record_all(thread),))
        for thread in range(thread_count)
    ]
    failures: list[threading.ExceptHookArgs] = []
    threading.excepthook = failures.append
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        sys.exit(f"{len(failures)} threads failed, the first with {failures[0].exc_value!r}")


if __name__ == "__main__":
    main()
