"""Run as a program: keeps putting other things in the place of a recording, until told to stop.

Arguments: the recording, and a directory elsewhere that holds a sound recording of the same name,
and a file `lock`. When standard input ends it puts the directory back, and prints how many things
it has put there.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _swap_directory(root: Path, aside: Path, outside: Path) -> None:
    root.rename(aside)
    try:
        root.symlink_to(outside)
    except FileExistsError:
        # The drive has made it anew.
        shutil.rmtree(aside)
        return
    root.unlink()
    try:
        aside.rename(root)
    except OSError:
        shutil.rmtree(aside)


def main() -> None:
    path, outside = map(Path, sys.argv[1:])
    root, aside, made = path.parent, path.parent.with_name("aside"), path.parent.with_name("made")
    lock = path.with_name(f"{path.name}.lock")
    victim, lock_victim = outside / path.name, outside / "lock"

    def put(target: Path, make: Callable[[], object]) -> None:
        make()
        os.replace(made, target)  # noqa: PTH105 - the quicker the better

    def copy() -> None:
        shutil.copyfile(victim, made)
        made.chmod(0o600)

    steps: list[Callable[[], object]] = [
        lambda: put(path, lambda: made.symlink_to(victim)),
        lambda: put(path, copy),
        lambda: put(path, lambda: made.hardlink_to(victim)),
        lambda: put(path, made.touch),
        lambda: put(path, lambda: made.hardlink_to(victim)),
        lambda: put(path, lambda: made.symlink_to(outside)),
        lambda: put(lock, lambda: made.symlink_to(lock_victim)),
        lambda: put(path, copy),
        lambda: put(lock, lambda: made.hardlink_to(lock_victim)),
        lambda: put(lock, made.touch),
        lambda: _swap_directory(root, aside, outside),
    ]
    count = 0
    print("ready", flush=True)  # noqa: T201 - so that the drive begins with us
    while not select.select([sys.stdin], [], [], 0)[0]:
        for step in steps:
            # The drive deletes what we are about to replace.
            with contextlib.suppress(FileExistsError, FileNotFoundError):
                step()
            made.unlink(missing_ok=True)
            count += 1
    print(count)  # noqa: T201 - this is how it answers


if __name__ == "__main__":
    main()
